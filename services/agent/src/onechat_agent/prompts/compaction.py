"""The task by which a model writes one line of the memory, and how its answer is read. Pure.

All sizes are UTF-8 bytes. Models cannot count them, so the task shows a ruler and asks for three lines of
falling length: nearly always one fits, and one call is enough. Who runs the calls: compactor.py.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onechat_agent.prompts.prose import prose

LINE_MAX: Final = 512
TRIES: Final = 5  # calls for one line; then the shortest is kept
_RULER: Final = "-" * LINE_MAX
_TAG: Final = re.compile(r"<(/?)(input)>", re.IGNORECASE)
_NUMBERING: Final = re.compile(r"(?:line\s*)?\(?\d{1,2}[.):]\s+|[-*•–]\s+", re.IGNORECASE)
_NAME: Final = re.compile(r"\d+\+\d+\|\s*")

_MESSAGE: Final = prose(
    """
    Compaction: write the line that will stand for message {first}. The input below is the message whole;
    the chat above is what came before it.
    """
)
_MERGE: Final = prose(
    """
    Compaction: write the line that will stand for messages {first} to {last}. The input below is the two
    lines that it replaces, each for {each}. The chat above may hold these messages in more detail: take
    from there, too, what is worth keeping.
    """
)
_FORM: Final = prose(
    """
    The line may have at most 512 bytes, about 70 words of English. You cannot count bytes, so here is a
    ruler that is exactly as long as the line may be:
    """
)
_THREE: Final = prose(
    """
    Answer with three lines and nothing else: three versions of the line, each complete in itself, the
    longest first. Let the first reach almost to the end of the ruler, the second be a little shorter, the
    third a little over half as long. No numbers or bullets before them, no empty lines, no remarks.
    """
)
_TOO_LONG: Final = prose(
    """
    Compaction: that is over the limit. The shortest of your lines has {size} bytes, the limit is {limit}.
    Cut where the limit falls, it reads:
    """
)
_AGAIN: Final = prose(
    """
    Write it again, shorter, so that all of it comes before that place: say minor things in a word, leave
    out the least valuable. Three lines as before, the longest first.
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A node to be built."""

    first: int  #: its first message
    count: int  #: how many messages it stands for; 1 is a message itself
    source: str  #: for a message `kind: text` whole; else its two lines, `first+count|text`


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The line that an answer gives."""

    line: str
    fits: bool  #: whether it keeps the limit


def task_text(task: Task) -> str:
    """What the model is asked, as the user item after the compaction view."""
    source = _TAG.sub(r"< \1\2>", task.source)  # what it quotes must not end it
    return "\n".join([_what(task), _FORM, _RULER, _THREE, "<input>", source, "</input>"])


def choose(answer: str) -> Choice | None:
    """The longest line of `answer` that fits, else its shortest; None when it holds no line at all.

    Copes with numbering, bullets, blank lines, fences, a copied ruler, and any number of lines.
    """
    lines = _lines(answer)
    fitting = [line for line in lines if _size(line) <= LINE_MAX]
    if fitting:
        return Choice(line=max(fitting, key=_size), fits=True)
    return Choice(line=min(lines, key=_size), fits=False) if lines else None


def too_long_text(line: str) -> str:
    """What the model is told when every line of its answer was over the limit; `line` is the shortest."""
    cut = line.encode()[:LINE_MAX].decode(errors="ignore")
    return "\n".join([_TOO_LONG.format(size=_size(line), limit=LINE_MAX), cut, _AGAIN])


def _what(task: Task) -> str:
    if task.count == 1:
        return _MESSAGE.format(first=task.first)
    half = task.count // 2
    each = "one message" if half == 1 else f"{half} messages"
    return _MERGE.format(first=task.first, last=task.first + task.count - 1, each=each)


def _lines(answer: str) -> list[str]:
    """The lines that could be meant, without what models put around them."""
    lines = [line.strip().strip("`").strip() for line in answer.splitlines()]
    lines = [line for line in lines if any(letter.isalnum() for letter in line) and not _TAG.fullmatch(line)]
    return [
        named
        for line in _unnumbered(lines)
        if (named := _NAME.sub("", line, count=1) if _NAME.match(line) else line)
    ]


def _unnumbered(lines: Sequence[str]) -> list[str]:
    """`lines` without numbers or bullets when nearly all have one: a single one may belong to its line."""
    numbered = [_NUMBERING.match(line) for line in lines]
    if sum(found is not None for found in numbered) < max(2, len(lines) - 1):
        return list(lines)
    return [line[found.end() :] if found else line for line, found in zip(lines, numbered, strict=True)]


def _size(text: str) -> int:
    return len(text.encode())
