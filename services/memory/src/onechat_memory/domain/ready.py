"""What can be built: which work is ready, what follows from a built node, what a piece may see. Pure.

The queues themselves are tables (adapters/tree_store.py) that are kept in step by these rules; who has which
piece at the moment: leases.py.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

from onechat_memory.domain.lines import is_own_line, joined
from onechat_memory.domain.tree import Node

LEAVES_AHEAD = 8  #: a leaf is ready once fewer than this many leaves before it are not built
TRIES = 3  #: after so many answers that were no line, a node gets the head of its source

TextOf = Callable[[Node], str | None]
"""A node's text; None while it is not built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ripple:
    """What follows from one built node, up the tree."""

    free: tuple[tuple[Node, str], ...]  #: parents that fit as they are, lowest first, with their texts
    ready: Node | None  #: the parent that now waits for a model


def ripple(node: Node, text: str, text_of: TextOf) -> Ripple:
    """What follows once `node` is built with `text`: merges that fit are built too, the next one is ready.

    `text_of` knows every node that was built before, not `node` itself. O(levels).
    """
    free: list[tuple[Node, str]] = []
    while (other := text_of(node.sibling)) is not None:
        source = joined(other, text) if node.index & 1 else joined(text, other)
        node = node.parent
        if not is_own_line(source):
            return Ripple(free=tuple(free), ready=node)
        free.append((node, source))
        text = source
    return Ripple(free=tuple(free), ready=None)


def next_pieces(
    leaves: Iterable[Node], merges: Iterable[Node], unavailable: Container[Node], most: int
) -> list[Node]:
    """Up to `most` of the ready nodes that are not `unavailable`, those with the oldest last message first.

    So merges keep up with leaves, and the views stay short however long the backlog is.
    """
    ready = [node for node in (*leaves, *merges) if node not in unavailable]
    return sorted(ready, key=lambda node: (node.last, node.level))[:most]


def lines_seen(lines: Sequence[tuple[Node, bool]], piece: Node) -> int:
    """How many of the compaction view's `lines` (a node, and whether it is built) the work on `piece` sees.

    For a leaf the lines before its message, for a merge those up to its last message; it stops at the first
    line that is not built.
    """
    last = piece.last if piece.level else piece.first - 1
    for place, (node, built) in enumerate(lines):
        if node.last > last or not built:
            return place
    return len(lines)
