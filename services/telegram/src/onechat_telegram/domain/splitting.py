"""Where a long rendering is cut into parts that Telegram takes. Pure.

Sizes and offsets are UTF-16 code units. A cut lies at a paragraph's end, else at a line's, both outside code
where there is such a place, else at a line's in the code, else between words, else between letters.
Formatting that a cut lies in goes on in the next part: a block of code is code of its language in each. What
is cut is what was rendered whole, not its source, of which a part may mean something else: a list would count
anew, a link's address be shown. Parts lose nothing but blanks at a cut. What a piece is: pieces.py.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from onechat_telegram.domain.entities import ENTITIES_MAX, Entity, Rendered, cleaned
from onechat_telegram.domain.utf16 import between_letters, blank, unit_offsets, units

_RAW_MAX: Final = 2 * ENTITIES_MAX  # looked at for one part: cleaning takes their square
_LINE_END = re.compile(r"\n(?!\n)")
_BLANK = re.compile(r"\s+")
_BLANK_LINE: Final = "\n\n"


def split(shown: Rendered, room: int) -> Iterator[Rendered]:
    """The parts of `shown` in order, of at most `room` units and 100 entities each; `room` is at least 2.

    A part in which nothing could be seen is left out.
    """
    whole = _Whole.of(shown)
    start = 0
    while start < len(whole.text):
        end, part = whole.part_from(start, room)
        if not blank(part.text):
            yield part
        start = whole.after_blanks(end)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """The rendering with its places: an index counts letters, an offset units."""

    text: str
    offsets: Sequence[int]  #: the units before each index, and before the end
    entities: Sequence[Entity]  #: by offset
    code: Sequence[tuple[int, int]]  #: the index ranges of the blocks of code, in order

    @classmethod
    def of(cls, shown: Rendered) -> "_Whole":
        offsets = unit_offsets(shown.text)
        entities = sorted(shown.entities, key=lambda entity: entity.offset)
        blocks = [entity for entity in entities if entity.type == "pre"]
        return cls(
            text=shown.text,
            offsets=offsets,
            entities=entities,
            code=[(bisect_left(offsets, one.offset), bisect_left(offsets, one.end)) for one in blocks],
        )

    def part_from(self, start: int, room: int) -> tuple[int, Rendered]:
        """The part that begins at index `start`, and the index where it was cut."""
        most = bisect_right(self.offsets, self.offsets[start] + room) - 1
        begun = bisect_left(self.entities, self.offsets[start], key=lambda entity: entity.offset)
        if len(self.entities) > begun + _RAW_MAX:
            most = min(most, self._index(self.entities[begun + _RAW_MAX].offset, start))
        while True:
            end = self._cut(start, most)
            part = self._between(start, end)
            if len(part.entities) <= ENTITIES_MAX:
                return end, part
            # Up to where the first one too many begins, there are no more than may be.
            most = self._index(self.offsets[start] + part.entities[ENTITIES_MAX].offset, start)

    def after_blanks(self, end: int) -> int:
        """Where the part after a cut at `end` begins: past blank lines, and past an indent outside code."""
        while end < len(self.text) and self.text[end].isspace():
            if self.text[end] != "\n" and self._is_code(end):
                break
            end += 1
        return end

    def _index(self, offset: int, start: int) -> int:
        """The index at `offset`, past `start` in any case."""
        return max(bisect_left(self.offsets, offset), start + 1)

    def _is_code(self, index: int) -> bool:
        """Whether the letter at `index` lies in a block of code."""
        place = bisect_right(self.code, (index, len(self.text))) - 1
        return place >= 0 and index < self.code[place][1]

    def _parts_code(self, index: int) -> bool:
        """Whether a cut at `index` would part a block of code."""
        return self._is_code(index - 1) and self._is_code(index)

    def _cut(self, start: int, most: int) -> int:
        """The best index to cut at, past `start` and not past `most`."""
        if most >= len(self.text):
            return len(self.text)
        lines = [found.end() for found in _LINE_END.finditer(self.text, start + 1, most)]
        outside = [place for place in lines if not self._parts_code(place)]
        paragraphs = [place for place in outside if self.text.endswith(_BLANK_LINE, start, place)]
        for places in (paragraphs, outside, lines):
            if places and self.text[start : places[-1]].strip():
                return places[-1]
        spaces = [found.start() for found in _BLANK.finditer(self.text, start + 1, most + 1)]
        if spaces and self.text[start : spaces[-1]].strip():
            return spaces[-1]
        between = between_letters(self.text, most)
        return between if between > start else most

    def _between(self, start: int, end: int) -> Rendered:
        text = self.text[start:end].rstrip()
        first = self.offsets[start]
        return Rendered(
            text=text, entities=cleaned(text, _clipped(self.entities, first, first + units(text)))
        )


def _clipped(entities: Iterable[Entity], start: int, end: int) -> Iterator[Entity]:
    """What lies of `entities` between two offsets, counted from the first of these."""
    for entity in entities:
        if entity.offset >= end:
            return
        if entity.end > start:
            offset = max(entity.offset, start)
            yield replace(entity, offset=offset - start, length=min(entity.end, end) - offset)
