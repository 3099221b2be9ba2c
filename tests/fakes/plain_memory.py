"""The memory service by the letter of its rules, in plain lists: every answer is a look at everything.

Slow on purpose, and beside the product: nothing of onechat_memory is used. Texts are taken as they are,
without combining marks and NUL. A node is (level, index). Sizes are UTF-8 bytes unless said to be characters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

Node = tuple[int, int]  #: level and index

PLACEHOLDER: Final = "(not summarized yet: zoom it)"
LINE_MAX: Final = 512
LINE_CUT: Final = 1_024
PIECE_MAX: Final = 30_000  # characters
LEAVES_AHEAD: Final = 8
OUT_MAX: Final = 8
TRIES: Final = 3


def size(text: str) -> int:
    """UTF-8 bytes."""
    return len(text.encode())


def first(node: Node) -> int:
    """The id of a node's first message."""
    return node[1] * 2 ** node[0]


def last(node: Node) -> int:
    """The id of a node's last message."""
    return first(node) + 2 ** node[0] - 1


def halves(node: Node) -> tuple[Node, Node]:
    """The two nodes that a merge is made of."""
    return (node[0] - 1, 2 * node[1]), (node[0] - 1, 2 * node[1] + 1)


def parent(node: Node) -> Node:
    """The merge that a node is a half of."""
    return node[0] + 1, node[1] // 2


def name(node: Node) -> str:
    """`first+count`."""
    return f"{first(node)}+{2 ** node[0]}"


def flat(text: str) -> str:
    """On one line."""
    return text.replace("\n", " ")


def accepted(answer: str) -> str:
    """The line that a model's answer stands for."""
    return flat(answer).strip().encode()[:LINE_CUT].decode(errors="ignore").strip()


