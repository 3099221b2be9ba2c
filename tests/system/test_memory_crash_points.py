"""SIGKILL before and after every commit of the memory service, by a list and in real processes.

Whatever was at work is sent again after the restart, as its caller would, and the rest of the script follows:
then every row, every answer and every file is as in a run that was stopped in the same place and not killed.
The list: tests/fakes/memory_script.py. Points inside a job: the service's own tests.
"""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from onechat.memory.v1 import memory_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.clock import ManualClock
from tests.fakes.commit_points import commit_points
from tests.fakes.five_services import REPOSITORY, FiveServices, Forks, five_services
from tests.fakes.five_services_points import COMMIT_OF, Point
from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_script import POINTS, SHORT, Committing, asked, go_on, kept, make_base
from tests.fakes.memory_server import MemoryServer

PACKAGE = REPOSITORY / "services" / "memory" / "src" / "onechat_memory"
HAND_ON = ("log_changes.begin", "log_changes.change")  #: what others give them
ACTS = (  #: what a disk without room refuses
    "chat_logs.fitted_view",
    "chat_logs.create",
    "joined_appends.append",
    "chat_logs.complete",
    "images.put",
    "upkeep.rebuild",
    "upkeep.swap",
    "upkeep.delete",
)
# Those that every run of the tests passes; each takes some seconds, and the long runs pass all of them.
QUICK = ("joined_appends.append",)
SIDES: tuple[Literal["before", "after"], ...] = ("before", "after")


class Remote(MemoryServer):
    """The service in a process, which `services` starts."""

    def __init__(self, services: FiveServices) -> None:
        self.stub = memory_service_pb2_grpc.MemoryServiceStub(services.channel("agent", "memory"))


def test_the_list_names_every_commit_of_the_service():
    named = {f"onechat_memory.{name}" for name in (*POINTS, *HAND_ON)}

    assert commit_points(PACKAGE) == named


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def make() -> Path:
        folder, clock = tmp_path_factory.mktemp("base"), ManualClock()
        async with at_hand(folder, clock) as memory:
            await make_base(memory, clock)
        return folder

    return asyncio.run(make())


async def run(
    forks: Forks, base: Path, folder: Path, committing: Committing, point: Point | None
) -> dict[str, Any]:
    """All that is left after the act, a kill at `point` (or a stop), the act once more, and the rest."""
    shutil.copytree(base, folder / "data")
    async with five_services(forks, folder) as services:
        await services.start("memory", point=point)
        memory = Remote(services)
        with suppress(*([RemoteError] if point else [])):
            if services.running("memory"):
                await committing.act(memory)
        await (services.killed if point else services.stop)("memory")
        await services.start("memory")
        await committing.act(memory)
        await go_on(memory)
        found = await asked(memory)
        await services.stop("memory")
    return {**found, **kept(folder / "data" / "memory", committing.ignored)}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.soak) for name in POINTS]
)
async def test_killed_around_a_commit_it_stands_as_if_it_had_only_been_stopped(
    forks: Forks, base: Path, tmp_path: Path, name: str
):
    committing = POINTS[name]
    module, _, function = name.rpartition(".")
    step = f"{COMMIT_OF}onechat_memory.{module}.{committing.within or function}"
    stopped = await run(forks, base, tmp_path / "stopped", committing, None)

    for side in SIDES:
        point = Point(step=step, side=side, nth=committing.nth)
        assert await run(forks, base, tmp_path / side, committing, point) == stopped, side

    assert stopped["sound"] == "ok"
    assert stopped["words"] == {number: [number] for number in SHORT}


async def test_a_disk_without_room_refuses_every_act_and_takes_it_later(
    forks: Forks, base: Path, tmp_path: Path
):
    """To the process, a limit on the size of its files is a full disk; it is lifted while it runs."""
    shutil.copytree(base, tmp_path / "data")
    async with five_services(forks, tmp_path) as services:
        await services.start("memory")
        memory = Remote(services)
        for name in ACTS:
            services.fill_disk("memory")
            with pytest.raises(RemoteError) as refused:
                await POINTS[name].act(memory)
            services.free_disk("memory")
            assert (name, refused.value.reason) == (name, "STORE_FULL")
            await POINTS[name].act(memory)
        await go_on(memory)
        found = await asked(memory)
        await services.stop("memory")

    assert found["words"] == {number: [number] for number in SHORT}
    assert kept(tmp_path / "data" / "memory", frozenset())["sound"] == "ok"
