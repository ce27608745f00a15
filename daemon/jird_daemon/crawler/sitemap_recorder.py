"""What a visit to a sitemap changes: its row, the crawl log and counts; never a page, for it is none."""

from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.crawl_log import CrawlLog
from jird_daemon.crawler.visit import Visit
from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.document import ParseKind, Sitemap
from jird_daemon.frontier.batch import FrontierBatch, Lane
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RowKind, RowState
from jird_daemon.url.canonical import canonicalize, origin_of


class SitemapRecorder:
    """Immutable; belongs to the writer's thread."""

    def __init__(self, admission: Admission, log: CrawlLog, redirects_max: int) -> None:
        """Take the rules, the log, and how many redirects in a row are followed."""
        self._admission = admission
        self._log = log
        self._redirects_max = redirects_max

    def record(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        """Record a visit that is not put off; returns its exit code."""
        code = visit.verdict.exit_code
        if code is ExitCode.FILE_INGESTED:
            return self._content_came(batch, visit)
        if code in (ExitCode.REDIRECT, ExitCode.PERMANENT_REDIRECT):
            return self._redirected(batch, visit, code)
        return self._end(batch, visit, code)

    def _content_came(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        document = visit.document
        if document is None or document.kind is not ParseKind.SITEMAP or document.sitemap is None:
            message = visit.failure if document is None else document.message
            return self._end(batch, visit, ExitCode.DID_NOT_UNDERSTAND_ANSWER, message)
        sitemap, run_id = document.sitemap, visit.target.run_id
        batch.count(run_id, "sitemaps")
        batch.count(run_id, "foreign_locations", sitemap.foreign)
        return self._end(batch, visit, ExitCode.FILE_INGESTED, describe(sitemap), is_failed=False)

    def _redirected(self, batch: FrontierBatch, visit: Visit, code: ExitCode) -> ExitCode:
        """J124: only on its own origin."""
        target, location = visit.target, visit.response.header("location")
        try:
            to_url = canonicalize(location, target.url) if location else ""
        except InvalidUrlError as error:
            return self._end(batch, visit, code, f"redirect refused: {error.reason}: {error.message}")
        message = self._refusal(visit, to_url)
        if message:
            return self._end(batch, visit, code, message, redirect_url=to_url)
        batch.discover(
            target.run_id, [to_url], target.row.depth, lane=Lane.URGENT, redirects=target.row.redirects + 1,
            kind=RowKind.SITEMAP,
        )  # fmt: skip
        batch.count(target.run_id, "redirects")
        return self._end(batch, visit, code, is_failed=False, redirect_url=to_url)

    def _refusal(self, visit: Visit, to_url: str) -> str:
        if not to_url:
            return "redirect without a Location"
        if visit.target.row.redirects >= self._redirects_max:
            return f"more than {self._redirects_max} redirects in a row"
        if origin_of(to_url) != visit.target.origin:
            return f"redirect refused: URL_SCOPE: a sitemap stays on its origin, and {origin_of(to_url)} is another"
        refusal = self._admission.refusal(to_url)
        return "" if refusal is None else f"redirect refused: {refusal.reason}: {refusal.message}"

    def _end(
        self,
        batch: FrontierBatch,
        visit: Visit,
        code: ExitCode,
        message: str = "",
        *,
        is_failed: bool = True,
        redirect_url: str = "",
    ) -> ExitCode:
        target = visit.target
        self._log.append(
            batch, target.run_id, target.url_id, target.origin_id, visit.response, code, attempt=visit.attempts,
            message=message, redirect_url=redirect_url,
        )  # fmt: skip
        state = RowState.FAILED if is_failed else RowState.DONE
        batch.finish(target.run_id, target.url_id, state, int(code), visit.attempts)
        if is_failed:
            batch.count(target.run_id, "failed")
        return code


def describe(sitemap: Sitemap) -> str:
    """What was found, for a person."""
    parts = [f"{sitemap.format}: {len(sitemap.locations)} locations"]
    named = (
        (sitemap.foreign, "on other origins"), (sitemap.refused, "refused"), (sitemap.repeated, "repeated"),
    )  # fmt: skip
    parts += [f"{count} {name}" for count, name in named if count]
    return ", ".join(parts) + (", and more that was not read" if sitemap.is_cut else "")
