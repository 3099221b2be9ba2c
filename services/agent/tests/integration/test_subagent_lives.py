"""How subagents come and go: told while they wait, told often, unable to begin, and read by their names."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from onechat_agent.adapters import agent_rows, delivery_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.chat import AgentId
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import always, holds, make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, ScriptedModel, call


def spawn(*tasks: str):
    return call("spawn", tasks=list(tasks), effort=None)


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


def state(house: House, name: str) -> AgentState:
    found = house.store.read(lambda db: agent_rows.named(db, name))
    assert found is not None
    return found.state


async def test_one_that_is_told_more_waits_for_a_place_like_the_others_also_over_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    one_place = {"subagents": 1}
    async with living(tmp_path, memory, model, settings=one_place) as house:
        says(house, "", spawn("a", "b"), "at work", "noted")
        says(house, "One-1", "a is done")
        gate = holds(house, "One-2", "never sent")
        await house.say("use two subagents")
        await gate.reached()
        await house.seen.until(lambda seen: "noted" in seen.replies())
        says(house, "", call("tell", name="One-1", message="and c?"), "told")
        await house.say("and c?")

        await until(lambda: state(house, "One-1") is AgentState.WAITING)
    model.clear()

    async with living(tmp_path, memory, model, settings=one_place, after=0) as house:
        always(house, "", "noted")
        says(house, "One-2", "b is done")
        says(house, "One-1", "c is done")
        await until(lambda: state(house, "One-1") is AgentState.FINISHED)

        assert (await house.lines("One-1"))[1:] == [
            "user: a",
            "reply: a is done",
            "user: and c?",
            "reply: c is done",
        ]
        assert (await house.lines("One-2"))[1:] == ["user: b", "reply: b is done"]


async def test_however_its_messages_meet_its_ends_each_is_logged_once_and_answered(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A message may come in the very moment in which it has nothing left to do."""
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("begin"), "at work")
        always(house, "", "")
        always(house, "One-1", "done")
        await house.say("use a subagent")
        sub = house.id_of("One-1")
        for number in range(30):
            key = await house.deliver(f"message {number}", to=sub, key=f"more:{number}")
            if number % 3:
                await house.ended(key)
        await until(lambda: state(house, "One-1") is AgentState.FINISHED)
        left = house.store.read(lambda db: delivery_rows.queued(db, AgentId(sub)))

        said = [line for line in await house.lines("One-1") if line.startswith("user: message")]
        assert said == [f"user: message {number}" for number in range(30)]
        assert left == []


class RefusesFlatLogs(MemoryClient):
    """A way to a memory that makes no log for a subagent."""

    def __init__(self, inner: MemoryClient) -> None:
        self.__dict__.update(inner.__dict__)

    async def create_log(self, log: AgentId, label: str, *, flat: bool = False) -> None:
        if flat:
            raise RemoteError(grpc.StatusCode.INVALID_ARGUMENT, "no", reason="LOG_INVALID")
        await super().create_log(log, label)


async def test_one_that_cannot_even_begin_says_so_and_ends_nobody_else(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, through=RefusesFlatLogs) as house:
        says(house, "", spawn("count"))
        always(house, "", "noted")
        await house.say("use a subagent")
        await until(lambda: state(house, "One-1") is AgentState.FAILED)
        await house.say("are you there?")

        assert hops_of_last_report(house) == 2, "else owner and subagent could go on about it all night"
        # It comes so soon that it may enter the turn that has spawned.
        (report,) = [line for line in await house.lines() if line.startswith("work: [One-1]")]
        assert "Something went wrong inside onechat" in report
        assert house.seen.replies()[-1] == "noted"


async def test_one_that_cannot_go_on_after_a_restart_says_so_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count"), "at work")
        gate = holds(house, "One-1", "never sent")
        await house.say("use a subagent")
        await gate.reached()
    model.clear()
    for _ in range(2):
        async with living(tmp_path, memory, model, through=RefusesFlatLogs) as house:
            always(house, "", "noted")
            await house.say("are you there?")
            await until(lambda: state(house, "One-1") is AgentState.FAILED)
            await house.say("and now?")

    reports = [line for line in await house.lines() if line.startswith("work: [One-1]")]
    assert len(reports) == 1


def hops_of_last_report(house: House) -> int:
    """Of what One-1 has said to its owner."""
    source = house.id_of("One-1")
    select = "SELECT hops FROM deliveries WHERE source = ? ORDER BY delivery_id DESC"
    return int(house.store.read(lambda db: db.execute(select, (source,)).get))


async def test_the_root_reads_the_whole_chat_of_one_at_work_by_its_name(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    look = call("zoom", id=None, n=None, name="[One-1]", page=None)
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count the files"), "at work")
        says(house, "One-1", call("shell", command="echo 42"))
        gate = holds(house, "One-1", "done")
        await house.say("use a subagent")
        await gate.reached()
        says(house, "", look, "it has found 42")
        await house.say("what has it found?")
        always(house, "", "noted")
        gate.open()

        outputs = [
            item["output"]
            for one in model.requests(Purpose.TURN)
            for item in one.body["input"]
            if "output" in item
        ]
        shown = next(text for text in outputs if text.startswith("0|note"))
        assert shown.splitlines()[1:] == [
            "1|user: count the files",
            '2|tool: shell {"command": "echo 42"}',
            "3|echo: 42",
        ]
        assert "echo: zoomed One-1" in await house.lines()


async def test_it_goes_on_though_its_owner_has_another_name_by_now(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count"), "at work")
        gate = holds(house, "One-1", "never sent")
        await house.say("use a subagent")
        await gate.reached()
    model.clear()

    async with living(tmp_path, memory, model, settings={"name": "Ada"}, after=0) as house:
        says(house, "", "noted")
        says(house, "One-1", "42")
        await house.seen.until(lambda seen: "noted" in seen.replies())

        assert (await house.lines())[-2] == "work: [One-1] 42"


async def test_a_child_that_is_made_again_goes_on_counting_its_subagents(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """`[House-1]` in the root's memory must not become somebody else."""
    task = call("tell", name="House", message="use a subagent")
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", task, "told", "noted")
        says(house, "House", spawn("a"), "", "done")
        gate = holds(house, "House-1", "never sent")
        await house.say("House shall use a subagent")
        await gate.reached()
    model.clear()
    shutil.rmtree(tmp_path / "data/agent/agents/House")

    async with living(tmp_path, memory, model) as house:
        assert state_of_all(house)["House-1"] is AgentState.REMOVED
        await make_child(house, "House")
        says(house, "", task, "told", "noted")
        says(house, "House", spawn("b"), "", "done")
        says(house, "House-2", "b is done")
        await house.say("House shall use a subagent")
        await house.seen.until(lambda seen: "noted" in seen.replies())

        assert state(house, "House-2") is AgentState.FINISHED


def state_of_all(house: House) -> dict[str, AgentState]:
    """By name, also of those that were removed."""
    rows = house.store.read(lambda db: db.execute("SELECT name, state FROM agents").fetchall())
    return {name: AgentState(found) for name, found in rows}
