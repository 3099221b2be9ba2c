"""Compaction work: pieces handed out by lease, and what comes back.

Which pieces are ready: the tables behind adapters/tree_store.py. Who has which: domain/leases.py. All but the
store's jobs runs in the event loop, so a look at the tables and the leases made from it are one step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.rebuild_store import next_log_with_rebuilds
from onechat_memory.adapters.tree_store import TreeStore, Which, next_log_with_work
from onechat_memory.bells import WORK, Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.leases import AGAIN_OUT_MAX, LEASE_S, OUT_MAX, Edition, LeaseId, Leases, LogId
from onechat_memory.domain.lines import accepted, leaf_source, merge_source, shown
from onechat_memory.domain.messages import State
from onechat_memory.domain.ready import lines_seen, next_pieces
from onechat_memory.domain.tree import Node
from onechat_memory.errors import LineEmpty, LogUnknown, NodeUnknown

_NextLog = Callable[[apsw.Connection, int], int | None]
_FreeNodes = Callable[[TreeStore, Edition, int], list[Node]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One node that is to be built, on its way out."""

    node: Node
    source: str  #: for a leaf `kind: text`; for a merge its two lines with their names
    lines_seen: int  #: how many of the compaction view's lines it sees
    failures: int  #: how often its content failed before


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Work of one log, with the view that it is done in."""

    log: LogId
    edition: Edition
    pieces: tuple[Piece, ...]
    view: tuple[str, ...]  #: the compaction view's lines that any of them sees, oldest first

    @property
    def generation(self) -> int:
        """The log's, when they were handed out."""
        return self.edition.generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """What one call hands out."""

    work: Pieces
    leases: tuple[LeaseId, ...]  #: one for each piece
    expire_time: datetime


