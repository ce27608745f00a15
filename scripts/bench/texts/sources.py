"""The texts by name; those that are not there are made when they are asked for."""

import sys
from pathlib import Path

from texts.flat import TextError
from texts.generated import DOCUMENTS, SEED, make_generated
from texts.place import data_folder

TEXTS = ("real", "generated")


def generated_file(documents: int = DOCUMENTS, seed: int = SEED) -> Path:
    """Where a generated text lies."""
    return data_folder() / "generated" / f"{documents}-{seed}.txt"


def text_file(name: str) -> Path:
    """The file of a text: `real`, `generated`, or any other file of tokens.

    Raises:
        TextError: It is not there, or cannot be made.
    """
    if name == "generated":
        make_generated(generated_file(), DOCUMENTS, SEED)
        return generated_file()
    path = data_folder() / "real" / "documents.txt" if name == "real" else Path(name)
    if name == "real" and not path.exists():
        from texts.real import make_real

        print("making the real text (300 MB to download, some minutes)", file=sys.stderr, flush=True)
        make_real(path.parent)
    if not path.is_file():
        raise TextError(f"{path} is not there")
    return path
