"""`/metrics`: the daemon's numbers and the frontend's own, for Prometheus (J87-J89).

All names begin with `jird_`, none has labels, and all are documented in docs/metrics.md. The daemon's gauges are set
anew at each scrape; when it cannot be read, the answer is 503 with `jird_up 0` and without them, so that no stale
number is taken for a fresh one.
"""

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from jird.v1.status_service_pb2 import GetReadinessRequest, Status
from jird_client.errors import ClientError
from jird_web.connections import ConnectionBudget
from jird_web.gate import SearchGate
from jird_web.site import site_of

# What a search through the whole frontend takes, in seconds: from a cached page to what SearXNG still waits for.
_SEARCH_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

Reading = tuple[str, str, Callable[[Status], float]]


def _runs(status: Status, field: str) -> float:
    return float(sum(getattr(run.counts, field) for run in status.crawler.runs))


GAUGES: tuple[Reading, ...] = (
    ("jird_index_documents", "Documents that can be found.", lambda s: s.index.document_count),
    ("jird_index_terms", "Distinct terms, or an upper bound.", lambda s: s.index.term_count),
    ("jird_index_terms_exact", "1 when jird_index_terms is exact.", lambda s: s.index.term_count_exact),
    ("jird_index_generation", "Generation of the metadata.", lambda s: s.index.generation),
    ("jird_index_view_generation", "Generation that searches see.", lambda s: s.index.view_generation),
    ("jird_index_checkpoint_generation", "Generation on disk.", lambda s: s.index.checkpoint_generation),
    ("jird_index_segments", "Segments in use.", lambda s: s.index.segment_count),
    ("jird_index_volatile_segments", "Segments no checkpoint covers.", lambda s: s.index.volatile_segment_count),
    ("jird_index_overlay_documents", "Documents changed since the base.", lambda s: s.index.changed_document_count),
    ("jird_index_overlay_limit", "Changed documents that start a merge.", lambda s: s.index.changed_document_limit),
    ("jird_index_bytes", "Bytes of all segments.", lambda s: s.index.segment_bytes),
    ("jird_index_dirty", "1 when a checkpoint would write.", lambda s: s.index.is_dirty),
    ("jird_index_compaction_running", "1 while a merge runs.", lambda s: s.index.is_merging),
    ("jird_index_compaction_failed", "1 when the last merge failed.", lambda s: s.index.merge_failed),
    ("jird_index_rebuilding", "1 while the index is rebuilt.", lambda s: s.index.is_rebuilding),
    ("jird_crawler_running", "1 while any run is running.", lambda s: s.crawler.is_running),
    ("jird_crawler_guarded", "1 while a resource guard holds the crawl.", lambda s: bool(s.crawler.guard)),
    ("jird_crawler_guard_pauses", "Pauses by resource guards.", lambda s: s.crawler.guards.pause_count),
    (
        "jird_crawler_guard_paused_seconds",
        "Time that resource guards held the crawl.",
        lambda s: s.crawler.guards.paused.ToMilliseconds() / 1_000,
    ),
    ("jird_crawler_memory_reliefs", "Times memory was freed first.", lambda s: s.crawler.guards.relief_count),
    ("jird_crawler_memory_bytes", "Memory of the crawl's processes.", lambda s: s.crawler.guards.memory_bytes),
    ("jird_memory_available_bytes", "Memory left to jird.", lambda s: s.crawler.guards.available_memory_bytes),
    ("jird_crawler_runs", "Runs that are running.", lambda s: len(s.crawler.runs)),
    ("jird_crawler_in_flight", "Requests in flight.", lambda s: s.crawler.in_flight_count),
    ("jird_crawler_workers", "Parse workers that are up.", lambda s: s.crawler.parser_count),
    ("jird_crawler_worker_failures", "Pages lost by parse workers.", lambda s: s.crawler.parser_failure_count),
    ("jird_crawler_max_attempts", "Attempts for a URL in all.", lambda s: s.limits.get("crawl_max_attempts", 0)),
    ("jird_crawler_retry_base_ms", "First delay of a retry.", lambda s: s.limits.get("crawl_retry_base_ms", 0)),
    ("jird_crawler_retry_max_ms", "Longest delay of a retry.", lambda s: s.limits.get("crawl_retry_max_ms", 0)),
    ("jird_crawl_frontier_queued", "Rows that wait, in running runs.", lambda s: _runs(s, "queued_count")),
    ("jird_crawl_frontier_waiting", "Rows that wait for a retry.", lambda s: _runs(s, "waiting_count")),
    (
        "jird_crawl_max_frontier",
        "Ceilings on the rows of running runs.",
        lambda s: sum(run.max_frontier for run in s.crawler.runs),
    ),
    ("jird_crawl_frontier_dropped", "Discoveries dropped at the ceiling.", lambda s: _runs(s, "dropped_count")),
    ("jird_crawl_requests", "Page requests of running runs.", lambda s: _runs(s, "request_count")),
    ("jird_crawl_not_modified", "Documents confirmed unchanged.", lambda s: _runs(s, "unchanged_count")),
    ("jird_crawl_sitemaps", "Sitemaps read by running runs.", lambda s: _runs(s, "sitemap_count")),
    (
        "jird_crawl_refused_links",
        "Links that rules and guards against traps kept out of the frontiers of running runs.",
        lambda s: sum(sum(run.counts.refused_link_counts.values()) for run in s.crawler.runs),
    ),
    ("jird_crawl_held", "Pages gone, and kept: an outage.", lambda s: _runs(s, "held_count")),
    ("jird_robots_cache_origins", "Robots policies in memory.", lambda s: s.crawler.robots_cache_count),
    ("jird_host_deadlines", "Origins with a deadline in memory.", lambda s: s.crawler.origin_deadline_count),
    ("jird_store_pages", "Pages known.", lambda s: s.store.page_count),
    ("jird_store_urls", "URLs known.", lambda s: s.store.url_count),
    ("jird_store_origins", "Origins known.", lambda s: s.store.origin_count),
    ("jird_store_blob_bytes", "Bytes of the content volumes.", lambda s: s.store.blob_bytes),
    ("jird_store_metadata_bytes", "Bytes of the metadata.", lambda s: s.store.metadata_bytes),
    ("jird_store_free_bytes", "Free bytes of the file system.", lambda s: s.store.free_bytes),
    ("jird_process_restarts", "Restarts of child processes.", lambda s: sum(p.restart_count for p in s.processes)),
    ("jird_memory_bytes", "Memory of the daemon's processes.", lambda s: sum(p.memory_bytes for p in s.processes)),
)


