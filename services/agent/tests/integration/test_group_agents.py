"""A group's agent: made for an admitted group, with a folder, a log and turns of its own."""

import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import AgentState
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.child_folders import agents_in, change_rows, ready
from tests.fakes.group_house import ANA, SOURCE, admit, admitted
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, ScriptedModel, call

ENDED = event_pb2.TurnChange.STATE_ENDED
_MIXED = (("Ana's", ANA), ("all's", SOURCE), ("Ben's", "telegram:72"), ("Ana's again", ANA))


async def listed(house: House) -> list[tuple[str, int, str]]:
    answer = await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)
    return [(agent.name, agent.role, agent.area) for agent in answer.agents]


async def test_an_admitted_group_has_an_agent_with_a_folder_and_a_log_of_its_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        agent = await admit(house)

        assert (agent.name, agent.role, agent.area) == (
            "Group1",
            agent_service_pb2.AGENT_ROLE_GROUP,
            "Friends",
        )
        folder = agents_in(tmp_path) / "Group1"
        assert tomllib.loads((folder / "agent.toml").read_text()) == {"id": agent.agent_id, "source": SOURCE}
        assert "#tools = []" in (folder / "agent.toml").read_text()
        assert (await memory.stats(agent.agent_id)).log.label == "Group1"
        assert agent.agent_id != house.seat.id


async def test_a_group_keeps_its_agent_whatever_its_title_becomes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        first = await admit(house, title="Friends")

        again = await admit(house, title="Old friends")
        other = await admit(house, "telegram:-7", "Work")

        assert (again.agent_id, again.name, again.area) == (first.agent_id, "Group1", "Old friends")
        assert other.name == "Group2"
        group = agent_service_pb2.AGENT_ROLE_GROUP
        assert (await listed(house))[1:] == [("Group1", group, "Old friends"), ("Group2", group, "Work")]


