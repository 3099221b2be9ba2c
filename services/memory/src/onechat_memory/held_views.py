"""A log's two views as they are held in memory, and the chat's view as prompts hold it.

Only a change of the log moves them (chat_log.py), in the store's writing thread. When they are dropped and
loaded again: log_changes.py.
"""

from collections.abc import Callable
from dataclasses import dataclass

from onechat_memory.adapters.log_store import LogRow
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.domain.shown import ShownLines, ShownView
from onechat_memory.domain.tree import Node
from onechat_memory.domain.view import View


@dataclass(slots=True, kw_only=True)
class Views:
    """A log's two views in memory, as they were at one revision of its row."""

    revision: int
    chat: View
    compaction: View
    shown: ShownLines | None = None  #: the chat's lines with their texts, once somebody has asked for them
    given: ShownView | None = None  #: what was shown last; other threads may read it, and then its revision

    def show_built(self, node: Node, text: str) -> None:
        """`node` has this text, and if it is a line of the chat's view, that is shown now."""
        if self.shown is not None and node in self.chat:
            self.shown.put(node, text)

    def show_merged(self, node: Node, text_of: Callable[[Node], str | None]) -> None:
        """In the chat's view `node` took the place of its two halves."""
        if self.shown is None:
            return
        self.shown.drop_younger(node)
        if node in self.chat:  # one that merged on in the same batch is not shown
            self.shown.put(node, text_of(node))

    def show(self, row: LogRow, tree: TreeStore) -> ShownView:
        """The chat's view as it stands at `row`, which is saved; at first its lines come from `tree`."""
        if self.shown is None:
            self.shown = ShownLines(tree.lines(Which.CHAT, row.length))
        self.given = ShownView(
            text=self.shown.text,
            length=row.length,
            generation=row.generation,
            revision=row.revision,
            lines=len(self.shown),
            unbuilt=self.shown.unbuilt,
            size=self.chat.size,
        )
        return self.given
