"""Which part of what a chat had shown before it shows again when it is opened: the last few exchanges. Pure.

Tool activity is left out and long messages are cut; the whole is in memory. Where the events come from:
chat/reopening.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from onechat_cli.domain.happening import Event, Outside, Said
from onechat_cli.domain.transcript import Kind, Line

EXCHANGES: Final = 3
MESSAGES_MAX: Final = 12  # of all exchanges, so that a day of notices does not fill the screen
ROWS_MAX: Final = 15  # of a message
ROW: Final = 80  # characters; the screen's true width only shifts where a message is cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What is shown again."""

    since: datetime | None = None  #: when the first of it came; None when there is nothing
    lines: tuple[Line, ...] = ()


def last_exchanges(told: Iterable[tuple[Event, Sequence[Line]]]) -> Earlier:
    """The last EXCHANGES of `told`, oldest first: each event with the lines that it became.

    An exchange begins with what is said to the agent, by the user or from outside, after anything else.
    """
    shown = [(event, lines) for event, found in told if (lines := _cut(_talk(found)))]
    begins = [
        place
        for place, (event, _) in enumerate(shown)
        if _asks(event) and (place == 0 or not _asks(shown[place - 1][0]))
    ]
    first = begins[-EXCHANGES] if len(begins) >= EXCHANGES else 0
    shown = shown[first:][-MESSAGES_MAX:]
    if not shown:
        return Earlier()
    return Earlier(
        since=shown[0][0].time,
        lines=tuple(replace(line, earlier=True) for _, lines in shown for line in lines),
    )


def _asks(event: Event) -> bool:
    return isinstance(event.body, Said | Outside)


def _talk(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.kind is not Kind.ACTIVITY]


def _cut(lines: Sequence[Line]) -> list[Line]:
    """`lines` as far as they take ROWS_MAX rows, with an ellipsis where there is more."""
    kept: list[Line] = []
    room = ROWS_MAX
    for line in lines:
        if not room:
            return [*kept, Line(kind=line.kind, text="…")]
        needed = max(-(-len(line.text) // ROW), 1)
        if needed > room:
            return [*kept, replace(line, text=f"{line.text[: room * ROW].rstrip()} …")]
        kept.append(line)
        room -= needed
    return kept
