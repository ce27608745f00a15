"""The texts that benchmarks run on, the queries drawn from them, and the exhaustive scorer that says what is right.

A text is a file with one document a line, its tokens separated by blanks, and its number from 0 the document's id.
"""
