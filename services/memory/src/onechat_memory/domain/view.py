"""Which lines of a view merge, and when. Pure: no clock, no store.

Sizes are UTF-8 bytes of the lines' texts, without `id+n|` and line end. How a node's text comes about:
ready.py and lines.py. Where views are kept: adapters/tree_store.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from onechat_memory.domain.tree import Node

SizeOf = Callable[[Node], int | None]
"""A node's size in bytes; None while it is not built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a view's batch begins and ends."""

    high: int  #: bytes; a view that passes it begins a batch
    low: int  #: bytes; a batch ends once the view is at most this


CHAT = Limits(high=128_000, low=64_000)
COMPACTION = Limits(high=32_000, low=16_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What one fit did."""

    merged: tuple[Node, ...]  #: the parents that took their halves' place, in order
    began: bool  #: whether a batch began


_NOTHING_DUE = Fitted(merged=(), began=False)


class View:
    """The lines that tile a log, oldest first, and whether a batch is owed.

    Cost: a new line O(log view), a merge O(log view + levels), whatever the log's length.
    """

    __slots__ = ("_levels", "_pairs", "_sizes", "length", "limits", "owed", "size")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.length = 0  #: messages that it stands for
        self.size = 0  #: bytes
        self.owed = False  #: whether a batch has begun and not ended
        # Both by first message. A dict keeps its order when the older half's entry is overwritten and the
        # younger one's removed, so these stay oldest first without a search.
        self._levels: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        # By the parent's level a heap, never empty, of the indices of built parents of which both halves are
        # lines here. Such a pair leaves only by merging; within a level the oldest is always the most due.
        self._pairs: dict[int, list[int]] = {}

    @classmethod
    def restore(
        cls, limits: Limits, lines: Iterable[tuple[Node, int]], *, owed: bool, parents_built: Iterable[Node]
    ) -> View:
        """The view as it was saved: its lines, oldest first, with their sizes; not fitted.

        `parents_built` holds the built nodes of which both halves are lines.
        """
        view = cls(limits)
        for node, size in lines:
            view._levels[node.first] = node.level
            view._sizes[node.first] = size
            view.size += size
            view.length = node.last + 1
        view.owed = owed
        for parent in parents_built:
            view._push(parent.level, parent.index)
        return view

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[Node]:
        return (Node(level, first >> level) for first, level in self._levels.items())

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and self._levels.get(node.first) == node.level

    @property
    def due(self) -> bool:
        """Whether a fit of its own accord would change anything."""
        if self.owed:
            return bool(self._pairs) or self.size <= self.limits.low
        return self.size > self.limits.high

    def append(self, size: int, size_of: SizeOf | None) -> None:
        """Take the next message's own line, of `size` bytes (its placeholder's, while it is not built).

        `size_of` is None where nothing can stand above it yet.
        """
        first = self.length
        self._levels[first] = 0
        self._sizes[first] = size
        self.size += size
        self.length = first + 1
        if first & 1 and size_of is not None:
            self._pair_up(first, 0, size_of)

    def note_built(self, node: Node, size: int) -> None:
        """`node` has been built, with `size` bytes: a line here has its text now, or two lines can merge."""
        if node in self:
            self.size += size - self._sizes[node.first]
            self._sizes[node.first] = size
        elif node.level and all(half in self for half in node.halves):
            self._push(node.level, node.index)

    def note_rewritten(self, node: Node, size: int) -> None:
        """`node`, which was built before, has another line now, of `size` bytes: nothing else follows."""
        if node in self:
            self.size += size - self._sizes[node.first]
            self._sizes[node.first] = size

    def fit(self, size_of: SizeOf, *, forced: bool = False) -> Fitted:
        """Merge most due pairs until the low limit, if a batch is owed or the view has passed the high one.

        `forced` begins a batch of its own accord (the compaction view's, when the chat's view merges).
        """
        began = not self.owed and self.size > (self.limits.low if forced else self.limits.high)
        if not (self.owed or began):
            return _NOTHING_DUE
        self.owed = True
        merged: list[Node] = []
        while self._pairs and self.size > self.limits.low:
            node = self.merge_most_due(size_of)
            if node is not None:
                merged.append(node)
        self.owed = self.size > self.limits.low
        return Fitted(merged=tuple(merged), began=began)

    def merge_most_due(self, size_of: SizeOf) -> Node | None:
        """Put a parent in the place of the pair that is most due, and return it; None when no pair can merge.

        Due is (length - last message of the pair) / 2**level of its nodes; the oldest of equals. Measured
        from the pair's first message instead, old lines would be written again and again.
        """
        best, best_due, best_last = 0, 0, 0  # the parent's level; due counts in 1 / 2**(best - 1)
        for level, pairs in self._pairs.items():
            last = ((pairs[0] + 1) << level) - 1
            due = self.length - last
            # Fractions over powers of two, compared as integers.
            ahead = (due << best) - (best_due << level)
            if not best or ahead > 0 or (ahead == 0 and last < best_last):
                best, best_due, best_last = level, due, last
        if not best:
            return None
        pairs = self._pairs[best]
        parent = Node(best, heappop(pairs))
        if not pairs:
            del self._pairs[best]
        self._replace_halves(parent, size_of)
        return parent

    def _replace_halves(self, parent: Node, size_of: SizeOf) -> None:
        size = size_of(parent)
        if size is None:
            raise AssertionError(f"{parent.name} is taken for built and is not")
        older, younger = parent.first, parent.first + (parent.count >> 1)
        self.size += size - self._sizes[older] - self._sizes.pop(younger)
        self._levels[older] = parent.level
        self._sizes[older] = size
        del self._levels[younger]
        self._pair_up(older, parent.level, size_of)

    def _pair_up(self, first: int, level: int, size_of: SizeOf) -> None:
        """The line at `first` is new: it can merge if its sibling is a line and their parent is built."""
        if self._levels.get(first ^ (1 << level)) != level:
            return
        parent = Node(level + 1, first >> (level + 1))
        if size_of(parent) is not None:
            self._push(parent.level, parent.index)

    def _push(self, level: int, index: int) -> None:
        heappush(self._pairs.setdefault(level, []), index)
