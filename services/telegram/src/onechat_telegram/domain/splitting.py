"""Where a long Markdown text is cut into parts that Telegram takes. Pure.

Sizes are UTF-16 code units. A cut lies at a paragraph's end, else at a line's, else in a fence or table
(which is opened again), else between words, else between letters. Parts lose nothing but blanks at a cut.
What a part looks like when shown: pieces.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from onechat_telegram.domain.fences import Block, block_after
from onechat_telegram.domain.utf16 import between_letters, fitting, units

_BLANK = re.compile(r"\s+")
# A word that begins a line would be read as a heading, a list, a quote, a fence, a table, a rule.
_BEGINS_A_BLOCK = re.compile(r"#{1,6}\s|[-+*]\s|>|\d{1,9}[.)]\s|`{3}|~{3}|\||[-=_*]{2,}\s|\[[^\]\n]*\]:")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    index: int  #: letters before it
    block: Block | None  #: the block that it lies in


def split(source: str, limit: int) -> Iterator[str]:
    """Parts of `source`, in order, of at most `limit` units each; `limit` is at least 2.

    A part may be blank. Fences and tables that a cut lies in are closed in the one part and opened again in
    the next, unless that would take half of it.
    """
    rest, block = source, None
    while True:
        opening = _opening(block, limit)
        if units(opening) + units(rest) <= limit:
            yield opening + rest
            return
        cut = _best_cut(rest, block if opening else None, limit - units(opening))
        closing = cut.block.close if cut.block else ""
        yield opening + rest[: cut.index].rstrip("\n") + closing
        rest, block = _after_its_end(rest[cut.index :], cut.block)
        if block is None:
            rest = _without_indent(rest.lstrip("\n"))


def _opening(block: Block | None, limit: int) -> str:
    if block is None or units(block.reopen + block.close) > limit // 2:
        return ""
    return block.reopen


def _after_its_end(rest: str, block: Block | None) -> tuple[str, Block | None]:
    """`rest` and its block, past the line that only closes the fence which the cut has closed already."""
    line = next(_lines(rest), "")
    if block is not None and block.is_fence and block_after(block, line, "") is None:
        return rest[len(line) :], None
    return rest, block


def _best_cut(rest: str, block: Block | None, room: int) -> _Cut:
    """The best place to cut `rest`, which begins in `block`: at most `room` units with what closes it."""
    paragraph = outside = outside_before = inside = None
    index = used = 0
    before = ""
    for line in _lines(rest):
        used += units(line)
        if used > room:
            break
        index += len(line)
        block_here, block = block, block_after(block, line, before)
        before = line
        if block is None:
            outside_before, outside = outside, _Cut(index=index, block=None)
            if not line.strip() or (block_here is not None and block_here.is_fence):
                paragraph = outside
        elif used + units(block.close) <= room and block_here == block:
            inside = _Cut(index=index, block=block)
        elif block_here is None and not block.is_fence:
            outside = outside_before  # the line before was the table's header
    return paragraph or outside or inside or _cut_in_line(rest, index, block, room)


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _cut_in_line(rest: str, start: int, block: Block | None, room: int) -> _Cut:
    """A cut inside the line at `start`, which is longer than `room`: between words, else between letters."""
    fence = block if block is not None and block.is_fence else None
    most = fitting(rest, room - (units(fence.close) if fence else 0))
    if most <= start > 0:
        return _Cut(index=start, block=None)  # nothing of the line fits after what opened the block
    for space in reversed(list(_BLANK.finditer(rest, start, most + 1))[-20:]):
        follows = rest[space.end() : space.end() + 100]
        safe = not follows.startswith(fence.mark[:3]) if fence else not _BEGINS_A_BLOCK.match(follows)
        if space.end() <= most and safe and rest[start : space.start()].strip():
            return _Cut(index=space.end(), block=fence)
    index = between_letters(rest, most)
    while fence and index > start + 1 and rest[index] == fence.mark[0]:
        index -= 1  # what follows would close the fence
    return _Cut(index=max(index, start + 1), block=fence)


def _without_indent(rest: str) -> str:
    """`rest` without its first line's indent, in the lines that share it: else it would be read as code."""
    indent = len(rest) - len(rest.lstrip(" \t"))
    if indent == 0:
        return rest
    lines = list(_lines(rest))
    for place, line in enumerate(lines):
        if line.strip() and line[:indent].strip():
            break
        lines[place] = line[indent:] if line.strip() else line
    return "".join(lines)
