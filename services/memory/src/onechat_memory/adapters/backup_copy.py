"""What a backup's copy of the store leaves out: logs that are no agent's, and the search index.

The copy is another file; the store itself is not touched. How it is made and packed, so that nothing of what
is deleted here stays in it: runtime's snapshot_copy.py. Images lie outside the store, and their rows stay.
"""

from typing import Final

import apsw

# Every table that has rows of logs names these by number in a column of this name. Only xinfo tells of one
# that is computed, as that of the messages is.
_TABLES: Final = """
SELECT tables.name FROM pragma_table_list AS tables, pragma_table_xinfo(tables.name) AS columns
WHERE tables.schema = 'main' AND tables.type = 'table' AND columns.name = 'log'
"""


def prune(db: apsw.Connection) -> None:
    """Delete from `db`, a copy of the store, what a backup does not hold.

    The index is a large part of a store, and is filled again from the messages: each log's mark becomes 0.
    """
    db.execute("INSERT INTO message_words (message_words) VALUES ('delete-all')")
    db.execute("UPDATE logs SET indexed = 0 WHERE indexed > 0")
    numbers = [row[0] for row in db.execute("SELECT number FROM logs WHERE state <> 'live' OR deleted = 1")]
    tables = [row[0] for row in db.execute(_TABLES)]
    for number in numbers:
        for table in tables:
            db.execute(f"DELETE FROM {table} WHERE log = ?", (number,))
        db.execute("DELETE FROM logs WHERE number = ?", (number,))
