"""Fixtures of the memory service's tests: a real service on loopback, real files, a clock turned by hand."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer, remembering


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def open_memory(
    tmp_path: Path, clock: ManualClock
) -> Callable[..., AbstractAsyncContextManager[MemoryServer]]:
    """Starts the service on the test's own folder, again and again if need be."""

    def opened(**fields: Any) -> AbstractAsyncContextManager[MemoryServer]:
        return remembering(tmp_path, clock, **fields)

    return opened


@pytest.fixture
async def memory(open_memory: Callable[..., Any]) -> AsyncIterator[MemoryServer]:
    """A service that holds one empty tree log."""
    async with open_memory() as server:
        await server.create()
        yield server
