"""Which lines of a view merge, and when. Pure: no clock, no store.

Sizes are UTF-8 bytes of the lines' texts, without `id+n|` and line end. How a node's text comes about:
ready.py and lines.py. Where views are kept: adapters/tree_store.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.tree import Node

SizeOf = Callable[[Node], int | None]
"""A node's size in bytes; None while it is not built."""

_Pairs = dict[int, list[tuple[int, int]]]


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
    """The lines that tile a log, oldest first, their bytes together, and whether a batch is owed.

    Cost: a new line O(log view), a merge O(log view + levels), whatever the log's length. A saved view comes
    back without a look at a node: its lines' own sizes, and which of them can merge, are asked for when a
    line merges.
    """

    __slots__ = ("_levels", "_pairs", "_sizes", "length", "limits", "owed", "size")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.length = 0  #: messages that it stands for
        self.size = 0  #: bytes
        self.owed = False  #: whether a batch has begun and not ended
        # Both by first message. A dict keeps its order when the older half's entry is overwritten and the
        # younger one's removed, so the levels stay oldest first without a search.
        self._levels: dict[int, int] = {}
        self._sizes: dict[int, int] = {}  # of a saved view none at first
        # By the parent's level a heap, never empty, of the built parents of which both halves are lines here:
        # each one's index and size. Such a pair leaves only by merging; within a level the oldest is always
        # the most due. None in a saved view until a batch wants them.
        self._pairs: _Pairs | None = {}

    @classmethod
    def restore(cls, limits: Limits, levels: Mapping[int, int], *, size: int, owed: bool) -> View:
        """The view as it was saved, of `size` bytes; not fitted.

        `levels` holds the level of each line by its first message, oldest first.
        """
        view = cls(limits)
        view._levels = dict(levels)
        if levels:
            first, level = next(reversed(view._levels.items()))
            view.length = first + (1 << level)
        view.size = size
        view.owed = owed
        view._pairs = None
        return view

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[Node]:
        return (Node(level, first >> level) for first, level in self._levels.items())

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and self._levels.get(node.first) == node.level

    @property
    def due(self) -> bool:
        """Whether a fit of its own accord would change something, or has to find out whether it would."""
        if self.owed:
            return self._pairs is None or bool(self._pairs) or self.size <= self.limits.low
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
        if first & 1 and size_of is not None and self._pairs is not None:
            self._pair_up(self._pairs, first, 0, size_of)

    def note_built(self, node: Node, size: int) -> None:
        """`node` has been built, with `size` bytes: a line here has its text now, or two lines can merge."""
        if node in self:
            self.size += size - self._sizes.get(node.first, PLACEHOLDER_SIZE)
            self._sizes[node.first] = size
        elif self._pairs is not None and node.level and all(half in self for half in node.halves):
            _push(self._pairs, node.level, node.index, size)

    def note_rewritten(self, node: Node, *, before: int, size: int) -> None:
        """`node`, whose line had `before` bytes, has another one now, of `size`: nothing else follows."""
        if node in self:
            self.size += size - before
            self._sizes[node.first] = size
        elif self._pairs is not None and node.level in self._pairs:
            heap = self._pairs[node.level]  # ordered by indices, so it stays a heap
            heap[:] = [(index, size if index == node.index else known) for index, known in heap]

    def fit(self, size_of: SizeOf, *, forced: bool = False) -> Fitted:
        """Merge most due pairs until the low limit, if a batch is owed or the view has passed the high one.

        `forced` begins a batch of its own accord (the compaction view's, when the chat's view merges).
        """
        began = not self.owed and self.size > (self.limits.low if forced else self.limits.high)
        if not (self.owed or began):
            return _NOTHING_DUE
        self.owed = True
        merged: list[Node] = []
        while self.size > self.limits.low and (node := self.merge_most_due(size_of)) is not None:
            merged.append(node)
        self.owed = self.size > self.limits.low
        return Fitted(merged=tuple(merged), began=began)

    def merge_most_due(self, size_of: SizeOf) -> Node | None:
        """Put a parent in the place of the pair that is most due, and return it; None when no pair can merge.

        Due is (length - last message of the pair) / 2**level of its nodes; the oldest of equals. Measured
        from the pair's first message instead, old lines would be written again and again.
        """
        pairs = self._found_pairs(size_of)
        if not pairs:
            return None
        level = self._most_due(pairs) if len(pairs) > 1 else next(iter(pairs))
        index, size = heappop(pairs[level])
        if not pairs[level]:
            del pairs[level]
        self._replace_halves(level, index, size, size_of)
        self._pair_up(pairs, index << level, level, size_of)
        return Node(level, index)

    def _most_due(self, pairs: _Pairs) -> int:
        """The level of the parent whose pair is most due."""
        best, best_due, best_last = 0, 0, 0  # due counts in 1 / 2**(best - 1)
        for level, heap in pairs.items():
            last = ((heap[0][0] + 1) << level) - 1
            due = self.length - last
            # Fractions over powers of two, compared as integers.
            ahead = (due << best) - (best_due << level)
            if not best or ahead > 0 or (ahead == 0 and last < best_last):
                best, best_due, best_last = level, due, last
        return best

    def _found_pairs(self, size_of: SizeOf) -> _Pairs:
        """The pairs that can merge; those of a saved view are looked for once. O(view) then."""
        if self._pairs is None:
            self._pairs = {}
            for first, level in self._levels.items():
                if first >> level & 1:
                    self._pair_up(self._pairs, first, level, size_of)
        return self._pairs

    def _replace_halves(self, level: int, index: int, size: int, size_of: SizeOf) -> None:
        """Put the parent (level, index), of `size` bytes, in the place of its halves."""
        first = index << level
        younger = first + (1 << level >> 1)
        self.size += size
        for half in (first, younger):
            taken = self._sizes.pop(half, None)
            if taken is None:  # a saved view's own
                taken = size_of(Node(level - 1, half >> (level - 1)))
            self.size -= PLACEHOLDER_SIZE if taken is None else taken
        self._levels[first] = level
        self._sizes[first] = size
        del self._levels[younger]

    def _pair_up(self, pairs: _Pairs, first: int, level: int, size_of: SizeOf) -> None:
        """The line at `first` can merge if its sibling is a line and their parent is built."""
        if self._levels.get(first ^ (1 << level)) != level:
            return
        index = first >> (level + 1)
        size = size_of(Node(level + 1, index))
        if size is not None:
            _push(pairs, level + 1, index, size)


def _push(pairs: _Pairs, level: int, index: int, size: int) -> None:
    heappush(pairs.setdefault(level, []), (index, size))
