"""A query as typed to a query tree; query_syntax.py says how it is split, query_words.py what becomes of words.

Within a group (the whole query, or parentheses) words are alternatives that rank; phrases must occur, unless OR stands
beside them; filters and exclusions hold for the whole group. Filters of one name are alternatives (site:a.org
site:b.org), different ones must all hold; intitle: and inurl: must each hold.

The parser repairs rather than refuses: operators without operands and parentheses without a partner are text.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from ada_url import idna

from jird_daemon.errors import InvalidQueryError
from jird_daemon.index.query_syntax import Part, PartKind, split_query
from jird_daemon.index.query_words import QueryTerm, WordReader, any_of
from jird_native import And, Field, Filter, Namespace, Not, Or, Phrase, Query, Term

QUERY_CHARS_MAX = 1024
# Deeper parentheses are read as if they were not there. A group is at most four nodes deep (And, Or, And, Not) and
# a word two, so that a tree stays within the 16 that the engine takes.
GROUP_DEPTH_MAX = 2

# Nodes that the engine takes. Only odd text comes near: a typical word is one node.
QUERY_NODES_MAX = 256

_WORD_FILTERS = {"intitle": frozenset({Field.TITLE}), "inurl": frozenset({Field.URL})}
_KEYWORD_FILTERS = {"site": Namespace.SITE, "host": Namespace.HOST, "lang": Namespace.LANGUAGE}
# UQ4: how other engines exclude a word. Here it is a word, for the sake of pasted commands, so people are told.
_EXCLUSION_OF_OTHERS = re.compile(r"-[^\W\d_]{3,}")
_OPERANDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.FILTER, PartKind.OPEN})
_NOT_OR_OPERANDS = _OPERANDS | {PartKind.NOT}


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query asks for.

    Attributes:
        text: The query with single spaces, for showing.
        tree: What the engine is asked; None if nothing can match (no word to look for).
        terms: What is looked for, in the order of the query and without what is excluded, for snippets.
        notices: Sentences for a person: what was ignored or read otherwise.
    """

    text: str
    tree: Query | None
    terms: tuple[QueryTerm, ...]
    notices: tuple[str, ...]


def check_query(text: str) -> str:
    """Give the query with single spaces.

    Raises:
        InvalidQueryError: Above 1,024 characters (QUERY_TOO_LONG), or not text (QUERY_NOT_TEXT).
    """
    if len(text) > QUERY_CHARS_MAX:
        raise InvalidQueryError(f"the query has {len(text)} characters; at most {QUERY_CHARS_MAX}", "QUERY_TOO_LONG")
    for char in text if not text.isprintable() else "":
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r":
            raise InvalidQueryError(f"the query holds the control character U+{ord(char):04X}", "QUERY_NOT_TEXT")
    return " ".join(text.split())


def parse_query(text: str) -> ParsedQuery:
    """Read a query.

    Args:
        text: As a person typed it.

    Raises:
        InvalidQueryError: As check_query; no query that passes it is refused.
    """
    shown = check_query(text)
    parts, notices = split_query(shown)
    reader = WordReader(notices=notices)
    tree = _Parser(parts, reader).parse()
    if tree is not None and count_nodes(tree) > QUERY_NODES_MAX:
        tree = any_of(Term(form) for word in reader.terms for form in word.forms)
        notices.append("the query has too many parts; only its words were used")
    if tree is None and parts:
        notices.append("the query has no word that can be looked for")
    return ParsedQuery(shown, tree, tuple(reader.terms), tuple(dict.fromkeys(notices)))


@dataclass(slots=True)
class _Group:
    """What one group has gathered."""

    optional: list[Query] = field(default_factory=list)
    required: list[Query] = field(default_factory=list)
    conditions: dict[str, list[Query]] = field(default_factory=dict)  # by filter; each holds alternatives
    excluded: list[Query] = field(default_factory=list)

    def node(self) -> Query | None:
        """The group as one node. Filters rank only where there is nothing else to rank by."""
        words = any_of(self.optional)
        positive = [*([words] if words is not None else []), *self.required]
        conditions = [node for nodes in self.conditions.values() if (node := any_of(nodes)) is not None]
        positive += [Filter(node) for node in conditions] if positive else conditions
        return _all_of(positive, self.excluded)


