"""Stores that begin as a copy of an empty one: the migrations, 5 to 10 ms each time, are run once a process.

For tests that are about what a store holds. How one is made: Store.open itself, in the runtime's tests and in
each service's.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.store import Migration, Store

_EMPTY: Final[dict[tuple[str, int], bytes]] = {}  # by component and schema


@asynccontextmanager
async def store_at(
    path: Path, *, component: str, migrations: Sequence[Migration], clock: Clock, **more: Any
) -> AsyncIterator[Store]:
    """What Store.open yields for all the migrations of a service; with a VFS by that alone."""
    if not path.exists() and more.get("vfs") is None:
        if (kind := (component, len(migrations))) not in _EMPTY:
            _EMPTY[kind] = await _made(component, migrations)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(_EMPTY[kind])
    async with Store.open(path, component=component, migrations=migrations, clock=clock, **more) as store:
        yield store


async def _made(component: str, migrations: Sequence[Migration]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / component / "store.db"
        async with Store.open(path, component=component, migrations=migrations, clock=SystemClock()):
            pass
        return path.read_bytes()
