"""Reading a log: zoom, times, ranges, figures. Nothing here changes anything, and no view is fitted.

All reads are short: a page, a chunk, a row. How lines are written: domain/lines.py.
"""

from dataclasses import dataclass
from itertools import islice

import apsw
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.lines import leaf_source, shown
from onechat_memory.domain.messages import Log, Message, Shape, Stats
from onechat_memory.domain.pages import page
from onechat_memory.domain.ready import LEAVES_AHEAD
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node, no_such_line, node_at
from onechat_memory.errors import LineUnknown, LogUnknown, MessageUnknown, RangeInvalid

CHUNK_BYTES = 65_536  #: of text, after which a range's next chunk begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Zoomed:
    """A page of what was asked for: lines or messages, never both."""

    lines: tuple[tuple[Node, str | None], ...] = ()  #: None for a node that is not built
    messages: tuple[Message, ...] = ()
    next_id: int | None = None


class Reading:
    """Every log of the store, for reading."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def zoom(self, log: LogId, first: int, count: int, start: int | None) -> Zoomed:
        """The two lines below a node, a message whole, or with `count` 0 a whole flat log or view.

        `start` is the id that the page begins at. Raises LogUnknown, LineUnknown.
        """
        return self._store.read(lambda db: _zoom(db, _row(db, log), first, count, start))

    def must_exist(self, log: LogId) -> None:
        """Raise LogUnknown unless there is such a log."""
        self._store.read(lambda db: _row(db, log))

    def message(self, log: LogId, message: int) -> Message:
        """One message. Raises LogUnknown, MessageUnknown."""

        def job(db: apsw.Connection) -> Message:
            row = _row(db, log)
            found = LogStore(db).message(row.number, message) if 0 <= message < row.length else None
            if found is None:
                raise MessageUnknown(f"There is no message {message}: {_span(row.length)}.")
            return found

        return self._store.read(job)

    def range_end(self, log: LogId, start: int, end: int | None) -> tuple[int, int]:
        """The log's number, and where a range ends: at `end`, or with None at the log's length.

        A log keeps its number through a swap, so that a range is of one log. Raises LogUnknown, RangeInvalid.
        """
        row = self._store.read(lambda db: _row(db, log))
        last = row.length if end is None else end
        if not 0 <= start <= last <= row.length:
            raise RangeInvalid(f"The range from {start} up to {last} is not in the log: {_span(row.length)}.")
        return row.number, last

    def chunk(self, number: int, start: int, end: int) -> list[Message]:
        """Some messages from `start` on, before `end`: about CHUNK_BYTES of text, at least one.

        Raises LogUnknown for a log that was deleted meanwhile, and apsw.CorruptError where a message of the
        log is not there: no other one comes in its place.
        """

        def job(db: apsw.Connection) -> list[Message]:
            if LogStore(db).log_by_number(number) is None:
                raise LogUnknown
            taken, total = list[Message](), 0
            found = LogStore(db).messages(number, start, end)
            for place in range(start, end):
                message = next(found, None)
                if message is None or message.id != place:
                    raise apsw.CorruptError(f"message {place} of a log is missing")
                taken.append(message)
                total += size(message.body.text)
                if total >= CHUNK_BYTES:
                    break
            return taken

        return self._store.read(job)

    def logs(self, after: str, most: int) -> list[Log]:
        """Up to `most` logs whose ids follow `after`, by id."""
        return [row.log for row in self._store.read(lambda db: LogStore(db).logs_after(after, most))]

    def stats(self, log: LogId) -> Stats:
        """How far a log is. Raises LogUnknown."""

        def job(db: apsw.Connection) -> Stats:
            row = _row(db, log)
            tree = TreeStore(db, row.number)
            return Stats(
                log=row.log,
                built=row.built_nodes,
                ready=min(row.unbuilt_leaves, LEAVES_AHEAD)
                + tree.count_ready_merges()
                + tree.rebuilds.count(),
                failing=tree.count_failing(),
                degraded=row.degraded_nodes,
                unbuilt_leaves=row.unbuilt_leaves,
                chat_bytes=row.chat_bytes,
                chat_lines=row.chat_lines,
                compaction_bytes=row.compaction_bytes,
                compaction_lines=row.compaction_lines,
                batches=row.batches,
                batch_owed=row.chat_owed,
                costs=tree.costs.sums(),
                searchable=row.indexed,
            )

        return self._store.read(job)


def _row(db: apsw.Connection, log: LogId) -> LogRow:
    row = LogStore(db).log(log)
    if row is None:
        raise LogUnknown
    return row


def _zoom(db: apsw.Connection, row: LogRow, first: int, count: int, start: int | None) -> Zoomed:
    logs, tree = LogStore(db), TreeStore(db, row.number)
    if count == 0:
        return _flat_page(logs, row, start) if row.asked.shape is Shape.FLAT else _view_page(tree, row, start)
    if sentence := no_such_line(first, count, row.length):
        raise LineUnknown(sentence)
    node = node_at(first, count)
    if node is None:
        raise AssertionError(f"{first}+{count} was found and is none")
    if not node.first <= (node.first if start is None else start) <= node.last:
        raise LineUnknown(f"There is no page {start} of {node.name}: it has one page, {node.first}.")
    if not node.level:
        return Zoomed(messages=tuple(logs.messages(row.number, node.first, node.first + 1)))
    if row.asked.shape is Shape.FLAT:
        raise LineUnknown(f"This log has no lines, only messages. Near it: {node.first}+1.")
    return Zoomed(lines=tuple((half, tree.text(half)) for half in node.halves))


def _flat_page(logs: LogStore, row: LogRow, start: int | None) -> Zoomed:
    begin = _page_start(row, start)
    sizes = (
        (message.id, len(f"{message.id}|{leaf_source(message.body.kind, message.body.text)}") + 1)
        for message in logs.messages(row.number, begin, row.length)
    )
    found = page(sizes)
    messages = islice(logs.messages(row.number, begin, row.length), found.count)
    return Zoomed(messages=tuple(messages), next_id=found.next_id)


def _view_page(tree: TreeStore, row: LogRow, start: int | None) -> Zoomed:
    """A page of the chat's view as it stands; a line that has merged since begins the page that it is in."""
    begin = _page_start(row, start)
    lines = [(node, text) for node, text in tree.lines(Which.CHAT, row.length) if node.last >= begin]
    found = page((node.first, len(shown(node, text)) + 1) for node, text in lines)
    return Zoomed(lines=tuple(lines[: found.count]), next_id=found.next_id)


def _page_start(row: LogRow, start: int | None) -> int:
    if start is None or start == 0:
        return 0
    if not 0 <= start < row.length:
        raise LineUnknown(f"There is no page {start}: {_span(row.length)}.")
    return start


def _span(length: int) -> str:
    return f"messages go from 0 to {length - 1}" if length else "the log has no messages yet"
