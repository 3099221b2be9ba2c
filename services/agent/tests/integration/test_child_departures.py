"""A child whose folder was taken away: work goes to the root, its memory is set aside, its name is free."""

from pathlib import Path

import apsw
import grpc
import pytest
from onechat.agent.v1 import event_pb2
from onechat.memory.v1 import log_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import RemoteError, StartRefused

from tests.fakes.agent_house import living
from tests.fakes.child_folders import (
    HOUSE,
    agents_in,
    change_rows,
    children,
    house_opened_once,
    put_house,
    ready,
    take_house_away,
    until,
)
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, ScriptedModel, call

STOPPED = event_pb2.TurnChange.STATE_STOPPED


async def kept(memory: MemoryServer) -> list[str]:
    """The ids of the logs that were set aside."""
    return [name for name, log in (await memory.logs()).items() if log.state == log_pb2.LOG_STATE_KEPT]


async def set_aside(memory: MemoryServer) -> str:
    """The id of the one log that was set aside, once it is."""

    async def is_there() -> bool:
        return bool(await kept(memory))

    await until(is_there)
    (log,) = await kept(memory)
    return log


async def said_to_house(folder: Path, memory: MemoryServer, model: ScriptedModel, text: str) -> None:
    model.say("")
    async with living(folder, memory, model) as house:
        await house.say(text, to=HOUSE)


