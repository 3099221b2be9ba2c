"""Who is there, what each does and what each used: one agent's figures and limits are not another's."""

import asyncio
from dataclasses import replace
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2, usage_pb2
from onechat_agent.domain.limits import Limits
from onechat_agent.seat import Seat

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import holds, make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel, call


async def command(house: House, line: str) -> str:
    request = agent_service_pb2.RunCommandRequest(line=line)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


async def used(house: House) -> list[usage_pb2.Usage]:
    return list((await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)).usage)


async def test_each_agent_is_listed_with_what_it_does_its_queue_and_its_last_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, settings={"subagents": 1}) as house:
        await make_child(house, "House", "the house\nand its garden")
        says(house, "", call("spawn", tasks=["count the books", "count the pens"], effort="low"))
        waiting, below = holds(house, "", "done"), holds(house, "One-1", "counted")
        key = await house.deliver("use two")
        await waiting.reached()
        await below.reached()
        await house.deliver("and hurry")
        lines = (await command(house, "/agents")).splitlines()
        listed = (await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)).agents
        waiting.open()
        below.open()
        await house.ended(key)

        assert [line.rpartition(" turn")[0] + line.rpartition(" turn")[1] for line in lines[:2]] == [
            "One (root): thinking, 2 waiting, turn",
            "One-1 (subagent: count the books): thinking, 1 waiting, turn",
        ]
        assert lines[2:] == [
            "One-2 (subagent: count the pens): waiting for a free place, 1 waiting, no turn yet",
            "House (child: the house and its garden): idle, 0 waiting, no turn yet",
        ]
        assert [(one.name, one.doing, one.waiting) for one in listed] == [
            ("One", "thinking", 2),
            ("One-1", "thinking", 1),
            ("One-2", "waiting for a free place", 1),
            ("House", "idle", 0),
        ]
        assert [one.HasField("last_turn_time") for one in listed] == [True, True, False, False]


async def test_usage_is_kept_by_agent_and_purpose(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="x" * 2_000), "told", "noted")
        says(house, "House", call("spawn", tasks=["count"], effort=None), "at work", "")
        says(house, "House-1", "counted")
        await house.say("let House look")
        await house.logged("work: [House-1] counted", "House")
        async with asyncio.timeout(TIMEOUT_S):
            while "House compaction" not in await command(house, "/usage"):
                await asyncio.sleep(0.01)

        found = {(one.agent, one.purpose) for one in await used(house)}
        assert {
            ("One", usage_pb2.USAGE_PURPOSE_TURN),
            ("House", usage_pb2.USAGE_PURPOSE_TURN),
            ("House", usage_pb2.USAGE_PURPOSE_COMPACTION),
            ("House-1", usage_pb2.USAGE_PURPOSE_SUBAGENT),
        } <= found
        assert ("House-1", usage_pb2.USAGE_PURPOSE_TURN) not in found
        assert all(one.cached_input_tokens <= one.input_tokens for one in await used(house))
        assert not any(one.HasField("cost_millionths") for one in await used(house)), "no price is known"
        assert "House-1 subagent" in await command(house, "/usage")


async def test_an_agent_whose_day_is_used_up_says_so_once_and_holds_no_other(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The child ends its task with one sentence to its parent; what it is told then waits for tomorrow."""

    def limited(seat: Seat) -> Seat:
        return replace(seat, limits=Limits(tokens_per_day=1)) if seat.name == "House" else seat

    async with living(tmp_path, memory, model, change=limited) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="look"), "told", "it goes on tomorrow")
        says(house, "House", call("date", id=0), "never asked")
        await house.say("let House look")
        await house.seen.until(lambda seen: "it goes on tomorrow" in seen.replies())
        says(house, "", call("tell", name="House", message="look again"), "told again")
        await house.say("once more")
        async with asyncio.timeout(TIMEOUT_S):
            while "House (child: What concerns it): waiting for tomorrow" not in await command(
                house, "/agents"
            ):
                await asyncio.sleep(0.01)
        says(house, "", "still here")
        await house.say("and you?")

        assert house.seen.replies()[-1] == "still here"
        reports = [line for line in await house.lines() if line.startswith("work: [House]")]
        assert len(reports) == 1
        assert "Today's limit of tokens is used up" in reports[0]
        assert house.seen.notices() == []
