"""What a visit changes: page, links, frontier, crawl log and counts, all in the writer's one transaction (J36).

Every method runs in the writer's thread and may run again if its transaction is rolled back; it changes nothing but the
batch.
"""

from collections.abc import Iterable

from jird_daemon.crawler.admission import Admission, Question
from jird_daemon.crawler.crawl_log import CrawlLog, validator
from jird_daemon.crawler.derived import MEDIA_TYPE, NOINDEX, Source, derive_page
from jird_daemon.crawler.discovery import discover_found
from jird_daemon.crawler.outage import is_held, is_redirect_held, note_alive
from jird_daemon.crawler.response import Response
from jird_daemon.crawler.sitemap_recorder import SitemapRecorder, describe
from jird_daemon.crawler.variants import NOT_CANONICAL, restore_variants
from jird_daemon.crawler.visit import Target, Visit
from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.document import ParsedDocument, ParseKind
from jird_daemon.frontier.batch import FrontierBatch, Lane
from jird_daemon.outcome import ExitCode
from jird_daemon.store.pages import FetchedPage, get_page, mark_not_indexable, retire_page, store_page, touch_page
from jird_daemon.store.tables import LINKS, PAGES, Link, RowKind, RowState
from jird_daemon.url.canonical import canonicalize, origin_of
from jird_daemon.url.refusal import Refusal
from jird_settings import Content

# Hops in a row before a chain of redirects is given up (head of REQUIREMENTS: "at most 10 hops in a row").
REDIRECTS_MAX = 10

_SKIP_REASONS = {
    ExitCode.FILE_OF_UNKNOWN_TYPE: MEDIA_TYPE,
    ExitCode.DID_NOT_UNDERSTAND_ANSWER: "answer not understood",
    ExitCode.UNKNOWN_ERROR: "not parsed",
}


