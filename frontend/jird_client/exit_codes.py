"""Exit codes of crawl actions, as people write them: `file_not_found` or `44`."""

from jird.v1.document_pb2 import CrawlExitCode

_PREFIX = "CRAWL_EXIT_CODE_"


def exit_code_name(number: int) -> str:
    """Return the short name, e.g. 44 as "file_not_found"; a number without a name as itself."""
    try:
        return CrawlExitCode.Name(number).removeprefix(_PREFIX).lower()
    except ValueError:
        return str(number)


def exit_code_names() -> list[str]:
    """Return all short names, in the order of the contract, without the unset one."""
    return [name.removeprefix(_PREFIX).lower() for name, number in CrawlExitCode.items() if number]


def parse_exit_code(text: str) -> int:
    """Return the number for a name or number that a person typed; dashes and upper case are understood.

    Raises:
        ValueError: There is no such exit code; the message lists the names.
    """
    name = text.strip().lower().replace("-", "_") if not text.strip().lstrip("-").isdigit() else text.strip()
    for known in exit_code_names():
        number = int(CrawlExitCode.Value(_PREFIX + known.upper()))
        if name in (known, str(number)):
            return number
    raise ValueError(f"there is no exit code {text!r}; there are: {', '.join(exit_code_names())}")
