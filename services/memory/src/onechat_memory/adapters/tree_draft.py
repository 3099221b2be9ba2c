"""A log's tree as one change sees it: what the change made, and under it what is in the tables.

What is made is gathered, so that each table is written once however many messages came; nothing is in the
tables before `write`. The tables: tree_store.py. What is made when: chat_log.py.
"""

from datetime import datetime

from onechat_memory.adapters.tree_store import Built, TreeStore, Which
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node


class LinesDraft:
    """The lines of one view that a change merged."""

    def __init__(self, tree: TreeStore, which: Which) -> None:
        self._tree = tree
        self._which = which
        self._levels: dict[int, int | None] = {}  # by first message; None for one that merged away

    def merge(self, node: Node) -> None:
        """`node` took the place of its two halves."""
        self._levels[node.first] = node.level
        if node.level > 1:  # a message's own line has no row
            self._levels[node.first + (node.count >> 1)] = None

    def write(self) -> None:
        """Put them into the table."""
        if self._levels:
            self._tree.write_lines(self._which, self._levels)
            self._levels = {}


class TreeDraft:
    """The changes of one log's tree, queues and views that are not written yet."""

    def __init__(self, tree: TreeStore) -> None:
        self._tree = tree
        #: Of new messages that are their own lines, by message; they are written with their messages.
        self.own_lines: dict[int, str] = {}
        self._built: dict[Node, Built] = {}
        self._leaves: list[int] = []
        self._merges: list[Node] = []
        self.chat = LinesDraft(tree, Which.CHAT)
        self.compaction = LinesDraft(tree, Which.COMPACTION)

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
        if not node.level and (text := self.own_lines.get(node.index)) is not None:
            return text
        built = self._built.get(node)
        return None if built is None else built.text

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
        """Put all of it into the tables, built at `now`; the messages are there."""
        self.own_lines = {}
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
