"""Time zones by their IANA names: the machine's own, and whether a name is one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

_LOCALTIME: Final = Path("/etc/localtime")
_TIMEZONE: Final = Path("/etc/timezone")


def machine_zone(
    environ: Mapping[str, str], *, localtime: Path = _LOCALTIME, timezone: Path = _TIMEZONE
) -> str:
    """The IANA name of the zone that this machine is set to; "UTC" where it names none.

    By TZ, then the link that `localtime` is, then what `timezone` says.
    """
    for name in (environ.get("TZ", "").removeprefix(":"), _linked(localtime), _written(timezone)):
        if name and is_zone(name):
            return name
    return "UTC"


def zone_name(name: str) -> str:
    """`name` when it is an IANA zone that this machine knows; else ValueError. Parses a setting."""
    if is_zone(name):
        return name
    raise ValueError("write an IANA zone, such as Europe/Rome")


def is_zone(name: str) -> bool:
    """Whether `name` is an IANA zone that this machine knows."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return False
    return True


def _linked(path: Path) -> str:
    try:
        target = os.path.realpath(path)
    except OSError:
        return ""
    _, found, name = target.partition("/zoneinfo/")
    return name.removeprefix("posix/") if found else ""


def _written(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
