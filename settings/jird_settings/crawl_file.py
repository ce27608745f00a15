"""A crawl of one's own as a TOML file: `jirdctl crawl start --file crawl.toml` (U5, U106-U118).

Keys are declared like settings; what is wrong with one is said with file, line, key, value and range.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jird_settings.criterium import CriteriumError, compile_criterium, dotted
from jird_settings.declare import setting, settings_of
from jird_settings.error import SettingsError, shorten
from jird_settings.kinds import Choice, FilePath, Integer, Several, Text
from jird_settings.source import Source, checked, read_source
from jird_settings.tables import MINUTE_MS, RECRAWL_INTERVAL, SKIP_PATTERNS, USER_AGENT

SEEDS_MAX = 1_000
POLICIES_MAX = 10_000
REASON_CHARS_MAX = 1_000
PARAMETERS_MAX = 1_000
DO_NOT_CRAWL = "do_not_crawl"
QUERY_PARAMETERS = "url_query_parameters"
# What the key is called where crawl files of this kind come from.
QUERY_PARAMETERS_ALIAS = "url_query_paramters"

_SEED = Text(r"[^\s\x00-\x1f]{1,4096}", "a URL of at most 4096 characters")
_PARAMETER = Text(r".{1,200}", "a parameter's name of 1 to 200 characters")
_PARAMETERS = Several(_PARAMETER, 0, PARAMETERS_MAX)
_REASON = Text(r".{0,1000}", f"a text of at most {REASON_CHARS_MAX} characters")


@dataclass(frozen=True, slots=True)
class Policy:
    """One rule of a crawl: why, and when; `allow` only of those for query parameters."""

    reason: str
    criterium: Any  # as TOML has it; jird_settings.criterium reads it
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlFile:
    """What a crawl file says; None where it says nothing."""

    name: str = setting(
        Text(r"[^\x00-\x1f]{0,200}", "a text of at most 200 characters"), "", "Name for people.", env=""
    )
    description: str = setting(
        Text(r".{0,10000}", "a text of at most 10000 characters"), "", "What the crawl is for; Markdown.", env=""
    )
    database_file: str | None = setting(
        Text(r"[^\x00]{1,4096}", "a path of 1 to 4096 characters"), None,
        "Last parts of the daemon's state_dir; another daemon refuses the file.", ids="U107", env="",
    )  # fmt: skip
    seeds: tuple[str, ...] = setting(
        Several(_SEED, 1, SEEDS_MAX), (), "Where the crawl begins; links are followed to the seeds' origins.",
        ids="U112", env="",
    )  # fmt: skip
    default_delay_ms: int | None = setting(
        Integer(0, 10 * MINUTE_MS), None,
        "Least delay between two requests to an origin, milliseconds; 1000 to 2000 is kind.", ids="U108", env="",
    )  # fmt: skip
    max_commands_per_run: int | None = setting(
        Integer(0, 10_000_000), None, "Request attempts until the run ends; 60 to 100 for each site is a start.",
        ids="U109", env="",
    )  # fmt: skip
    max_depth: int | None = setting(Integer(0, 32), None, "Links followed from a seed.", ids="J55", env="")
    scope: str | None = setting(
        Choice.of("same-origin", "seeds", "open"), None,
        "Which links belong to the run; by default those to the seeds' origins.",
        env="",
    )  # fmt: skip
    recrawl_interval: int | None = setting(
        RECRAWL_INTERVAL,
        None,
        "Age at which a page is crawled again by itself; 4 weeks is a start.",
        ids="U110",
        env="",
    )
    user_agent: str | None = setting(USER_AGENT, None, "Name of the crawler for this crawl.", ids="U111", env="")
    query_urls: str | None = setting(
        Choice.of("allow", "policy"), None,
        "Whether every URL with a query string is crawled, or only as policies allow, which is the default of a file.",
        ids="U115", env="",
    )  # fmt: skip
    skip_url_patterns: tuple[str, ...] = setting(
        SKIP_PATTERNS, (), "URLs that are done without a request; * stands for any characters, ? for one.",
        ids="S9", env="",
    )  # fmt: skip
    policy_files: tuple[Path, ...] = setting(
        Several(FilePath(), 0, 100), (), "Files with further policies, beside this one.", ids="U118", env=""
    )
    do_not_crawl: tuple[Policy, ...] = field(default=())
    url_query_parameters: tuple[Policy, ...] = field(default=())


def read_crawl_file(path: Path, policy_files: tuple[Path, ...] = ()) -> CrawlFile:
    """Read a crawl file and the policy files that it names.

    Args:
        path: The file.
        policy_files: Further ones (`--policy-file`).

    Raises:
        SettingsError: Something cannot be used; the message is one line with the place, the key, the value and what is
            allowed.
    """
    source = read_source(path)
    declared = {item.name: item for item in settings_of(CrawlFile)}
    values: dict[str, Any] = {
        name: checked(item, source.data[name], name, source.place((name,)))
        for name, item in declared.items()
        if name in source.data and name != "policy_files"
    }
    sources = [source, *(read_source(file) for file in (*_beside(path, source), *policy_files))]
    forbid, query = _policies(sources)
    return CrawlFile(**values, do_not_crawl=forbid, url_query_parameters=query)


def read_policy_files(paths: tuple[Path, ...]) -> CrawlFile:
    """Read policy files alone: a crawl file with nothing but policies (U118).

    Raises:
        SettingsError: As read_crawl_file.
    """
    forbid, query = _policies([read_source(path) for path in paths])
    return CrawlFile(do_not_crawl=forbid, url_query_parameters=query)


def _beside(path: Path, source: Source) -> Iterator[Path]:
    """Policy files that a crawl file names, relative to its own folder."""
    if "policy_files" in source.data:
        item = next(item for item in settings_of(CrawlFile) if item.name == "policy_files")
        checked(item, source.data["policy_files"], "policy_files", source.place(("policy_files",)))
        yield from (path.parent / name for name in source.data["policy_files"])


def _policies(sources: list[Source]) -> tuple[tuple[Policy, ...], tuple[Policy, ...]]:
    for source in sources:
        # A shared policy file has policies alone; a crawl file may serve as one, its other keys do not count there.
        known = [item.name for item in settings_of(CrawlFile)]
        source.refuse_unknown((), [DO_NOT_CRAWL, QUERY_PARAMETERS, QUERY_PARAMETERS_ALIAS, *known])
    forbid = [policy for source in sources for policy in _read_policies(source, DO_NOT_CRAWL)]
    query = [
        policy
        for source in sources
        for key in (QUERY_PARAMETERS, QUERY_PARAMETERS_ALIAS)
        for policy in _read_policies(source, key)
    ]
    for name, found in ((DO_NOT_CRAWL, forbid), (QUERY_PARAMETERS, query)):
        if len(found) > POLICIES_MAX:
            raise SettingsError(f"{sources[0].name}: {len(found)} {name} policies; at most {POLICIES_MAX}")
    return tuple(forbid), tuple(query)


def _read_policies(source: Source, key: str) -> Iterator[Policy]:
    raw = source.data.get(key, [])
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        raise SettingsError(f"{source.place((key,))}: {key} is {shorten(raw)}; it must be [[{key}]] tables")
    for number, table in enumerate(raw):
        yield _read_policy(source, key, number, table)


def _read_policy(source: Source, key: str, number: int, table: dict[str, Any]) -> Policy:
    place, name = (key, number), f"{key}[{number + 1}]"
    is_query = key != DO_NOT_CRAWL
    source.refuse_unknown(place, ["reason", "if", *(["allow"] if is_query else [])])
    if "if" not in table:
        raise SettingsError(f"{source.place(place)}: {name} has no if; it must say for which URLs it is")
    if is_query and "allow" not in table:
        raise SettingsError(f"{source.place(place)}: {name} has no allow; it must list parameters")
    try:
        compile_criterium(table["if"])
    except CriteriumError as error:
        where = source.place((*place, *error.path))
        raise SettingsError(f"{where}: {name}.{dotted(error.path)} {error.message}") from None
    values: dict[str, Any] = {}
    for part, kind in (("reason", _REASON), ("allow", _PARAMETERS)):
        if part not in table:
            continue
        try:
            values[part] = kind.read(table[part])
        except ValueError:
            at = source.place((*place, part))
            raise SettingsError(f"{at}: {name}.{part} is {shorten(table[part])}; it must be {kind.allowed}") from None
    return Policy(values.get("reason", ""), table["if"], values.get("allow", ()))
