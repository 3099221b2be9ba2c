"""The store's rows on updates that are handed over as one. Functions on a connection, for transactions."""

import json
from collections.abc import Sequence

import apsw


def keep(db: apsw.Connection, head: str, keys: Sequence[str]) -> None:
    """The updates of `keys` are handed over together, by the one of `head`; decided once."""
    db.execute("INSERT INTO joined (head, keys) VALUES (?, ?)", (head, json.dumps(keys)))


def keys_of(db: apsw.Connection, head: str) -> tuple[str, ...] | None:
    """What is handed over with `head`, itself too; None while that is not decided."""
    found = db.execute("SELECT keys FROM joined WHERE head = ?", (head,)).get
    return None if found is None else tuple(json.loads(str(found)))


def forget(db: apsw.Connection, head: str) -> None:
    """It was handed over."""
    db.execute("DELETE FROM joined WHERE head = ?", (head,))
