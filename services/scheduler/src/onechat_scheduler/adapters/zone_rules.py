"""The rules of a time zone, as this machine has them: they change when countries change their minds."""

import hashlib
import zoneinfo
from importlib import resources
from pathlib import Path


def fingerprint(zone: str) -> str:
    """Another string whenever the rules of the IANA zone `zone` are other ones than before."""
    return hashlib.sha256(_rules(zone)).hexdigest()


def _rules(zone: str) -> bytes:
    """The file that zoneinfo reads: the machine's, else the tzdata package's."""
    for folder in zoneinfo.TZPATH:
        try:
            return Path(folder, zone).read_bytes()
        except OSError:  # not there: the next
            continue
    return resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
