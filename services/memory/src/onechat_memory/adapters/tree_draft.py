"""A log's tree as one change sees it: what the change made, and under it what is in the tables.

What is made is gathered, so that each table is written once however many messages came; nothing is in the
tables before `write`. The tables: tree_store.py. What is made when: chat_log.py.
"""

from datetime import datetime

from onechat_memory.adapters.tree_store import Built, TreeStore, Which
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node


class LinesDraft:
    """The lines of one view that a change added or merged."""

    def __init__(self, tree: TreeStore, which: Which, length: int) -> None:
        """`length` is the view's when the change began: no line from there on is in the table."""
        self._tree = tree
        self._which = which
        self._written = self._length = length
        # By first message: the level that the line has now.
        self._new: dict[int, int] = {}
        self._old: dict[int, int | None] = {}  # None for one that merged away

    def add(self) -> None:
        """The next message got its own line."""
        self._new[self._length] = 0
        self._length += 1

    def merge(self, node: Node) -> None:
        """`node` took the place of its two halves."""
        older, younger = node.first, node.first + (node.count >> 1)
        if older >= self._written:
            self._new[older] = node.level
        else:
            self._old[older] = node.level
        if younger >= self._written:
            del self._new[younger]
        else:
            self._old[younger] = None

    def write(self) -> None:
        """Put them into the table."""
        if self._new:
            self._tree.add_lines(self._which, self._new)
            self._new = {}
        if self._old:
            self._tree.write_lines(self._which, self._old)
            self._old = {}
        self._written = self._length


class TreeDraft:
    """The changes of one log's tree, queues and views that are not written yet."""

    def __init__(self, tree: TreeStore, length: int) -> None:
        """`length` is the log's when the change began."""
        self._tree = tree
        self._free_leaves: dict[int, str] = {}  # by message; apart, since nearly all that is built are these
        self._built: dict[Node, Built] = {}
        self._leaves: list[int] = []
        self._merges: list[Node] = []
        self.chat = LinesDraft(tree, Which.CHAT, length)
        self.compaction = LinesDraft(tree, Which.COMPACTION, length)

    def text(self, node: Node) -> str | None:
        """The text of `node`; None while it is not built."""
        made = self._made(node)
        return self._tree.text(node) if made is None else made

    def size(self, node: Node) -> int | None:
        """The UTF-8 bytes of the text of `node`; None while it is not built."""
        made = self._made(node)
        return self._tree.size(node) if made is None else size(made)

    def size_now(self, node: Node) -> int | None:
        """The same where this change built `node`; None else, without a look at the tables."""
        made = self._made(node)
        return None if made is None else size(made)

    def _made(self, node: Node) -> str | None:
        if not node.level and (text := self._free_leaves.get(node.index)) is not None:
            return text
        built = self._built.get(node)
        return None if built is None else built.text

    def add_leaf(self, message: int, text: str) -> None:
        """The leaf of `message` is its own line."""
        self._free_leaves[message] = text

    def add(self, built: Built) -> None:
        """A node got its line."""
        self._built[built.node] = built

    def queue_leaf(self, message: int) -> None:
        """The leaf of `message` waits for a model."""
        self._leaves.append(message)

    def queue_merge(self, node: Node) -> None:
        """Both halves of `node` are built, and it waits for a model."""
        self._merges.append(node)

    def write(self, now: datetime) -> None:
        """Put all of it into the tables, built at `now`."""
        if self._free_leaves:
            self._tree.add_free_leaves(self._free_leaves, now)
            self._free_leaves = {}
        if self._built:
            self._tree.add(self._built.values(), now)
            self._built = {}
        if self._leaves:
            self._tree.queue_leaves(self._leaves)
            self._leaves = []
        if self._merges:
            self._tree.queue_merges(self._merges)
            self._merges = []
        self.chat.write()
        self.compaction.write()
