"""Subagents over a real memory: made, at work side by side, told more, gone on with after a restart."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2, usage_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.chat import AgentId, NewMessage
from onechat_agent.prompts.subagent import opening_note

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import always, holds, make_child, of, says, user_texts
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

NOTE = opening_note("One-1", "One")


def spawn(*tasks: str, effort: str | None = None):
    return call("spawn", tasks=list(tasks), effort=effort)


def state(house: House, name: str) -> AgentState:
    found = house.store.read(lambda db: agent_rows.named(db, name))
    assert found is not None
    return found.state


async def becomes(house: House, name: str, wanted: AgentState) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while state(house, name) is not wanted:
            await asyncio.sleep(0.01)


def requests_of(house: House, name: str) -> list[dict]:
    """The bodies of the turns' requests of that agent, oldest first."""
    return [record.body for record in house.model.requests(Purpose.TURN) if of(house, name)(record.body)]


async def reported(house: House, *replies: str) -> None:
    await house.seen.until(lambda seen: all(reply in seen.replies() for reply in replies))


async def test_each_task_gets_a_subagent_that_reports_to_its_owner(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count the files", "count the lines"), "both are at work")
        gates = [holds(house, name, f"{name} is done") for name in ("One-1", "One-2")]
        await house.say("use two subagents")
        for gate in gates:
            await gate.reached()
        says(house, "", "first noted", "second noted")
        gates[0].open()
        await reported(house, "first noted")
        gates[1].open()
        await reported(house, "second noted")

        assert await house.lines("One-1") == [
            f"note: {NOTE}",
            "user: count the files",
            "reply: One-1 is done",
        ]
        assert (await house.lines())[2:] == [
            "echo: At work: One-1, One-2. Each reports by a message that begins with its name in brackets; "
            "do not wait for it.",
            "reply: both are at work",
            "work: [One-1] One-1 is done",
            "reply: first noted",
            "work: [One-2] One-2 is done",
            "reply: second noted",
        ]
        await becomes(house, "One-1", AgentState.FINISHED)
        await becomes(house, "One-2", AgentState.FINISHED)
        assert model.refusals() == []


async def test_a_subagent_sees_its_owners_view_the_state_its_own_log_and_its_task(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", "hello", spawn("count the files"), "at work", "noted")
        says(house, "One-1", "42")
        await house.say("good morning")
        await house.say("use a subagent")
        await reported(house, "noted")

        body = requests_of(house, "One-1")[0]
        texts = user_texts(body)
        assert texts[0].startswith(
            "<chat>\n0+1|user: good morning\n1+1|reply: hello\n2+1|user: use a subagent"
        )
        assert texts[1].startswith("<state>\nnow: ")
        assert texts[2] == f"<log>\n0|note: {NOTE}\n</log>"
        assert texts[3:] == ["user: count the files"]
        assert [tool["name"] for tool in body["tools"]] == ["zoom", "date", "shell", "read", "write", "edit"]


async def test_its_zoom_without_a_name_reads_its_owners_memory(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The numbers that its view shows are of its owner's log."""
    async with living(tmp_path, memory, model) as house:
        says(house, "", "hello", spawn("what was said first?"), "at work", "noted")
        says(house, "One-1", call("zoom", id=0, n=1, name=None, page=None), "good morning")
        await house.say("good morning")
        await house.say("use a subagent")
        await reported(house, "noted")

        assert (await house.lines("One-1"))[3] == "echo: zoomed 0+1"
        outputs = [item["output"] for item in requests_of(house, "One-1")[-1]["input"] if "output" in item]
        assert outputs == ["0+1|user: good morning"]


async def test_it_thinks_as_hard_as_it_was_asked_to_and_ends_with_its_owners_instructions(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    instructions = tmp_path / "data/agent/agents/One/instructions.md"
    async with living(tmp_path, memory, model, settings={"effort": "low"}) as house:
        instructions.write_text("Always answer in verse.")
        says(house, "", spawn("think", effort="high"), spawn("think less"), "at work", "noted", "noted too")
        always(house, "One-1", "done")
        always(house, "One-2", "done")
        await house.say("use two subagents")
        await reported(house, "noted")
        await becomes(house, "One-1", AgentState.FINISHED)
        await becomes(house, "One-2", AgentState.FINISHED)

        first, second = (requests_of(house, name)[0] for name in ("One-1", "One-2"))
        assert (first["reasoning"]["effort"], second["reasoning"]["effort"]) == ("high", "low")
        assert first["instructions"].endswith("# Instructions from the user\n\nAlways answer in verse.")
        assert "instructions at the end of this prompt" in first["instructions"]


async def test_what_is_told_while_it_works_joins_between_two_calls(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count the files"), "at work")
        gate = holds(house, "One-1", call("date", id=0))
        says(house, "One-1", "42 files, 17 folders")
        await house.say("use a subagent")
        await gate.reached()
        says(house, "", call("tell", name="One-1", message="the folders too"), "told", "noted")
        await house.say("the folders too, please")
        gate.open()
        await reported(house, "noted")

        assert [line.split(":")[0] for line in await house.lines("One-1")] == [
            "note",
            "user",
            "tool",
            "echo",
            "user",
            "reply",
        ]
        assert user_texts(requests_of(house, "One-1")[-1])[-1] == "user: the folders too"


async def test_one_that_is_done_goes_on_from_its_chat_when_it_is_told_more(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count the files"), "at work", "noted")
        says(house, "One-1", call("shell", command="echo 42"), "42 files")
        await house.say("use a subagent")
        await reported(house, "noted")
        await becomes(house, "One-1", AgentState.FINISHED)
        says(house, "", call("tell", name="one-1", message="and the folders?"), "asked", "noted again")
        says(house, "One-1", "17 folders")
        await house.say("and the folders?")
        await reported(house, "noted again")

        texts = user_texts(requests_of(house, "One-1")[-1])
        assert texts[2].splitlines()[2:] == [
            "1|user: count the files",
            '2|tool: shell {"command": "echo 42"}',
            "3|echo: 42",
            "4|reply: 42 files",
            "</log>",
        ]
        assert texts[3:] == ["user: and the folders?"]
        assert (await house.lines())[-2] == "work: [One-1] 17 folders"


async def test_only_so_many_work_at_once_and_the_answer_says_who_waits(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, settings={"subagents": 2}) as house:
        says(house, "", spawn("a", "b", "c", "d"), "at work")
        gates = {name: holds(house, name, "done") for name in ("One-1", "One-2", "One-3", "One-4")}
        await house.say("use four subagents")
        await gates["One-1"].reached()
        await gates["One-2"].reached()
        listed = await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)
        always(house, "", "noted")

        assert {agent.name: agent.doing for agent in listed.agents if agent.name != "One"} == {
            "One-1": "thinking",
            "One-2": "thinking",
            "One-3": "waiting for a free place",
            "One-4": "waiting for a free place",
        }
        assert (await house.lines())[2].startswith(
            "echo: At work: One-1, One-2. In line: One-3, One-4, which wait until others are done."
        )
        assert state(house, "One-3") is AgentState.WAITING
        gates["One-2"].open()
        await gates["One-3"].reached()
        assert not gates["One-4"].is_reached
        for gate in gates.values():
            gate.open()
        await becomes(house, "One-4", AgentState.FINISHED)


async def test_those_that_were_not_done_go_on_after_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """One was at work, one waited in line, and one was done."""
    async with living(tmp_path, memory, model, settings={"subagents": 1}) as house:
        says(house, "", spawn("a", "b", "c"), "at work", "noted a")
        says(house, "One-1", "a is done")
        gate = holds(house, "One-2", "never sent")
        await house.say("use three subagents")
        await gate.reached()
        await reported(house, "noted a")
    model.clear()

    async with living(tmp_path, memory, model, settings={"subagents": 1}, after=0) as house:
        always(house, "", "noted")
        says(house, "One-2", "b is done")
        says(house, "One-3", "c is done")
        await becomes(house, "One-3", AgentState.FINISHED)

        assert state(house, "One-2") is AgentState.FINISHED
        assert [(await house.lines(name))[1:] for name in ("One-1", "One-2", "One-3")] == [
            ["user: a", "reply: a is done"],
            ["user: b", "reply: b is done"],
            ["user: c", "reply: c is done"],
        ]
        first, second = requests_of(house, "One-2")
        assert first["input"] == second["input"], "the same bytes after the restart"


class LosesResults(MemoryClient):
    """A way to a memory on which no result of a root's first call arrives."""

    def __init__(self, inner: MemoryClient) -> None:
        self.__dict__.update(inner.__dict__)

    async def append(self, log: AgentId, messages: Sequence[NewMessage]) -> int:
        if any(message.text.startswith("At work: One-1") for message in messages):
            await asyncio.Event().wait()
        return await super().append(log, messages)


async def test_a_spawn_that_a_restart_has_interrupted_makes_its_subagents_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, through=LosesResults) as house:
        says(house, "", spawn("a", "b"))
        gates = [holds(house, name, "never sent") for name in ("One-1", "One-2")]
        await house.deliver("use two subagents")
        for gate in gates:
            await gate.reached()
    model.clear()

    async with living(tmp_path, memory, model, after=0) as house:
        says(house, "", "they are at work")
        for name in ("", "One-1", "One-2"):
            always(house, name, "done")
        await reported(house, "they are at work")
        await becomes(house, "One-1", AgentState.FINISHED)
        await becomes(house, "One-2", AgentState.FINISHED)

        names = house.store.read(lambda db: [one.name for one in agent_rows.of_parent(db, house.seat.id)])
        assert names == ["One-1", "One-2"]
        assert (await house.lines())[2].startswith("echo: At work: One-1, One-2.")


async def test_a_failure_of_one_is_reported_and_ends_no_other(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("something odd", "something plain"), "at work")
        always(house, "", "noted")
        says(house, "One-1", Answer(refusal="I cannot help with that."))
        gate = holds(house, "One-2", "plain and done")
        await house.say("use two subagents")
        await gate.reached()
        await becomes(house, "One-1", AgentState.FAILED)
        gate.open()
        await becomes(house, "One-2", AgentState.FINISHED)
        async with asyncio.timeout(TIMEOUT_S):
            while len(await house.lines()) < 8:
                await asyncio.sleep(0.01)

        reports = [line for line in await house.lines() if line.startswith("work:")]
        assert "I cannot help with that." in reports[0]
        assert reports[0].startswith("work: [One-1]")
        assert reports[1] == "work: [One-2] plain and done"


async def test_a_childs_subagent_reports_to_the_child_and_reads_its_view(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="have the boiler looked at"), "told", "noted")
        says(house, "House", spawn("look at the boiler"), "", "The boiler is fine.")
        says(house, "House-1", "It runs.")
        await house.say("look after the boiler")
        await reported(house, "noted")

        assert "work: [House-1] It runs." in await house.lines("House")
        assert user_texts(requests_of(house, "House-1")[0])[0].startswith(
            "<chat>\n0+1|user: have the boiler looked at"
        )


async def test_its_calls_are_recorded_apart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        says(house, "", spawn("count"), "at work", "noted")
        says(house, "One-1", "42")
        await house.say("use a subagent")
        await reported(house, "noted")
        usage = (await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)).usage

        purposes = {(one.agent, one.purpose): one.calls for one in usage}
        assert purposes[("One-1", usage_pb2.USAGE_PURPOSE_SUBAGENT)] == 1
        assert purposes[("One", usage_pb2.USAGE_PURPOSE_TURN)] == 3