@dataclass(slots=True)
class _Parser:
    """Recursive descent over the parts of a query."""

    parts: Sequence[Part]
    reader: WordReader
    _at: int = 0

    def parse(self) -> Query | None:
        """The tree of the whole query."""
        return self._read_group(depth=0)

    def _peek(self, ahead: int = 0) -> PartKind | None:
        at = self._at + ahead
        return self.parts[at].kind if at < len(self.parts) else None

    def _read_group(self, depth: int) -> Query | None:
        group = _Group()
        while (kind := self._peek()) is not None:
            if kind == PartKind.CLOSE:
                self._at += 1
                if depth > 0:
                    break
            elif kind == PartKind.OPEN and depth >= GROUP_DEPTH_MAX:
                self._at += 1
            else:
                self._read_chain(group, depth)
        return group.node()

    def _read_chain(self, group: _Group, depth: int) -> None:
        """Operands joined by AND, or a single one. OR between words says no more than a space."""
        is_alternative = self._is_or()
        self._at += is_alternative
        is_phrase = self._peek() == PartKind.PHRASE
        wanted: list[Query] = []
        unwanted: list[Query] = []
        is_joined = False
        while True:
            is_negated = self._peek() == PartKind.NOT and self._peek(1) in _OPERANDS
            self._at += is_negated
            is_joined = is_joined or (self._peek(1) == PartKind.AND and self._peek(2) in _NOT_OR_OPERANDS)
            node = self._read_operand(group, depth, is_strict=is_joined or is_negated, is_excluded=is_negated)
            if node is not None:
                (unwanted if is_negated else wanted).append(node)
            if self._peek() != PartKind.AND or self._peek(1) not in _NOT_OR_OPERANDS:
                break
            self._at += 1
            is_joined = True
        chain = _all_of(wanted, unwanted)
        if chain is None:
            group.excluded += unwanted
        elif is_phrase and not (is_joined or is_alternative or self._is_or()):
            group.required.append(chain)
        else:
            group.optional.append(chain)

    def _is_or(self) -> bool:
        """Whether the next part is an OR between two operands."""
        return self._peek() == PartKind.OR and self._at > 0 and self._peek(1) in _NOT_OR_OPERANDS

    def _read_operand(self, group: _Group, depth: int, *, is_strict: bool, is_excluded: bool) -> Query | None:
        """One word, phrase or group; a filter, and an excluded phrase, go to the group and give None."""
        part = self.parts[self._at]
        self._at += 1
        is_excluded = is_excluded != part.is_negated
        if part.kind == PartKind.OPEN:
            return self._read_group(depth + 1)
        if part.kind == PartKind.FILTER:
            self._read_filter(group, part, is_excluded=is_excluded)
            return None
        if part.kind == PartKind.PHRASE:
            phrase = self.reader.read_phrase(part.text, is_excluded=is_excluded)
            if part.is_negated and phrase is not None:
                (group.excluded if is_excluded else group.required).append(phrase)
                return None
            return phrase
        if _EXCLUSION_OF_OTHERS.fullmatch(part.source):
            self.reader.notices.append(f'{part.source} was read as a word; -"{part.source[1:]}" leaves it out')
        return self.reader.read_word(part.source, is_strict=is_strict, is_excluded=is_excluded)

    def _read_filter(self, group: _Group, part: Part, *, is_excluded: bool) -> None:
        node = self._filter_node(part, is_excluded)
        if node is None:
            self.reader.notices.append(f"{part.source} was ignored: nothing can match it")
        elif is_excluded:
            group.excluded.append(node)
        elif part.name == "intitle":
            group.required.append(node)
        else:
            name = part.source if part.name == "inurl" else part.name
            group.conditions.setdefault(name, []).append(node)

    def _filter_node(self, part: Part, is_excluded: bool) -> Query | None:
        if part.name in _WORD_FILTERS:
            fields = _WORD_FILTERS[part.name]
            if part.is_quoted:
                return self.reader.read_phrase(part.text, fields=fields, is_excluded=is_excluded)
            return self.reader.read_word(part.text, fields=fields, is_strict=True, is_excluded=is_excluded)
        value = language_value(part.text) if part.name == "lang" else host_value(part.text)
        return Term(value, _KEYWORD_FILTERS[part.name]) if value else None


def _all_of(wanted: Sequence[Query], unwanted: Sequence[Query]) -> Query | None:
    """And of all; None if nothing is wanted, since there is then nothing to exclude from."""
    if not wanted:
        return None
    if len(wanted) == 1 and not unwanted:
        return wanted[0]
    children = dict.fromkeys(wanted)
    children.update(dict.fromkeys(Not(node) for node in unwanted))
    return next(iter(children)) if len(children) == 1 else And(tuple(children))


def host_value(text: str) -> str:
    """The host in the value of site: or host:, as keywords have it; "" if it is none. A pasted URL is understood."""
    host = text.split("://")[-1].split("/")[0].strip(".").lower()
    name, colon, port = host.partition(":")
    try:
        name = idna.encode(name).decode("ascii") if name else ""
    except (UnicodeError, ValueError):
        return ""
    return name + colon + port


def language_value(text: str) -> str:
    """The primary subtag in the value of lang: ("de" of "de-AT"); "" if it is none."""
    subtag = text.replace("_", "-").split("-")[0].lower()
    return subtag if subtag.isascii() and subtag.isalpha() and 2 <= len(subtag) <= 8 else ""


def count_nodes(node: Query) -> int:
    """Nodes of a tree; each term of a phrase counts."""
    match node:
        case And() | Or():
            return 1 + sum(map(count_nodes, node.children))
        case Not() | Filter():
            return 1 + count_nodes(node.child)
        case Phrase():
            return 1 + len(node.terms)
        case Term():
            return 1
