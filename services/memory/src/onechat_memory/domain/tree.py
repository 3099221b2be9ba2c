"""Nodes of the binary tree over a log: their names, spans and relatives. Pure.

A node (level, index) stands for the 2**level messages from index * 2**level on, and is named `first+count`:
(3, 5) is `40+8`. What a node's text may be: lines.py. Which nodes a view shows: view.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

MessageId = NewType("MessageId", int)  #: a message's place in its log: 0, 1, 2, …; never reused


@dataclass(frozen=True, slots=True)
class Node:
    """One summary line's place in the tree; positional, since (level, index) is how the field writes it."""

    level: int  #: 0 for a single message
    index: int  #: counted within the level, oldest first

    @property
    def count(self) -> int:
        """How many messages it stands for."""
        return 1 << self.level

    @property
    def first(self) -> int:
        """The id of its first message."""
        return self.index << self.level

    @property
    def last(self) -> int:
        """The id of its last message."""
        return ((self.index + 1) << self.level) - 1

    @property
    def name(self) -> str:
        """`first+count`, as views show it."""
        return f"{self.first}+{self.count}"

    @property
    def parent(self) -> Node:
        """The node that merges it with its sibling."""
        return Node(self.level + 1, self.index >> 1)

    @property
    def sibling(self) -> Node:
        """The other half of its parent."""
        return Node(self.level, self.index ^ 1)

    @property
    def halves(self) -> tuple[Node, Node]:
        """The older and the younger node that it merges; only above level 0."""
        return Node(self.level - 1, self.index * 2), Node(self.level - 1, self.index * 2 + 1)


def leaf(message: int) -> Node:
    """The node of a single message."""
    return Node(0, message)


def node_at(first: int, count: int) -> Node | None:
    """The node named `first+count`; None when no node can have that name, however long the log gets."""
    if first < 0 or not is_power_of_two(count) or first % count:
        return None
    level = count.bit_length() - 1
    return Node(level, first >> level)


def is_power_of_two(count: int) -> bool:
    """Whether `count` is 1, 2, 4, …"""
    return count > 0 and count & (count - 1) == 0


def no_such_line(first: int, count: int, length: int) -> str | None:
    """Why a log of `length` messages has no line `first+count`, naming what is near; None when it has one."""
    asked = f"There is no line {first}+{count}"
    if length == 0:
        return f"{asked}: the log has no messages yet."
    if not 0 <= first < length:
        return f"{asked}: messages go from 0 to {length - 1}. Near it: {leaf(length - 1).name}."
    if not is_power_of_two(count):
        near = _largest_at_most(first, max(count, 1), length)
        return f"{asked}: the second number is 1, 2, 4, 8 and so on. Near it: {near}."
    if first % count:
        near = _around(first, count, length)
        return f"{asked}: the first number is a multiple of the second. Near it: {near}."
    if first + count > length:
        near = _largest_at_most(first, count // 2, length)
        return f"{asked}: messages go from 0 to {length - 1}. Near it: {near}."
    return None


def _around(first: int, count: int, length: int) -> str:
    """The line of `count` messages that holds `first`, where the log has it, and the largest from it on."""
    own = _largest_at_most(first, first & -first, length)
    holding = Node(count.bit_length() - 1, first // count)
    return f"{holding.name}, {own}" if holding.last < length else own


def _largest_at_most(first: int, count: int, length: int) -> str:
    """The name of the largest line from message `first` on, of at most `count` messages."""
    size = 1 << (count.bit_length() - 1)
    while first % size or first + size > length:
        size >>= 1
    return f"{first}+{size}"
