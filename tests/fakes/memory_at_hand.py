"""The real memory service over real files, called without a network: as quick as its own code.

For tests of thousands of calls. What it refuses comes as the ServiceError itself. Behind a real door:
memory_server.py.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from onechat_memory.__main__ import MIGRATIONS, NAME, served
from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.listening import Served
from onechat_runtime.store import Store, migrations_in

from tests.fakes.memory_server import MemoryServer
from tests.fakes.stores import store_at


class _Context:
    """What a handler may ask about a call: this one has no deadline."""

    def time_remaining(self) -> None:
        """The seconds that are left."""


class _Handlers:
    """What a generated stub offers, straight from the methods that a service would register."""

    def __init__(self, service: Served) -> None:
        self._of: dict[str, Any] = {}
        service.add(self)  # type: ignore[arg-type]

    def add_generic_rpc_handlers(self, handlers: Any) -> None:
        """The same methods once more, as a server looks them up."""

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        """Each method by its name."""
        self._of = handlers

    def __getattr__(self, method: str) -> Any:
        handler = self._of[method]
        act = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
        return lambda request, timeout: act(request, _Context())


class MemoryAtHand(MemoryServer):
    """A memory service in this process, and the shorthands for a test's own log."""

    def __init__(self, store: Store, service: Served, board: HealthBoard) -> None:
        self.store = store
        self.board = board  #: what the store says is wrong with it
        self.stub = _Handlers(service)


@asynccontextmanager
async def at_hand(folder: Path, clock: Clock, *, vfs: str | None = None) -> AsyncIterator[MemoryAtHand]:
    """A memory service over the store in `folder`, which an earlier one may have left. `vfs` is SQLite's."""
    migrations = migrations_in(MIGRATIONS)
    path = folder / NAME / "store.db"
    board = HealthBoard(clock)
    async with store_at(
        path, component=NAME, migrations=migrations, clock=clock, board=board, vfs=vfs
    ) as store:
        yield MemoryAtHand(store, await served(store, clock, "epoch"), board)
