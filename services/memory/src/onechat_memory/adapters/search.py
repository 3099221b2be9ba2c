"""The index of messages' words (migrations/0004_search.sql), on one connection within one transaction.

Each word is kept under its log's number, as `3_word`, so that a search of one log never passes through the
words of another. What a text's words are: domain/words.py. When they are taken in: indexing.py.
"""

from dataclasses import dataclass
from typing import Final

import apsw

from onechat_memory.adapters.row_ids import row_id
from onechat_memory.domain.text import size
from onechat_memory.domain.words import Wanted, words_in

STEP_MESSAGES: Final = 16  #: that one step takes in
STEP_BYTES: Final = 8_192  #: of text, after which it takes no more
STEP_PAGES: Final = 32  #: of the index, that one step merges at the most


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a log is in the index."""

    indexed: int  #: messages whose words it holds
    length: int  #: messages of the log


class SearchStore:
    """The index as one connection sees it. `log` is a log's number."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def progress(self, log: int) -> Progress | None:
        """How far a log is; None for one that is not there, or deleted."""
        row = self._db.execute(
            "SELECT indexed, length FROM logs WHERE number = ? AND deleted = 0", (log,)
        ).fetchone()
        return None if row is None else Progress(indexed=row[0], length=row[1])

    def behind(self, after: int) -> int | None:
        """The log whose words are to be taken in next, logs in turn after the one called `after`.

        A log that is set aside waits until somebody searches it.
        """
        row = self._db.execute(
            "SELECT number FROM logs WHERE indexed < length AND state <> 'kept' AND deleted = 0"
            " ORDER BY number <= ?, number LIMIT 1",
            (after,),
        ).fetchone()
        return None if row is None else int(row[0])

    def take_in(self, log: int) -> Progress | None:
        """Take in the words of some messages, at least one if any are missing; how far the log is then."""
        before = self.progress(log)
        if before is None or before.indexed >= before.length:
            return before
        texts = self._some_texts(log, before.indexed)
        self._db.executemany(
            "INSERT INTO message_words (rowid, words) VALUES (?, ?)",
            [(row_id(log, message), _kept(log, text)) for message, text in texts],
        )
        indexed = texts[-1][0] + 1
        self._db.execute("UPDATE logs SET indexed = ? WHERE number = ?", (indexed, log))
        return Progress(indexed=indexed, length=before.length)

    def _some_texts(self, log: int, start: int) -> list[tuple[int, str]]:
        texts, total = list[tuple[int, str]](), 0
        for message, text in self._db.execute(
            "SELECT id, text FROM messages WHERE row_id >= ? AND row_id < ? ORDER BY row_id LIMIT ?",
            (row_id(log, start), row_id(log + 1, 0), STEP_MESSAGES),
        ):
            texts.append((message, text))
            total += size(text)
            if total >= STEP_BYTES:
                break
        return texts

    def merge(self) -> bool:
        """Merge some of what came in in steps, so that a search looks in few places; whether any was due."""
        before = self._db.total_changes()
        self._db.execute("INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)", (STEP_PAGES,))
        return self._db.total_changes() - before > 1  # the command itself counts for one

    def remove(self, log: int, start: int, end: int) -> None:
        """Take out the words of the messages from `start` up to and without `end`."""
        self._db.execute(
            "DELETE FROM message_words WHERE rowid >= ? AND rowid < ?", (row_id(log, start), row_id(log, end))
        )

    def find(self, log: int, wanted: Wanted, before: int, most: int) -> list[int]:
        """Up to `most` messages older than `before` that hold all that is wanted, newest first."""
        rows = self._db.execute(
            "SELECT rowid FROM message_words WHERE message_words MATCH ? AND rowid < ?"
            " ORDER BY rowid DESC LIMIT ?",
            (_expression(log, wanted), row_id(log, before), most),
        )
        return [row - row_id(log, 0) for (row,) in rows]


def _kept(log: int, text: str) -> str:
    return " ".join([f"{log}_{word}" for word in words_in(text)])


def _expression(log: int, wanted: Wanted) -> str:
    """In FTS5's language. Each word is quoted and holds no quote, so that none is read as an operator."""
    words = [f'"{log}_{word}"' for word in wanted.words]
    beginnings = [f'"{log}_{beginning}" *' for beginning in wanted.beginnings]
    runs = ['"' + " ".join(f"{log}_{pair}" for pair in run) + '"' for run in wanted.runs]
    return " AND ".join([*words, *runs, *beginnings])
