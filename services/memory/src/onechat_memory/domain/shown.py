"""A view as prompts hold it, kept in step line by line so that showing it reads no table. Pure.

How one line is written: lines.py. Which lines a view has: view.py. Sizes are UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onechat_memory.domain.lines import shown, shown_view
from onechat_memory.domain.tree import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownView:
    """The chat's view as a prompt holds it."""

    text: str
    length: int  #: messages that it tiles
    generation: int
    revision: int  #: of the log's row; while that is the same, so is this
    lines: int
    unbuilt: int  #: lines that show as not summarized yet
    size: int  #: UTF-8 bytes of the lines' texts

    @property
    def whole(self) -> bool:
        """Whether every line is built."""
        return self.unbuilt == 0


class ShownLines:
    """The lines of a view with their texts, oldest first."""

    def __init__(self, lines: Iterable[tuple[Node, str | None]]) -> None:
        """`lines` as the tables have them; None for one that is not built."""
        # By first message. It stays in order as View's own do: see there.
        self._lines: dict[int, str] = {}
        self._unbuilt: set[int] = set()
        for node, text in lines:
            self.put(node, text)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def unbuilt(self) -> int:
        """How many are not built."""
        return len(self._unbuilt)

    @property
    def text(self) -> str:
        """All of them, as a prompt holds them."""
        return shown_view(self._lines.values())

    def put(self, node: Node, text: str | None) -> None:
        """`node` is a line, new at the end or there before, and this is its text."""
        self._lines[node.first] = shown(node, text)
        if text is None:
            self._unbuilt.add(node.first)
        else:
            self._unbuilt.discard(node.first)

    def drop_younger(self, node: Node) -> None:
        """The younger half of `node` is no line any more; `put` puts `node` in the older one's place."""
        del self._lines[node.first + (node.count >> 1)]
