"""The user's time zone: the setting, else the machine's own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

_LINK: Final = Path("/etc/localtime")
_NAME_FILE: Final = Path("/etc/timezone")
_FOLDER: Final = "zoneinfo/"


def parse(name: str) -> str:
    """`name` when it is an IANA zone; else ValueError."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("write an IANA zone, such as Europe/Rome") from None
    return name


def of_machine(environ: Mapping[str, str] = os.environ) -> str:
    """The machine's IANA zone; UTC where it names none."""
    candidates = [environ.get("TZ", "").removeprefix(":")]
    target = os.path.realpath(_LINK)
    if _FOLDER in target:
        candidates.append(target.partition(_FOLDER)[2])
    if _NAME_FILE.is_file():
        candidates.append(_NAME_FILE.read_text(encoding="ascii", errors="ignore").strip())
    for name in filter(None, candidates):
        try:
            return parse(name)
        except ValueError:
            continue
    return "UTC"
