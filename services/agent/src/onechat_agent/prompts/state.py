"""The state block: what is true now, frozen with the view for a whole turn. Pure.

It stands after the view; the system prompt holds nothing of it, since its bytes must stay the same.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from onechat_agent.domain.agent import AREA_MAX
from onechat_agent.domain.outside import as_name
from onechat_agent.domain.text import one_line

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def state_block(
    now: datetime,
    *,
    zone: str,
    workdir: Path | None,
    group: str = "",
    children: Sequence[tuple[str, str]] = (),
    at_work: Sequence[str] = (),
) -> str:
    """The block at the instant `now` (aware); `zone` is an IANA name; relative paths begin at `workdir`.

    `workdir`: None for an agent that has no use for it. `group`: the title of the group that the agent is of,
    which its members chose. `children`: (name, area) of each child. `at_work`: names of the
    agent's subagents that have work to do.
    """
    lines = [f"now: {local_time(now, zone)}"]
    if group:
        lines.append(f'the group calls itself: "{as_name(group)}"')
    if workdir is not None:
        lines.append(f"working directory: {_flat(workdir)}")
    if children:
        lines += ["children:", *(f"- {name}: {one_line(area, AREA_MAX)}" for name, area in children)]
    if at_work:
        lines.append(f"subagents at work: {', '.join(at_work)}")
    return "\n".join(["<state>", *lines, "</state>"])


def local_time(instant: datetime, zone: str) -> str:
    """`Monday 2026-11-30 10:15 (Europe/Berlin, UTC+01:00)`; English whatever the machine speaks."""
    local = instant.astimezone(ZoneInfo(zone))
    offset = local.strftime("%z")
    return f"{WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M} ({zone}, UTC{offset[:3]}:{offset[3:5]})"


def _flat(path: Path) -> str:
    return " ".join(str(path).split("\n"))
