"""Fills the store that is named, copies a snapshot of it, and is killed in the middle of that."""

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


def die(db) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    path, clock = Path(sys.argv[1]), SystemClock()
    async with (
        Store.open(path, component="kitchen", migrations=(CUPS,), clock=clock) as store,
        Snapshots.open(store, clock=clock, new_id=lambda: "one", prune=die) as snapshots,
    ):
        await store.write(lambda db: db.executemany(ADD, [("x" * 3000,)] * 1000).get)
        snapshots.thaw((await snapshots.freeze()).snapshot_id)
        await store.write(lambda db: db.execute(ADD, ("after",)).get)
        await snapshots.copy("one")


asyncio.run(main())
