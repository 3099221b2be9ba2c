"""What several of these tests share: a clock of quiet moments, the folder of images, stores to be hurt."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.clock import ManualClock
from tests.fakes.damaged_memory import Bases
from tests.fakes.memory_server import MemoryServer


@pytest.fixture
def idle_clock() -> ManualClock:
    """By which the service waits for a quiet moment."""
    return ManualClock()


@pytest.fixture
def folder(memory: MemoryServer) -> Path:
    """Where the images are."""
    return memory.store.path.parent / "images"


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Bases:
    """Made once, since it takes long; nobody changes them."""
    made = Bases(tmp_path_factory.mktemp("bases"))
    asyncio.run(made.make())
    return made


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Copies a base, hurts its files, and gives the folder."""

    def copied(base: Path, hurt: Callable[[Path], None], *, killed: bool = True) -> Path:
        folder = tmp_path / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        (folder / "memory" / "store.db.lock").write_text("1\n" if killed else "")
        hurt(folder / "memory" / "store.db")
        return folder

    return copied
