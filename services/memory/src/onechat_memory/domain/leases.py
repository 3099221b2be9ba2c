"""Who works on which node at the moment. Lives in memory only: a restart gives everything back. Pure.

Times are seconds of a monotonic clock, given by the caller. What is ready at all: ready.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NewType

from onechat_memory.domain.tree import Node

LogId = NewType("LogId", str)  #: random, made by whoever owns the log
LeaseId = NewType("LeaseId", str)  #: never given twice

LEASE_S = 120.0  #: how long a piece may be out before somebody else may have it
REST_S = 10.0  #: how long a piece waits after an answer that was no line
OUT_MAX = 8  #: pieces of one log that may be out at once
AGAIN_OUT_MAX = 4  #: how many of them may be built nodes that are to be built again, which no turn waits for


@dataclass(frozen=True, slots=True)
class Edition:
    """One generation of a log, which is what pieces are leased of.

    A swap puts another one under the log's id, so a lease from before it holds up nothing and counts nothing.
    """

    number: int  #: what tables name the log by
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One piece that is out."""

    id: LeaseId
    node: Node
    end: float  #: monotonic seconds; from then on somebody else may have it


@dataclass(slots=True, kw_only=True)
class Leases:
    """The pieces that are out, and those that rest after a failure, by a log's edition and node.

    One holder at a time: when another one comes (the agent was started again), what the old one had is free.
    """

    epoch: str  #: random for each start, so that a lease of an earlier start is never taken for one of these
    holder: str = ""
    _out: dict[Edition, dict[Node, Lease]] = field(default_factory=dict)
    _resting: dict[Edition, dict[Node, float]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def hold(self, holder: str) -> bool:
        """`holder` leases from now on; whether it is another one than before, whose pieces are free now."""
        if holder == self.holder:
            return False
        self.holder = holder
        self._out.clear()
        return True

    def unavailable(self, log: Edition, now: float) -> frozenset[Node]:
        """The nodes of `log` that cannot be leased now: those that are out or resting."""
        self._drop_ended(log, now)
        return frozenset(self._out.get(log, ())) | frozenset(self._resting.get(log, ()))

    def room(self, log: Edition, now: float) -> int:
        """How many more pieces of `log` may go out now."""
        self._drop_ended(log, now)
        return max(0, OUT_MAX - len(self._out.get(log, ())))

    def out(self, log: Edition, now: float) -> frozenset[Node]:
        """The nodes of `log` that somebody works on."""
        self._drop_ended(log, now)
        return frozenset(self._out.get(log, ()))

    def lease(self, log: Edition, nodes: Iterable[Node], now: float) -> list[Lease]:
        """New leases for `nodes`, in their order."""
        made = [
            Lease(id=LeaseId(f"{self.epoch}-{next(self._numbers)}"), node=node, end=now + LEASE_S)
            for node in nodes
        ]
        self._out.setdefault(log, {}).update((lease.node, lease) for lease in made)
        return made

    def free(self, log: Edition, node: Node) -> None:
        """`node` is out no more, whoever had it: it is built."""
        self._out.get(log, {}).pop(node, None)
        self._resting.get(log, {}).pop(node, None)

    def forget(self, log: Edition) -> None:
        """Nothing of `log` is out or rests any more: another log stands in its place."""
        self._out.pop(log, None)
        self._resting.pop(log, None)

    def give_back(self, log: Edition, node: Node, lease: LeaseId, now: float, *, rest: bool) -> bool:
        """End `lease`, with a rest for its node where wished; False where it has ended or is not `node`'s."""
        self._drop_ended(log, now)
        held = self._out.get(log, {}).get(node)
        if held is None or held.id != lease:
            return False
        del self._out[log][node]
        if rest:
            self._resting.setdefault(log, {})[node] = now + REST_S
        return True

    def next_change(self, now: float) -> float | None:
        """Seconds until time alone frees a piece; None when nothing is out or resting.

        What has ended by `now` is free already, and no reason to look again.
        """
        for log in {*self._out, *self._resting}:  # nobody looks at a log that has no work
            self._drop_ended(log, now)
        ends = [lease.end for nodes in self._out.values() for lease in nodes.values()]
        ends += [end for nodes in self._resting.values() for end in nodes.values()]
        return min(ends) - now if ends else None

    def _drop_ended(self, log: Edition, now: float) -> None:
        out = {node: lease for node, lease in self._out.pop(log, {}).items() if lease.end > now}
        resting = {node: end for node, end in self._resting.pop(log, {}).items() if end > now}
        if out:
            self._out[log] = out
        if resting:
            self._resting[log] = resting
