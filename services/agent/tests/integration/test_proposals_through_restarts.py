"""A proposal that a restart meets at any of its moments: asked once, run once, and nobody left in doubt."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import event_pb2
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_TOOL
from onechat_agent.adapters import proposal_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.chat import AgentId, NewMessage
from onechat_agent.domain.proposal import ProposalNumber, ProposalState

from tests.fakes.agent_house import living
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer, new_message
from tests.fakes.proposal_talk import BATCH, answer, answer_soon, outcomes, proposed, states, until_state
from tests.fakes.scripted_model import Answer, ScriptedModel, call

OPEN, APPROVED = event_pb2.PROPOSAL_STATE_OPEN, event_pb2.PROPOSAL_STATE_APPROVED
DONE, UNKNOWN = event_pb2.PROPOSAL_STATE_DONE, event_pb2.PROPOSAL_STATE_UNKNOWN


class Deaf(MemoryClient):
    """A way to a memory that takes no result of a call: what a kill before that append leaves."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner
        self.images = inner.images
        self.reached = asyncio.Event()

    def __getattribute__(self, name: str) -> Any:
        own = ("append", "_inner", "images", "reached")
        return super().__getattribute__(name) if name in own else getattr(self._inner, name)

    async def append(self, log: AgentId, messages: Sequence[NewMessage]) -> Any:
        if any(message.key.endswith(":r") for message in messages):
            self.reached.set()
            await asyncio.Event().wait()
        return await self._inner.append(log, messages)


async def cut_off_before_it_is_kept(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, said: str, **fields: Any
) -> str:
    """A turn whose first step stands in the log with one call, and nothing more; the delivery's key."""
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()]) as house:
        key = await house.deliver("do it", **fields)
        await gate.reached()
        log, turn = house.seat.id, house.seen.events("turn_change")[0].turn
    step = new_message(f"t:{turn}:1:1", said, kind=MESSAGE_KIND_TOOL, turn=turn, step=1, call="1")
    await memory.append(step, log=log)
    model.clear()
    return key


@pytest.mark.parametrize(
    ("tool", "arguments"), [("shell", {"command": "touch ran"}), ("whatsapp_send", send())]
)
async def test_a_call_that_was_cut_off_before_it_was_kept_is_proposed_after_the_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, tool: str, arguments: dict[str, Any]
) -> None:
    """Its step is in the log and is not asked for again; and it cannot have run, so it is not "unknown"."""
    sending = whatsapp_send()
    said = f"{tool} {json.dumps(arguments)}"
    key = await cut_off_before_it_is_kept(tmp_path, memory, model, said, **BATCH)
    model.say("I have asked.")

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await house.ended(key)

        assert states(house) == [OPEN]
        assert any("It is now proposal 1" in line for line in await house.lines())
        assert sending.asked == []
        assert not (tmp_path / "workspace" / "ran").exists()


async def test_a_call_that_has_proposed_does_so_once_though_its_result_was_never_logged(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Also where the settings say by now that it may run: the user may have said yes to it already."""
    sending, deaf = whatsapp_send(), []

    def through(client: MemoryClient) -> MemoryClient:
        deaf.append(Deaf(client))
        return deaf[0]

    model.call(call("whatsapp_send", **send()))
    always = {"confirm": "always"}
    async with living(
        tmp_path, memory, model, far_tools=[sending], through=through, settings=always
    ) as house:
        key = await house.deliver("send it")
        await deaf[0].reached.wait()
        await until_state(house, OPEN)
        await answer(house, yes=True)
    model.say("I have asked.")

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await house.ended(key)

        assert states(house) == [OPEN, APPROVED, DONE]
        assert sending.done == {"p:1": send()}


async def test_a_send_that_was_under_way_is_made_again_under_its_key_and_not_proposed_once_more(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What ran beside it has tainted the turn meanwhile; a proposal would send it a second time."""
    sending = whatsapp_send()
    sending.after = asyncio.Event()
    model.call(call("shell", command="echo outside"), call("whatsapp_send", **send()))
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        key = await house.deliver("send it")
        await sending.reached.wait()
        await house.memory_holds(4)  # the message, both calls, what the shell gave
    sending.after = None
    model.say("It is out.")

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await house.ended(key)

        assert house.seen.events("proposal") == []
        assert len(sending.done) == 1
        assert len(sending.asked) == 2


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_approved_send_goes_on_at_the_start_and_is_done_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, moment: str
) -> None:
    """Cut off before the other service did it, and before it answered; a second yes changes nothing."""
    sending = whatsapp_send()
    setattr(sending, moment, asyncio.Event())
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model, call("whatsapp_send", **send()))
        answer_soon(house)
        await sending.reached.wait()
        answer_soon(house)
    sending.before = sending.after = None

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        again = await answer(house, yes=True)
        await until_state(house, DONE)

        assert again.state in (APPROVED, DONE)
        assert sending.done == {"p:1": send()}
        assert states(house) == [OPEN, APPROVED, DONE]
        assert len(outcomes(house)) == 1


async def test_an_approved_shell_that_was_cut_off_is_said_to_be_unknown_and_never_run_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    ran = tmp_path / "workspace" / "ran"
    async with living(tmp_path, memory, model) as house:
        await proposed(house, model, call("shell", command="echo once >> ran; sleep 600"))
        answer_soon(house)
        async with asyncio.timeout(30):
            while not ran.exists():
                await asyncio.sleep(0.01)

    async with living(tmp_path, memory, model, after=0) as house:
        await until_state(house, UNKNOWN)
        again = await answer(house, yes=True)

        assert again.state == UNKNOWN
        assert ran.read_text() == "once\n"
        assert "not known whether it ran" in outcomes(house)[0].text


async def test_a_yes_that_was_on_disk_before_the_run_began_is_not_lost(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model, call("whatsapp_send", **send()), call("write", path="a", text="b"))
        for number in (1, 2):
            await house.store.write(
                lambda db, number=number: proposal_rows.set_state(
                    db, ProposalNumber(number), ProposalState.APPROVED
                )
            )

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await until_state(house, DONE, 1)
        await until_state(house, UNKNOWN, 2)

        assert sending.done == {"p:1": send()}
        assert len(outcomes(house, 1)) == len(outcomes(house, 2)) == 1


async def test_an_outcome_that_is_on_disk_is_told_once_through_restarts(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model, call("whatsapp_send", **send()))
        first = await answer(house, yes=True)
    for _ in range(2):
        async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
            assert (await answer(house, yes=True)) == first
            await until_state(house, DONE)
            assert states(house) == [OPEN, APPROVED, DONE]
            assert len(outcomes(house)) == 1
    assert len(sending.asked) == 1


async def test_a_path_that_leads_elsewhere_by_now_changes_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What was shown was another file: an exchanged link must not turn the yes against the user."""
    workspace = tmp_path / "workspace"
    async with living(tmp_path, memory, model) as house:
        await proposed(house, model, call("write", path="notes/today.md", text="fine"))
        (workspace / "secret").mkdir()
        (workspace / "notes").symlink_to(workspace / "secret")

        said = await answer(house, yes=True)

        assert said.state == event_pb2.PROPOSAL_STATE_FAILED
        assert "leads to another file" in said.outcome
        assert list((workspace / "secret").iterdir()) == []
