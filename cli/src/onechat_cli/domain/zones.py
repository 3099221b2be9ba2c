"""Time zones by their names, as other programs give them."""

from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """The zone of this IANA name; UTC for "" and for one that this machine does not know."""
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
