"""Answers to proposals: each counts once, from whom it may come, and a later one says what the first did."""

import asyncio
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import (
    answer,
    answer_soon,
    command,
    listed,
    outcomes,
    proposed,
    states,
    until_state,
)
from tests.fakes.scripted_model import ScriptedModel, call

OPEN, APPROVED = event_pb2.PROPOSAL_STATE_OPEN, event_pb2.PROPOSAL_STATE_APPROVED
DONE, FAILED = event_pb2.PROPOSAL_STATE_DONE, event_pb2.PROPOSAL_STATE_FAILED
UNKNOWN, REFUSED = event_pb2.PROPOSAL_STATE_UNKNOWN, event_pb2.PROPOSAL_STATE_REFUSED
EXPIRED = event_pb2.PROPOSAL_STATE_EXPIRED


async def test_a_no_runs_nothing_and_is_the_end_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
        await proposed(house, model)

        said = await command(house, "/no 1")
        later = await answer(house, 1, yes=True)

        assert said == "Proposal 1 of One (whatsapp_send) was refused. It does not run."
        assert later.state == REFUSED
        assert states(house) == [OPEN, REFUSED]
        assert "the user said no" in outcomes(house)[0].text
        assert sending.asked == []


async def test_two_answers_at_once_are_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
        await proposed(house, model)

        answers = await asyncio.gather(*(answer(house, 1, yes=yes) for yes in (True, True, False, True)))

        assert len({one.state for one in answers}) == 1
        assert len(sending.done) <= 1
        assert len(states(house)) == len(set(states(house)))


async def test_an_answer_does_not_wait_for_a_long_run_and_a_second_one_says_that_it_runs(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock, sending = ManualClock(), whatsapp_send()
    sending.before = asyncio.Event()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=clock) as house:
        await proposed(house, model)
        first = asyncio.ensure_future(command(house, "/yes 1"))
        await sending.reached.wait()
        second = asyncio.ensure_future(command(house, "/yes 1"))
        async with asyncio.timeout(30):
            while not (first.done() and second.done()):
                clock.advance(3)
                await asyncio.sleep(0.01)
        sending.before.set()
        await until_state(house, DONE)

        assert first.result() == second.result()
        assert "has your yes and is being run" in first.result()
        assert len(sending.done) == 1


async def test_a_yes_that_comes_too_late_runs_nothing_even_before_the_timer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A machine that slept, or a clock that was set: the timer still sleeps."""
    clock, sending = ManualClock(), whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=clock) as house:
        await proposed(house, model)
        clock.step_wall_clock(timedelta(hours=24).total_seconds())

        said = await command(house, "/yes 1")

        assert said == "Proposal 1 of One (whatsapp_send) has expired. It does not run."
        assert sending.asked == []


async def test_only_the_terminal_and_the_owners_chat_may_answer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
        await proposed(house, model)
        for caller in ("whatsapp", "scheduler", "agent"):
            with pytest.raises(RemoteError) as refused:
                await answer(house, 1, yes=True, caller=caller)
            assert refused.value.code is grpc.StatusCode.PERMISSION_DENIED
            with pytest.raises(RemoteError):
                await house.stub(caller).RunCommand(
                    agent_service_pb2.RunCommandRequest(line="/yes 1"), timeout=5
                )
            await house.deliver("/yes 1", caller="whatsapp", source="whatsapp:1@s", wakes_root=False)
        assert sending.asked == []

        assert (await answer(house, 1, yes=True, caller="telegram")).state == DONE


async def test_an_answers_id_counts_once_and_for_that_answer_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=ManualClock()) as house:
        await proposed(house, model)
        first = await answer(house, 1, yes=False, request_id="same")
        by_command = await command(house, "/no 1", "same")

        assert first.state == REFUSED
        assert "was refused" in by_command
        with pytest.raises(RemoteError) as refused:
            await answer(house, 1, yes=True, request_id="same")
        assert refused.value.reason == "KEY_REUSED"
        for number in (0, -1, 2, 2**62):
            with pytest.raises(RemoteError) as refused:
                await answer(house, number, yes=True)
            assert refused.value.reason == "PROPOSAL_UNKNOWN"


async def test_commands_say_what_is_open_and_which_numbers_there_are(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=ManualClock()) as house:
        assert await command(house, "/proposals") == "Nothing awaits your yes."
        await proposed(house, model)

        assert (await command(house, "/proposals")).splitlines()[-1].startswith("Proposal 1 awaits your yes")
        assert (await command(house, "/yes")).startswith("Say which one: /yes and its number")
        assert (await command(house, "/no all")).startswith("Say which one")
        assert (await command(house, "/yes 9")).startswith("There is no proposal 9.")
        assert (await command(house, "/proposals x")).startswith("Say which one")
        await command(house, "/no #1")
        assert await command(house, "/proposals") == "Nothing awaits your yes."
        assert (await command(house, "/proposals 1")).startswith("One asks to run whatsapp_send:")


async def test_proposals_are_listed_in_pages_newest_first_and_by_state(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=ManualClock()) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(5)))
        await command(house, "/no 4")
        request = agent_service_pb2.ListProposalsRequest(page_size=2)
        pages = []
        while not pages or request.page_token:
            page = await house.stub().ListProposals(request, timeout=20)
            pages.append([one.number for one in page.proposals])
            request.page_token = page.next_page_token

        assert pages == [[5, 4], [3, 2], [1]]
        assert [one.number for one in await listed(house, state=OPEN)] == [5, 3, 2, 1]
        assert [one.number for one in await listed(house, state=REFUSED)] == [4]


async def test_a_stop_ends_what_runs_with_the_users_yes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        await proposed(house, model, call("shell", command="touch begun; sleep 600"))
        answer_soon(house)
        await until_state(house, APPROVED)
        async with asyncio.timeout(30):
            while not (tmp_path / "workspace" / "begun").exists():
                await asyncio.sleep(0.01)

        said = await command(house, "/stop")
        await until_state(house, FAILED)

        assert said == "Stopped: One."
        assert "The user has stopped it." in outcomes(house)[0].text
        assert not outcomes(house)[0].wakes, "what was stopped says nothing more"
