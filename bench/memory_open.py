"""How long a memory of any length takes to open, in process: the store, and the views that are kept in it.

What a start takes as a whole, with its imports: memory_start.py. Times are seconds.
"""

import gc
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw
from onechat_memory.__main__ import MIGRATIONS, NAME, served
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

from bench.figures import Figure, milliseconds, ratio
from bench.made_log import data_with
from bench.scale import Scale

TITLE: Final = "Opening a memory"
ABOUT: Final = (
    "In process: from a path until the store is open, locked and known to be up to date, and the memory "
    "service stands over it with its views loaded. Its baseline opens the same file with SQLite alone and "
    "reads one row of it, which takes in the schema. Each is the median of a round's opens, the lengths in "
    "turn, files in the system's cache but where it says otherwise. What an open takes beside opening the "
    "file is to be the same at every length; a tenth is left for noise."
)
OPEN_AT_MOST_MS: Final = 100.0
NO_SLOWER: Final = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opens:
    bare_s: float
    whole_s: float
    cold_s: float  #: the whole, the file not in the system's cache

    @property
    def beside_s(self) -> float:
        """What it takes but for opening the file."""
        return self.whole_s - self.bare_s


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    lengths = (scale.small_log, scale.large_log, scale.huge_log)
    rounds: list[dict[int, _Opens]] = []
    with ExitStack() as stack:
        stores = {one: stack.enter_context(data_with(one)) / NAME / "store.db" for one in lengths}
        for _ in range(scale.rounds):
            rounds.append(await _opens(stores, scale.opens))
    return _figures(rounds, lengths)


def _figures(rounds: Sequence[Mapping[int, _Opens]], lengths: Sequence[int]) -> list[Figure]:
    few, many = lengths[0], lengths[-1]
    rows = []
    for one in lengths:
        goal = OPEN_AT_MOST_MS if one == many else None
        rows += [
            milliseconds(
                f"baseline: the file alone, {one:,} messages", [each[one].bare_s for each in rounds]
            ),
            milliseconds(
                f"open at {one:,} messages", [each[one].whole_s for each in rounds], at_most_ms=goal
            ),
        ]
    return [
        *rows,
        ratio(
            f"beside opening the file, at {many:,} of that at {few:,}",
            [each[many].beside_s for each in rounds],
            [each[few].beside_s for each in rounds],
            at_most=NO_SLOWER,
        ),
        milliseconds(f"open at {many:,}, file not in the cache", [each[many].cold_s for each in rounds]),
    ]


async def _opens(stores: Mapping[int, Path], opens: int) -> dict[int, _Opens]:
    """The medians of `opens` of each store and kind, in turn, so that what disturbs one disturbs the rest."""
    bare: dict[int, list[float]] = {one: [] for one in stores}
    whole: dict[int, list[float]] = {one: [] for one in stores}
    for _ in range(opens):
        for one, path in stores.items():
            bare[one].append(_bare_s(path))
            whole[one].append(await _whole_s(path))
    return {
        one: _Opens(
            bare_s=statistics.median(bare[one]),
            whole_s=statistics.median(whole[one]),
            cold_s=await _cold_s(path),
        )
        for one, path in stores.items()
    }


def _bare_s(path: Path) -> float:
    began = time.perf_counter()
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.execute("SELECT length FROM logs").fetchall()
    took_s = time.perf_counter() - began
    db.close()
    return took_s


async def _whole_s(path: Path) -> float:
    clock, migrations = SystemClock(), migrations_in(MIGRATIONS)
    gc.collect()  # what earlier opens left is not this one's
    began = time.perf_counter()
    async with Store.open(path, component=NAME, migrations=migrations, clock=clock) as store:
        await served(store, clock, "benchmark")
        return time.perf_counter() - began


async def _cold_s(path: Path) -> float:
    _out_of_cache(path)
    return await _whole_s(path)


def _out_of_cache(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)  # what is not on the disk yet cannot be dropped
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)
