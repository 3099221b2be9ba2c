"""What makes a line valid, and how lines and sources are written. Pure. Sizes are UTF-8 bytes.

A line is a node's text, `LINE_MAX` bytes as a target. Who decides what is built: ready.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from onechat_memory.domain.text import fit_unicode, head, size
from onechat_memory.domain.tree import Node

LINE_MAX = 512  #: what a source may have to be its own line, and what a model is asked for
LINE_CUT = 2 * LINE_MAX  #: a model's line over this is cut here
PLACEHOLDER = "(not summarized yet: zoom it)"
PLACEHOLDER_SIZE = size(PLACEHOLDER)
_COPIED_NAME = re.compile(r"\d+\+\d+\|")


def leaf_source(kind: str, text: str) -> str:
    """What a message's line is made from."""
    return f"{kind}: {text}"


def joined(older: str, younger: str) -> str:
    """What a merge is, if it fits: its two lines, one below the other."""
    return f"{older}\n{younger}"


def merge_source(older: Node, older_line: str, younger: Node, younger_line: str) -> str:
    """What a model merges: the two lines, each flat and with its name."""
    return f"{shown(older, older_line)}\n{shown(younger, younger_line)}"


def is_own_line(source: str) -> bool:
    """Whether `source` needs no model, since it fits in a line as it is."""
    return size(source) <= LINE_MAX


def flat(text: str) -> str:
    """`text` on one line: each line end a space, so the size stays."""
    return text.replace("\r", " ").replace("\n", " ")  # translate takes ten times as long


def shown(node: Node, text: str | None) -> str:
    """A line of a view: the node's name and its text; `text` is None while the node is not built."""
    return f"{node.name}|{PLACEHOLDER if text is None else flat(text)}"


def shown_view(lines: Iterable[str]) -> str:
    """A whole view, as prompts hold it. `lines` as `shown` gives them, oldest first."""
    return "\n".join(["<chat>", *lines, "</chat>"])


def accepted(answer: str) -> str:
    """The line that a model's `answer` stands for; empty when there is nothing in it.

    Trimmed, on one line, without a name that was copied from the view, at most `LINE_CUT` bytes.
    """
    line = flat(fit_unicode(answer)).strip()
    line = _COPIED_NAME.sub("", line, count=1) if _COPIED_NAME.match(line) else line
    return head(line.strip(), LINE_CUT).rstrip()


def degraded(source: str) -> str:
    """The line of a node that no model could write: the head of its source."""
    return head(flat(source), LINE_MAX).rstrip()