async def test_the_user_is_told_and_the_memory_is_set_aside_and_not_deleted(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await said_to_house(tmp_path, memory, model, "it is cold")
    take_house_away(tmp_path)

    async with living(tmp_path, memory, model, after=0) as house:
        log = await set_aside(memory)

        assert children(house) == {}
        assert [text for text in house.seen.notices() if "House" in text] != []
        assert (await memory.messages(log=log))[0].text == "it is cold"
        assert await memory.messages(log=HOUSE) == []
    assert not [one for one in (await memory.logs()).values() if one.state == log_pb2.LOG_STATE_STAGED]


async def test_a_removal_is_told_once(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> None:
    await house_opened_once(tmp_path, memory, model)
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model):
        await set_aside(memory)

    async with living(tmp_path, memory, model, after=0) as house:
        model.say("yes")
        await house.say("are you there?")

        assert len([text for text in house.seen.notices() if "House" in text]) == 1
        assert len(await kept(memory)) == 1


async def test_what_the_child_had_queued_goes_to_the_root(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    gate = model.hold()
    async with living(tmp_path, memory, model) as house:
        at_work = await house.deliver("it is cold", to=HOUSE)
        await gate.reached()
        waiting = await house.deliver("and it is dark", to=HOUSE)
    gate.open()
    take_house_away(tmp_path)
    model.clear()
    model.say("House is gone; I see to it")

    async with living(tmp_path, memory, model, after=0) as house:
        end = await house.ended(waiting)

        assert {one.key for one in end.answered} == {at_work, waiting}
        lines = "\n".join(await house.lines())
        assert "it is cold" in lines
        assert "and it is dark" in lines
        assert lines.count("House") >= 2
        stopped = [end for end in house.seen.ends() if end.state == STOPPED]
        assert [(one.reason, list(one.answered)) for one in stopped] == [("House was taken away.", [])]


async def test_what_the_root_itself_had_told_it_does_not_come_back_as_the_users_word(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    model.call(call("tell", name="House", message="heat the rooms"))
    model.say("I told House")
    gate = model.hold(purpose=None)
    async with living(tmp_path, memory, model) as house:
        await house.deliver("let House heat the rooms")
        await house.seen.until(lambda seen: bool(seen.ends()))
    gate.open()
    take_house_away(tmp_path)
    model.clear()
    model.say("nobody heats")

    async with living(tmp_path, memory, model) as house:
        await house.seen.until(lambda seen: "nobody heats" in seen.replies())

        told = [line for line in await house.lines() if line.endswith("heat the rooms")]
        assert [line.partition(":")[0] for line in told] == ["user", "work"]


async def test_its_subagents_end_with_it(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> None:
    await house_opened_once(tmp_path, memory, model)
    left = {state: f"House-{number}" for number, state in enumerate(("waiting", "working", "finished"), 1)}

    def job(db: apsw.Connection) -> None:
        for state, name in left.items():
            subagent = Agent(
                id=AgentId(name), name=name, role=Role.SUBAGENT, state=AgentState(state), parent=HOUSE
            )
            agent_rows.add(db, subagent, SystemClock().now())

    await change_rows(tmp_path, job)
    take_house_away(tmp_path)

    async with living(tmp_path, memory, model) as house:
        states = [
            house.store.read(lambda db, name=name: agent_rows.agent(db, AgentId(name)))
            for name in left.values()
        ]

        assert {one.state for one in states if one} == {AgentState.REMOVED}
        assert len(model.requests(Purpose.TURN)) == 0


async def test_a_later_child_of_that_name_begins_fresh(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await said_to_house(tmp_path, memory, model, "it is cold")
    take_house_away(tmp_path)

    async with living(tmp_path, memory, model) as house:
        model.call(call("agent_create", name="House", responsibility="The house"))
        model.say("made")
        await house.say("make House anew")

        again = children(house)["House"][0]
        assert again != HOUSE
        assert await memory.messages(log=again) == []


async def test_a_folder_that_comes_back_later_is_the_same_agent_with_an_empty_memory(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await said_to_house(tmp_path, memory, model, "it is cold")
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model):
        log = await set_aside(memory)
    put_house(tmp_path)
    model.say("")

    async with living(tmp_path, memory, model) as house:
        await house.say("hello again", to=HOUSE)

        assert children(house) == {"House": (HOUSE, AgentState.READY)}
        assert (await memory.messages(log=HOUSE))[0].text == "hello again"
        assert (await memory.messages(log=log))[0].text == "it is cold"


async def test_a_memory_that_is_away_gets_the_log_set_aside_at_a_later_start(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await said_to_house(tmp_path, memory, model, "it is cold")
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model, through=SwapsNothing) as house:
        assert children(house) == {}
    assert await kept(memory) == []

    async with living(tmp_path, memory, model):
        log = await set_aside(memory)

        assert (await memory.messages(log=log))[0].text == "it is cold"


async def test_a_folder_that_comes_back_before_its_log_was_set_aside_keeps_its_memory(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await said_to_house(tmp_path, memory, model, "it is cold")
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model, through=SwapsNothing):
        pass
    put_house(tmp_path)
    model.say("")

    async with living(tmp_path, memory, model) as house:
        await house.say("hello again", to=HOUSE)

        assert (await memory.messages(log=HOUSE))[0].text == "it is cold"
        assert await kept(memory) == []


@pytest.mark.parametrize("gone", ["agents", "agents/One"])
async def test_a_mount_that_did_not_come_up_removes_nobody(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gone: str
) -> None:
    await house_opened_once(tmp_path, memory, model)
    path = tmp_path / "data" / "agent" / gone
    path.rename(tmp_path / "elsewhere")

    with pytest.raises(StartRefused, match="is missing"):
        async with living(tmp_path, memory, model):
            pass
    (tmp_path / "elsewhere").rename(path)

    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")
        assert children(house) == {"House": (HOUSE, AgentState.READY)}


async def test_a_childs_folder_whose_link_leads_nowhere_is_no_child_that_was_taken_away(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    folder = agents_in(tmp_path) / "House"
    folder.rename(tmp_path / "on a disk")
    folder.symlink_to(tmp_path / "not mounted")

    with pytest.raises(StartRefused, match=r"House/agent\.toml is missing"):
        async with living(tmp_path, memory, model):
            pass
    (tmp_path / "on a disk").rename(tmp_path / "not mounted")

    async with living(tmp_path, memory, model) as house:
        assert set(children(house)) == {"House"}


async def test_a_folder_that_was_renamed_to_what_no_agent_can_be_called_sets_no_memory_aside(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    folder = agents_in(tmp_path) / "House"
    folder.rename(agents_in(tmp_path) / "house")

    with pytest.raises(StartRefused, match="house is House's folder"):
        async with living(tmp_path, memory, model):
            pass
    (agents_in(tmp_path) / "house").rename(folder)

    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")
        assert await kept(memory) == []


async def test_an_id_that_was_changed_by_mistake_sets_no_memory_aside(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    file = agents_in(tmp_path) / "House" / "agent.toml"
    file.write_text(file.read_text().replace(HOUSE, "another"))

    with pytest.raises(StartRefused, match="House holds another id"):
        async with living(tmp_path, memory, model):
            pass

    file.write_text(file.read_text().replace("another", HOUSE))
    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")
        assert await kept(memory) == []


async def test_setting_aside_twice_is_done_once_and_leaves_nothing_behind(memory: MemoryServer) -> None:
    """The answer of the first try may be lost, and then it is made again."""
    await memory.create("house", label="House")
    await memory.append("it is cold", log="house")
    client = MemoryClient(memory.loopback.channel("agent"), "Europe/Rome")

    for _ in range(2):
        await client.set_aside(
            AgentId("house"), staged=AgentId("staged"), kept=AgentId("kept"), label="House"
        )

    assert {name: log.state for name, log in (await memory.logs()).items()} == {
        "house": log_pb2.LOG_STATE_LIVE,
        "kept": log_pb2.LOG_STATE_KEPT,
    }
    assert [one.text for one in await memory.messages(log="kept")] == ["it is cold"]


async def test_an_agent_that_never_had_a_log_has_none_set_aside(memory: MemoryServer) -> None:
    client = MemoryClient(memory.loopback.channel("agent"), "Europe/Rome")

    await client.set_aside(AgentId("house"), staged=AgentId("staged"), kept=AgentId("kept"), label="House")

    assert await memory.logs() == {}


class SwapsNothing(MemoryClient):
    """Is away whenever a log is to be set aside."""

    def __init__(self, inner: MemoryClient) -> None:
        self.__dict__.update(inner.__dict__)

    async def set_aside(self, log: AgentId, *, staged: AgentId, kept: AgentId, label: str) -> None:
        raise RemoteError(grpc.StatusCode.UNAVAILABLE, "away")
