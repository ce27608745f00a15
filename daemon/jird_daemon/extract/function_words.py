"""Languages told by their function words and scripts: every second word of prose is one, and a few decide.

Only for large languages, and with words that their close relatives write otherwise (Dutch without what Afrikaans has,
Spanish without what Portuguese has, Russian without what Bulgarian has). What this cannot tell, a model must.
"""

import re
from collections import Counter

MIXED = "mul"  # ISO 639-2: several languages

_WORDS = {
    "de": "auf auch aus dass das dem durch eine einem einen einer ist kann mit nach nicht nur oder sich sie sind und "
    "werden wird wie wenn zum zur",
    "en": "and any are been but can from has have how if into its not of only should than that the their then there "
    "these they this was were when which will with would you your",
    "es": "cuando desde donde ellos hasta hay los las muy pero porque puede según sin sus también",
    "fr": "aux avec cette comme dans elle est et être leur nous où par pas peut qui sont sur une vous",
    "it": "anche che come dal degli della delle di è essere gli nel nella più può quando questa questo sono",
    "nl": "aan bij deze een geen hebben heeft meer naar niet omdat uit voor waar werd worden wordt zich zijn",
    "pt": "ao aos até ele em essa foi isso não nas pela pelo são sua também um uma você",
    "ru": "был было быть будет вы его если из их как когда которые который которых можно может него нет она они "  # noqa: RUF001
    "только также чем что чтобы это этого этой этот эти",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _WORDS.items()}
# A word of two of them tells neither.
_LANGUAGE_OF = {
    word: name
    for name, words in _LANGUAGES.items()
    for word in words
    if sum(word in other for other in _LANGUAGES.values()) == 1
}
# So many words, so many of them different, and this share of all, in this share of the pieces: a
# relative that is not in the table shares few words.
_WORDS_MIN = 6
_DISTINCT_MIN = 4
_SHARE_MIN = 0.9
_PIECES_MIN = 0.8
# Words of a page from which on those of a second language, or letters that the first does not have, mean that it has
# parts in two.
_MIXED_WORDS_MIN = 12
# Bytes of UTF-8 a character: accents add a twentieth, Cyrillic letters double it. Text without blanks between words is
# seen here alone.
_LATIN_BYTES_MAX = 1.12
_CYRILLIC_BYTES_MIN = 1.5
# Scripts of one language (Japanese alone has kana), and their least share: half of Japanese is Chinese characters.
_SCRIPTS = {
    "ja": re.compile("[\u3041-\u30fa]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "th": re.compile("[\u0e01-\u0e4e]"),
    "el": re.compile("[\u0386-\u03ce]"),
}
_SCRIPT_SHARE_MIN = 0.3
# Of the languages in plain Cyrillic letters, Russian alone has the letter yery; others have letters of their own too.
_YERY = "\u044b"
_YERY_MIN = 4
_OTHER_CYRILLIC = re.compile("[\u0450\u0452-\u052f]")
_RUSSIAN_WORDS_MIN = 2


def told_by_words(pieces: list[str]) -> str:
    """Tell the language of a text from a hundred words or more.

    Args:
        pieces: Stretches of it, from different places; words at their ends may be cut.

    Returns:
        The language; MIXED for several; "" when its function words are too few, or are not those of a language here.
    """
    found = [[word for word in piece.lower().split() if word in _LANGUAGE_OF] for piece in pieces]
    words = [word for each in found for word in each]
    sample = "".join(pieces)
    ratio = len(sample.encode("utf-8", "replace")) / (len(sample) or 1)
    if len(words) < _WORDS_MIN:
        return _told_by_script(sample, words) if ratio >= _CYRILLIC_BYTES_MIN else ""
    names = [_LANGUAGE_OF[word] for word in words]
    name = max(set(names), key=names.count)
    count = names.count(name)
    is_many = len(names) >= _MIXED_WORDS_MIN
    if count < _SHARE_MIN * len(names):
        distinct = Counter(_LANGUAGE_OF[word] for word in set(words))
        return MIXED if is_many and all(n >= _DISTINCT_MIN for _, n in distinct.most_common(2)) else ""
    if len(_LANGUAGES[name].intersection(words)) < _DISTINCT_MIN:
        return ""
    if ratio < _CYRILLIC_BYTES_MIN if name == "ru" else ratio > _LATIN_BYTES_MAX:
        return MIXED if is_many else ""
    # A part in a language that is not in the table has no words of any.
    return name if sum(map(bool, found)) >= _PIECES_MIN * len(pieces) else ""


def _told_by_script(sample: str, words: list[str]) -> str:
    if sum(word in _LANGUAGES["ru"] for word in words) >= _RUSSIAN_WORDS_MIN:
        is_russian = sample.count(_YERY) >= _YERY_MIN and _OTHER_CYRILLIC.search(sample) is None
        return "ru" if is_russian else ""
    for name, script in _SCRIPTS.items():
        if len(script.findall(sample)) >= _SCRIPT_SHARE_MIN * len(sample):
            return name
    return ""
