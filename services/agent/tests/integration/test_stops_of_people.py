"""Stops of agents that have people at work: all of it ends within a moment, and stays ended."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.tool import CallContext

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import holds, make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel, call

STOPPED = event_pb2.TurnChange.STATE_STOPPED
LONG = call("shell", command="touch $PPID.begun; trap '' TERM; while :; do sleep 600; done")


def spawn(*tasks: str):
    return call("spawn", tasks=list(tasks), effort=None)


async def command(house: House, line: str, **fields: object) -> str:
    request = agent_service_pb2.RunCommandRequest(line=line, **fields)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


def state(house: House, name: str) -> AgentState:
    found = house.store.read(lambda db: agent_rows.named(db, name))
    assert found is not None
    return found.state


async def becomes(house: House, name: str, wanted: AgentState) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while state(house, name) is not wanted:
            await asyncio.sleep(0.01)


async def until_last_line(house: House, name: str, line: str) -> None:
    """Returns once the agent's log ends with `line`."""
    async with asyncio.timeout(TIMEOUT_S):
        while (await house.lines(name))[-1] != line:
            await asyncio.sleep(0.01)


async def until_left(house: House, name: str) -> None:
    """Returns once that agent is no longer listed as one that is there."""
    async with asyncio.timeout(TIMEOUT_S):
        while name in [one.name for one in await _agents(house)]:
            await asyncio.sleep(0.01)


async def _agents(house: House) -> list[agent_service_pb2.Agent]:
    return list((await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)).agents)


def _late(house: House, turn: str, number: int) -> CallContext:
    """A call of that turn."""
    return CallContext(
        agent=house.seat.id,
        agent_name=house.seat.name,
        memory_of=house.seat.memory_of,
        turn=TurnId(turn),
        call_key=f"t:{turn}:1:{number}",
        backed=True,
        tainted=False,
        hops=0,
        workdir=house.seat.workdir,
    )


async def running(house: House, commands: int) -> None:
    """Returns once so many shell commands have begun."""
    async with asyncio.timeout(TIMEOUT_S):
        while len(list(house.seat.workdir.glob("*.begun"))) < commands:
            await asyncio.sleep(0.01)


async def said_since(house: House, text: str) -> list[str]:
    """What agents have told each other once `text` has been answered."""
    says(house, "", "still here")
    await house.say(text)
    return [event.outside_message.text for event in house.seen.events("outside_message")]


async def test_a_stop_ends_a_long_tool_and_two_subagents_within_a_moment_and_nothing_comes_of_them(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("one", "two"), LONG)
        says(house, "One-1", LONG)
        gate = holds(house, "One-2", "never sent")
        key = await house.deliver("work long")
        await running(house, 2)
        await gate.reached()
        answer = await command(house, "/stop")
        end = await house.ended(key)
        for name in ("One-1", "One-2"):
            await becomes(house, name, AgentState.STOPPED)
        gate.open()
        reports = await said_since(house, "and now?")

        assert answer == "Stopped: One, One-1, One-2."
        assert end.state == STOPPED
        assert [text for text in reports if text.startswith("[One-")] == []
        await until_last_line(house, "One-1", "echo: stopped")  # its row says so earlier than its log


async def test_a_stop_takes_subagents_out_of_the_line_and_no_restart_takes_them_up(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, settings={"subagents": 1}) as house:
        says(house, "", spawn("one", "two", "three"), "at work")
        gate = holds(house, "One-1", "never sent")
        await house.say("three of them")
        await gate.reached()
        answer = await command(house, "/stop")
        for name in ("One-1", "One-2", "One-3"):
            await becomes(house, name, AgentState.STOPPED)

        assert answer == "Stopped: One-1, One-2, One-3."
    async with living(tmp_path, memory, model) as house:
        reports = await said_since(house, "and now?")

        assert reports == []
        assert [state(house, f"One-{number}") for number in (1, 2, 3)] == [AgentState.STOPPED] * 3
        assert "user: two" in await house.lines("One-2"), "it knows its task if more is said to it"


async def test_a_stop_of_one_leaves_the_others_at_work(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("one", "two"), "at work", "noted")
        gates = [holds(house, name, f"{name} is done") for name in ("One-1", "One-2")]
        await house.say("two of them")
        for gate in gates:
            await gate.reached()
        answers = [await command(house, "/stop one-1")]
        await becomes(house, "One-1", AgentState.STOPPED)
        await until_left(house, "One-1")
        answers += [await command(house, line) for line in ("/stop One-1", "/stop Nobody")]
        for gate in gates:
            gate.open()
        await house.seen.until(lambda seen: "noted" in seen.replies())

        assert answers == [
            "Stopped: One-1.",
            "Nothing is at work.",
            "There is no agent Nobody. /agents lists them.",
        ]
        assert state(house, "One-1") is AgentState.STOPPED
        assert "work: [One-2] One-2 is done" in await house.lines()


