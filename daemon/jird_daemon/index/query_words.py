"""Words and phrases of a query to query nodes, with the bounds of J158.

The text of a query goes through the same tokenizer as the pages. What it finds there decides the node:

| written | tokens | node |
|---|---|---|
| fox | fox | Term fox |
| über | über, plain form uber | Term über or, weaker, Term uber |
| foo_bar, e-mail | foo bar, joined foo_bar | Term foo_bar, or its parts; all parts in order where it must match |
| 1.2 | 1 2, joined 1.2 | Term 1.2, or the phrase 1 2, which 1.2.3 holds too |
| C++ | c, joined c++ | Term c++ |
| 新年快乐 | 新年 年快 快乐 | each bigram is optional, like words; the phrase where the word must match |
| std::vector | std vector | each is optional, like words; the phrase where the word must match |
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from jird_native import Field, Or, Phrase, Query, Term, Token, TokenKind, tokenize

# J158: distinct terms that a query uses, from so many tokens at its beginning.
QUERY_TERMS_MAX = 32
QUERY_TOKENS_MAX = 256
# What a match by the plain form counts beside one as written. Its term is also that of pages written plainly, which
# must be found but below those that are written as the query is.
FOLDED_WEIGHT = 0.5
# What a bigram counts that joins two scripts or has hiragana in it: endings and particles rather than words. Measured
# on JSQuAD (4,442 questions): nDCG@10 0.950 with it, 0.945 without.
LINKING_WEIGHT = 0.5
# A run of n bigrams is one word to the person who typed it, or a few, but never n: each counts n to this power.
# JSQuAD 0.952 with it; and a short word beside a long one is not drowned.
RUN_POWER = -0.25
# Analysed words that are kept, and how long one may be: at most some 25 MB, if all are runs of unspaced scripts.
WORDS_CACHED = 4096
WORD_CACHED_CHARS = 24
# Japanese scripts by the beginning of each 32 characters.
_JAPANESE_SCRIPTS = {0x3040: "hiragana", 0x3060: "hiragana", 0x3080: "hiragana"} | {
    0x30A0: "katakana", 0x30C0: "katakana", 0x30E0: "katakana"
}  # fmt: skip

Fields = frozenset[Field] | None


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of the query and the terms of the index that stand for it, for showing where it matched.

    Any form is the word; but those of a run are its bigrams, and only together are they the word.
    """

    forms: tuple[str, ...]
    is_run: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """Tokens that belong together: a word, a compound, or a run of an unspaced script."""

    primaries: tuple[Token, ...]
    folded: dict[int, str]  # plain form by position
    joined: str = ""

    @property
    def is_run(self) -> bool:
        return bool(self.primaries[0].kind & TokenKind.BIGRAM)

    @property
    def is_name(self) -> bool:
        """Whether it is C++ or the like, which its part alone does not stand for."""
        return len(self.primaries) == 1 and bool(self.joined) and not self.joined.startswith(".")


@dataclass(slots=True)
class WordReader:
    """Turns text into nodes; counts terms and tokens over a whole query.

    Attributes:
        terms: What is looked for, in the order of the query.
        notices: What a person should know of what was left out.
    """

    terms: list[QueryTerm] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _token_count: int = 0

    def read_word(
        self, text: str, *, fields: Fields = None, is_strict: bool = False, is_excluded: bool = False
    ) -> Query | None:
        """The node for text that is not quoted; None if nothing in it can be searched or the bounds are met.

        Args:
            text: A word as a rule; text with several gives a node for each, of which any may match.
            fields: Where it must stand; None means anywhere.
            is_strict: All of it must match, one word after the other.
            is_excluded: It is to be excluded, so it is not among `terms`.
        """
        pieces = self._take(text, is_excluded)
        if is_strict and len(pieces) > 1:
            return any_of(_phrases(pieces, fields))
        return any_of(_piece_node(piece, fields, is_strict) for piece in pieces)

    def read_phrase(self, text: str, *, fields: Fields = None, is_excluded: bool = False) -> Query | None:
        """The node for quoted text: its words as written, one after the other; None as in read_word."""
        pieces = self._take(text, is_excluded)
        return _phrase(pieces, fields, is_plain=False) if pieces else None

    def _take(self, text: str, is_excluded: bool) -> list[_Piece]:
        """The pieces of `text` that the bounds of J158 leave."""
        taken = []
        for piece in _pieces_of_word(text) if len(text) <= WORD_CACHED_CHARS else _split(tokenize(text)):
            fitting = self._count_fitting(piece)
            if fitting == len(piece.primaries):
                taken.append(piece)
            elif fitting and piece.is_run:
                taken.append(replace(piece, primaries=piece.primaries[:fitting]))
            if fitting < len(piece.primaries):
                self._say(f"only the first {QUERY_TERMS_MAX} different words of the query were used")
                break
        for piece in taken if not is_excluded else ():
            self._remember(piece)
        return taken

    def _count_fitting(self, piece: _Piece) -> int:
        """How many tokens of the piece, from its first, are within the bounds; they count as known from then on."""
        for i, token in enumerate(piece.primaries):
            is_new = token.term not in self._known
            if self._token_count >= QUERY_TOKENS_MAX or (is_new and len(self._known) >= QUERY_TERMS_MAX):
                return i
            self._token_count += 1
            self._known.add(token.term)
        return len(piece.primaries)

    def _remember(self, piece: _Piece) -> None:
        if piece.is_run or piece.is_name:
            forms = tuple(token.term for token in piece.primaries) if piece.is_run else (piece.joined,)
            words = [QueryTerm(forms, piece.is_run)]
        else:
            others = {token.position: (piece.folded.get(token.position), piece.joined) for token in piece.primaries}
            words = [QueryTerm((token.term, *filter(None, others[token.position]))) for token in piece.primaries]
        self.terms += [word for word in words if word not in self.terms]

    def _say(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)


