"""The texts by name."""

from pathlib import Path

from texts.flat import TextError
from texts.place import data_folder

TEXTS = {"real": "real/documents.txt", "generated": "generated-1000000/documents.txt"}
"""Where each text lies below the data folder; scripts/bench/corpus.py makes them."""


def text_file(name: str) -> Path:
    """The file of a text: one of TEXTS, or any other file of tokens.

    Raises:
        TextError: It is not there.
    """
    path = data_folder() / TEXTS[name] if name in TEXTS else Path(name)
    if not path.is_file():
        hint = f"; scripts/bench/corpus.py {name} makes it" if name in TEXTS else ""
        raise TextError(f"{path} is not there{hint}")
    return path