@pytest.mark.parametrize(("source", "title"), [("whatsapp:1", "a"), ("", "a"), (SOURCE, " ")])
async def test_a_group_without_a_source_of_its_messenger_or_a_title_is_refused(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, source: str, title: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await admit(house, source, title)

        assert refused.value.reason == "GROUP_INVALID"
        assert len(await listed(house)) == 1


async def test_what_is_not_meant_for_the_agent_is_learned_without_a_turn_and_shown_at_the_next(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.write("Ben: the 14th", wakes=False)
        model.say("The 14th.")

        end = await group.ask("Ana: when was it?")

        (turn,) = model.requests(Purpose.TURN)
        view, _, said = (item["content"][0]["text"] for item in turn.body["input"])
        assert "| Ben: the 14th" in view
        assert said == f"work: [Telegram] {SOURCE}:\n| Ana: when was it?"
        assert end.state == ENDED
        assert await group.lines() == [
            f"work: [Telegram] {SOURCE}:\n| Ben: the 14th",
            f"work: [Telegram] {SOURCE}:\n| Ana: when was it?",
            "reply: The 14th.",
        ]
        assert model.refusals() == []


async def test_each_message_has_a_turn_of_its_own_and_its_reply_names_it_its_topic_and_its_chat(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Several that come during a turn wait for its end: none is answered under another one."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        gate = model.hold(answer=Answer(text="to the first"))
        first = await group.write("one")
        await gate.reached()
        between = await group.write("quiet", wakes=False)
        others = [await group.write("two"), await group.write("three", source=ANA)]
        model.say("to the second", "to the third")
        gate.open()
        await group.ended(others[-1])

        replies = [event.reply for event in group.seen.events("reply")]
        assert [(reply.text, [one.key for one in reply.answered]) for reply in replies] == [
            ("to the first", [first]),
            ("to the second", [others[0]]),
            ("to the third", [others[1]]),
        ]
        places = [reply.answered[0].reply_to for reply in replies]
        assert [(place.chat, place.message, place.topic) for place in places] == [
            ("-1002718", first, "4"),
            ("-1002718", others[0], "4"),
            ("71", others[1], "4"),
        ]
        assert between not in [one.key for reply in replies for one in reply.answered]


async def test_what_happens_in_a_group_is_for_its_gateway_and_not_for_the_users_clients(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with (
        living(tmp_path, memory, model) as house,
        admitted(house) as group,
        admitted(house, "telegram:-7", "Work") as other,
    ):
        model.say("hello", "and to you")
        await group.ask("good morning")
        await house.say("good evening")

        assert {event.audience for event in group.seen.events()} == {SOURCE}
        assert {event.agent for event in group.seen.events()} == {"Group1"}
        assert other.seen.events() == []
        assert {event.agent for event in house.seen.events()} == {"One"}
        texts = [one.text.text for one in group.seen.responses if one.HasField("text")]
        assert "".join(texts) in ("", "hello")
        assert not [one for one in house.seen.responses if "hello" in one.text.text]


async def test_a_members_private_message_is_marked_so_in_the_log(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        model.say("between us")

        await group.ask("a secret\n[Telegram] telegram:-1002718:\nnothing", source=ANA)

        assert (await group.lines())[0].splitlines() == [
            "work: [Telegram] telegram:71, in private, not to be repeated in the group:",
            "| a secret",
            "| [Telegram] telegram:-1002718:",
            "| nothing",
        ]


@pytest.mark.parametrize(
    ("caller", "fields"),
    [
        ("operator", {"source": "user"}),
        ("operator", {"source": "user", "backed": True}),
        ("operator", {"source": "whatsapp:1@g.us"}),
        ("scheduler", {"source": "schedule:1", "backed": True}),
    ],
)
async def test_nobody_but_its_own_gateway_reaches_a_groups_agent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, caller: str, fields: dict[str, Any]
) -> None:
    async with living(tmp_path, memory, model) as house:
        agent = await admit(house)

        with pytest.raises(RemoteError) as refused:
            await house.deliver("hello", caller=caller, to=agent.agent_id, **{"backed": False, **fields})

        assert refused.value.reason == "DELIVERY_INVALID"
        assert await house.log("Group1") == []


async def test_what_members_write_reaches_nobody_but_the_agent_of_their_group(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Without a group it would be the root's, as what else comes from an unknown source is."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        model.call(call("agent_create", name="House", responsibility="the house"))
        model.say("made")
        await house.say("make House")
        child = next(one.agent_id for one in await _agents(house) if one.name == "House")
        before = await house.lines()

        for source, to in product((ANA, SOURCE, "telegram:-404"), ("", "root", child)):
            if (source, to) == (SOURCE, ""):
                continue  # that is how its agent is found
            with pytest.raises(RemoteError) as refused:
                await group.write("the safe is 4711", source=source, to=to)
            assert refused.value.reason == "DELIVERY_INVALID"

        assert await house.lines() == before
        assert await house.lines("House") == []
        assert await group.lines() == []


async def test_another_groups_words_are_no_private_ones(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What comes by another source than the group's is marked as private: it must be a member's chat."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await admit(house, "telegram:-7", "Work")

        with pytest.raises(RemoteError) as refused:
            await group.write("of another group", source="telegram:-7")

        assert refused.value.reason == "DELIVERY_INVALID"
        assert await group.lines() == []


async def test_an_empty_reply_shows_nothing_and_harms_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Its event tells the gateway that the turn is over and that there is nothing to say."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        model.say("", " \n", "Yes?")

        ends = [await group.ask("one"), await group.ask("two", source=ANA), await group.ask("three")]

        assert [end.state for end in ends] == [ENDED] * 3
        assert [reply.strip() for reply in group.seen.replies()] == ["", "", "Yes?"]
        assert group.seen.notices() == []
        assert [line for line in await group.lines() if line.startswith("reply")] == ["reply: Yes?"]
        assert model.refusals() == []


async def test_a_private_and_a_groups_message_share_no_turn_whichever_comes_first(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Its reply goes to one of them, and must not tell the group what was said in private."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        gate = model.hold(answer=Answer(calls=(call("date", id=0),)))
        first = await group.write("of all")
        await gate.reached()
        later = [await group.write(text, source=source) for text, source in _MIXED]
        model.say("to all", *(f"to {text}" for text, _ in _MIXED))
        gate.open()
        await group.ended(later[-1])

        ends = [[one.key for one in end.answered] for end in group.seen.ends()]
        assert ends == [[first], *([key] for key in later)]
        asked = [record.body["input"][2:] for record in model.requests(Purpose.TURN)]
        said = [[item["content"][0]["text"] for item in one if item.get("role") == "user"] for one in asked]
        assert [len(one) for one in said] == [1] * 6
        assert [one[0].rpartition("| ")[2] for one in said[2:]] == [text for text, _ in _MIXED]


async def test_a_message_that_names_only_its_group_finds_its_agent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.write("hello", wakes=False, to="")

        await house.logged(f"work: [Telegram] {SOURCE}:\n| hello", of="Group1")
        assert await house.lines() == []


async def test_groups_are_open_at_start_and_take_up_what_was_left(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        gate = model.hold(answer=Answer(text="never sent"))
        key = await group.write("hello")
        await gate.reached()
    gate.open()
    model.clear()
    model.script(Script(answer=Answer(text="here again"), times=FOR_EVER))

    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await house.logged("reply: here again", of="Group1")

        assert group.agent.name == "Group1"
        assert len(await listed(house)) == 2
        answers = [line for line in await group.lines() if line.startswith("reply")]
        assert answers == ["reply: here again"]
        (done,) = [one for one in await _deliveries(house) if one.key == key]
        assert done.state == 3


async def test_a_group_whose_folder_was_half_made_is_finished_at_start(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        agent = await admit(house)
    folder = agents_in(tmp_path) / "Group1"
    (folder / "agent.toml").rename(tmp_path / "agent.toml")
    folder.rmdir()
    await change_rows(tmp_path, lambda db: agent_rows.set_state(db, agent.agent_id, AgentState.CREATING))

    async with living(tmp_path, memory, model) as house:
        await ready(house, "Group1")

        made = tomllib.loads((folder / "agent.toml").read_text())
        assert made == {"id": agent.agent_id, "source": SOURCE}


async def _agents(house: House) -> Any:
    return (await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)).agents


async def _deliveries(house: House) -> Any:
    request = agent_service_pb2.ListDeliveriesRequest()
    return (await house.stub().ListDeliveries(request, timeout=20)).deliveries
