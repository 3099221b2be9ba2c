"""A log's tree as one change sees it: what the change made, and under it what is in the tables.

What is made is gathered, so that each table is written once however many messages came; nothing is in the
tables before `write`. The tables: tree_store.py. What is made when: chat_log.py.
"""

from datetime import datetime

from onechat_memory.adapters.tree_store import Built, TreeStore, Which
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node


class TreeDraft:
    """The changes of one log's tree, queues and views that are not written yet."""

    def __init__(self, tree: TreeStore) -> None:
        self._tree = tree
        self._built: dict[Node, Built] = {}
        self._leaves: list[int] = []
        self._merges: list[Node] = []
        # By first message: the level that the line has now, None for one that merged away.
        self._lines: dict[Which, dict[int, int | None]] = {which: {} for which in Which}

    def text(self, node: Node) -> str | None:
        """The text of `node`; None while it is not built."""
        made = self._built.get(node)
        return self._tree.text(node) if made is None else made.text

    def size(self, node: Node) -> int | None:
        """The UTF-8 bytes of the text of `node`; None while it is not built."""
        made = self._built.get(node)
        return self._tree.size(node) if made is None else size(made.text)

    def size_now(self, node: Node) -> int | None:
        """The same where this change built `node`; None else, without a look at the tables."""
        made = self._built.get(node)
        return None if made is None else size(made.text)

    def add(self, built: Built) -> None:
        """A node got its line."""
        self._built[built.node] = built

    def queue_leaf(self, message: int) -> None:
        """The leaf of `message` waits for a model."""
        self._leaves.append(message)

    def queue_merge(self, node: Node) -> None:
        """Both halves of `node` are built, and it waits for a model."""
        self._merges.append(node)

    def add_line(self, which: Which, node: Node) -> None:
        """A view got a line at its end."""
        self._lines[which][node.first] = node.level

    def merge_lines(self, which: Which, node: Node) -> None:
        """In a view `node` took the place of its two halves."""
        older, younger = node.halves
        self._lines[which][older.first] = node.level
        self._lines[which][younger.first] = None

    def write(self, now: datetime) -> None:
        """Put all of it into the tables, built at `now`."""
        if self._built:
            self._tree.add(self._built.values(), now)
            self._built = {}
        if self._leaves:
            self._tree.queue_leaves(self._leaves)
            self._leaves = []
        if self._merges:
            self._tree.queue_merges(self._merges)
            self._merges = []
        for which, moved in self._lines.items():
            if moved:
                self._tree.write_lines(which, moved)
                self._lines[which] = {}
