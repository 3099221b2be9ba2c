"""What agents say to each other when the service dies in the middle of it: each once, and none is lost."""

import asyncio
from pathlib import Path
from typing import Any

from tests.fakes.agent_house import living
from tests.fakes.agent_talk import always, holds, make_child, of, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, ScriptedModel, call

TELL = call("tell", name="House", message="look at the boiler")


class KeepsNoTell:
    """A memory that takes the result of no tell, once `armed`: the service dies before it is answered."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.armed = False
        self.reached = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def append(self, log: str, messages: Any) -> int:
        if self.armed and messages[0].key.endswith(":r"):
            self.reached.set()
            await asyncio.get_running_loop().create_future()
        return int(await self._client.append(log, messages))


async def test_a_tell_whose_result_was_lost_is_not_told_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    wrapped: list[KeepsNoTell] = []

    def through(client: Any) -> Any:
        wrapped.append(KeepsNoTell(client))
        return wrapped[-1]

    async with living(tmp_path, memory, model, through=through) as house:
        await make_child(house, "House")
        says(house, "", TELL)
        always(
            house, "House", ""
        )  # the restart may come before its turn has ended, and then it is asked again
        wrapped[0].armed = True
        await house.deliver("tell it")
        await wrapped[0].reached.wait()
        await house.logged("user: look at the boiler", "House")

    async with living(tmp_path, memory, model) as house:
        says(house, "", "I have told it")
        await house.logged("reply: I have told it")

        assert await house.lines("House") == ["user: look at the boiler"]
        assert [line for line in await house.lines() if line.startswith("echo: House has")] == [
            "echo: House has it."
        ]


async def test_a_report_that_was_on_its_way_arrives_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "")
        says(house, "House", "It runs.")
        gate = holds(house, "", "never said")
        await house.say("tell it")
        await gate.reached()

    async with living(tmp_path, memory, model) as house:
        says(house, "", "It runs, says House.")
        await house.logged("reply: It runs, says House.")

        assert [line for line in await house.lines() if line.startswith("work:")] == [
            "work: [House] It runs."
        ]
        assert await house.lines("House") == ["user: look at the boiler", "reply: It runs."]
        asked = [record for record in model.requests(Purpose.TURN) if of(house, "House")(record.body)]
        assert len(asked) == 1, "a logged answer is not asked for again"


async def test_a_child_that_is_interrupted_reports_after_the_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "")
        gate = holds(house, "House", "never said")
        await house.say("tell it")
        await gate.reached()

    async with living(tmp_path, memory, model) as house:
        says(house, "House", "It runs.")
        await house.logged("work: [House] It runs.")

        assert await house.lines("House") == ["user: look at the boiler", "reply: It runs."]
