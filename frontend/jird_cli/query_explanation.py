"""How a query was answered, in words: `jirdctl debug explain`."""

from jird.v1.index_service_pb2 import ExplainedHit, ExplainQueryResponse, QueryNode
from jird_cli.layout import facts, table
from jird_client.text import plain, readable_url


def query_report(answer: ExplainQueryResponse) -> str:
    """Return the plan, the tree, and every hit with the parts of its score."""
    head = facts(
        [
            ("query", plain(answer.query)),
            *(("note", plain(notice)) for notice in answer.notices),
            ("plan", f"{answer.plan}, in {answer.segment_count} segment{'' if answer.segment_count == 1 else 's'}"),
            ("postings", _read(answer.decoded_posting_count, answer.posting_count)),
            ("blocks", _read(answer.decoded_block_count, answer.block_count)),
            ("matches", f"{'' if answer.match_count_exact else 'at least '}{answer.match_count:,}"),
            ("search took", f"{answer.search_us:,} us"),
        ]
    )
    hits = [_hit(number, hit, answer) for number, hit in enumerate(answer.hits, start=1)]
    return "\n\n".join([head, *([_tree(answer)] if answer.nodes else []), *(hits or ["nothing is found"])])


def _read(decoded: int, total: int) -> str:
    """What was decoded, and what of the lists was passed over; a block that was read twice counts twice."""
    return f"{decoded:,} decoded, {max(total - decoded, 0):,} of {total:,} skipped"


def _tree(answer: ExplainQueryResponse) -> str:
    rows = [
        (
            "  " * node.depth + plain(node.text),
            f"{node.document_count:,}" if node.is_term else "",
            f"{node.idf:.3f}" if node.counts and node.idf else "",
        )
        for node in answer.nodes
    ]
    return table(("read as", "documents", "idf"), rows)


def _hit(number: int, hit: ExplainedHit, answer: ExplainQueryResponse) -> str:
    score = f"{hit.score:.4f}" if hit.matches else "not found"
    head = f"{number}. {score}  {readable_url(hit.url)}\n   {plain(hit.title)} ({hit.length:,} words)"
    rows = []
    for part in hit.parts:
        node = answer.nodes[part.node]
        if part.matches:
            rows.append(("", _name(node), f"{part.frequency:,}", f"{part.score:.4f}"))
        elif not hit.matches or node.counts:
            rows.append(("", _name(node), "-", "-"))
    return f"{head}\n{table(('', 'part', 'frequency', 'score'), rows)}" if rows else head


def _name(node: QueryNode) -> str:
    return plain(node.text)