async def test_a_stop_of_all_ends_children_and_their_subagents_and_what_was_told_them_before(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="look"), "told")
        says(house, "House", spawn("count"))
        at_house = holds(house, "House", "never sent")
        below = holds(house, "House-1", "never sent")
        await house.say("let House look")
        for gate in (at_house, below):
            await gate.reached()
        says(house, "", call("tell", name="House", message="look again"), "told again")
        await house.say("and again")
        answer = await command(house, "/stop all")
        await becomes(house, "House-1", AgentState.STOPPED)
        await house.logged("user: look again", "House")
        for gate in (at_house, below):
            gate.open()
        reports = await said_since(house, "and now?")

        assert answer == "Stopped: House, House-1."
        assert [text for text in reports if text.startswith("[")] == []
        assert (await house.lines("House"))[-1] == "user: look again"


async def test_a_stop_of_the_root_leaves_its_children_at_work(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="look"), "told", "noted")
        gate = holds(house, "House", "all is well")
        await house.say("let House look")
        await gate.reached()
        answer = await command(house, "/stop")
        gate.open()
        await house.seen.until(lambda seen: "noted" in seen.replies())

        assert answer == "Nothing is at work."
        assert "work: [House] all is well" in await house.lines()


async def test_a_stop_that_is_read_late_ends_no_subagent_that_came_after_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, settings={"subagents": 1}) as house:
        says(house, "", spawn("one", "two"), "at work", "noted", "noted")
        gate = holds(house, "One-1", "one is done")
        says(house, "One-2", "two is done")
        await house.say("two of them")
        await gate.reached()
        early = agent_service_pb2.RunCommandRequest()
        early.time.FromDatetime(house.started - timedelta(seconds=5))
        answer = await command(house, "/stop all", time=early.time)
        gate.open()
        await house.logged("work: [One-2] two is done")

        assert answer == "Nothing is at work."
        assert "work: [One-1] one is done" in await house.lines()


async def test_a_report_that_had_come_before_a_stop_starts_no_turn_after_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """It came during the turn that is stopped; whoever says stop wants silence."""
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("one"))
        gate = holds(house, "", "never sent")
        says(house, "One-1", "one is done")
        key = await house.deliver("one of them")
        await gate.reached()
        await becomes(house, "One-1", AgentState.FINISHED)
        await command(house, "/stop")
        await house.ended(key)
        gate.open()
        await house.logged("work: [One-1] one is done")
        await said_since(house, "and now?")

        turns = {event.turn for event in house.seen.events("turn_change") if event.agent == "One"}
        assert len(turns) == 2, "the stopped one, and the one of the question"


async def test_the_same_stop_again_ends_nothing_that_came_after_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("one"), "at work", spawn("two"), "at work again", "noted")
        first = holds(house, "One-1", "never sent")
        await house.say("one of them")
        await first.reached()
        answers = [await command(house, "/stop all", request_id="same")]
        second = holds(house, "One-2", "two is done")
        await house.say("another one")
        await second.reached()
        answers.append(await command(house, "/stop all", request_id="same"))
        first.open()
        second.open()
        await house.logged("work: [One-2] two is done")

        assert answers == ["Stopped: One-1."] * 2


async def test_a_turn_that_was_stopped_sets_nobody_to_work_any_more(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Its calls may be on their way to the store when the stop comes before them."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        gate = holds(house, "", "never sent")
        key = await house.deliver("hello")
        await gate.reached()
        turn = house.seen.events("turn_change")[-1].turn
        await command(house, "/stop")
        await house.ended(key)
        gate.open()
        calls = [
            ("spawn", {"tasks": ["one"], "effort": None}),
            ("tell", {"name": "House", "message": "look"}),
        ]
        for number, (name, arguments) in enumerate(calls, start=1):
            await house.seat.toolbox.run(name, json.dumps(arguments), _late(house, turn, number))

        roles = [one.role for one in await _agents(house)]
        assert agent_service_pb2.AGENT_ROLE_SUBAGENT not in roles
        deliveries = agent_service_pb2.ListDeliveriesRequest(agent_id=house.id_of("House"))
        assert not (await house.stub().ListDeliveries(deliveries, timeout=20)).deliveries


@pytest.mark.parametrize("line", ["/stop", "/stop all", "/stop One"])
async def test_a_stop_with_nothing_at_work_says_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, line: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        assert await command(house, line) == "Nothing is at work."