class Compactions:
    """Hands out what is ready, logs in turn, and takes back lines."""

    def __init__(self, store: Store, logs: ChatLogs, leases: Leases, bells: Bells, clock: Clock) -> None:
        self._store = store
        self._logs = logs
        self._leases = leases
        self._bells = bells
        self._clock = clock
        self._served = 0  # the number of the log that had its turn last

    async def lease(self, holder: str, most: int, wait_s: float) -> Leased | None:
        """Up to `most` pieces of one log for `holder`, after at most `wait_s`; None when nothing is ready.

        None too when another holder came during the wait: `holder` is gone, or should be.
        """
        if self._leases.hold(holder):
            self._bells.ring(WORK)
        end = self._clock.monotonic() + wait_s
        while True:
            with self._bells.listening(WORK) as bell:
                if self._leases.holder != holder:
                    return None
                now = self._clock.monotonic()  # before the look, so that what ends during it is waited for
                if leased := self._lease_now(most):
                    return leased
                if now >= end:
                    return None
                until_free = self._leases.next_change(now)
                await bell.rung(end - now if until_free is None else min(end - now, until_free))

    async def complete(
        self, log: LogId, node: Node, answer: str, builder: str, asked: Asked, *, generation: int
    ) -> str:
        """Take a model's answer as the line of `node`, whoever sends it; the line as it is kept.

        What was asked for it is counted with it.
        Raises LogUnknown, NodeUnknown, NodeBuilt, LineEmpty, StoreFull.
        """
        line = accepted(answer)
        if not line:
            raise LineEmpty

        def free(edition: Edition) -> None:
            self._leases.free(edition, node)

        await self._logs.complete(log, node, line, builder, asked, generation=generation, done=free)
        return line

    async def give_back(self, log: LogId, node: Node, lease: LeaseId, asked: Asked, *, content: bool) -> bool:
        """End `lease` without a line; whether `node` was built from its source's head.

        `content` counts, and the piece rests; otherwise it is ready again at once. A lease that has ended
        counts nothing, neither a failure nor what was asked: it cannot be told from the same answer sent
        twice. What was paid all the same is in the agent service's records of each call.
        Raises LogUnknown, NodeUnknown, StoreFull.
        """
        row = self._store.read(lambda db: LogStore(db).log(log))
        if row is None:
            raise LogUnknown
        if node.last >= row.length:
            raise NodeUnknown
        if not self._leases.give_back(row.edition, node, lease, self._clock.monotonic(), rest=content):
            return False
        if content:
            return await self._logs.fail(log, node, asked, edition=row.edition)
        try:
            if asked.calls:
                await self._logs.ask_in_vain(log, node, asked, edition=row.edition)
        finally:
            self._bells.ring(WORK)
        return False

    def _lease_now(self, most: int) -> Leased | None:
        found = self._store.read(lambda db: self._find(db, most))
        if found is None:
            return None
        self._served, work = found
        now = self._clock.monotonic()
        leases = self._leases.lease(work.edition, [piece.node for piece in work.pieces], now)
        return Leased(
            work=work,
            leases=tuple(lease.id for lease in leases),
            expire_time=self._clock.now() + timedelta(seconds=LEASE_S),
        )

    def _find(self, db: apsw.Connection, most: int) -> tuple[int, Pieces] | None:
        """The next log in turn that has something to hand out, by number, and what; once around.

        What is built and is to be built again comes after all that is not built, of whichever log.
        """
        return self._find_in_turn(db, next_log_with_work, self._unbuilt_nodes, most) or self._find_in_turn(
            db, next_log_with_rebuilds, self._nodes_again, most
        )

    def _find_in_turn(
        self, db: apsw.Connection, next_log: _NextLog, free_nodes: _FreeNodes, most: int
    ) -> tuple[int, Pieces] | None:
        number = next_log(db, self._served) or next_log(db, 0)
        first = number
        while number is not None:
            row = LogStore(db).log_by_number(number)
            if row is not None and row.asked.state is not State.KEPT:
                nodes = free_nodes(TreeStore(db, number), row.edition, most)
                if nodes:
                    return number, _pieces(db, row, nodes)
            number = next_log(db, number) or next_log(db, 0)
            if number == first:
                return None
        return None

    def _unbuilt_nodes(self, tree: TreeStore, log: Edition, most: int) -> list[Node]:
        now = self._clock.monotonic()
        room = min(most, self._leases.room(log, now))
        if not room:
            return []
        unavailable = self._leases.unavailable(log, now)
        # So many merges hold at least OUT_MAX that are neither out nor resting.
        merges = tree.ready_merges(len(unavailable) + OUT_MAX)
        return next_pieces(tree.ready_leaves(), merges, unavailable, room)

    def _nodes_again(self, tree: TreeStore, log: Edition, most: int) -> list[Node]:
        now = self._clock.monotonic()
        again_out = sum(tree.rebuilds.has(node) for node in self._leases.out(log, now))
        room = min(most, self._leases.room(log, now), AGAIN_OUT_MAX - again_out)
        if room <= 0:
            return []
        unavailable = self._leases.unavailable(log, now)
        ready = tree.rebuilds.ready(len(unavailable) + OUT_MAX)
        return [node for node in ready if node not in unavailable][:room]


def _pieces(db: apsw.Connection, row: LogRow, nodes: Sequence[Node]) -> Pieces:
    """What workers on `nodes` need; the view is cut where none of them sees further."""
    tree, logs = TreeStore(db, row.number), LogStore(db)
    lines = tree.lines_to_unbuilt(Which.COMPACTION, row.length)
    built = [(node, text is not None) for node, text in lines]
    pieces = tuple(
        Piece(
            node=node,
            source=_source(logs, tree, row.number, node),
            lines_seen=lines_seen(built, node),
            failures=tree.failures(node),
        )
        for node in nodes
    )
    furthest = max(piece.lines_seen for piece in pieces)
    view = tuple(shown(node, text) for node, text in lines[:furthest])
    return Pieces(log=row.asked.id, edition=row.edition, pieces=pieces, view=view)


def _source(logs: LogStore, tree: TreeStore, log: int, node: Node) -> str:
    if not node.level:
        return leaf_source(*logs.kind_and_text(log, node.index))
    older, younger = node.halves
    return merge_source(older, tree.text(older) or "", younger, tree.text(younger) or "")
