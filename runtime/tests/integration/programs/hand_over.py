"""Hands over what is in the outbox by appending keys to a file; with `die` it dies before it forgets."""

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

from onechat_runtime.clock import SystemClock
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Migration, Store

CUPS = Migration(
    number=1, name="cups", sql="CREATE TABLE cups (number INTEGER PRIMARY KEY, tea TEXT) STRICT;"
)
STORE, SENT, MODE = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]


async def send(key: str, body: bytes) -> bytes:
    with SENT.open("a") as file:  # noqa: ASYNC230 - it must be written when this returns
        file.write(f"{key}\n")
    return b"taken"


def settled(db, kind: str, key: str, answer: bytes) -> None:
    if MODE == "die":
        os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    async with Store.open(STORE, component="kitchen", migrations=(CUPS,), clock=SystemClock()) as store:
        outbox = Outbox(store, SystemClock(), random.Random(1), {"cup": send}, settled)
        running = asyncio.create_task(outbox.run())
        while outbox.waiting():
            await asyncio.sleep(0.01)
        running.cancel()


asyncio.run(main())
