"""The log of a group's agent is set aside and a fresh one begins: once for a request, never under a turn."""

import asyncio
from pathlib import Path

import grpc
import pytest
from onechat.agent.v1 import event_pb2, kept_log_pb2
from onechat.memory.v1 import log_pb2
from onechat_agent import sentences
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.chat import AgentId
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.group_house import SOURCE, Group, admitted
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel

STOPPED = event_pb2.TurnChange.STATE_STOPPED


async def reset(house: House, agent: str, request_id: str = "r1") -> str:
    request = kept_log_pb2.ResetAgentLogRequest(agent_id=agent, request_id=request_id)
    return str((await house.stub("telegram").ResetAgentLog(request, timeout=20)).kept_log)


async def kept(memory: MemoryServer) -> list[str]:
    return [name for name, log in (await memory.logs()).items() if log.state == log_pb2.LOG_STATE_KEPT]


class Held(MemoryClient):
    """A way to the memory on which a log is exchanged only when the test lets it be."""

    def __init__(self) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    def over(self, inner: MemoryClient) -> MemoryClient:
        """Goes on by the way of `inner`."""
        vars(self).update(vars(inner))
        return self

    async def set_aside(self, log: AgentId, *, staged: AgentId, kept: AgentId, label: str) -> None:
        self.reached.set()
        await self.go.wait()
        await super().set_aside(log, staged=staged, kept=kept, label=label)


class Away(MemoryClient):
    """A way to the memory that can be cut for the exchange of logs, before it is done or after it."""

    def __init__(self) -> None:
        self.is_away = self.loses_answers = False

    def over(self, inner: MemoryClient) -> MemoryClient:
        """Goes on by the way of `inner`."""
        vars(self).update(vars(inner))
        return self

    async def set_aside(self, log: AgentId, *, staged: AgentId, kept: AgentId, label: str) -> None:
        if self.is_away:
            raise RemoteError(grpc.StatusCode.UNAVAILABLE, "away")
        await super().set_aside(log, staged=staged, kept=kept, label=label)
        if self.loses_answers:
            raise RemoteError(grpc.StatusCode.UNAVAILABLE, "lost")


async def test_the_old_log_is_kept_whole_and_the_agent_knows_nothing_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("noted", "no")
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.ask("the code is 4711")

        name = await reset(house, group.agent.agent_id)
        await group.ask("do you know the code?")

        assert await kept(memory) == [name]
        assert [message.text for message in await memory.messages(log=name)][-1] == "noted"
        assert await group.lines() == [
            f"work: [Telegram] {SOURCE}:\n| do you know the code?",
            "reply: no",
        ]
        assert "4711" not in str(model.requests(Purpose.TURN)[-1].body)


async def test_the_same_request_sets_aside_once_also_after_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("one", "two")
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.ask("hello")
        first = await reset(house, group.agent.agent_id)
        await group.ask("hello again")
        assert await reset(house, group.agent.agent_id) == first
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        assert await reset(house, group.agent.agent_id) == first

        assert await kept(memory) == [first]
        assert len(await group.lines()) == 2
        second = await reset(house, group.agent.agent_id, "r2")
        assert sorted(await kept(memory)) == sorted([first, second])


async def test_a_turn_at_work_is_stopped_and_what_waits_is_in_the_log_that_is_set_aside(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        gate = model.hold(answer=Answer(text="never said"))
        first = await group.write("one")
        await gate.reached()
        quiet = await group.write("quiet", wakes=False)
        second = await group.write("two")

        name = await reset(house, group.agent.agent_id)

        ends = [await group.ended(first), await group.ended(second)]
        assert [(end.state, end.reason) for end in ends] == [(STOPPED, sentences.GROUP_CLEARED)] * 2
        old = [message.text for message in await memory.messages(log=name)]
        assert old == [f"[Telegram] {SOURCE}:\n| {text}" for text in ("one", "quiet", "two")]
        gate.open()
        model.say("to the third")
        await group.ask("three")
        assert await group.lines() == [f"work: [Telegram] {SOURCE}:\n| three", "reply: to the third"]
        answered = [one.key for end in group.seen.ends() for one in end.answered]
        assert quiet not in answered
        assert len(answered) == 3


async def test_a_turn_that_a_restart_interrupted_does_not_go_on_over_the_fresh_log(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Whether the reset or the agent's own start comes first, nothing is said over the fresh log."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        gate = model.hold(answer=Answer(text="never said"))
        key = await group.write("one")
        await gate.reached()
    gate.open()
    model.clear()
    model.hold(answer=Answer(text="never said either"))
    held = Held()
    async with (
        living(tmp_path, memory, model, through=held.over) as house,
        admitted(house) as group,
    ):
        asked = asyncio.ensure_future(reset(house, group.agent.agent_id))
        await held.reached.wait()
        held.go.set()

        name = await asked

        assert (await group.ended(key)).state == STOPPED
        assert [message.text for message in await memory.messages(log=name)] == [
            f"[Telegram] {SOURCE}:\n| one"
        ]
        assert await group.lines() == []


@pytest.mark.parametrize("agent", ["", "One", "nobody"])
async def test_only_a_groups_log_can_be_reset(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, agent: str
) -> None:
    model.say("noted")
    async with living(tmp_path, memory, model) as house:
        await house.say("remember this")

        with pytest.raises(RemoteError) as refused:
            await reset(house, agent)

        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.NOT_FOUND, "AGENT_UNKNOWN")
        assert await kept(memory) == []


async def test_a_memory_that_is_away_makes_it_fail_and_the_same_request_does_it_later(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    away = Away()
    model.say("noted")
    async with (
        living(tmp_path, memory, model, through=away.over) as house,
        admitted(house) as group,
    ):
        await group.ask("hello")
        away.is_away = True
        with pytest.raises(RemoteError) as failed:
            await reset(house, group.agent.agent_id)
        assert failed.value.reason == "NEIGHBOUR_AWAY"
        away.is_away = False

        name = await reset(house, group.agent.agent_id)

        assert await kept(memory) == [name]


async def test_killed_once_the_memory_has_exchanged_the_logs_the_same_request_exchanges_nothing_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What was said since is in the fresh log, and stays there."""
    away = Away()
    away.loses_answers = True
    async with (
        living(tmp_path, memory, model, through=away.over) as house,
        admitted(house) as group,
    ):
        await _learned(group, "before")
        with pytest.raises(RemoteError):
            await reset(house, group.agent.agent_id)
        await _learned(group, "since")
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        name = await reset(house, group.agent.agent_id)

        assert await kept(memory) == [name]
        assert await group.lines() == [f"work: [Telegram] {SOURCE}:\n| since"]


async def test_what_comes_while_the_log_is_exchanged_is_logged_in_the_fresh_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    held = Held()
    async with (
        living(tmp_path, memory, model, through=held.over) as house,
        admitted(house) as group,
    ):
        await _learned(group, "before")
        asked = asyncio.ensure_future(reset(house, group.agent.agent_id))
        await held.reached.wait()
        await group.write("meanwhile", wakes=False)
        held.go.set()
        name = await asked

        await house.logged(f"work: [Telegram] {SOURCE}:\n| meanwhile", of="Group1")
        assert [message.text for message in await memory.messages(log=name)] == [
            f"[Telegram] {SOURCE}:\n| before"
        ]


async def _learned(group: Group, text: str) -> None:
    await group.write(text, wakes=False)
    await group.house.logged(f"work: [Telegram] {SOURCE}:\n| {text}", of="Group1")
