"""The integer that a message's row has, and that row of the search index which holds its words.

The log's number stands above the message's id, so a log's rows lie together, in the order of their ids.
"""

from typing import Final

ID_BITS: Final = 40


def row_id(log: int, message: int) -> int:
    """Of `message` in the log called `log`; with one past a log's last message, where its rows end."""
    return (log << ID_BITS) + message