@lru_cache(WORDS_CACHED)
def _pieces_of_word(text: str) -> Sequence[_Piece]:
    """What `_split` gives, which nobody changes: most words of a query are in many others."""
    return tuple(_split(tokenize(text)))


def any_of(nodes: Iterable[Query]) -> Query | None:
    """Or of all; None without nodes."""
    children = list(nodes)
    return either(children) if children else None


def either(nodes: Sequence[Query]) -> Query:
    """Or of at least one node, without a level for a single child or for children that are Or themselves.

    A term that occurs n times counts sqrt(n): a repeated word is what the query is about, or it is "the". Measured
    against once and n times, nDCG@10: CACM 0.452 (0.409, 0.452), Cranfield 0.349
    (0.347, 0.348), MED 0.653 (0.655, 0.642).
    """
    if len(nodes) == 1:
        return nodes[0]
    children: dict[object, Query] = {}
    for node in nodes:
        for child in node.children if isinstance(node, Or) else (node,):
            key = _without_weight(child)
            known = children.get(key)
            if isinstance(known, Term) and isinstance(child, Term):
                children[key] = replace(known, weight=math.hypot(known.weight, child.weight))
            else:
                children[key] = child
    first, *others = children.values()
    return Or((first, *others)) if others else first


def _without_weight(node: Query) -> object:
    return (node.term, node.namespace, node.fields) if isinstance(node, Term) else node


def _split(tokens: Sequence[Token]) -> list[_Piece]:
    """Group the tokens of a text, in its order: by the compound or the unspaced run that they are part of."""
    folded = {token.position: token.term for token in tokens if token.kind & TokenKind.FOLDED}
    compounds = [token for token in tokens if token.kind & TokenKind.JOINED]
    groups: list[tuple[Token | None, list[Token]]] = []
    for token in (token for token in tokens if token.primary):
        compound = next((each for each in compounds if each.start <= token.start < each.end), None)
        is_next_in_run = groups and token.kind & TokenKind.BIGRAM and token.start < groups[-1][1][-1].end
        if groups and (is_next_in_run or (compound is not None and groups[-1][0] is compound)):
            groups[-1][1].append(token)
        else:
            groups.append((compound, [token]))
    return [_Piece(tuple(group), folded, compound.term if compound else "") for compound, group in groups]


def _piece_node(piece: _Piece, fields: Fields, is_strict: bool) -> Query:
    """The node of one piece."""
    if piece.is_name:
        return Term(piece.joined, fields=fields)
    if len(piece.primaries) == 1:
        return _word_node(piece, piece.primaries[0], fields)
    if piece.joined:
        is_number = all(token.term.isdecimal() for token in piece.primaries)
        parts = _phrases([piece], fields) if is_strict or is_number else _terms(piece, fields)
        return either([Term(piece.joined, fields=fields), *parts])
    return _phrase([piece], fields, is_plain=False) if is_strict else either(_terms(piece, fields))


def _terms(piece: _Piece, fields: Fields) -> list[Query]:
    """Each token for itself."""
    if not piece.is_run:
        return [Term(token.term, fields=fields) for token in piece.primaries]
    weight = len(piece.primaries) ** RUN_POWER
    linking = weight * LINKING_WEIGHT
    bigrams = [token.term for token in piece.primaries]
    return [Term(bigram, fields=fields, weight=linking if _is_linking(bigram) else weight) for bigram in bigrams]


def _is_linking(bigram: str) -> bool:
    """Whether a bigram joins two of the Japanese scripts or has hiragana in it."""
    scripts = {_JAPANESE_SCRIPTS.get(ord(char) & ~0x1F, "") for char in bigram}
    return len(scripts) > 1 or "hiragana" in scripts


def _word_node(piece: _Piece, token: Token, fields: Fields) -> Query:
    """A word as written and, weaker, its plain form; .NET is written with its dot."""
    forms = [form for form in (piece.joined, token.term, piece.folded.get(token.position)) if form]
    first, *weaker = (Term(form, fields=fields, weight=FOLDED_WEIGHT if i else 1.0) for i, form in enumerate(forms))
    return Or((first, *weaker)) if weaker else first


def _phrases(pieces: Sequence[_Piece], fields: Fields) -> list[Query]:
    """The phrase as written and, if some word has a plain form, weaker, the phrase of plain forms."""
    phrases: list[Query] = [_phrase(pieces, fields, is_plain=False)]
    if any(token.position in piece.folded for piece in pieces for token in piece.primaries):
        phrases.append(_phrase(pieces, fields, is_plain=True))
    return phrases


def _phrase(pieces: Sequence[_Piece], fields: Fields, *, is_plain: bool) -> Query:
    """The primary terms, or their plain forms, at their distances; a Term if there is only one."""
    terms = []
    first = pieces[0].primaries[0].position
    for piece in pieces:
        for token in piece.primaries:
            plain = piece.folded.get(token.position) if is_plain else None
            term = piece.joined if piece.is_name else plain or token.term
            terms.append((term, token.position - first))
    if len(terms) == 1:
        return Term(terms[0][0], fields=fields)
    weight = FOLDED_WEIGHT if is_plain else 1.0
    return Phrase(tuple(terms), fields, weight)
