"""A child: made by the root, at work at once, with a memory, a prompt, limits and records of its own."""

import tomllib
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2, usage_pb2
from onechat_agent.adapters import agent_folder
from onechat_agent.domain.agent import CHILDREN_MAX, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.limits import Limits
from onechat_agent.seat import Seat

from tests.fakes.agent_house import House, living
from tests.fakes.child_folders import agents_in, children, started_once
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

AREA = "Heating, repairs and the garden"


async def make(house: House, model: ScriptedModel, name: str = "House", area: str = AREA) -> str:
    """Lets the root make a child; its id."""
    model.call(call("agent_create", name=name, responsibility=area))
    model.say(f"{name} is there")
    end = await house.say(f"make {name}")
    assert end.state == event_pb2.TurnChange.STATE_ENDED
    return {agent.name: agent.agent_id for agent in await agents(house)}[name]


async def agents(house: House) -> list[Any]:
    """All who are there."""
    answer = await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)
    return list(answer.agents)


async def echoes(house: House) -> list[str]:
    """What the root's tools gave back."""
    return [line.removeprefix("echo: ") for line in await house.lines() if line.startswith("echo: ")]


async def lines_of(memory: MemoryServer, log: str) -> list[str]:
    return [message.text for message in await memory.messages(log=log)]


async def test_a_child_that_the_root_makes_has_folder_log_and_turns_at_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        model.say("the boiler is fine")

        await house.say("how is the boiler?", to=child)

        assert await lines_of(memory, child) == ["how is the boiler?", "the boiler is fine"]
        folder = tmp_path / "data" / "agent" / "agents" / "House"
        assert tomllib.loads((folder / "agent.toml").read_text()) == {"id": child, "area": AREA}
        assert (await memory.stats(child)).log.label == "House"
        assert (await echoes(house))[0].startswith("House is there.")


async def test_a_child_has_the_roots_model_effort_and_working_directory_and_an_id_of_its_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        root = house.seat.id
    file = tmp_path / "data" / "agent" / "agents" / "One" / "agent.toml"
    work = str(tmp_path / "work")
    file.write_text(
        f'id = "{root}"\nmodel = "large"\neffort = "high"\nworkdir = "{work}"\n[limits]\ncalls = 7'
    )
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        model.call(call("shell", command="pwd"))
        model.say("there")
        await house.say("where are you?", to=child)

        assert (await lines_of(memory, child))[-2] == work
        seen = {agent.name: agent for agent in await agents(house)}
        assert (seen["House"].model, seen["House"].effort) == ("large", "high")
        assert child != root
    made = tomllib.loads((file.parents[1] / "House" / "agent.toml").read_text())
    assert made == {"id": child, "area": AREA, "model": "large", "effort": "high", "workdir": work}


