"""`/api/status`: what the engine holds and does, and what this frontend allows (J79-J84, J159).

Nothing here is secret: no token, seed, path, process id or exception text (J82).
"""

from collections.abc import Mapping
from typing import Any

from jird.v1.crawl_service_pb2 import CrawlRunReason, CrawlRunState
from jird.v1.status_service_pb2 import CrawlRunSummary, GuardStatus, IndexStatus, Status
from jird_client.exit_codes import exit_code_name
from jird_client.plain_data import enum_name, iso_time, seconds
from jird_settings import Web
from jird_web import guard, params
from jird_web.body import FORM_BYTES_MAX, SEED_CHARS_MAX

SEARCH_PAGE_WINDOW = 100_000  # J159; shown when the daemon does not say otherwise


def status_data(status: Status, web: Web) -> dict[str, Any]:
    """Return the answer of /api/status."""
    runs = [_run(run) for run in status.crawler.runs]
    recent = [_run(run) for run in status.crawler.recent_runs]
    return {
        "version": status.version,
        "started": iso_time(status.start_time),
        **_index(status.index),
        "crawler": _crawler(status),
        "crawl": next(iter([*runs, *recent]), None),
        "crawls": runs,
        "recent_crawls": recent,
        "store": _store(status),
        "processes": [
            {
                "kind": process.kind,
                "is_up": process.is_up,
                "restarts": process.restart_count,
                "memory_bytes": process.memory_bytes,
                "uptime_s": round(seconds(process.uptime), 1),
            }
            for process in status.processes
        ],
        "search_page_window": status.limits.get("search_page_window", SEARCH_PAGE_WINDOW),
        "limits": dict(sorted(status.limits.items())),
        "http": http_data(status, web),
    }


def source_of(index: IndexStatus) -> str:
    """Return where the view in use comes from: "rebuild", "empty", "manifest", or "manifest+volatile"."""
    if index.is_rebuilding:
        return "rebuild"
    if index.query_engine == "empty":
        return "empty"
    return "manifest+volatile" if index.volatile_segment_count else "manifest"


def _index(index: IndexStatus) -> dict[str, Any]:
    return {
        "documents": index.document_count,
        "terms": index.term_count,
        "terms_exact": index.term_count_exact,
        "generation": index.generation,
        "view_generation": index.view_generation,
        "checkpoint_generation": index.checkpoint_generation,
        "segments": index.segment_count,
        "volatile_segments": index.volatile_segment_count,
        "changed_documents": index.changed_document_count,
        "changed_document_limit": index.changed_document_limit,
        "query_engine": index.query_engine,
        "core_resident": index.query_engine == "core",
        "compaction": {"running": index.is_merging, "failed": index.merge_failed},
        "rebuilding": index.is_rebuilding,
        "source": source_of(index),
        "dirty": index.is_dirty,
        "index_bytes": index.segment_bytes,
        "total_length": index.total_length,
    }


def _crawler(status: Status) -> dict[str, Any]:
    crawler = status.crawler
    state = "paused by a guard" if crawler.guard else "running" if crawler.is_running else "idle"
    return {
        "state": state,
        "is_running": crawler.is_running,
        "guard": crawler.guard,
        "guards": _guards(crawler.guards),
        "in_flight": crawler.in_flight_count,
        "requests_per_second": round(crawler.requests_per_second, 1),
        "waiting_origins": dict(sorted(crawler.waiting_origin_counts.items())),
        "workers": crawler.parser_count,
        "worker_failures": crawler.parser_failure_count,
        "robots_cache": crawler.robots_cache_count,
        "host_deadlines": crawler.origin_deadline_count,
    }


def _guards(guards: GuardStatus) -> dict[str, Any]:
    return {
        "pauses": guards.pause_count,
        "paused_s": guards.paused.ToMilliseconds() / 1_000,
        "reliefs": guards.relief_count,
        "memory_bytes": guards.memory_bytes,
        "available_memory_bytes": guards.available_memory_bytes,
        "commit_ms": guards.commit_time.ToMilliseconds() if guards.HasField("commit_time") else None,
    }


def _run(run: CrawlRunSummary) -> dict[str, Any]:
    counts = run.counts
    return {
        "crawl_id": run.run_id,
        "state": enum_name(CrawlRunState.DESCRIPTOR, run.state),
        "reason": enum_name(CrawlRunReason.DESCRIPTOR, run.reason),
        "ended": iso_time(run.end_time) if run.HasField("end_time") else None,
        "frontier": {
            "queued": counts.queued_count,
            "waiting": counts.waiting_count,
            "in_flight": counts.in_flight_count,
            "discovered": counts.discovered_count,
            "dropped": counts.dropped_count,
        },
        "max_frontier": run.max_frontier,
        "scope_reached": run.scope_reached,
        "active_s": round(seconds(run.active_time), 1),
        "requests": counts.request_count,
        "budget_left": run.budget_left_count,
        "ingested": counts.ingested_count,
        "not_modified_this_run": counts.unchanged_count,
        "sitemaps_this_run": counts.sitemap_count,
        "redirects": counts.redirect_count,
        "retired": counts.retired_count,
        "held": counts.held_count,
        "failed": counts.failed_count,
        "skipped": counts.skipped_count,
        "beyond_depth": counts.beyond_depth_count,
        "received_bytes": counts.received_bytes,
        "endings": {exit_code_name(code): count for code, count in _most_first(counts.exit_code_counts)},
    }


def _most_first(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _store(status: Status) -> dict[str, Any]:
    store = status.store
    return {
        "pages": store.page_count,
        "urls": store.url_count,
        "origins": store.origin_count,
        "blobs": store.blob_count,
        "blob_bytes": store.blob_bytes,
        "metadata_bytes": store.metadata_bytes,
        "schema_version": store.schema_version,
        "free_bytes": store.free_bytes,
    }


def http_data(status: Status, web: Web) -> dict[str, Any]:
    """Return the frontend's own limits in effect (J81)."""
    return {
        "authentication": {"mode": web.admin, "token_configured": status.has_admin_token},
        "max_connections": web.max_connections,
        "max_connections_per_ip": web.max_connections_per_ip,
        "accepts_per_second_per_ip": web.accepts_per_second_per_ip,
        "idle_timeout_ms": web.idle_timeout_ms,
        "header_timeout_ms": web.header_timeout_ms,
        "body_timeout_ms": web.body_timeout_ms,
        "search_concurrency": web.search_concurrency,
        "search_queue": web.search_queue,
        "max_header_bytes": guard.HEAD_BYTES_MAX,
        "max_transport_body_bytes": guard.BODY_BYTES_MAX,
        "max_body_bytes": FORM_BYTES_MAX,
        "max_query_chars": params.QUERY_CHARS_MAX,
        "max_seed_chars": SEED_CHARS_MAX,
        "max_limit": params.LIMIT_MAX,
        "max_offset": params.OFFSET_MAX,
    }
