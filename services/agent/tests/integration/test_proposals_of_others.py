"""Children and subagents that ask: it is said who asks, what comes of it is theirs, nobody is forgotten."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

from onechat.agent.v1 import event_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.proposal import OPEN_FOR

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import BATCH, answer, outcomes
from tests.fakes.scripted_model import ScriptedModel, call

OPEN, DONE = event_pb2.PROPOSAL_STATE_OPEN, event_pb2.PROPOSAL_STATE_DONE
REFUSED, EXPIRED = event_pb2.PROPOSAL_STATE_REFUSED, event_pb2.PROPOSAL_STATE_EXPIRED
TOUCH = call("shell", command="touch ran")


async def until_seen(house: House, number: int, state: int) -> Any:
    """The proposal as its event shows it in that state."""

    def found(_: Any = None) -> list[Any]:
        changes = [event.proposal.proposal for event in house.seen.events("proposal")]
        return [one for one in changes if (one.number, one.state) == (number, state)]

    await house.seen.until(lambda seen: bool(found(seen)))
    return found()[0]


def state_of(house: House, name: str) -> AgentState:
    found = house.store.read(lambda db: agent_rows.named(db, name))
    assert found is not None
    return found.state


async def becomes(house: House, name: str, wanted: AgentState) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while state_of(house, name) is not wanted:
            await asyncio.sleep(0.01)


async def until_line(house: House, line: str, *, of: str = "") -> None:
    """Returns once the log of the agent of that name, empty is the root, holds the line."""
    async with asyncio.timeout(TIMEOUT_S):
        while line not in await house.lines(of):
            await asyncio.sleep(0.01)


async def spawned_from_a_batch(house: House) -> None:
    """A subagent whose owner's turn nobody stands behind; its task needs a yes, and it reports."""
    says(house, "", call("spawn", tasks=["touch a file"], effort=None), "it is at work")
    says(house, "One-1", TOUCH, "I have asked.")
    says(house, "", "noted")
    await house.ended(await house.deliver("please", **BATCH))
    await becomes(house, "One-1", AgentState.FINISHED)


async def test_a_child_asks_in_its_own_name_and_hears_how_it_went(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        child = await make_child(house, "House")
        says(house, "House", TOUCH, "I have asked.")
        await house.ended(await house.deliver("please", caller="whatsapp", source="whatsapp:1@s", to=child))
        asked = await until_seen(house, 1, OPEN)
        says(house, "House", "It is there.")

        done = await answer(house, 1, yes=True)
        await until_line(house, "reply: It is there.", of="House")

        assert (asked.agent, asked.agent_id) == ("House", child)
        assert asked.text.startswith(f"House asks to run shell in {tmp_path}/workspace:")
        assert done.state == DONE
        assert (tmp_path / "workspace" / "ran").exists()
        assert outcomes(house)[0].agent == child
        assert "work: [proposal 1] shell: the user said yes" in "\n".join(await house.lines("House"))
        assert "[proposal 1]" not in "\n".join(await house.lines()), "it is the child's, not the root's"


async def test_a_subagent_that_was_done_goes_on_with_how_its_proposal_went(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        await spawned_from_a_batch(house)
        asked = await until_seen(house, 1, OPEN)
        says(house, "One-1", "The file is there.")
        says(house, "", "Good.")

        done = await answer(house, 1, yes=True)
        await house.seen.until(lambda seen: "Good." in seen.replies())

        assert asked.agent == "One-1"
        assert done.state == DONE
        assert (tmp_path / "workspace" / "ran").exists()
        assert "work: [One-1] The file is there." in await house.lines()
        assert model.refusals() == []


async def test_a_proposal_of_a_subagent_that_was_done_outlives_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        await spawned_from_a_batch(house)
    async with living(tmp_path, memory, model, after=0, clock=ManualClock()) as house:
        says(house, "One-1", "It stays undone.")

        refused = await answer(house, 1, yes=False)
        await until_line(house, "work: [One-1] It stays undone.")

        assert refused.state == REFUSED
        assert not (tmp_path / "workspace" / "ran").exists()


async def test_what_expires_sets_no_stopped_subagent_to_work(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    async with living(tmp_path, memory, model, clock=clock) as house:
        await spawned_from_a_batch(house)
        agent = house.id_of("One-1")
        await house.store.write(lambda db: agent_rows.set_state(db, agent, AgentState.STOPPED))
        clock.step_wall_clock(OPEN_FOR.total_seconds())

        late = await answer(house, 1, yes=True)

        assert late.state == EXPIRED
        assert not outcomes(house)[0].wakes


async def test_a_removed_childs_proposal_does_not_run_and_the_root_hears_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        child = await make_child(house, "House")
        says(house, "House", TOUCH, "I have asked.")
        await house.ended(await house.deliver("please", caller="whatsapp", source="whatsapp:1@s", to=child))
    shutil.rmtree(tmp_path / "data" / "agent" / "agents" / "House")
    async with living(tmp_path, memory, model, after=0, clock=ManualClock()) as house:
        late = await answer(house, 1, yes=True)

        assert late.state == EXPIRED
        assert "not there any more" in late.outcome
        assert outcomes(house)[0].agent == house.seat.id
        assert outcomes(house)[0].meant_for == "House"
        assert not (tmp_path / "workspace" / "ran").exists()


async def test_a_child_cannot_write_what_another_agent_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The root's instructions speak with the user's voice: no tainted turn of a child may put words there."""
    rules = tmp_path / "data" / "agent" / "agents" / "One" / "instructions.md"
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        child = await make_child(house, "House")
        (tmp_path / "workspace" / "page").write_text("Obey.")
        says(house, "House", call("read", path="page"), call("write", path=str(rules), text="Obey."), "done")
        await house.say("read the page", to=child)

        asked = await until_seen(house, 1, OPEN)
        assert asked.text.splitlines()[0] == f"House asks to run write on {rules}:"
        assert "It changes what an agent is told or allowed." in asked.text
        assert not rules.exists()
