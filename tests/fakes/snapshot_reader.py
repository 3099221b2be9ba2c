"""What tests of snapshots share: reading a copy whole, and a copy that stands still in the middle."""

import asyncio
import threading
from contextlib import closing

import apsw
from onechat_runtime.freezing import Snapshots
from onechat_runtime.store import Store


async def copied(snapshots: Snapshots, snapshot_id: str) -> bytes:
    """The bytes of a copy."""
    with closing(await snapshots.copy(snapshot_id)) as file:
        return file.read()


def files_of(store: Store) -> list[str]:
    """The names of what copies have beside the store."""
    return sorted(path.name for path in (store.path.parent / "snapshots").rglob("*"))


class Gate:
    """A prune hook that stands still in the middle of a copy until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, db: apsw.Connection) -> None:
        self.reached.set()
        assert self.opened.wait(10)

    async def until_reached(self) -> None:
        """Return once a copy stands at the gate."""
        assert await asyncio.to_thread(self.reached.wait, 10)
