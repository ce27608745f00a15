"""The criteria of crawl policies: read from TOML or JSON, checked, and compiled to a function of a URL (U100-U105).

A criterium is a table with one key, or a word where it takes no argument:

    {url = {path = {has_prefix = "/login"}}}          {and = [..., ...]}          "always"

`and`, `or`, `not`, `not_match`, `always` and `never` may stand wherever a criterium may, at every level. A part
of a URL that is not there (query, password, fragment) is None: `is_none` matches it, and nothing else does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jird_settings.error import shorten

# Levels of nesting; a policy that people can read has five.
DEPTH_MAX = 32
# Criteria in one policy; a list of hosts that are left out may be long.
CRITERIA_MAX = 10_000
TEXT_CHARS_MAX = 4_096


class UrlView(Protocol):
    """The parts of a URL that criteria look at."""

    @property
    def url(self) -> str:
        """The whole URL, canonical, without fragment."""
        ...

    @property
    def scheme(self) -> str:
        """Its scheme."""
        ...

    @property
    def host(self) -> str:
        """Its host."""
        ...

    @property
    def port(self) -> int:
        """Its port, the scheme's own where none is written."""
        ...

    @property
    def path(self) -> str:
        """Its path, which begins with a slash."""
        ...

    @property
    def query(self) -> str | None:
        """Its query without the question mark; None when there is none."""
        ...


Test = Callable[[Any], bool]
Canonical = Callable[[str], str]


class CriteriumError(ValueError):
    """A criterium that means nothing: where in it, and why. The path is of keys and numbers from 0."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(f"{dotted(path)} {message}")
        self.path = path
        self.message = message


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as TOML writes it, items of lists counted from 1: `if.and[2].url`."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def compile_criterium(raw: Any, canonical: Canonical = str) -> Callable[[UrlView], bool]:
    """Read a crawl policy criterium (U117).

    Args:
        raw: What stands under `if`: tables, lists, strings, numbers and booleans as TOML and JSON have them.
        canonical: Gives the identity of a URL that a criterium names; raises ValueError for what is none.

    Raises:
        CriteriumError: It is not in the language; its path begins with "if".
    """
    return _Compiler(canonical).compile(raw, ("if",), _POLICY, 0)


class _Compiler:
    def __init__(self, canonical: Canonical) -> None:
        self.canonical = canonical
        self._count = 0

    def compile(self, raw: Any, path: tuple[str | int, ...], kind: "_Kind", depth: int) -> Test:
        self._count += 1
        if depth > DEPTH_MAX or self._count > CRITERIA_MAX:
            what = f"more than {DEPTH_MAX} levels" if depth > DEPTH_MAX else f"more than {CRITERIA_MAX} criteria"
            raise CriteriumError(path, f"{what} in one policy")
        name, argument = _single(raw, path, kind)
        path = (*path, name)
        if name in _CHAIN:
            return self._chain(name, argument, path, kind, depth + 1)
        if name in kind.words:
            _no_argument(argument, path)
            return kind.words[name]
        return kind.variants[name](self, argument, path, depth + 1)

    def _chain(self, name: str, argument: Any, path: tuple[str | int, ...], kind: "_Kind", depth: int) -> Test:
        if name in ("always", "never"):
            _no_argument(argument, path)
            result = name == "always"
            return lambda _: result
        if name in ("not", "not_match"):
            inner = self.compile(argument, path, kind, depth)
            return lambda value: not inner(value)
        if not isinstance(argument, list | tuple):
            raise CriteriumError(path, f"is {shorten(argument)}; it must be a list of criteria")
        tests = [self.compile(item, (*path, number), kind, depth) for number, item in enumerate(argument)]
        if name == "and":
            return lambda value: all(test(value) for test in tests)
        return lambda value: any(test(value) for test in tests)


Variant = Callable[[_Compiler, Any, tuple[str | int, ...], int], Test]


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a criterium of one type may be, beside a chain."""

    name: str
    variants: Mapping[str, Variant]
    words: Mapping[str, Test]

    @property
    def known(self) -> str:
        return ", ".join([*self.variants, *self.words, *_CHAIN])


_CHAIN = ("and", "or", "not", "not_match", "always", "never")


def _single(raw: Any, path: tuple[str | int, ...], kind: _Kind) -> tuple[str, Any]:
    if isinstance(raw, str):
        raw = {raw: True} if raw in kind.words or raw in ("always", "never") else raw
    if not isinstance(raw, dict) or len(raw) != 1:
        found = f"has {len(raw)} keys" if isinstance(raw, dict) else f"is {shorten(raw)}"
        raise CriteriumError(path, f"{found}; it must be a table with one of {kind.known}")
    ((name, argument),) = raw.items()
    if name not in kind.variants and name not in kind.words and name not in _CHAIN:
        raise CriteriumError((*path, name), f"is no {kind.name} criterium; known: {kind.known}")
    return name, argument


def _no_argument(argument: Any, path: tuple[str | int, ...]) -> None:
    if argument not in (True, "", {}, []):
        raise CriteriumError(path, f"is {shorten(argument)}; it takes no argument: write true")


