"""What an answer means for the URL and for its origin. Pure: one table from status and failure to verdict."""

from dataclasses import dataclass

from jird_daemon.crawler.response import Response
from jird_daemon.frontier.politeness import Trouble
from jird_daemon.outcome import FLUKES, ExitCode

# RFC 9110: the method and body are of no interest to a crawler, so 301 and 308 are alike, and so are the others.
_PERMANENT = frozenset({301, 308})
_TEMPORARY = frozenset({302, 303, 307})
# J149: worth another try, whatever the site meant by it.
_TRANSIENT = frozenset({408, 425})


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one request ended.

    Attributes:
        exit_code: For the crawl log; FILE_INGESTED stands for "an answer with content", which parsing may still change.
        trouble: Why the origin is left alone; None when only its delay runs.
        is_transient: The URL may be tried again (J149).
    """

    exit_code: ExitCode
    trouble: Trouble | None = None
    is_transient: bool = False


def judge(response: Response, *, was_conditional: bool) -> Verdict:
    """Judge a page's answer.

    Args:
        response: The answer or failure.
        was_conditional: Whether validators were sent; a 304 nobody asked for is not understood.
    """
    if response.failure is not None:
        return _judge_failure(response.failure)
    status = response.status
    if status in (200, 203):
        return Verdict(ExitCode.FILE_INGESTED)
    if status in _PERMANENT:
        return Verdict(ExitCode.PERMANENT_REDIRECT)
    if status in _TEMPORARY:
        return Verdict(ExitCode.REDIRECT)
    if status == 304 and was_conditional:
        return Verdict(ExitCode.FILE_DID_NOT_CHANGE)
    if 400 <= status < 600:
        return _judge_error(status)
    return Verdict(ExitCode.DID_NOT_UNDERSTAND_ANSWER)


def _judge_failure(failure: ExitCode) -> Verdict:
    if failure in FLUKES:
        return Verdict(failure, Trouble.FAILING, is_transient=True)
    return Verdict(failure)


def _judge_error(status: int) -> Verdict:
    if status == 429:
        return Verdict(ExitCode.RATE_LIMITED, Trouble.RATE_LIMITED, is_transient=True)
    if status >= 500:
        return Verdict(ExitCode.SERVER_INTERNAL_ERROR, Trouble.FAILING, is_transient=True)
    if status in _TRANSIENT:
        return Verdict(ExitCode.SERVER_BLAMED_CLIENT, Trouble.FAILING, is_transient=True)
    if status in (401, 403):
        return Verdict(ExitCode.SERVER_BLAMED_CLIENT, Trouble.BLAMED)
    if status == 404:
        return Verdict(ExitCode.FILE_NOT_FOUND)
    if status == 410:
        return Verdict(ExitCode.FILE_GONE)
    return Verdict(ExitCode.SERVER_BLAMED_CLIENT)


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """What an answer for /robots.txt means (RFC 9309 section 2.3.1).

    Attributes:
        exit_code: For the crawl log.
        is_available: False: nothing is allowed for now, and it is asked for again (F1, J112).
        has_rules: Whether the body is to be parsed; an available file without rules allows everything.
        trouble: Why the origin is left alone; None when it answered.
    """

    exit_code: ExitCode
    is_available: bool
    has_rules: bool = False
    trouble: Trouble | None = None


def judge_robots(response: Response) -> RobotsVerdict:
    """Judge the last answer of a chain of redirects; a redirect that is still one was not resolved."""
    verdict = judge(response, was_conditional=False)
    status = response.status
    if 200 <= status < 300:
        return RobotsVerdict(ExitCode.FILE_INGESTED, is_available=True, has_rules=status in (200, 203))
    # RFC 9309 section 2.3.1.3: 4xx means "no rules"; 429, 408 and 425 mean "not now" (J111, J112). 401 and 403 are
    # 4xx like others here; that is logged.
    if 400 <= status < 500 and not verdict.is_transient:
        return RobotsVerdict(verdict.exit_code, is_available=True)
    trouble = verdict.trouble if verdict.trouble is Trouble.RATE_LIMITED else Trouble.ROBOTS
    return RobotsVerdict(verdict.exit_code, is_available=False, trouble=trouble)
