"""The state block: what is true now, frozen with the view for a whole turn. Pure.

It stands after the view; the system prompt holds nothing of it, since its bytes must stay the same.
"""

from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def state_block(now: datetime, *, zone: str, workdir: Path) -> str:
    """The block at the instant `now` (aware); `zone` is an IANA name; relative paths begin at `workdir`."""
    return "\n".join(
        ["<state>", f"now: {local_time(now, zone)}", f"working directory: {_flat(workdir)}", "</state>"]
    )


def local_time(instant: datetime, zone: str) -> str:
    """`Monday 2026-11-30 10:15 (Europe/Berlin, UTC+01:00)`; English whatever the machine speaks."""
    local = instant.astimezone(ZoneInfo(zone))
    offset = local.strftime("%z")
    return f"{WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M} ({zone}, UTC{offset[:3]}:{offset[3:5]})"


def _flat(path: Path) -> str:
    return " ".join(str(path).split("\n"))
