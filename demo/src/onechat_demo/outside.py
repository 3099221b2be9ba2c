"""What others than the user wrote, as a turn shows it, and what the member of a group says in it. Pure.

Under a first line on where it is from, each line is marked. A member's message begins with time, sender and
name, and quotes what it replies to; that a turn is a group's agent's is told by the state block.
"""

import re
from typing import Final

OUTSIDE_MARK: Final = "| "
REPORT_START: Final = re.compile(r"\[[A-Za-z][A-Za-z0-9-]*\] ")  # an agent's name; not `[image …]`, not `[ ]`
OF_GROUP: Final = "the group calls itself:"  # in the state block of a group's agent
_FROM: Final = re.compile(r"\[[A-Z]\w*\] [^\n]*:")  # a messenger and a chat; not how a proposal went
_HEAD: Final = re.compile(r'\d{4}-\d{2}-\d{2} \d{2}:\d{2} \S+ "[^"\n]*"(?:, (?:"[^"\n]*"|[^":\n])*)?:[ ]?')
_CALLED: Final = re.compile(r"\s*@\w+[,:]?\s+")
_INDENT: Final = "  "  # before what follows the first line of a message
_QUOTE: Final = "  > "


def from_outside(text: str) -> bool:
    """Whether a message is a report `[Name] …` or outside text with a mark on each line after the first."""
    if REPORT_START.match(text):
        return True
    lines = text.splitlines()
    marked = [_is_marked(line) for line in lines]
    return len(lines) > 0 and any(marked) and all(marked[1:])


def of_group(state: str) -> bool:
    """Whether the turn with this state block is of a group's agent."""
    return any(line.startswith(OF_GROUP) for line in state.splitlines())


def words_of_member(text: str) -> str | None:
    """What the member of a group wrote who speaks to its agent; None for what no member did."""
    first, *others = text.splitlines() or [""]
    marked = [line.removeprefix(OUTSIDE_MARK) for line in others if _is_marked(line)]
    if not _FROM.fullmatch(first) or not marked:
        return None
    said = [_HEAD.sub("", marked[0], count=1)]
    said += [line.removeprefix(_INDENT) for line in marked[1:] if not line.startswith(_QUOTE)]
    return _CALLED.sub("", "\n".join(said).strip(), count=1)


def _is_marked(line: str) -> bool:
    return line.startswith(OUTSIDE_MARK) or line == OUTSIDE_MARK.strip()
