"""Fills the store that is named, freezes and copies it, and is killed at the point that is named.

    python killed_in_a_copy.py STORE POINT

`frozen` while a write waits for the end of the hold; `pruning` and `packing` in the middle of a copy; `whole`
before anything of a copy was read.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from onechat_runtime.clock import SystemClock
from onechat_runtime.freezing import Snapshots
from onechat_runtime.store import Migration, Store

CUPS = Migration(
    number=1, name="cups", sql="CREATE TABLE cups (number INTEGER PRIMARY KEY, tea TEXT) STRICT;"
)
ADD = "INSERT INTO cups (tea) VALUES (?)"
PATH, POINT = Path(sys.argv[1]), sys.argv[2]


def die(*_) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def prune(db) -> None:
    if POINT == "pruning":
        die()

    def seen(cursor, sql, bindings) -> bool:
        if sql.startswith("VACUUM"):
            db.set_progress_handler(die, 1_000, id="killed")
        return True

    if POINT == "packing":
        db.exec_trace = seen


async def main() -> None:
    clock = SystemClock()
    async with (
        Store.open(PATH, component="kitchen", migrations=(CUPS,), clock=clock) as store,
        Snapshots.open(store, clock=clock, new_id=lambda: "one", prune=prune) as snapshots,
    ):
        await store.write(lambda db: db.executemany(ADD, [("x" * 3000,)] * 1000).get)
        await snapshots.freeze()
        late = asyncio.create_task(store.write(lambda db: db.execute(ADD, ("late",)).get))
        await asyncio.sleep(0)
        if POINT == "frozen":
            die()
        snapshots.thaw("one")
        await late
        await snapshots.copy("one")
        die()


asyncio.run(main())
