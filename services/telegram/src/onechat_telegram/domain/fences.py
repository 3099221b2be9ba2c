"""Blocks of Markdown that must be opened again where a text is cut: fences of code, and tables.

Works line by line on the source, as the splitting does; what a line means in full is the parser's business
(adapters/markdown.py). A fence is closed at the cut and opened again with its language, a table begins again
with its header.
"""

import re
from dataclasses import dataclass

from onechat_telegram.domain.utf16 import units

_LINE_MAX = 200  # units; a longer line is no fence and no table's header to repeat

_FENCE = re.compile(
    r"(?P<lead>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)\n?"
)
_RULER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block that a line stands in."""

    reopen: str  #: lines that open it again, each with its newline
    close: str  #: the line that closes it, with a newline before it; empty for a table
    mark: str  #: the backticks or tildes of a fence; empty for a table
    quoted: bool  #: it lies in a quote and ends with it

    @property
    def is_fence(self) -> bool:
        """Whether it is code, in which a blank line ends nothing."""
        return bool(self.mark)


def block_after(block: Block | None, line: str, before: str) -> Block | None:
    """The block that the next line stands in, when `line` stood in `block` and came after `before`."""
    if block is not None and block.quoted and not line.lstrip().startswith(">"):
        block = None  # the quote has ended, and its fence with it
    if block is not None and block.is_fence:
        return None if _closes(block, line) else block
    if block is not None and "|" in line:
        return block
    return _fence_opened(line) or _table_opened(before, line)


def _closes(block: Block, line: str) -> bool:
    bare = line.strip(" \t>\n")
    return len(bare) >= len(block.mark) and set(bare) == {block.mark[0]}


def _fence_opened(line: str) -> Block | None:
    found = _FENCE.fullmatch(line) if units(line) <= _LINE_MAX else None
    if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
        return None
    lead, mark, info = found["lead"], found["mark"], found["info"].strip()
    quote = "> " * lead.count(">")
    indent = re.sub(r"[^ \t>]", " ", lead)  # a list's marker would begin another item
    return Block(reopen=f"{quote}{mark}{info}\n", close=f"\n{indent}{mark}", mark=mark, quoted=">" in lead)


def _table_opened(header: str, ruler: str) -> Block | None:
    if "|" not in header or "|" not in ruler or not _RULER.fullmatch(ruler) or not ruler.endswith("\n"):
        return None
    if units(header) + units(ruler) > 2 * _LINE_MAX:
        return None
    return Block(reopen=header + ruler, close="", mark="", quoted=header.lstrip().startswith(">"))
