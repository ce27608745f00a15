"""Cases of tree construction: the markup in `input`, and in `tree` what html5lib's tests call its dump.

The parser is called as extract/page.py calls it. Its Python binding shows no namespaces, so the dump derives them from
the tree by the rules of the HTML Standard ("tree construction dispatcher"), and it keeps a doctype's name alone.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from conformance_kinds.cases import PASSED, Case, Outcome
from conformance_kinds.html_exceptions import exception_for

_DOCTYPE_WITH_IDS = re.compile(r'^\| <!DOCTYPE [^>"]*"', re.MULTILINE)
# HTML Standard, "adjust foreign attributes": names whose prefix is a namespace.
_FOREIGN_ATTRIBUTES = frozenset({
    "xlink:actuate", "xlink:arcrole", "xlink:href", "xlink:role", "xlink:show", "xlink:title", "xlink:type",
    "xml:lang", "xml:space", "xmlns:xlink",
})  # fmt: skip
_HTML, _SVG, _MATH = "", "svg", "math"
_SVG_HTML_POINTS = frozenset({"foreignObject", "desc", "title"})
_MATH_TEXT_POINTS = frozenset({"mi", "mo", "mn", "ms", "mtext"})
_HTML_ENCODINGS = frozenset({"text/html", "application/xhtml+xml"})


def judge(case: Case) -> Outcome:
    """Parse the markup as a document and compare the dump."""
    if case.get("fragment_context"):
        return Outcome(skip_reason="a fragment: jird parses whole documents")
    if case.get("scripted"):
        return Outcome(skip_reason="the tree after scripts ran: jird runs none")
    if _DOCTYPE_WITH_IDS.search(case["tree"]):
        return Outcome(skip_reason="identifiers of the doctype: the parser's binding does not show them")
    expected, found = case["tree"].rstrip("\n"), dump(case["input"])
    exception = exception_for(case["input"])
    if expected == found:
        return Outcome(fault="it passes, but is listed as an exception") if exception else PASSED
    if exception:
        return Outcome(skip_reason=exception)
    return Outcome(fault=f"{case['input']!r}\n  expected:\n{_indented(expected)}\n  found:\n{_indented(found)}")


def dump(markup: str) -> str:
    """Give the tree of a document in html5lib's format, without a final line end."""
    parser = LexborHTMLParser(markup.encode("utf-8", "ignore"), scripting=True)
    root = parser.root
    if root is None or root.parent is None:
        return "#document"
    return "\n".join(["#document", *_dump_children(root.parent, _HTML, 0)])


def _dump_children(parent: LexborNode, namespace: str, depth: int) -> Iterator[str]:
    """Dump the children of a node; `namespace` is the one that its children are in unless their names say another."""
    margin = "| " + "  " * depth
    node = parent.first_child
    while node is not None:
        if node.is_text_node:
            yield f'{margin}"{node.text_content}"'
        elif node.is_comment_node:
            # The binding trims the content that it gives as such.
            yield f"{margin}<!-- {(node.html or '')[len('<!--') : -len('-->')]} -->"
        elif node.is_element_node:
            yield from _dump_element(node, _namespace(node, parent, namespace), depth)
        else:
            yield f"{margin}{node.html}"  # a doctype or a processing instruction
        node = node.next


def _dump_element(node: LexborNode, namespace: str, depth: int) -> Iterator[str]:
    margin = "| " + "  " * depth
    yield f"{margin}<{namespace} {node.tag}>" if namespace else f"{margin}<{node.tag}>"
    attributes = {_attribute_name(name, namespace): value or "" for name, value in node.attributes.items()}
    for name in sorted(attributes):
        yield f'{margin}  {name}="{attributes[name]}"'
    if node.tag == "template" and not namespace:
        yield f"{margin}  content"
        for fragment in node.template_fragments():
            if fragment.parent is not None and fragment.parent.mem_id == node.mem_id:
                yield from _dump_children(fragment, _HTML, depth + 2)
    yield from _dump_children(node, namespace, depth + 1)


def _namespace(node: LexborNode, parent: LexborNode, parent_namespace: str) -> str:
    tag = node.tag or ""
    if parent_namespace == _MATH and parent.tag in _MATH_TEXT_POINTS and tag in ("mglyph", "malignmark"):
        return _MATH
    if parent_namespace == _MATH and parent.tag == "annotation-xml" and tag == "svg":
        return _SVG
    if parent_namespace == _HTML or _is_integration_point(parent, parent_namespace):
        return tag if tag in (_SVG, _MATH) else _HTML
    return parent_namespace


def _is_integration_point(node: LexborNode, namespace: str) -> bool:
    if namespace == _SVG:
        return node.tag in _SVG_HTML_POINTS
    if node.tag == "annotation-xml":
        return (node.attributes.get("encoding") or "").lower() in _HTML_ENCODINGS
    return node.tag in _MATH_TEXT_POINTS


def _attribute_name(name: str, namespace: str) -> str:
    return name.replace(":", " ") if namespace and name in _FOREIGN_ATTRIBUTES else name


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
