"""Opens the store that is named, and says like a service why it cannot. Writes until killed with `write`."""

import asyncio
import sys
from pathlib import Path

from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Migration, Store

CUPS = Migration(
    number=1, name="cups", sql="CREATE TABLE cups (number INTEGER PRIMARY KEY, tea TEXT) STRICT;"
)


async def write_for_ever(store: Store, lane: int) -> None:
    """Print each number once its row is acknowledged; every row holds both halves of its pair."""
    number = lane
    while True:

        def pair(db, number=number):
            db.execute("INSERT INTO cups VALUES (?, 'left')", (2 * number,))
            db.execute("INSERT INTO cups VALUES (?, ?)", (2 * number + 1, "right" * 200))

        await store.write(pair)
        print(number, flush=True)
        number += 8


async def main() -> None:
    path = Path(sys.argv[1])
    async with Store.open(path, component="kitchen", migrations=(CUPS,), clock=SystemClock()) as store:
        if sys.argv[2:] == ["write"]:
            async with asyncio.TaskGroup() as lanes:
                for lane in range(8):
                    lanes.create_task(write_for_ever(store, lane))


try:
    asyncio.run(main())
except StartRefused as refused:
    print(refused, file=sys.stderr)
    sys.exit(2)
