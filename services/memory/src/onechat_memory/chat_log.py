"""One log inside one transaction: messages in, nodes built, views kept and fitted.

Runs in the store's writing thread, and changes its two views in memory together with their rows. How such a
change begins, commits or is undone: log_changes.py. Reading: reading.py.
"""

from collections.abc import Sequence
from datetime import datetime

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_draft import TreeDraft
from onechat_memory.adapters.tree_store import FREE, Built, TreeStore
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.lines import (
    LINE_MAX,
    PLACEHOLDER_SIZE,
    degraded,
    joined,
    leaf_source,
)
from onechat_memory.domain.messages import Appended, NewMessage, Shape
from onechat_memory.domain.placing import Answer, Hashed, Placed, hashed, place
from onechat_memory.domain.ready import TRIES, ripple
from onechat_memory.domain.shown import ShownView
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node, leaf
from onechat_memory.domain.view import SizeOf
from onechat_memory.errors import KeyReused, LogIsFlat, NodeBuilt, NodeUnknown
from onechat_memory.held_views import Views

HEAD = "head"  #: builder of a node that no model could write
NOT_ASKED = Asked()  #: a line that no model was asked for
KEY_REUSED = "This message's key was used before with another body. Nothing was appended."


class ChatLog:
    """A log that may be changed until the transaction ends."""

    def __init__(self, row: LogRow, logs: LogStore, tree: TreeStore, views: Views, now: datetime) -> None:
        self.row = row
        self.changed = False  #: whether anything was written, so that the row must be saved
        self.more_work = False  #: whether something may have become ready
        self.took_views = False  #: whether the views in memory were looked at, and so may have moved
        self._logs = logs
        self._tree = tree
        self._draft = TreeDraft(tree)
        self._held = views
        self._now = now

    @property
    def _views(self) -> Views:
        """The views in memory; there is no other way to them, so a change that never came here moved none."""
        self.took_views = True
        return self._held

    def append(self, messages: Sequence[NewMessage]) -> tuple[Appended, ...]:
        """Put the new ones of `messages` at the end, in order; known keys answer what they became.

        KeyReused when a known key comes with another body; then nothing was written.
        """
        (answer,) = self.append_each([hashed(messages)])
        if answer is None:
            raise KeyReused(KEY_REUSED)
        return answer.appended

    def append_each(self, appends: Sequence[Sequence[Hashed]]) -> tuple[Answer | None, ...]:
        """The same for several appends in turn: what became of each, None for one that is KeyReused."""
        keys = {one.message.key for append in appends for one in append}
        placing = place(appends, self._logs.known(self.row.number, keys), self.row.length)
        if placing.new:
            self.changed = True
            for placed in placing.new:
                self._lengthen(placed)
            self._logs.add(self.row.number, placing.new, self._draft.own_lines, self._now)
            self._draft.write(self._now)
        return placing.answers

    def _lengthen(self, placed: Placed) -> None:
        kind = placed.hashed.message.kind
        for text in placed.texts:
            self.row.length += 1
            if self.row.asked.shape is Shape.TREE:
                self._grow(self.row.length - 1, leaf_source(kind, text))

    def _grow(self, message: int, source: str) -> None:
        """Give a new message its leaf and its line in both views, and fit them."""
        draft, views, line_size = self._draft, self._views, size(source)
        above: SizeOf | None = None
        if fits := line_size <= LINE_MAX:
            draft.own_lines[message] = source
            self.row.built_nodes += 1
            self.row.built_leaves += 1
            # The older half of a pair completes nothing, and nothing stands above it.
            if message & 1 and self._follow(leaf(message), source):
                above = draft.size_now
        else:
            line_size = PLACEHOLDER_SIZE
            draft.queue_leaf(message)
            self.more_work = True
        views.chat.append(line_size, above)
        views.compaction.append(line_size, above)
        if views.shown is not None:
            views.shown.put(leaf(message), source if fits else None)
        if views.chat.due or views.compaction.due:
            self._fit_both()

    def fit(self) -> None:
        """Merge what is due in the chat's view, and with it in the compaction view."""
        if self.row.asked.shape is Shape.FLAT:
            raise LogIsFlat
        self._fit_both()
        self._draft.write(self._now)

    def _fit_both(self) -> None:
        row, views, draft = self.row, self._views, self._draft
        chat = views.chat.fit(self._size)
        compaction = views.compaction.fit(self._size, forced=bool(chat.merged))
        for node in chat.merged:
            draft.chat.merge(node)
            views.show_merged(node, self._draft.text)
        for node in compaction.merged:
            draft.compaction.merge(node)
        row.batches += chat.began
        owed = views.chat.owed, views.compaction.owed
        self.changed |= bool(chat.merged or compaction.merged) or owed != (row.chat_owed, row.compaction_owed)
        row.chat_owed, row.compaction_owed = owed

    def complete(self, node: Node, line: str, builder: str, asked: Asked = NOT_ASKED) -> None:
        """Take `line` for `node`, for the first time or, where that is wished, again.

        Raises NodeUnknown, NodeBuilt.
        """
        self.more_work = True
        if self._tree.rebuilds.has(node):
            self._tree.costs.take(node, asked)
            self._build_again(node, line, builder)
            return
        self._must_be_unbuilt(node)
        self._tree.costs.take(node, asked)
        self._build_queued(Built(node=node, text=line, builder=builder))

    def fail(self, node: Node, asked: Asked = NOT_ASKED) -> bool:
        """Count a failure of `node`; whether it was the last that is borne and the source's head stands now.

        A node that was built meanwhile counts nothing, and one that is to be built again keeps its line.
        """
        self.ask_in_vain(node, asked)
        if self._tree.size(node) is not None:
            self._fail_again(node)
            return False
        self._must_be_unbuilt(node)
        self.changed = self.more_work = True
        if self._tree.add_failure(node) < TRIES:
            return False
        text = degraded(self._plain_source(node))
        self._build_queued(Built(node=node, text=text, builder=HEAD, degraded=True))
        return True

    def ask_in_vain(self, node: Node, asked: Asked) -> None:
        """Count what a model was asked for `node` without giving a line; one that came meanwhile ends it."""
        if self._tree.size(node) is None or self._tree.rebuilds.has(node):
            self._tree.costs.give_back(node, asked)

    def save(self) -> None:
        """Write what moved in the log's row, if anything did."""
        if self.changed:
            row, chat, compaction = self.row, self._held.chat, self._held.compaction
            row.chat_bytes, row.compaction_bytes = chat.size, compaction.size
            row.chat_lines, row.compaction_lines = len(chat), len(compaction)
            self._logs.save(row)
            self.changed = False

    def show(self) -> ShownView:
        """The chat's view as it stands, saved."""
        self.save()
        return self._views.show(self.row, self._tree)

    def _must_be_unbuilt(self, node: Node) -> None:
        """Raise NodeUnknown or NodeBuilt unless a line for `node` can be taken now."""
        if self.row.asked.shape is Shape.FLAT:
            raise NodeUnknown("A flat log has no tree: there is nothing to build in it.")
        if node.last >= self.row.length:
            raise NodeUnknown
        if self._tree.size(node) is not None:
            raise NodeBuilt
        if node.level and not self._tree.is_ready_merge(node):
            raise NodeUnknown(f"The log's tree has no node {node.name} yet: one of its halves has no line.")

    def _build_queued(self, built: Built) -> None:
        """Keep the line of a node that waited for one, and what follows from it."""
        self._tree.unqueue(built.node)
        self._keep(built)
        for one in (built, *self._follow(built.node, built.text)):
            self._views.chat.note_built(one.node, size(one.text))
            self._views.compaction.note_built(one.node, size(one.text))
        self._views.show_built(built.node, built.text)
        self._draft.write(self._now)

    def _follow(self, node: Node, text: str) -> list[Built]:
        """Keep what follows up the tree from `node`, built with `text`, and queue what is ready then."""
        follows = ripple(node, text, self._text)
        free = [Built(node=node, text=text, builder=FREE) for node, text in follows.free]
        for one in free:
            self._keep(one)
        if follows.ready is not None:
            self._draft.queue_merge(follows.ready)
            self.more_work = True
        return free

    def _build_again(self, node: Node, line: str, builder: str) -> None:
        """Give a built node another line. Its parents keep theirs, and no view changes but for its text."""
        before = self._size(node)
        if before is None:
            raise AssertionError(f"{node.name} is to be built again and was not built")
        self.row.degraded_nodes -= self._tree.rebuilds.replace(node, line, builder, self._now)
        self.changed = True
        for view in (self._views.chat, self._views.compaction):
            view.note_rewritten(node, before=before, size=size(line))
        self._views.show_built(node, line)

    def _fail_again(self, node: Node) -> None:
        if not self._tree.rebuilds.has(node):
            return
        self.changed = self.more_work = True
        if self._tree.add_failure(node) >= TRIES:
            self._tree.rebuilds.drop(node)

    def _keep(self, built: Built) -> None:
        self._draft.add(built)
        self.row.built_nodes += 1
        self.row.built_leaves += built.node.level == 0
        self.row.degraded_nodes += built.degraded
        self.changed = True

    def _text(self, node: Node) -> str | None:
        # A look at the tables for what lies past the end would be half of all looks.
        return self._draft.text(node) if node.last < self.row.length else None

    def _size(self, node: Node) -> int | None:
        return self._draft.size(node) if node.last < self.row.length else None

    def _plain_source(self, node: Node) -> str:
        if not node.level:
            return leaf_source(*self._logs.kind_and_text(self.row.number, node.index))
        older, younger = (self._tree.text(half) or "" for half in node.halves)
        return joined(older, younger)
