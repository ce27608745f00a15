"""Why a URL is, or is not, crawled, in words."""

from jird.v1.crawl_service_pb2 import (
    RULE_OUTCOME_REFUSED,
    RULE_OUTCOME_WAITING,
    ExplainUrlResponse,
    RuleOutcome,
    RuleVerdict,
)
from jird_cli.layout import facts, moment, table
from jird_client.exit_codes import exit_code_name
from jird_client.plain_data import enum_name
from jird_client.text import plain, readable_url


def explanation_report(answer: ExplainUrlResponse) -> str:
    """Return the verdicts in order, and what they come to."""
    known = f"HTTP {answer.http_status}, {exit_code_name(answer.exit_code)}" if answer.fetch_time.seconds else ""
    head = facts(
        [
            ("URL", readable_url(answer.url)),
            ("run", str(answer.run_id) if answer.run_id else "none: judged as a seed of a new one"),
            ("last answer", f"{moment(answer.fetch_time)} ({known})" if known else "never"),
            ("searchable", "yes" if answer.is_searchable else "no"),
            ("not before", moment(answer.next_time)),
        ]
    )
    rows = [
        (verdict.rule, enum_name(RuleOutcome.DESCRIPTOR, verdict.outcome), _words(verdict))
        for verdict in answer.verdicts
    ]
    return f"{head}\n\n{table(('rule', 'says', 'because'), rows)}\n\n{_summary(answer)}"


def _words(verdict: RuleVerdict) -> str:
    return plain(f"{verdict.reason}: {verdict.message}" if verdict.reason else verdict.message)


def _summary(answer: ExplainUrlResponse) -> str:
    deciding = answer.deciding
    if deciding.outcome == RULE_OUTCOME_REFUSED:
        return f"It is not asked for: {deciding.rule} refuses it."
    if deciding.outcome == RULE_OUTCOME_WAITING:
        return f"It is not asked for now: {deciding.rule} has it wait."
    if not answer.run_id:
        return "Nothing is against it; `jirdctl crawl start` with it would ask for it."
    return "Nothing is against it: it is asked for when it is found and it is its turn."
