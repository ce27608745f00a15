"""Writing the crawl log: one entry for each action, with the look-ups that queries need (U28-U30)."""

from jird_daemon.crawler.response import Response
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.outcome import CrawlType, ExitCode
from jird_daemon.store.tables import CRAWL_LOG, CRAWL_LOG_BY_ORIGIN, CRAWL_LOG_BY_URL, LogEntry
from jird_daemon.store.uuid7 import make_uuid7

# J153: longer diagnostics are cut.
MESSAGE_CHARS_MAX = 4_096
# A validator longer than this is neither kept nor sent (J170).
VALIDATOR_CHARS_MAX = 1_024


class CrawlLog:
    """Appends entries in the name of one crawler process (U27)."""

    def __init__(self, agent_uuid: bytes) -> None:
        """Take the UUID of this process, 16 bytes."""
        self._agent_uuid = agent_uuid

    def append(
        self,
        batch: FrontierBatch,
        run_id: int,
        url_id: int,
        origin_id: int,
        response: Response,
        exit_code: ExitCode,
        *,
        crawl_type: CrawlType = CrawlType.FILE_CRAWL,
        attempt: int = 0,
        message: str = "",
        redirect_url: str = "",
    ) -> None:
        """Record one action of a run, and count its exit code there.

        Args:
            batch: The transaction.
            run_id: The run.
            url_id: The URL.
            origin_id: Its origin.
            response: What came of it; for an action without a request one that only has a time.
            exit_code: How it ended.
            crawl_type: What kind of action.
            attempt: Which attempt for the URL in its run, from 1; 0 where that means nothing.
            message: For a person; empty takes the response's own.
            redirect_url: Where a redirect pointed.
        """
        entry = LogEntry(
            url_id,
            int(crawl_type),
            int(exit_code),
            response.start_s,
            round(response.duration_s * 1000),
            http_status=response.status,
            message=(message or response.message)[:MESSAGE_CHARS_MAX],
            run_id=run_id,
            attempt=attempt,
            body_bytes=response.wire_bytes,
            etag=validator(response.header("etag")),
            last_modified=validator(response.header("last-modified")),
            remote_address=response.remote_address,
            agent_uuid=self._agent_uuid,
            redirect_url=redirect_url,
            origin_id=origin_id,
        )
        key = make_uuid7(response.start_s)
        batch.txn.put(CRAWL_LOG, key, entry)
        batch.txn.put(CRAWL_LOG_BY_URL, (url_id, key), int(exit_code))
        batch.txn.put(CRAWL_LOG_BY_ORIGIN, (origin_id, key), int(exit_code))
        batch.count_exit(run_id, int(exit_code))


def validator(value: str) -> str:
    """An ETag or Last-Modified that may be kept and sent back; empty for one that may not (J170)."""
    if len(value) > VALIDATOR_CHARS_MAX or any(char < " " or "\x7f" <= char <= "\x9f" for char in value):
        return ""
    return value
