"""Telegram's formatting of a text: which entities it takes, and how to make any list of them such.

Offsets and lengths are UTF-16 code units. Entities of styles nest in one another and in a link or a quote;
code holds nothing and lies in nothing but a quote; quotes don't nest. Source: Bot API, MessageEntity. How
they come out of Markdown: adapters/markdown.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from onechat_telegram.domain.utf16 import unit_offsets

ENTITIES_MAX = 100  # of one message; Bot API, sendMessage

STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_ATOMS = {"pre": 0, "text_link": 1, "code": 2}  # which of two that overlap stays: the lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One stretch of formatting."""

    type: str
    offset: int  #: units before it
    length: int  #: units, at least one
    url: str = ""  #: of a text_link
    language: str = ""  #: of a pre

    @property
    def end(self) -> int:
        """Units up to and with its last letter."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A text as Telegram shows it."""

    text: str
    entities: tuple[Entity, ...]


def link_shown(url: str) -> bool:
    """Whether Telegram makes a link of `url`: an absolute address of a public-looking host, or tg:."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if any(letter.isspace() for letter in url):
        return False
    if parts.scheme == "tg":
        return bool(host) and host != "emoji"  # custom emoji are not every bot's to send
    return parts.scheme in {"http", "https"} and "." in host.strip(".")


def cleaned(text: str, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """`entities` of `text` as Telegram takes them: none blank, crossing, or in a place that is not allowed.

    A style that crosses another entity is cut in two at its edge, one that covers code stays around it, so
    nothing of the text loses its formatting that could keep it. Sorted as Telegram sorts them.
    """
    edges = _Edges(text)
    inside = [entity for entity in map(edges.trimmed, entities) if entity is not None]
    spoilers = [entity for entity in inside if entity.type == "spoiler"]
    kept: list[Entity] = []
    for atom in sorted(
        (e for e in inside if e.type in _ATOMS), key=lambda e: (_ATOMS[e.type], e.offset, -e.length)
    ):
        hidden = atom.type == "code" and any(_overlap(atom, spoiler) for spoiler in spoilers)
        shown = atom.type != "text_link" or link_shown(atom.url)
        if shown and not hidden and not any(_overlap(atom, other) for other in kept):
            kept.append(atom)
    for quote in sorted((e for e in inside if e.type in QUOTES), key=lambda e: (-e.length, e.offset)):
        nested = any(_overlap(quote, other) for other in kept if other.type in QUOTES)
        if not nested and not any(_cross(quote, other) for other in kept):
            kept.append(quote)
    for style in sorted((e for e in inside if e.type in STYLES), key=lambda e: (e.offset, -e.length)):
        kept.extend(_placed(style, kept, edges))
    return tuple(sorted(kept, key=lambda e: (e.offset, -e.length, e.type)))


def _placed(style: Entity, kept: Sequence[Entity], edges: "_Edges") -> list[Entity]:
    """What remains of `style` beside `kept`: outside code and its own kind, cut where it would cross."""
    start, end = style.offset, style.end
    # What lies apart cuts nothing; written out here, since it is asked for each two of hundreds.
    near = [other for other in kept if other.offset < end and start < other.offset + other.length]
    parts = [(start, end)]
    for other in near:
        if other.type in {"code", "pre", style.type}:
            parts = [rest for part in parts for rest in _without(part, other)]
        else:
            parts = [rest for part in parts for rest in _cut(part, other)]
    fragments = (replace(style, offset=start, length=end - start) for start, end in parts)
    return [fragment for fragment in map(edges.trimmed, fragments) if fragment is not None]


def _without(part: tuple[int, int], other: Entity) -> list[tuple[int, int]]:
    start, end = part
    rests = [(start, min(end, other.offset)), (max(start, other.end), end)]
    return [(left, right) for left, right in rests if left < right]


def _cut(part: tuple[int, int], other: Entity) -> list[tuple[int, int]]:
    start, end = part
    if start < other.offset < end < other.end:
        return [(start, other.offset), (other.offset, end)]
    if other.offset < start < other.end < end:
        return [(start, other.end), (other.end, end)]
    return [part]


def _overlap(one: Entity, other: Entity) -> bool:
    return one.offset < other.end and other.offset < one.end


def _cross(one: Entity, other: Entity) -> bool:
    first, second = sorted((one, other), key=lambda e: (e.offset, -e.length))
    return first.offset < second.offset < first.end < second.end


class _Edges:
    """Where the letters of a text lie, to trim entities to what can be seen."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = unit_offsets(text)
        self._index = {offset: index for index, offset in enumerate(self._offsets)}

    def trimmed(self, entity: Entity) -> Entity | None:
        """`entity` without blanks at its edges, code's own excepted; None where nothing is left of it."""
        start, end = self._letter_at(entity.offset), self._letter_at(entity.end)
        if entity.type not in STYLES | QUOTES | _ATOMS.keys() or not self._text[start:end].strip():
            return None
        if entity.type not in {"pre", "code"}:
            while self._text[start].isspace():
                start += 1
            while self._text[end - 1].isspace():
                end -= 1
        offset = self._offsets[start]
        return replace(entity, offset=offset, length=self._offsets[end] - offset)

    def _letter_at(self, offset: int) -> int:
        """The index of the letter that begins at `offset`, or that `offset` lies in the middle of."""
        offset = min(max(0, offset), self._offsets[-1])
        return self._index[offset] if offset in self._index else self._index[offset - 1]
