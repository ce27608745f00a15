"""A process that reads all metadata, and is ended by SIGBUS if some of it lies beyond the end of the file.

Started by metadata_file.py, when the length of the file raises the question; the folder is its argument.
"""

import sys

import lmdb

from jird_daemon.store.env import ENGINE, MAX_TABLES


def main(folder: str) -> None:
    """Touch every page in use."""
    with lmdb.open(folder, readonly=True, lock=False, max_dbs=MAX_TABLES, lib_version=ENGINE) as env:
        with env.begin() as txn:
            names = list(txn.cursor().iternext(values=False))
        for name in names:
            table = env.open_db(name, create=False)
            with env.begin() as txn:
                for _ in txn.cursor(table):
                    pass


if __name__ == "__main__":
    main(sys.argv[1])
