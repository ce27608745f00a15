"""How an action of the crawler can end: the fixed list of exit codes (U48)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Numbers of the crawl log, the metrics and the journal; codes are referred to by name (U49)."""

    DATABASE_ERROR = -3
    CANCELLED = -2
    SOMEONE_STOLE_MY_WORK = -1
    FILE_INGESTED = 20
    FILE_OF_UNKNOWN_TYPE = 29
    PERMANENT_REDIRECT = 31
    REDIRECT = 32
    FILE_DID_NOT_CHANGE = 34
    SERVER_BLAMED_CLIENT = 40
    FILE_GONE = 41
    DID_NOT_UNDERSTAND_ANSWER = 42
    FILE_NOT_FOUND = 44
    RATE_LIMITED = 49
    SERVER_INTERNAL_ERROR = 50
    CONNECTION_FAILED = 100
    REQUEST_TIMEOUT = 101
    ERROR_READING_RESPONSE = 102
    BLOCKED_BY_ROBOTS_TXT = 170
    BLOCKED_AT_REQUEST_OF_REMOTE = 171
    BLOCKED_ORIGIN_BY_LOCAL_POLICY = 172
    BLOCKED_URL_BY_LOCAL_POLICY = 173
    BLOCKED_BY_CHALLENGE = 174
    NOT_CANONICAL = 180
    DUPLICATE = 181
    UNKNOWN_ERROR = -999


class CrawlType(IntEnum):
    """What kind of action a log entry records (U46)."""

    FILE_CRAWL = 0
    ROBOTSTXT_FETCH = 1
    METADATA_CRAWL = 2


# Ends that may be a fluke: tried a second time at once, one time (U53).
FLUKES = frozenset(
    {
        ExitCode.UNKNOWN_ERROR,
        ExitCode.CONNECTION_FAILED,
        ExitCode.REQUEST_TIMEOUT,
        ExitCode.ERROR_READING_RESPONSE,
    }
)

# Ends that say something about the content of a URL (U54).
CONTENTFUL = frozenset(
    {
        ExitCode.FILE_INGESTED,
        ExitCode.FILE_OF_UNKNOWN_TYPE,
        ExitCode.PERMANENT_REDIRECT,
        ExitCode.REDIRECT,
        ExitCode.FILE_NOT_FOUND,
        ExitCode.FILE_GONE,
        ExitCode.NOT_CANONICAL,
        ExitCode.DUPLICATE,
    }
)