class Metrics:
    """The registries of one frontend.

    Args:
        budget: Where connections are counted; None when the guard is not in use.
        gate: Where searches are counted.
    """

    def __init__(self, budget: ConnectionBudget | None, gate: SearchGate) -> None:
        disable_created_metrics()  # a series beside each counter, of no use here
        self._own = CollectorRegistry()
        self._daemon = CollectorRegistry()
        self._up = Gauge("jird_up", "1 when the daemon could be read.", registry=self._own)
        self.requests = Counter("jird_http_requests", "Requests answered.", registry=self._own)
        self.errors = Counter("jird_http_errors", "Requests answered with 500 or above.", registry=self._own)
        self.search_seconds = Histogram(
            "jird_search_seconds", "Time of a search in the frontend.", buckets=_SEARCH_BUCKETS_S, registry=self._own
        )
        refused = Gauge("jird_http_refused_searches", "Searches refused while too many ran.", registry=self._own)
        refused.set_function(lambda: gate.refused_count)
        if budget is not None:
            connections = Gauge("jird_http_connections", "Open HTTP connections.", registry=self._own)
            connections.set_function(lambda: budget.open_count)
            rejected = Gauge("jird_http_refused_connections", "HTTP connections refused.", registry=self._own)
            rejected.set_function(lambda: budget.refused_count)
        self._ready = Gauge("jird_ready", "1 when searches can be answered.", registry=self._daemon)
        self._gauges = [(Gauge(name, text, registry=self._daemon), read) for name, text, read in GAUGES]

    def render_up(self, status: Status, is_ready: bool) -> bytes:
        """Return the exposition for a daemon that could be read."""
        self._up.set(1)
        self._ready.set(is_ready)
        for gauge, read in self._gauges:
            gauge.set(read(status))
        return generate_latest(self._own) + generate_latest(self._daemon)

    def render_down(self) -> bytes:
        """Return the exposition while the daemon cannot be read: only our own numbers, and jird_up 0."""
        self._up.set(0)
        return generate_latest(self._own)


async def metrics(request: Request) -> Response:
    """`GET /metrics`."""
    site = site_of(request)
    registry: Metrics = request.app.state.metrics
    headers = {"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_LATEST}
    try:
        status = await site.status()
        ready = await site.call(site.client.stubs.status.GetReadiness, GetReadinessRequest())
    except ClientError:
        return Response(registry.render_down(), 503, headers)
    return Response(registry.render_up(status, ready.is_ready), 200, headers)
