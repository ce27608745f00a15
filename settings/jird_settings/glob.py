"""Patterns with * and ?, as the settings have them, matched in linear time.

The patterns are the operator's, but what they are held against is a stranger's: with a plain `.*` for each star,
`*-*-*-*.pdf` would try 800 hyphens for half a minute.
"""

import re


def glob_expression(glob: str) -> str:
    """Give a regular expression, for fullmatch with DOTALL: * stands for any characters, also none, ? for one.

    A piece between two stars is taken at its first place, which leaves most to the others, and is not given back.
    """
    first, *rest = ("".join("." if char == "?" else re.escape(char) for char in piece) for piece in glob.split("*"))
    if not rest:
        return first
    *inner, last = rest
    return first + "".join(f"(?>.*?{piece})" for piece in inner if piece) + ".*" + last
