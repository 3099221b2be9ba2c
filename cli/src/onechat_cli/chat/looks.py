"""How the chat's lines look: signs, colours and room between them. Colours are left out under NO_COLOR."""

from collections.abc import Iterable, Sequence
from typing import Final

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from onechat_cli.domain.transcript import Kind, Line
from onechat_cli.domain.wrapping import wrapped

PROMPT: Final = "› "
STYLE: Final = Style.from_dict(
    {
        "prompt": "ansicyan bold",
        "user": "bold",
        "outside": "ansimagenta",
        "activity": "dim",
        "notice": "ansiyellow",
        "remark": "dim",
        "heading": "dim",
        "earlier": "dim",
        "status": "dim",
        "placeholder": "dim",
    }
)
_STYLES: Final = {
    Kind.USER: "class:user",
    Kind.REPLY: "",
    Kind.OUTSIDE: "class:outside",
    Kind.ACTIVITY: "class:activity",
    Kind.NOTICE: "class:notice",
    Kind.COMMAND: "",
    Kind.REMARK: "class:remark",
    Kind.HEADING: "class:heading",
}
_LEADS: Final = {Kind.ACTIVITY: "  · ", Kind.REMARK: "  ", Kind.HEADING: "  "}
_WITHOUT_ROOM: Final = frozenset({Kind.ACTIVITY, Kind.REMARK})


def drawn(lines: Iterable[Line], columns: int) -> StyleAndTextTuples:
    """`lines` for the scroll-back, each with its line end, long ones broken at spaces."""
    fragments: StyleAndTextTuples = []
    for line in lines:
        if line.first and line.kind not in _WITHOUT_ROOM:
            fragments.append(("", "\n"))
        lead, rest = _leads(line)
        for place, row in enumerate(wrapped(line.text, columns - len(lead), get_cwidth)):
            sign, style = _styles(line)
            fragments.append((sign, rest if place else lead))
            fragments.append((style, f"{row}\n"))
    return fragments


def live_rows(text: str, calls: Sequence[str], columns: int, rows: int) -> StyleAndTextTuples:
    """The newest `rows` rows of what still changes: the answer's unfinished line, then the calls at work."""
    shown = (
        [("", row) for line in text.split("\n") for row in wrapped(line, columns, get_cwidth)] if text else []
    )
    for call in calls:
        shown += [("class:activity", row) for row in wrapped(f"  · {call} …", columns, get_cwidth)[:1]]
    fragments: StyleAndTextTuples = []
    for place, (style, row) in enumerate(shown[-rows:]):
        fragments.append((style, f"\n{row}" if place else row))
    return fragments


def _styles(line: Line) -> tuple[str, str]:
    """The looks of what stands before a line, and its own."""
    if line.earlier:
        return "class:earlier", "class:earlier"
    return ("class:prompt" if line.kind is Kind.USER else ""), _STYLES[line.kind]


def _leads(line: Line) -> tuple[str, str]:
    """What stands before a line's first row and before its further ones."""
    if line.kind is Kind.USER:
        return (PROMPT if line.first else " " * len(PROMPT)), " " * len(PROMPT)
    lead = _LEADS.get(line.kind, "")
    return lead, " " * len(lead)
