"""Generated text: zipf.c says what it is like."""

import subprocess
from pathlib import Path

from texts.flat import TextError
from texts.place import program

DOCUMENTS = 1_000_000
SEED = 1
MEAN_TOKENS = 300


def generator(documents: int, seed: int, mean_tokens: int = MEAN_TOKENS) -> list[str]:
    """The command that writes a text to its standard output.

    Raises:
        TextError: A number is out of range.
    """
    if documents < 1 or not 0 <= seed < 1 << 63 or not 10 <= mean_tokens <= 4_000:
        raise TextError("documents must be at least 1, the seed 0 to 2^63, tokens a document 10 to 4,000")
    return [str(program("zipf", "zipf.c")), str(documents), str(seed), str(mean_tokens)]


def make_generated(path: Path, documents: int, seed: int, mean_tokens: int = MEAN_TOKENS) -> None:
    """Write a generated text, unless it is there."""
    command = generator(documents, seed, mean_tokens)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    with draft.open("wb") as out:
        subprocess.run(command, stdout=out, check=True)
    draft.replace(path)