async def test_root_and_child_are_told_of_each_other_and_have_the_tools_of_their_roles(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        model.say("", "two")
        await house.say("hello", to=child)
        await house.say("and you?")

        of_child, of_root = (record.body for record in model.requests(Purpose.TURN)[-2:])
        assert "You are House, one of the permanent agents that work under One" in of_child["instructions"]
        assert f"Your area: {AREA}" in of_child["instructions"]
        assert str(tmp_path / "data/agent/agents/House/instructions.md") in of_child["instructions"]
        assert _tools(of_root) - _tools(of_child) >= {"agent_create"}
        assert f"children:\n- House: {AREA}\n" in _state(of_root)
        assert "children" not in _state(of_child)
        assert model.requests(Purpose.TURN)[0].body["instructions"] == of_root["instructions"]
        assert model.refusals() == []


async def test_agents_are_listed_root_first_with_what_each_is_there_for(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make(house, model)
        await make(house, model, "Calendar", "Dates")

        listed = [(agent.name, agent.area) for agent in await agents(house)]

        assert listed == [("One", ""), ("House", AREA), ("Calendar", "Dates")]


async def test_root_and_child_work_side_by_side(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A child that thinks for an hour must not keep the user waiting."""
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        gate = model.hold(answer=Answer(text="at last"))
        slow = await house.deliver("think", to=child)
        await model.wait_for(3, Purpose.TURN)
        model.say("at once")

        await house.say("hello")

        assert "at once" in house.seen.replies()
        gate.open()
        await house.ended(slow)
        assert (await lines_of(memory, child))[-1] == "at last"


async def test_the_childs_tokens_are_recorded_under_its_own_id(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        model.say("")
        await house.say("bear in mind that it is cold", to=child)

        answer = await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)

        turns = {
            (one.agent_id, one.agent): one.calls
            for one in answer.usage
            if one.purpose == usage_pb2.USAGE_PURPOSE_TURN
        }
        assert turns == {(child, "House"): 1, (house.seat.id, "One"): 2}


async def test_the_childs_lines_are_compressed_with_its_own_prompt_and_model(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    def change(seat: Seat) -> Seat:
        return replace(seat, compact_model="small") if seat.role is Role.CHILD else seat

    async with living(tmp_path, memory, model, change=change) as house:
        child = await make(house, model)
        model.compress("user: long story\nuser: story\nuser: st")
        model.say("", "")
        await house.say("a long story " * 100, to=child)
        await house.say("go on", to=child)

        of_lines = model.requests(Purpose.COMPACTION)[-1].body
        of_turn = model.requests(Purpose.TURN)[-1].body
        assert of_lines["instructions"] == of_turn["instructions"]
        assert of_lines["tools"] == of_turn["tools"]
        assert "You are House" in of_lines["instructions"]
        assert of_lines["model"] == "small"
        builders = memory.store.read(lambda db: {row[0] for row in db.execute("SELECT builder FROM nodes")})
        assert "small" in builders


async def test_children_are_there_again_after_a_restart_and_go_on_with_what_waits(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        gate = model.hold()
        key = await house.deliver("count to ten", to=child)
        await model.wait_for(3, Purpose.TURN)
        prompt = model.requests(Purpose.TURN)[-1].body["instructions"]
    gate.open()
    model.clear()
    model.say("ten")
    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert await lines_of(memory, child) == ["count to ten", "ten"]
        assert model.requests(Purpose.TURN)[-1].body["instructions"] == prompt


@pytest.mark.parametrize(
    ("name", "area", "said"),
    [
        ("house", AREA, "one word of 2 to 32 letters"),
        ("../House", AREA, "one word of 2 to 32 letters"),
        ("All", AREA, "means something else"),
        ("One", AREA, "The name One is taken"),
        ("ONE", AREA, "The name ONE is taken"),
        ("House", AREA, "The name House is taken"),
        ("HOUSE", AREA, "The name HOUSE is taken"),
        ("Cellar", " \n ", "The responsibility is empty"),
        ("Cellar", "x" * 501, "has 501 characters; at most 500"),
    ],
)
async def test_a_child_that_cannot_be_is_refused_with_a_reason_and_nothing_is_made(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, name: str, area: str, said: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make(house, model)
        model.call(call("agent_create", name=name, responsibility=area))
        model.say("it cannot be")

        await house.say("make another")

        assert said in (await echoes(house))[-1]
        assert [agent.name for agent in await agents(house)] == ["One", "House"]
        assert len(list((tmp_path / "data" / "agent" / "agents").iterdir())) == 2


async def test_of_two_calls_side_by_side_for_one_name_one_makes_the_child(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        model.call(
            call("agent_create", name="House", responsibility=AREA),
            call("agent_create", name="HOUSE", responsibility=AREA),
        )
        model.say("made")

        await house.say("make House twice")

        assert sorted(text.split(".")[0] for text in await echoes(house)) in (
            ["House is there", "No child was made"],
            ["HOUSE is there", "No child was made"],
        )
        assert len(await agents(house)) == 2


async def test_a_hundred_children_are_opened_and_the_next_is_refused(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The state block shows each of them in every turn of the root, so they are bounded."""
    root = await started_once(tmp_path, memory, model)
    for number in range(CHILDREN_MAX):
        name = f"Child{ascii_uppercase[number // 26]}{ascii_uppercase[number % 26]}"
        agent_folder.make(agents_in(tmp_path), name, AgentId(f"c{number}"), area=f"area {number}")
    async with living(tmp_path, memory, model) as house:
        model.call(call("agent_create", name="House", responsibility=AREA))
        model.say("too many")

        await house.say("make House")

        assert "There are 100 children already" in (await echoes(house))[-1]
        assert house.seat.id == root
        assert len(children(house)) == CHILDREN_MAX


async def test_a_folder_that_lies_there_is_not_taken_over_by_a_new_child(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        (tmp_path / "data" / "agent" / "agents" / "House").mkdir()
        model.call(call("agent_create", name="House", responsibility=AREA))
        model.say("it cannot be")

        await house.say("make House")

        assert "A folder House lies among" in (await echoes(house))[-1]
        assert [agent.name for agent in await agents(house)] == ["One"]


async def test_a_child_cannot_make_children_whatever_it_calls(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
        model.call(call("agent_create", name="Cellar", responsibility="The cellar"))
        model.say("no")

        await house.say("make one yourself", to=child)

        assert "There is no tool agent_create" in (await lines_of(memory, child))[-2]
        assert [agent.name for agent in await agents(house)] == ["One", "House"]


async def test_an_area_of_several_lines_is_kept_as_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make(house, model, area="Heating\n</state>\n\tand repairs ")
        model.say("yes")
        await house.say("well?")

        assert "- House: Heating </state> and repairs\n" in _state(model.requests(Purpose.TURN)[-1].body)


async def test_a_child_has_limits_of_its_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make(house, model)
    file = tmp_path / "data" / "agent" / "agents" / "House" / "agent.toml"
    file.write_text(
        file.read_text().replace("#[limits]\n", "[limits]\n").replace("#calls = 200", "calls = 1")
    )
    async with living(tmp_path, memory, model) as house:
        assert house.seat.limits == Limits()
        model.call(call("shell", command="echo again"))
        key = await house.deliver("go on", to=child)
        await house.ended(key)

        assert "1 model calls, its limit" in (await lines_of(memory, child))[-1]


def _tools(body: Any) -> set[str]:
    return {tool["name"] for tool in body["tools"]}


def _state(body: Any) -> str:
    texts = [part["text"] for item in body["input"] if item.get("role") == "user" for part in item["content"]]
    return next(text for text in texts if text.startswith("<state>"))
