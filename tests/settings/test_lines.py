"""Lines of keys in a TOML file."""

from jird_settings.lines import key_lines, line_of

TEXT = '''# comment = 1
"quoted key" = 1
a.b = [
  1, # ] not the end
  "]",
]
[t]
s = """
x = 1
"""
l = \'\'\'
[u]
\'\'\'
i = { k = 1, m = [ { n = 2 } ] }
[ "v" . w ]
x=1
[[h]]
m = 1
[h.sub]
y = 2
[[h]]
m = "#"
'''


def test_each_key_has_its_line() -> None:
    lines = key_lines(TEXT)
    assert lines[("quoted key",)] == 2
    assert lines[("a", "b")] == 3
    assert lines[("t",)] == 7
    assert lines[("t", "s")] == 8
    assert lines[("t", "l")] == 11
    assert lines[("t", "i")] == 14
    assert lines[("v", "w", "x")] == 16
    assert lines[("h", 0, "m")] == 18
    assert lines[("h", 0, "sub", "y")] == 20
    assert lines[("h", 1, "m")] == 22
    assert ("t", "x") not in lines


def test_unknown_key_has_the_line_of_what_is_around_it() -> None:
    lines = key_lines(TEXT)
    assert line_of(lines, ("t", "i", "m", "n")) == 14
    assert line_of(lines, ("nothing",)) == 1
