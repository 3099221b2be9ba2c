"""A memory service and a model for the tests of turns."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.memory_server import MemoryServer, remembering
from tests.fakes.scripted_model import ScriptedModel


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryServer]:
    async with remembering(tmp_path / "memory") as server:
        yield server


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel.serving() as server:
        yield server
