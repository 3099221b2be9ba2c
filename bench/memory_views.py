"""How much of a turn's view the turn before has sent already, and how many lines are written again.

One stored case, which every right implementation reproduces, gives the sizes of messages and of merged lines
and says when merges are built; so every figure is exact and the same on each machine. Sizes are UTF-8 bytes,
of lines' texts without names and line ends. The compaction view's prompts: memory_prefixes.py.
"""

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import apsw
from onechat_memory.__main__ import MIGRATIONS, NAME
from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.tree_store import Built, TreeStore, Which
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.lines import LINE_MAX
from onechat_memory.domain.messages import NewLog, Shape, State
from onechat_memory.domain.tree import Node, leaf
from onechat_memory.domain.view import COMPACTION, Limits, View
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

from bench.figures import Figure, figure
from bench.scale import Scale

RESTART_EVERY: Final = 37  # messages; a turn is no multiple of it, so restarts fall anywhere in a batch
TITLE: Final = "What a turn's view shares with the turn before"
ABOUT: Final = (
    "The stored case turn-view: 3,000 messages, the view fitted after each. Shared is what a turn's view "
    "begins with of the view of the turn before, in bytes, the mean over all turns; a provider reads the "
    "rest anew. Written are the lines behind what is shared, the new ones among them, when each message is "
    "a turn. The baseline is a view that merges at every message what is over 96,000 bytes, the mean size "
    f"of the other. With restarts the store is closed after every {RESTART_EVERY} messages, and the view "
    "goes on from its rows. Nothing is timed and nothing drawn, so the figures are exact and have no rounds."
)
CASES: Final = Path(__file__).parents[1] / "services/memory/tests/vectors/view.json"
SHARED_AT_LEAST: Final = {1: 99.0, 4: 97.0, 16: 89.0, 96: 45.0}  # percent, by messages a turn
WRITTEN_AT_MOST: Final = 1.65  # lines a message
MEAN_BYTES: Final = 96_000
_LOG: Final = LogId("turn-view")
_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Messages, and the tree that grows over them."""

    limits: Limits
    sizes: tuple[int, ...]  #: of the messages' own lines
    delay: int  #: a merge is built once so many messages have come after its last one
    _known: dict[Node, int] = field(default_factory=dict)

    def size(self, node: Node) -> int:
        """The bytes of its line, built or not."""
        if not node.level:
            return self.sizes[node.index]
        if node not in self._known:
            both = sum(map(self.size, node.halves)) + 1
            made_up = 300 + (7 * node.index + 13 * node.level) % 200
            self._known[node] = both if both <= LINE_MAX else made_up
        return self._known[node]

    def size_at(self, length: int) -> Callable[[Node], int | None]:
        """Sizes as they are known when the log has `length` messages."""
        return lambda node: self.size(node) if not node.level or length > node.last + self.delay else None

    def built_at(self, length: int) -> Iterator[Node]:
        """The merges that are built as the log comes to `length` messages, lowest first."""
        end = length - self.delay
        level = 1
        while end > 0 and end % (1 << level) == 0:
            yield Node(level, (end - 1) >> level)
            level += 1


@dataclass(slots=True, kw_only=True)
class _Turns:
    """What turns of so many messages find."""

    messages: int  #: a turn
    shares: list[float] = field(default_factory=list)  #: percent of each view that the one before began with
    written: int = 0  #: lines behind what is shared
    _before: list[tuple[Node, int]] = field(default_factory=list)

    def note(self, lines: list[tuple[Node, int]]) -> None:
        """The next turn reads `lines`."""
        same = 0
        while same < min(len(lines), len(self._before)) and lines[same] == self._before[same]:
            same += 1
        if self._before:
            self.shares.append(100 * _size(lines[:same]) / _size(lines))
        self.written += len(lines) - same
        self._before = lines


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    case = _case(scale.case_messages)
    through = _turns(case, View(case.limits))
    each_message = _turns(case, View(Limits(high=MEAN_BYTES, low=MEAN_BYTES)))
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        restarted = await _with_restarts(case, Path(folder) / NAME / "store.db")
    return [
        figure("baseline: shared, merged at every message, at 1 a turn", [_mean(each_message[1])], "%"),
        *(_shared(f"shared at {count} a turn", through[count]) for count in SHARED_AT_LEAST),
        *(
            _shared(f"the same with restarts, at {count} a turn", restarted[count])
            for count in SHARED_AT_LEAST
        ),
        figure(
            "baseline: lines written a message, merged at every one",
            [each_message[1].written / len(case.sizes)],
            "lines",
        ),
        figure(
            "lines written a message",
            [through[1].written / len(case.sizes)],
            "lines",
            at_most=WRITTEN_AT_MOST,
        ),
    ]


def _case(messages: int) -> _Case:
    """The stored case, or its first `messages`."""
    found = next(case for case in json.loads(CASES.read_text())["cases"] if case["name"] == _LOG)
    return _Case(
        limits=Limits(high=found["high"], low=found["low"]),
        sizes=tuple(found["sizes"][:messages]),
        delay=found["delay"],
    )


def _turns(case: _Case, view: View) -> Mapping[int, _Turns]:
    """What the turns find in a view that stays in memory."""
    turns = _all_turns()
    for length in range(1, len(case.sizes) + 1):
        _grow(case, view, length)
        _note(case, view, turns)
    return turns


def _grow(case: _Case, view: View, length: int) -> None:
    """Bring `view` to `length` messages, one more than it has."""
    size_of = case.size_at(length)
    for node in case.built_at(length):
        view.note_built(node, case.size(node))
    view.append(case.sizes[length - 1], size_of)
    view.fit(size_of)


async def _with_restarts(case: _Case, path: Path) -> Mapping[int, _Turns]:
    """What the turns find in a view that is kept in `path` and read again from there."""
    turns, clock, migrations = _all_turns(), SystemClock(), migrations_in(MIGRATIONS)
    for start in range(0, len(case.sizes), RESTART_EVERY):
        lengths = range(start + 1, min(start + RESTART_EVERY, len(case.sizes)) + 1)
        async with Store.open(path, component=NAME, migrations=migrations, clock=clock) as store:
            await store.write(lambda db: _go_on(db, case, lengths, turns))  # noqa: B023 - it runs at once
    return turns


def _go_on(db: apsw.Connection, case: _Case, lengths: range, turns: Mapping[int, _Turns]) -> None:
    """The view's next messages, from its rows and into its rows."""
    logs = LogStore(db)
    if logs.log(_LOG) is None:
        logs.create(_new_log(case.limits), _TIME)
    row = logs.log(_LOG)
    assert row is not None
    tree = TreeStore(db, row.number)
    view = tree.restore(Which.CHAT, case.limits, length=row.length, size=row.chat_bytes, owed=row.chat_owed)
    levels = {node.first: node.level for node in view}
    for length in lengths:
        new = (*case.built_at(length), leaf(length - 1))
        tree.add([Built(node=node, text="x" * case.size(node), builder="benchmark") for node in new], _TIME)
        _grow(case, view, length)
        _note(case, view, turns)
    now = {node.first: node.level for node in view}
    # Lines of single messages have no row.
    tree.write_lines(Which.CHAT, {first: now.get(first) or None for first in {**levels, **now}})
    row.length, row.chat_owed, row.chat_bytes = view.length, view.owed, view.size
    logs.save(row)


def _new_log(limits: Limits) -> NewLog:
    return NewLog(id=_LOG, label=_LOG, shape=Shape.TREE, state=State.LIVE, chat=limits, compaction=COMPACTION)


def _all_turns() -> Mapping[int, _Turns]:
    return {count: _Turns(messages=count) for count in SHARED_AT_LEAST}


def _note(case: _Case, view: View, turns: Mapping[int, _Turns]) -> None:
    lines: list[tuple[Node, int]] | None = None
    for one in turns.values():
        if view.length % one.messages == 0:
            lines = lines or [(node, case.size(node)) for node in view]
            one.note(lines)


def _shared(what: str, turns: _Turns) -> Figure:
    return figure(what, [_mean(turns)], "%", at_least=SHARED_AT_LEAST[turns.messages])


def _mean(turns: _Turns) -> float:
    return statistics.fmean(turns.shares)


def _size(lines: list[tuple[Node, int]]) -> int:
    return sum(size for _, size in lines)
