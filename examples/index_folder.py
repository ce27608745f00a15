"""Index the text files below a folder and search them: `python examples/index_folder.py FOLDER QUERY`."""

import sys
import tempfile
from pathlib import Path

from jird_native import DocumentInput, Or, Segment, SegmentBuilder, Snapshot, Term, tokenize

if len(sys.argv) != 3 or not Path(sys.argv[1]).is_dir():
    sys.exit("usage: index_folder.py FOLDER QUERY")
folder, query = Path(sys.argv[1]), sys.argv[2]
terms = tuple(Term(token.term) for token in tokenize(query) if token.primary)
if not terms:
    sys.exit("the query has no word that can be looked for")
files = sorted(path for path in folder.rglob("*") if path.suffix in {".txt", ".md", ".rst"})
builder = SegmentBuilder()
for number, path in enumerate(files, start=1):
    fields = (path.stem, "", "", str(path), path.read_text(errors="replace"))
    builder.add(DocumentInput(number, 0, 0, 0, 0, 0, fields, ()))
with tempfile.TemporaryDirectory() as scratch:
    builder.write(Path(scratch) / "files.qix", sync=False)
    with Segment.open(Path(scratch) / "files.qix") as segment:
        result = Snapshot([(segment, None)]).search(Or(terms), k=10)
        for page_id, score in zip(result.page_ids, result.scores, strict=True):
            print(f"{score:8.4f}  {files[page_id - 1]}")