class Recorder:
    """Immutable; belongs to the writer's thread."""

    def __init__(self, admission: Admission, content: Content, log: CrawlLog) -> None:
        """Take what may be discovered, what is kept of a page, and the log."""
        self._admission = admission
        self._content = content
        self._log = log
        self._sitemaps = SitemapRecorder(admission, log, REDIRECTS_MAX)

    def record(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        """Record a visit; returns its final exit code."""
        target = visit.target
        batch.count(target.run_id, "requests", len(visit.tries))
        batch.count(target.run_id, "received_bytes", sum(response.wire_bytes for response in visit.tries))
        batch.set_pace(target.run_id, target.origin_id, visit.pace, visit.origin_state)
        for number, response in enumerate(visit.tries[:-1], target.row.attempts + 1):
            assert response.failure is not None, "only a fluke is tried again at once"
            self._append(batch, target, response, response.failure, attempt=number)
        code = visit.verdict.exit_code
        if visit.not_before_ms is not None:
            return self._put_off(batch, visit, visit.not_before_ms)
        if target.row.kind == RowKind.SITEMAP:
            return self._sitemaps.record(batch, visit)
        if code is ExitCode.FILE_INGESTED:
            return self._content_came(batch, visit)
        if code in (ExitCode.REDIRECT, ExitCode.PERMANENT_REDIRECT):
            return self._redirected(batch, visit)
        if code is ExitCode.FILE_DID_NOT_CHANGE:
            return self._did_not_change(batch, visit)
        if code in (ExitCode.FILE_NOT_FOUND, ExitCode.FILE_GONE):
            return self._gone(batch, visit)
        return self._failed(batch, visit)

    def skip(self, batch: FrontierBatch, target: Target, exit_code: ExitCode, message: str, now_s: float) -> None:
        """Record that a URL is not asked for: robots.txt or a local policy forbids it (U143)."""
        self._append(batch, target, Response(target.url, now_s, 0.0), exit_code, message=message)
        batch.finish(target.run_id, target.url_id, RowState.SKIPPED, int(exit_code), target.row.attempts)
        batch.count(target.run_id, "skipped")
        restore_variants(batch.txn, target.url_id, target.url)

    # -- ends of a visit ------------------------------------------------------------------------------------------

    def _put_off(self, batch: FrontierBatch, visit: Visit, not_before_ms: int) -> ExitCode:
        target, code = visit.target, visit.verdict.exit_code
        self._append(batch, target, visit.response, code, attempt=visit.attempts, message=visit.failure)
        batch.put_off(target.run_id, target.url_id, not_before_ms, int(code), visit.attempts)
        return code

    def _failed(self, batch: FrontierBatch, visit: Visit, message: str = "") -> ExitCode:
        """The last good version of a page stays (J175); a URL that never had one is noted as not indexable."""
        target, response, code = visit.target, visit.response, visit.verdict.exit_code
        if response.status and batch.txn.get(PAGES, target.url_id) is None:
            reason = visit.failure if code is ExitCode.BLOCKED_BY_CHALLENGE else f"HTTP {response.status}"
            reason = _SKIP_REASONS.get(code, reason)
            self._not_indexable(batch, visit, code, reason)
        self._finish(batch, visit, RowState.FAILED, code, message or visit.failure)
        batch.count(target.run_id, "failed")
        restore_variants(batch.txn, target.url_id, target.url)
        return code

    def _gone(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        target, response, code = visit.target, visit.response, visit.verdict.exit_code
        page = batch.txn.get(PAGES, target.url_id)
        was_known = page is not None
        if page is not None and page.is_indexable and is_held(batch, target.origin_id, target.origin):
            self._finish(batch, visit, RowState.DONE, code, "kept: much of this site is not found")
            batch.count(target.run_id, "held")
            return code
        retire_page(batch.txn, target.url, response.end_s, http_status=response.status, exit_code=code)
        self._finish(batch, visit, RowState.DONE, code)
        batch.count(target.run_id, "retired" if was_known else "failed")
        restore_variants(batch.txn, target.url_id, target.url)
        return code

    def _did_not_change(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        """A 304: times and validators, and the links that were approved once, for this run (J171, J172)."""
        target, response, code = visit.target, visit.response, visit.verdict.exit_code
        touch_page(
            batch.txn,
            target.url,
            response.end_s,
            etag=validator(response.header("etag")) or None,
            last_modified=validator(response.header("last-modified")) or None,
        )
        self._note_alive(batch, target)
        self._replay_links(batch, target)
        self._finish(batch, visit, RowState.DONE, code)
        batch.count(target.run_id, "unchanged")
        batch.count(target.run_id, "ingested")
        return code

    def _redirected(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        """A hop: recorded, and its target becomes a row at the same depth, asked next on its origin (U137)."""
        target, response, code = visit.target, visit.response, visit.verdict.exit_code
        location = response.header("location")
        try:
            to_url = canonicalize(location, target.url) if location else ""
        except InvalidUrlError as error:
            to_url, message = "", f"redirect refused: {error.reason}: {error.message}"
        else:
            message = self._redirect_refusal(target, to_url) if to_url else "redirect without a Location"
        note = ""
        if self._is_redirect_held(batch, target, to_url):
            note = "kept: much of this site leads to one page"
            batch.count(target.run_id, "held")
        else:
            self._not_indexable(batch, visit, code, "redirect", final_url=to_url)
        if not message:
            batch.discover(
                target.run_id, [to_url], target.row.depth, lane=Lane.URGENT, redirects=target.row.redirects + 1
            )
        state = RowState.FAILED if message else RowState.DONE
        self._finish(batch, visit, state, code, "; ".join(filter(None, (message, note))), redirect_url=to_url)
        batch.count(target.run_id, "failed" if message else "redirects")
        restore_variants(batch.txn, target.url_id, target.url)
        return code

    def _note_alive(self, batch: FrontierBatch, target: Target) -> None:
        """A page that is as it was; what a redirect leads to says nothing of the pages behind it."""
        if target.was_indexable and not target.row.redirects:
            note_alive(batch, target.origin_id)

    def _is_redirect_held(self, batch: FrontierBatch, target: Target, to_url: str) -> bool:
        page = batch.txn.get(PAGES, target.url_id)
        if page is None or not page.is_indexable:
            return False
        return is_redirect_held(batch, target.origin_id, target.origin, to_url)

    def pass_over(self, batch: FrontierBatch, target: Target) -> None:
        """End a row whose page is not due: what it led to is followed, without a request (U138, J172)."""
        page = batch.txn.get(PAGES, target.url_id)
        assert page is not None, "only a page that was crawled is not due"
        if page.final_url:
            if self._refuse(target, page.final_url) is None:
                batch.discover(target.run_id, [page.final_url], target.row.depth, redirects=target.row.redirects + 1)
        else:
            self._replay_links(batch, target)
        batch.finish(target.run_id, target.url_id, RowState.DONE, page.exit_code, 0, crawled_s=page.fetch_time_s)
        batch.count(target.run_id, "not_due")

    def _redirect_refusal(self, target: Target, to_url: str) -> str:
        if to_url == target.url:
            return "redirect to itself"
        if target.row.redirects >= REDIRECTS_MAX:
            return f"more than {REDIRECTS_MAX} redirects in a row"
        refusal = self._refuse(target, to_url)
        return "" if refusal is None else f"redirect refused: {refusal.reason}: {refusal.message}"

    # -- content --------------------------------------------------------------------------------------------------

    def _content_came(self, batch: FrontierBatch, visit: Visit) -> ExitCode:
        document = visit.document
        if document is None:
            return self._skipped(batch, visit, ExitCode.DID_NOT_UNDERSTAND_ANSWER, visit.failure)
        if document.kind is ParseKind.CHALLENGE:
            # The site's last good page stays as it is; this one is not the site's own (U51).
            return self._skipped(batch, visit, ExitCode.BLOCKED_BY_CHALLENGE, document.message, is_stored=False)
        if document.kind is ParseKind.UNKNOWN_TYPE:
            message = document.message or document.media_type or "no media type"
            return self._skipped(batch, visit, ExitCode.FILE_OF_UNKNOWN_TYPE, message)
        if document.sitemap is not None and not self._is_indexed_feed(document):
            # A feed that a page links to: what it names is in the frontier, and it is indexed no more than other media.
            return self._skipped(
                batch, visit, ExitCode.FILE_OF_UNKNOWN_TYPE, f"read for links: {describe(document.sitemap)}"
            )
        if document.kind is ParseKind.TOO_COMPLEX:
            return self._skipped(batch, visit, ExitCode.DID_NOT_UNDERSTAND_ANSWER, document.message)
        return self._store(batch, visit, document)

    def _is_indexed_feed(self, document: ParsedDocument) -> bool:
        return self._content.index_feeds and bool(document.pile_bytes)

    def _skipped(
        self, batch: FrontierBatch, visit: Visit, code: ExitCode, message: str, *, is_stored: bool = True
    ) -> ExitCode:
        if is_stored:
            self._not_indexable(batch, visit, code, _SKIP_REASONS.get(code, message))
        self._finish(batch, visit, RowState.SKIPPED, code, message)
        batch.count(visit.target.run_id, "skipped")
        restore_variants(batch.txn, visit.target.url_id, visit.target.url)
        return code

    def _store(self, batch: FrontierBatch, visit: Visit, document: ParsedDocument) -> ExitCode:
        target = visit.target
        code, reason = ExitCode.FILE_INGESTED, ""
        if document.is_noindex:
            code, reason = ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE, NOINDEX
        elif self._canonical_is_admitted(batch, visit, document):
            code, reason = ExitCode.NOT_CANONICAL, NOT_CANONICAL
        self._note_alive(batch, target)
        change = store_page(batch.txn, self._fetched_page(visit, document, code, reason))
        self._discover_links(batch, target, document.links)
        ended = ExitCode.DUPLICATE if change.is_duplicate else code
        self._finish(batch, visit, RowState.DONE, ended, ", ".join(document.truncated))
        if code is ExitCode.FILE_INGESTED:
            batch.count(target.run_id, "ingested")
            batch.count(target.run_id, "unchanged", 0 if change.is_new_content or not target.was_indexable else 1)
        else:
            batch.count(target.run_id, "skipped")
            restore_variants(batch.txn, target.url_id, target.url)
        return code

    def _fetched_page(self, visit: Visit, document: ParsedDocument, code: ExitCode, reason: str) -> FetchedPage:
        response = visit.response
        source = Source(
            url=visit.target.url,
            time_s=response.end_s,
            body=response.body,
            http_status=response.status,
            content_type=response.header("content-type"),
            robots_headers=response.all("x-robots-tag"),
            link_headers=response.all("link"),
            etag=validator(response.header("etag")),
            last_modified=validator(response.header("last-modified")),
        )
        return derive_page(source, document, self._content, code, reason)

    def _canonical_is_admitted(self, batch: FrontierBatch, visit: Visit, document: ParsedDocument) -> bool:
        """Whether the page that this one names as canonical is, or will be, fetched in this run (J147, J148)."""
        target, to_url = visit.target, document.canonical_url
        if not to_url or document.is_nofollow or not visit.canonical_is_allowed:
            return False
        if origin_of(to_url) != target.origin or target.row.depth + 1 > target.max_depth:
            return False
        if self._refuse(target, to_url) is not None:
            return False
        batch.discover(target.run_id, [to_url], target.row.depth + 1)
        if not batch.has_row(target.run_id, to_url):
            return False  # dropped at the ceiling
        found = get_page(batch.txn, to_url)
        row = None if found is None else batch.get_row(target.run_id, found[0])
        # F25: a canonical page that this run found to be none must not take its variants with it.
        is_open = row is None or row.state in (RowState.QUEUED, RowState.WAITING)
        return is_open or (found is not None and found[1].is_indexable)

    def _refuse(self, target: Target, url: str) -> Refusal | None:
        """Why a URL that stands in the place of a row may not enter its run."""
        asked = Question(url, origin_of(url), target.origin, target.row.depth)
        found = self._admission.of(target.run_id).refuse(asked)
        return None if found is None else found[1]

    def _replay_links(self, batch: FrontierBatch, target: Target) -> None:
        links = batch.txn.get(LINKS, target.url_id)
        self._discover_links(batch, target, links.links if links is not None else ())

    def _discover_links(self, batch: FrontierBatch, target: Target, links: Iterable[Link]) -> None:
        urls = [link.to_url for link in links if link.is_crawlable]
        found = self._admission.of(target.run_id).select(target.origin, urls, target.row.depth + 1)
        batch.count_refused(target.run_id, found.refused)
        if target.row.depth < target.max_depth:
            discover_found(batch, self._admission, target, found.urls, target.row.depth + 1)
        else:
            beyond = sum(not batch.has_row(target.run_id, url) for url in dict.fromkeys(found.urls))
            batch.count(target.run_id, "beyond_depth", beyond)

    # -- shared ---------------------------------------------------------------------------------------------------

    def _not_indexable(
        self, batch: FrontierBatch, visit: Visit, code: ExitCode, reason: str, *, final_url: str = ""
    ) -> None:
        response = visit.response
        mark_not_indexable(
            batch.txn,
            visit.target.url,
            response.end_s,
            reason=reason,
            http_status=response.status,
            exit_code=code,
            final_url=final_url,
            media_type=visit.document.media_type if visit.document is not None else None,
        )

    def _finish(
        self,
        batch: FrontierBatch,
        visit: Visit,
        state: RowState,
        code: ExitCode,
        message: str = "",
        *,
        redirect_url: str = "",
    ) -> None:
        target = visit.target
        self._append(
            batch, target, visit.response, code, attempt=visit.attempts, message=message, redirect_url=redirect_url
        )
        batch.finish(target.run_id, target.url_id, state, int(code), visit.attempts)

    def _append(
        self,
        batch: FrontierBatch,
        target: Target,
        response: Response,
        code: ExitCode,
        *,
        attempt: int = 0,
        message: str = "",
        redirect_url: str = "",
    ) -> None:
        self._log.append(
            batch, target.run_id, target.url_id, target.origin_id, response, code,
            attempt=attempt, message=message, redirect_url=redirect_url,
        )  # fmt: skip