def _text(argument: Any, path: tuple[str | int, ...]) -> str:
    if not isinstance(argument, str) or len(argument) > TEXT_CHARS_MAX:
        raise CriteriumError(
            path, f"is {shorten(argument)}; it must be a string of at most {TEXT_CHARS_MAX} characters"
        )
    return argument


def _number(argument: Any, path: tuple[str | int, ...]) -> float:
    if isinstance(argument, bool) or not isinstance(argument, int | float) or argument != argument:
        raise CriteriumError(path, f"is {shorten(argument)}; it must be a number")
    return argument


def _string_test(test: Callable[[str, str], bool]) -> Variant:
    def variant(_: _Compiler, argument: Any, path: tuple[str | int, ...], _depth: int) -> Test:
        wanted = _text(argument, path)
        return lambda value: value is not None and test(value, wanted)

    return variant


def _length(compiler: _Compiler, argument: Any, path: tuple[str | int, ...], depth: int) -> Test:
    inner = compiler.compile(argument, path, _NUMBER, depth)
    return lambda value: value is not None and inner(len(value))


def _number_test(test: Callable[[float, float], bool]) -> Variant:
    def variant(_: _Compiler, argument: Any, path: tuple[str | int, ...], _depth: int) -> Test:
        wanted = _number(argument, path)
        return lambda value: value is not None and test(value, wanted)

    return variant


def _in_list(_: _Compiler, argument: Any, path: tuple[str | int, ...], _depth: int) -> Test:
    if not isinstance(argument, list | tuple) or len(argument) > CRITERIA_MAX:
        raise CriteriumError(path, f"is {shorten(argument)}; it must be a list of numbers")
    wanted = frozenset(_number(item, (*path, number)) for number, item in enumerate(argument))
    return lambda value: value in wanted


def _boolean_equals(_: _Compiler, argument: Any, path: tuple[str | int, ...], _depth: int) -> Test:
    if not isinstance(argument, bool):
        raise CriteriumError(path, f"is {shorten(argument)}; it must be true or false")
    return lambda value: value is argument


def _is_none(value: object) -> bool:
    return value is None


def _part(read: Callable[[UrlView], Any], kind: Callable[[], _Kind]) -> Variant:
    def variant(compiler: _Compiler, argument: Any, path: tuple[str | int, ...], depth: int) -> Test:
        inner = compiler.compile(argument, path, kind(), depth)
        return lambda view: inner(read(view))

    return variant


def _same_url(compiler: _Compiler, argument: Any, path: tuple[str | int, ...], _depth: int) -> Test:
    text = _text(argument, path)
    try:
        wanted = compiler.canonical(text)
    except ValueError as error:
        raise CriteriumError(path, f"is {shorten(text)}, which is no URL: {error}") from None
    # What is crawled has no fragment (U82), so a URL with one equals nothing; as a document it is the one without.
    is_never = path[-1] == "equals" and "#" in text
    return lambda view: not is_never and view.url == wanted


STRING = _Kind(
    "string",
    {
        "equals": _string_test(lambda value, wanted: value == wanted),
        "has_prefix": _string_test(str.startswith),
        "has_suffix": _string_test(str.endswith),
        "contains": _string_test(str.__contains__),
        "length": _length,
    },
    {"is_none": _is_none},
)
_NUMBER = _Kind(
    "number",
    {
        "equals": _number_test(lambda value, wanted: value == wanted),
        "less_than": _number_test(lambda value, wanted: value < wanted),
        "less_than_or_equal": _number_test(lambda value, wanted: value <= wanted),
        "greater_than": _number_test(lambda value, wanted: value > wanted),
        "greater_than_or_equal": _number_test(lambda value, wanted: value >= wanted),
        "in_list": _in_list,
    },
    {"is_none": _is_none},
)
BOOLEAN = _Kind("boolean", {"equals": _boolean_equals}, {"is_none": _is_none})
_ORIGIN_PARTS: dict[str, Variant] = {
    "scheme": _part(lambda view: view.scheme, lambda: STRING),
    "host": _part(lambda view: view.host, lambda: STRING),
    "port": _part(lambda view: view.port, lambda: _NUMBER),
}
_URL = _Kind(
    "URL",
    {
        # A URL with a user name or password is never crawled (URL_USERINFO), so these parts have their defaults.
        "user": _part(lambda _: "", lambda: STRING),
        "password": _part(lambda _: None, lambda: STRING),
        "path": _part(lambda view: view.path, lambda: STRING),
        "query": _part(lambda view: view.query, lambda: STRING),
        "fragment": _part(lambda _: None, lambda: STRING),
        **_ORIGIN_PARTS,
        "equals": _same_url,
        "same_document_as": _same_url,
    },
    {},
)
_POLICY = _Kind("crawl policy", {"url": _part(lambda view: view, lambda: _URL)}, {})


def compile_value(raw: Any, kind_name: str) -> Test:
    """Compile a criterium on a bare string, number or boolean; for parts that are not of a URL, and for tests.

    Raises:
        CriteriumError: It is not in the language.
    """
    kinds = {kind.name: kind for kind in (STRING, _NUMBER, BOOLEAN)}
    return _Compiler(str).compile(raw, ("if",), kinds[kind_name], 0)
