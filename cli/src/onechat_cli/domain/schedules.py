"""The agents' schedules as people read them. Instants are aware and UTC.

Whatever a terminal obeys is made harmless, also for a pipe. Where they come from: adapters/scheduler.py.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from onechat_cli.domain.agent_names import Names, agent_name
from onechat_cli.domain.remembered import iso_utc
from onechat_cli.domain.safe_text import harmless_line, one_line
from onechat_cli.domain.table import table_with_texts
from onechat_cli.domain.zones import zone_of

_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_CELL: Final = 40  # characters
_IDS: Final = 10  # at most, in one sentence
_TIME: Final = re.compile(r"\d{3,}-|[^:]*:", re.ASCII)  # cron has neither years nor colons


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A schedule: either `at` or `cron` is set."""

    id: int
    owner: str  #: the owning agent's id
    text: str
    at: str | None  #: local time of a single run
    cron: str | None
    next_time: datetime | None  #: past while a run waits for the agent service; None when none will come
    zone: str  #: IANA
    backed: bool  #: whether the user stood behind it when it was set


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """When a schedule would run."""

    times: tuple[datetime, ...]
    remark: str  #: of a clock change between them, or ""
    zone: str  #: IANA; that in which it was read


def is_time(text: str) -> bool:
    """Whether `text` is meant as a local time, and not as a cron expression."""
    return _TIME.match(text.strip()) is not None


def schedule_lines(found: Sequence[Scheduled], names: Names, width: int | None) -> list[str]:
    """A table of schedules in lines of `width` columns; with None each text stands whole, on one line."""
    zones = {zone_of(one.zone).key for one in found}
    one_zone = zones.pop() if len(zones) == 1 else None
    head = ("ID", f"NEXT ({one_zone})" if one_zone else "NEXT", "WHEN", "AGENT")
    rows = [(str(one.id), _next(one, one_zone), _when(one), agent_name(one.owner, names)) for one in found]
    texts = [harmless_line(one.text) for one in found]
    return table_with_texts([head, *rows], ["TEXT", *texts], width, right=frozenset({0}))


def schedule_remarks(found: Sequence[Scheduled], now: datetime) -> list[str]:
    """What a table of schedules does not say, a sentence each; at `now`."""
    waiting = [one for one in found if one.next_time is not None and one.next_time <= now]
    alone = [one for one in found if not one.backed]
    return [
        *([f"Due, and waiting for the agent service: {_ids(waiting)}."] if waiting else []),
        *(
            [f"Set without your word, so that what they do may ask you first: {_ids(alone)}."]
            if alone
            else []
        ),
    ]


def told(one: Scheduled, names: Names) -> str:
    """A schedule in one line, cut to 400 characters."""
    return one_line(
        f"{one.id}, {_when(one)}, next {_next(one, None)}, of {agent_name(one.owner, names)}: {one.text}", 400
    )


def run_lines(found: Foreseen) -> list[str]:
    """A line for each run: Sun 2027-03-28 03:00 +02:00 Europe/Rome."""
    zone = zone_of(found.zone)
    lines = []
    for time in found.times:
        local = time.astimezone(zone)
        offset = f"{local:%z}"
        lines.append(f"{_clock(local)} {offset[:3]}:{offset[3:5]} {zone.key}")
    return lines


def schedule_row(one: Scheduled, names: Names) -> Mapping[str, object]:
    """A schedule with all its fields, as JSON has them; its time in UTC, its agent null where not known."""
    return {
        "id": one.id,
        "agent": names.get(one.owner),
        "owner_id": one.owner,
        "text": one.text,
        "at": one.at,
        "cron": one.cron,
        "next_time": None if one.next_time is None else iso_utc(one.next_time),
        "zone": one.zone,
        "backed": one.backed,
    }


def _when(one: Scheduled) -> str:
    return "once" if one.cron is None else one_line(one.cron, _CELL)


def _next(one: Scheduled, in_head: str | None) -> str:
    """The next time by its zone's clock, with the zone unless it is `in_head` for all."""
    if one.next_time is None:
        return "-"
    zone = zone_of(one.zone)
    clock = _clock(one.next_time.astimezone(zone))
    return clock if in_head else f"{clock} {zone.key}"


def _clock(local: datetime) -> str:
    return f"{_WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"


def _ids(these: Sequence[Scheduled]) -> str:
    more = f" and {len(these) - _IDS} more" if len(these) > _IDS else ""
    return ", ".join(str(one.id) for one in these[:_IDS]) + more
