"""What every run of the tests has: long tests first, quick temporary folders, and few looks for garbage.

Each commit of a store waits for the disk, which the tests have no use for: their processes are killed, the
machine is not. So tmp_path lies in memory where there is room; PYTEST_DEBUG_TEMPROOT names another place.
"""

import gc
import os
from pathlib import Path
from typing import Final

import pytest

_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 pytest makes a private folder of its own in it
_ROOM_BYTES: Final = 4 << 30  # a whole run has at most a few hundred MB at once
_NEW_OBJECTS: Final = 10_000  # between two looks for garbage; Python's own 700 are for small programs


def _has_room(folder: Path) -> bool:
    try:
        of_folder = os.statvfs(folder)
        of_machine = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = int(of_machine["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # no Linux
        return False
    allows = os.access(folder, os.W_OK) and not of_folder.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
    return allows and min(free, of_folder.f_bavail * of_folder.f_frsize) >= _ROOM_BYTES


gc.set_threshold(_NEW_OBJECTS, 10, 10)
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _has_room(_IN_MEMORY):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_IN_MEMORY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that ask for the longest time begin first: a process that ends with one has the others wait."""
    items.sort(key=_allowed_s, reverse=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look through it for garbage takes a quarter of a second each time."""
    gc.collect()
    gc.freeze()


def _allowed_s(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark and mark.args else 0.0
