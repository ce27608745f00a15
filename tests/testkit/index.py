"""Random documents and queries for the index: the same seed gives the same ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from jird_native import And, DocumentInput, Field, Filter, Namespace, Not, Or, Phrase, Query, Term, tokenize
from testkit.oracle import OracleDocument

HOSTS = ("a.test", "b.test", "c.test", "rare.test")


def words_of(count: int) -> list[str]:
    """Words w0, w1, ... in order of falling frequency."""
    return [f"w{i}" for i in range(count)]


def zipf_text(random: Random, words: Sequence[str], length: int) -> str:
    """Words drawn so that the first ones are common (density falls as 1 / rank)."""
    return " ".join(words[min(int(len(words) ** random.random()) - 1, len(words) - 1)] for _ in range(length))


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A document as the builder takes it and as the oracle does."""

    native: DocumentInput
    oracle: OracleDocument


def document(page_id: int, origin_id: int, fields: tuple[str, str, str, str, str], host: str) -> TextDocument:
    """Tokenise the fields once for both."""
    keywords = ((Namespace.HOST, host),)
    tokens = [
        (place, token.position, token.term, token.primary) for place in Field for token in tokenize(fields[place])
    ]
    return TextDocument(
        DocumentInput(page_id, origin_id, 0, 0, 0, 0, fields, keywords), OracleDocument(page_id, tokens, keywords)
    )


def random_documents(random: Random, pages: Sequence[int], words: Sequence[str], length: int) -> list[TextDocument]:
    """One document for each page id, up to `length` words in the body, some with words in the other fields."""
    documents = []
    for page in pages:
        host = HOSTS[min(int(random.expovariate(1.0)), len(HOSTS) - 1)]
        title, headings, anchors = (
            zipf_text(random, words, random.randrange(5)) if random.random() < 0.4 else "" for _ in range(3)
        )
        body = zipf_text(random, words, random.randrange(1, length))
        fields = (title, headings, anchors, "", body)
        documents.append(document(page, random.randrange(5), fields, host))
    return documents


class QueryMaker:
    """Draws queries of every kind over given words."""

    def __init__(self, random: Random, words: Sequence[str]) -> None:
        self._random = random
        self._words = words

    def word(self) -> str:
        """A word, often a common one, now and then one that is nowhere."""
        if self._random.random() < 0.02:
            return "nowhere"
        return self._words[min(int(len(self._words) ** self._random.random()) - 1, len(self._words) - 1)]

    def fields(self) -> frozenset[Field] | None:
        """Mostly no restriction."""
        if self._random.random() < 0.7:
            return None
        return frozenset(self._random.sample(list(Field), self._random.randrange(1, 4)))

    def term(self) -> Term:
        """A term, at times within fields or with a weight."""
        weight = self._random.choice((1.0, 1.0, 1.0, 0.5, 3.0))
        return Term(self.word(), fields=self.fields(), weight=weight)

    def phrase(self) -> Phrase:
        """Two to four words, mostly next to each other."""
        offsets = [0]
        for _ in range(self._random.randrange(1, 3)):
            offsets.append(offsets[-1] + self._random.choice((1, 1, 1, 2, 0)))
        return Phrase(tuple((self.word(), offset) for offset in offsets), self.fields())

    def filter(self) -> Filter:
        """A host."""
        return Filter(Term(self._random.choice(HOSTS), Namespace.HOST))

    def any(self, depth: int = 0) -> Query:
        """Any kind of query; conjunctions and disjunctions nest up to three deep."""
        kinds: list[Callable[[], Query]] = [self.term, self.term, self.phrase]
        if depth < 3:
            kinds += [lambda: self.all_of(depth), lambda: self.one_of(depth)] * (3 if depth == 0 else 1)
        return self._random.choice(kinds)()

    def plain_or(self) -> Or:
        """Several words, any of them."""
        return Or(tuple(Term(self.word()) for _ in range(self._random.randrange(2, 7))))

    def all_of(self, depth: int) -> And:
        """Children, at times with a filter and an exclusion."""
        children: list[Query] = [self.any(depth + 1) for _ in range(self._random.randrange(1, 4))]
        if self._random.random() < 0.3:
            children.append(self.filter())
        if self._random.random() < 0.3:
            children.insert(self._random.randrange(len(children) + 1), Not(self.any(depth + 1)))
        return And(tuple(children))

    def one_of(self, depth: int) -> Or:
        """Children of any kind."""
        return Or(tuple(self.any(depth + 1) for _ in range(self._random.randrange(1, 5))))
