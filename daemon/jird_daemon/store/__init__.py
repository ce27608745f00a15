"""Metadata in LMDB and content in blob volumes: what is known, durably.

`Store` opens both, `Txn` reads and writes them, `tables` lays down every record, `pages` keeps the several tables of a
page right together.
"""

from jird_daemon.store.env import Store
from jird_daemon.store.lock import StateLock
from jird_daemon.store.txn import Txn

__all__ = ["StateLock", "Store", "Txn"]
