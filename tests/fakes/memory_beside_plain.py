"""The real memory service beside plain lists: the same is done to both, and then they are compared.

Its two logs have views with limits of their own. The rules: plain_memory.py. What is done to them:
services/memory/tests/integration/test_beside_plain_lists.py.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final

import apsw
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_runtime.errors import ServiceError

from tests.fakes import plain_memory as plain
from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.memory_at_hand import MemoryAtHand, at_hand
from tests.fakes.memory_rows import lines_of, nodes_of
from tests.fakes.memory_server import new_message

LOGS: Final = ("first", "second")
REST_S: Final = 10.0
_ROWS: Final = {
    "messages": "SELECT id, key, kind, text, part, parts FROM messages WHERE log = ? ORDER BY id",
    "waiting": "SELECT message FROM unbuilt_leaves WHERE log = ? ORDER BY message",
    "merges": "SELECT last, level FROM ready_merges WHERE log = ? ORDER BY last, level",
    "failures": "SELECT level, place, count FROM failures WHERE log = ? ORDER BY level, place",
    "views": "SELECT chat_owed, compaction_owed, chat_bytes, compaction_bytes, chat_lines, compaction_lines"
    " FROM logs WHERE number = ?",
}


class BesidePlain:
    """A service over files of its own, in a loop that is run by hand; `close` it at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[str, plain.PlainLog] = {}
        self.said: dict[str, list[plain.Said]] = {log: [] for log in LOGS}
        self.clock = ManualClock()
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._home = Path(tempfile.mkdtemp(prefix="beside-plain-"))
        self._folders = count()
        self._folder = self._home / "first"
        self._holders = count()
        self.disk = Disk(f"disk of {self._home.name}", waits=False)
        self._start()

    def _start(self) -> None:
        self._turn = len(LOGS) - 1  # the place of the log whose turn at handing out work was last
        self._resting: dict[str, dict[plain.Node, float]] = {log: {} for log in LOGS}  # until when
        opening = at_hand(self._folder, self.clock, vfs=self.disk.name)
        self.memory: MemoryAtHand = self.do(self._stack.enter_async_context(opening))

    def do(self, doing: Coroutine[Any, Any, Any]) -> Any:
        """Run it to its end."""
        return self._loop.run_until_complete(doing)

    def start_again(self, *, clean: bool) -> None:
        """End the service and start it anew; not `clean`, over its files as they were before the end."""
        if not clean:
            old, self._folder = self._folder, self._home / str(next(self._folders))
            shutil.copytree(old, self._folder)
        self.do(self._stack.aclose())
        self._start()

    def close(self) -> None:
        """End the service and remove its files."""
        self.do(self._stack.aclose())
        self.do(self._loop.shutdown_default_executor())
        self._loop.close()
        self.disk.unregister()
        shutil.rmtree(self._home)

    # What is done to both

    def create(self, log: str, chat: tuple[int, int], compaction: tuple[int, int]) -> None:
        """Make a log with these limits, high and low, of its views."""
        self.plain[log] = plain.PlainLog(chat=chat, compaction=compaction)
        chats, compactions = (ViewLimits(high_bytes=high, low_bytes=low) for high, low in (chat, compaction))
        self.do(self.memory.create(log, chat_view=chats, compaction_view=compactions))

    def append(self, log: str, messages: Sequence[plain.Said]) -> None:
        """Append, and compare the answers or the refusals."""
        self._both(lambda: self.plain[log].append(messages), self.appended(log, messages))
        kept = {message.said for message in self.plain[log].messages}
        self.said[log] += [
            one for one in dict.fromkeys(messages) if one in kept and one not in self.said[log]
        ]

    async def appended(self, log: str, messages: Sequence[plain.Said]) -> list[tuple[int, int, bool]]:
        """What the service answers to an append."""
        made = [
            new_message(one.key, one.text, kind=f"MESSAGE_KIND_{one.kind.upper()}", time=self.clock.now())
            for one in messages
        ]
        answer = await self.memory.append(*made, log=log)
        return [(one.first_id, one.count, one.known) for one in answer.appended]

    def complete(self, log: str, node: plain.Node, line: str) -> None:
        """Give a line, and compare the answers or the refusals."""
        giving = self.memory.complete(plain.name(node), line, log=log)
        self._both(lambda: self.plain[log].complete(node, line, "test"), giving)
        if node in self.plain[log].built:
            self._resting[log].pop(node, None)

    def fail(self, pick: int, *, content: bool) -> None:
        """Lease what is next and give one piece back without a line."""
        leased = self.lease()
        if not leased.pieces:
            return
        log, piece = leased.log_id, leased.pieces[pick % len(leased.pieces)]
        node = (piece.count.bit_length() - 1, piece.first_id // piece.count)
        if content:
            self._resting[log][node] = self.clock.monotonic() + REST_S
        cause = "CAUSE_CONTENT" if content else "CAUSE_UNAVAILABLE"
        failing = self.memory.fail(piece, cause, log=log)
        self._both(lambda: content and self.plain[log].fail(node), failing)

    def view(self, log: str) -> None:
        """Have the view fitted, and compare what is shown."""
        self.plain[log].fit()
        view, found = self.plain[log].chat, self.do(self.memory.view(log))
        unbuilt = sum(node not in self.plain[log].built for node in view.lines)
        assert found.text.splitlines() == ["<chat>", *self.plain[log].shown(view), "</chat>"]
        assert (found.length, found.bytes) == (len(self.plain[log].messages), self.plain[log].bytes_of(view))
        assert (found.lines, found.unbuilt_lines, found.whole) == (len(view.lines), unbuilt, unbuilt == 0)

    def _both(self, wanted: Callable[[], Any], found: Coroutine[Any, Any, Any]) -> None:
        answers: list[Any] = []
        for act in (wanted, lambda: self.do(found)):
            try:
                answers.append(act())
            except (plain.Refused, ServiceError) as refused:
                answers.append(refused.reason)
        assert answers[1] == answers[0]

    # What must be the same

    def lease(self) -> Any:
        """What the next call of a new holder hands out, which is what the plain lists would."""
        leased = self.do(self.memory.lease(f"holder {next(self._holders)}"))
        nodes: list[plain.Node] = []
        for step in range(1, len(LOGS) + 1):
            place = (self._turn + step) % len(LOGS)
            if nodes := self._available(LOGS[place]):
                self._turn = place
                break
        log = LOGS[self._turn]
        found = [(p.first_id, p.count, p.source, p.view_lines_seen, p.failures) for p in leased.pieces]
        assert found == [self._piece(self.plain[log], node) for node in nodes]
        assert leased.log_id == (log if nodes else "")
        longest = max((self.plain[log].seen(node) for node in nodes), key=len, default=[])
        assert list(leased.view_lines) == longest
        return leased

    def _available(self, log: str) -> list[plain.Node]:
        now, until = self.clock.monotonic(), self._resting[log]
        return [node for node in self.plain[log].ready() if until.get(node, now) <= now][: plain.OUT_MAX]

    @staticmethod
    def _piece(known: plain.PlainLog, node: plain.Node) -> tuple[int, int, str, int, int]:
        source = known.source(node)
        if node[0]:
            source = "\n".join(f"{plain.name(half)}|{known.text(half)}" for half in plain.halves(node))
        seen = len(known.seen(node))
        return plain.first(node), 2 ** node[0], source or "", seen, known.failures.get(node, 0)

    def compare(self) -> None:
        """Every row, every figure, and what each log would hand out."""
        for log, known in self.plain.items():
            self._compare_rows(log, known)
            self._compare_stats(log, known)
        for _ in self.plain:
            self.lease()

    def _compare_rows(self, log: str, known: plain.PlainLog) -> None:
        rows = self.memory.store.read(lambda db: _rows_of(db, log))
        assert rows["messages"] == [
            (place, one.said.key, one.said.kind, one.text, one.part, one.parts)
            for place, one in enumerate(known.messages)
        ]
        assert rows["nodes"] == [
            (*node, line.text, line.builder, line.degraded) for node, line in sorted(known.built.items())
        ]
        assert rows["waiting"] == [(place,) for _, place in known.waiting()]
        assert rows["merges"] == [(plain.last(node), node[0]) for node in known.merges()]
        assert rows["failures"] == sorted((*node, times) for node, times in known.failures.items())
        for view, lists in (("chat", known.chat), ("compaction", known.compaction)):
            assert rows[view] == [(plain.first(node), node[0]) for node in lists.lines], view
        sizes = (known.bytes_of(known.chat), known.bytes_of(known.compaction))
        lines = (len(known.chat.lines), len(known.compaction.lines))
        assert rows["views"] == [(known.chat.owed, known.compaction.owed, *sizes, *lines)]

    def _compare_stats(self, log: str, known: plain.PlainLog) -> None:
        stats = self.do(self.memory.stats(log))
        assert (stats.log.length, stats.built_nodes) == (len(known.messages), len(known.built))
        assert (stats.unbuilt_leaves, stats.ready_nodes) == (len(known.waiting()), len(known.ready()))
        assert (stats.failing_nodes, stats.batches) == (len(known.failures), known.batches)
        assert stats.degraded_nodes == sum(line.degraded for line in known.built.values())
        assert (stats.view_bytes, stats.view_lines) == (known.bytes_of(known.chat), len(known.chat.lines))
        assert stats.compaction_view_bytes == known.bytes_of(known.compaction)
        assert stats.compaction_view_lines == len(known.compaction.lines)
        assert stats.batch_owed == known.chat.owed

    def compare_zooms(self) -> None:
        """Of every node its two lines, or its message."""
        for log, known in self.plain.items():
            for node in known.nodes():
                self._compare_zoom(log, known, node)

    def _compare_zoom(self, log: str, known: plain.PlainLog, node: plain.Node) -> None:
        found = self.do(self.memory.zoom(plain.name(node), log=log))
        if not node[0]:
            (message,) = found.messages
            assert (message.id, message.text) == (node[1], known.messages[node[1]].text)
            return
        assert [(one.first_id, one.count, one.text, one.built) for one in found.lines] == [
            (plain.first(half), 2 ** half[0], known.text(half), half in known.built)
            for half in plain.halves(node)
        ]


def _rows_of(db: apsw.Connection, log: str) -> dict[str, list[Any]]:
    """All that is kept of a log, in order."""
    (number,) = db.execute("SELECT number FROM logs WHERE id = ?", (log,)).fetchall()[0]
    rows = {name: db.execute(query, (number,)).fetchall() for name, query in _ROWS.items()}
    rows["nodes"] = [node[:5] for node in nodes_of(db, number)]
    return rows | {view: lines_of(db, number, view) for view in ("chat", "compaction")}