def pieces(text: str) -> list[str]:
    """A text in messages, each cut behind a line's end, else a space, in its last fifth."""
    found = []
    while len(text) > PIECE_MAX:
        head, ends = text[:PIECE_MAX], PIECE_MAX - PIECE_MAX // 5
        cut = head.rfind("\n", ends) + 1 or head.rfind(" ", ends) + 1 or PIECE_MAX
        found.append(text[:cut])
        text = text[cut:]
    return [*found, text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as its caller sends it."""

    key: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A message of the log, or a piece of one."""

    said: Said
    text: str
    part: int
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A node's line."""

    text: str
    builder: str
    degraded: bool = False


@dataclass(slots=True, kw_only=True)
class PlainView:
    """Nodes that tile the log."""

    high: int
    low: int
    lines: list[Node] = field(default_factory=list)
    owed: bool = False


class Refused(Exception):
    """What the service refuses, by its reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PlainLog:
    """One log: its messages, the lines that are built, its two views."""

    def __init__(self, *, chat: tuple[int, int], compaction: tuple[int, int]) -> None:
        self.messages: list[Kept] = []
        self.built: dict[Node, Line] = {}
        self.failures: dict[Node, int] = {}
        self.chat = PlainView(high=chat[0], low=chat[1])
        self.compaction = PlainView(high=compaction[0], low=compaction[1])
        self.batches = 0

    def append(self, messages: Sequence[Said]) -> list[tuple[int, int, bool]]:
        """First id, pieces and whether it was known, of each; all or nothing."""
        bodies = {kept.said.key: kept.said for kept in self.messages}
        for said in messages:
            if bodies.setdefault(said.key, said) != said:
                raise Refused("KEY_REUSED")
        return [self._append_one(said) for said in messages]

    def _append_one(self, said: Said) -> tuple[int, int, bool]:
        for place, kept in enumerate(self.messages):
            if kept.said.key == said.key:
                return place, kept.parts, True
        begin, texts = len(self.messages), pieces(said.text)
        for part, text in enumerate(texts, 1):
            self.messages.append(Kept(said=said, text=text, part=part, parts=len(texts)))
            self._build_what_fits()
            for view in (self.chat, self.compaction):
                view.lines.append((0, len(self.messages) - 1))
            self.fit()
        return begin, len(texts), False

    def nodes(self) -> Iterator[Node]:
        """Every node whose messages are in the log, lowest level first."""
        level = 0
        while len(self.messages) >> level:
            yield from ((level, index) for index in range(len(self.messages) >> level))
            level += 1

    def source(self, node: Node) -> str | None:
        """What a node's line is made from; None for a merge while a half has no line."""
        if not node[0]:
            return f"{self.messages[node[1]].said.kind}: {self.messages[node[1]].text}"
        texts = [self.built[half].text for half in halves(node) if half in self.built]
        return "\n".join(texts) if len(texts) == 2 else None

    def _build_what_fits(self) -> None:
        for node in self.nodes():  # lowest first, so that one way through finds all
            source = self.source(node)
            if node not in self.built and source is not None and size(source) <= LINE_MAX:
                self.built[node] = Line(text=source, builder="free")

    def complete(self, node: Node, answer: str, builder: str) -> str:
        """Take a line; the line as it is kept."""
        if not accepted(answer):
            raise Refused("LINE_EMPTY")
        self._must_be_buildable(node)
        self._build(node, Line(text=accepted(answer), builder=builder))
        return accepted(answer)

    def fail(self, node: Node) -> bool:
        """Count a failure of a node's content; whether its source's head stands now."""
        self.failures[node] = self.failures.get(node, 0) + 1
        if self.failures[node] < TRIES:
            return False
        head = flat(self.source(node) or "").encode()[:LINE_MAX].decode(errors="ignore").rstrip()
        self._build(node, Line(text=head, builder="head", degraded=True))
        return True

    def _must_be_buildable(self, node: Node) -> None:
        if last(node) >= len(self.messages):
            raise Refused("NODE_UNKNOWN")
        if node in self.built:
            raise Refused("NODE_BUILT")
        if self.source(node) is None:
            raise Refused("NODE_UNKNOWN")

    def _build(self, node: Node, line: Line) -> None:
        self.built[node] = line
        self.failures.pop(node, None)
        self._build_what_fits()

    def waiting(self) -> list[Node]:
        """The leaves that have no line."""
        return [(0, place) for place in range(len(self.messages)) if (0, place) not in self.built]

    def merges(self) -> list[Node]:
        """The merges that have none, and both of whose halves have one; oldest last message first."""
        found = [node for node in self.nodes() if node[0] and node not in self.built and self.source(node)]
        return sorted(found, key=last)

    def ready(self) -> list[Node]:
        """What can be built, oldest last message first."""
        waiting = self.waiting()
        near = [leaf for leaf in waiting if len([one for one in waiting if one < leaf]) < LEAVES_AHEAD]
        return sorted([*near, *self.merges()], key=last)

    def text(self, node: Node) -> str:
        """A node's line as views and zooms show it."""
        return flat(self.built[node].text) if node in self.built else PLACEHOLDER

    def bytes_of(self, view: PlainView) -> int:
        """The size of a view."""
        return sum(size(self.text(node)) for node in view.lines)

    def shown(self, view: PlainView) -> list[str]:
        """A view's lines."""
        return [f"{name(node)}|{self.text(node)}" for node in view.lines]

    def seen(self, piece: Node) -> list[str]:
        """The compaction view's lines that the work on `piece` sees."""
        end = last(piece) + 1 if piece[0] else first(piece)
        found = []
        for node in self.compaction.lines:
            if last(node) >= end or node not in self.built:
                break
            found.append(f"{name(node)}|{self.text(node)}")
        return found

    def fit(self) -> None:
        """Merge what is due in the chat's view, and then in the compaction view too."""
        began, merged = self._fit(self.chat, begins_past=self.chat.high)
        self.batches += began
        compaction = self.compaction
        self._fit(compaction, begins_past=compaction.low if merged else compaction.high)

    def _fit(self, view: PlainView, *, begins_past: int) -> tuple[bool, bool]:
        """Whether a batch began, and whether anything merged."""
        began, merged = not view.owed and self.bytes_of(view) > begins_past, False
        view.owed = view.owed or began
        while view.owed and self.bytes_of(view) > view.low:
            pair = self._most_due(view)
            if pair is None:
                return began, merged
            place = view.lines.index(pair)
            view.lines[place : place + 2] = [parent(pair)]
            merged = True
        view.owed = False
        return began, merged

    def _most_due(self, view: PlainView) -> Node | None:
        """The older half of the pair to merge next."""
        best: tuple[Fraction, Node] | None = None
        for older, younger in zip(view.lines, view.lines[1:], strict=False):
            if parent(older) != parent(younger) or older[0] != younger[0] or parent(older) not in self.built:
                continue
            due = Fraction(len(self.messages) - last(younger), 2 ** older[0])
            if best is None or due > best[0]:  # the oldest of equals comes first
                best = due, older
        return None if best is None else best[1]
