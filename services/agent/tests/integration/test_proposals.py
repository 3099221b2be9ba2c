"""What awaits the user's yes: shown as it would run, answered once, run once, its outcome told."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.adapters import delivery_rows
from onechat_agent.tools.tool import ToolResult
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, ScriptedModel, call

OPEN, APPROVED = event_pb2.PROPOSAL_STATE_OPEN, event_pb2.PROPOSAL_STATE_APPROVED
DONE, FAILED = event_pb2.PROPOSAL_STATE_DONE, event_pb2.PROPOSAL_STATE_FAILED
UNKNOWN, REFUSED = event_pb2.PROPOSAL_STATE_UNKNOWN, event_pb2.PROPOSAL_STATE_REFUSED
EXPIRED = event_pb2.PROPOSAL_STATE_EXPIRED
BATCH: dict[str, Any] = {
    "caller": "whatsapp",
    "source": "whatsapp:15550002222@s.whatsapp.net",
    "wakes_root": True,
}


async def command(house: House, line: str, request_id: str = "") -> str:
    request = agent_service_pb2.RunCommandRequest(line=line, request_id=request_id)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


async def answer(house: House, number: int, *, yes: bool, caller: str = "operator", **more: Any) -> Any:
    request = agent_service_pb2.AnswerProposalRequest(number=number, yes=yes, **more)
    return (await house.stub(caller).AnswerProposal(request, timeout=20)).proposal


async def listed(house: House, **fields: Any) -> list[Any]:
    request = agent_service_pb2.ListProposalsRequest(**fields)
    return list((await house.stub().ListProposals(request, timeout=20)).proposals)


def states(house: House, number: int = 1) -> list[int]:
    """The states of a proposal as clients have seen them, in order."""
    changes = [event.proposal.proposal for event in house.seen.events("proposal")]
    return [change.state for change in changes if change.number == number]


async def until_state(house: House, state: int, number: int = 1) -> None:
    await house.seen.until(lambda _: state in states(house, number))


async def proposed(house: House, model: ScriptedModel, *calls: Any) -> None:
    """A batch sets the root to work, and the model makes these calls."""
    model.say(Answer(calls=calls or (call("whatsapp_send", **send()),)), "I have asked.")
    key = await house.deliver("send it", **BATCH)
    await house.ended(key)


def outcome(house: House, number: int = 1) -> Any:
    """The message on how a proposal went, as it is queued for the agent; None before."""
    queued = house.store.read(
        lambda db: delivery_rows.newest(db, agent="", state=None, key="", before=None, limit=1_000)
    )
    return next((one for one in queued if one.source == f"proposal:{number}"), None)


async def test_what_is_held_back_is_one_proposal_that_shows_what_would_run(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model)

        (event,) = house.seen.events("proposal")
        shown = event.proposal.proposal
        assert (shown.number, shown.agent, shown.tool, shown.state) == (1, "One", "whatsapp_send", OPEN)
        assert json.loads(shown.arguments) == send()
        assert shown.text.splitlines() == [
            "One asks to run whatsapp_send:",
            'id: "15550002222"',
            'chat: "15550002222@s.whatsapp.net"',
            'text: "hi"',
            "image: null",
            "You are asked because it does not come from your own words.",
        ]
        assert event.audience == "user"
        assert await listed(house) == [shown]
        echo = next(line for line in await house.lines() if line.startswith("echo: "))
        assert "was not run" in echo
        assert "proposal 1" in echo
        ended = [one.activity for one in house.seen.events("activity") if one.activity.ended]
        assert ended[0].outcome == "needs your yes: proposal 1"
        assert sending.asked == []


async def test_a_yes_runs_exactly_that_once_and_tells_the_agent_how_it_went(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model)
        requests = len(model.requests())
        model.say("It is out.")

        said = await command(house, "/yes 1")
        again = await command(house, "/yes 1")
        after_no = await command(house, "/no 1")
        await house.seen.until(lambda seen: "It is out." in seen.replies())

        assert sending.done == {"p:1": send()}
        assert len(sending.asked) == 1
        assert sending.asked[0].backed
        assert (
            said == again == after_no == ("Proposal 1 of One (whatsapp_send) was run with your yes.\n| sent")
        )
        assert states(house) == [OPEN, APPROVED, DONE]
        told = outcome(house)
        assert (told.kind, told.wakes, told.backed, told.agent) == ("work", True, False, house.seat.id)
        assert (await house.lines())[-2] == (
            "work: [proposal 1] whatsapp_send: the user said yes, and it has run. Its result:\n| sent"
        )
        assert len(model.requests()) - requests == 1, "the outcome's own turn; the run itself asks no model"


async def test_a_no_runs_nothing_and_is_the_end_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model)

        said = await command(house, "/no 1")
        later = await answer(house, 1, yes=True)

        assert said == "Proposal 1 of One (whatsapp_send) was refused. It does not run."
        assert later.state == REFUSED
        assert states(house) == [OPEN, REFUSED]
        assert "the user said no" in outcome(house).text
        assert sending.asked == []


async def test_two_answers_at_once_are_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
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
        async with asyncio.timeout(10):
            while not (first.done() and second.done()):
                clock.advance(3)
                await asyncio.sleep(0.01)
        sending.before.set()
        await until_state(house, DONE)

        assert first.result() == second.result()
        assert "has your yes and is being run" in first.result()
        assert len(sending.done) == 1


async def test_what_nobody_answers_expires_by_a_timer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock, sending = ManualClock(), whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=clock) as house:
        await proposed(house, model)
        async with asyncio.timeout(10):
            while EXPIRED not in states(house):
                clock.advance(3600)
                await asyncio.sleep(0.01)
        late = await answer(house, 1, yes=True)

        assert late.state == EXPIRED
        assert (outcome(house).wakes, outcome(house).hops) == (True, 1)
        assert sending.asked == []


async def test_what_expired_while_nothing_ran_is_found_at_the_start(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=clock) as house:
        await proposed(house, model)
    clock.advance(25 * 3600)

    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=clock, after=0) as house:
        await until_state(house, EXPIRED)

        assert outcome(house) is not None


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


async def test_a_fault_of_ours_at_an_end_costs_that_proposal_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Neither the service nor what others have asked for; the next start goes on with it."""
    sending = whatsapp_send()
    spoiled = "CREATE TRIGGER spoiled BEFORE INSERT ON deliveries WHEN new.source = 'proposal:1' BEGIN"
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(2)))
        await house.store.write(lambda db: db.execute(f"{spoiled} SELECT raise(ABORT, 'spoiled'); END"))
        first = asyncio.ensure_future(answer(house, 1, yes=True))
        second = await answer(house, 2, yes=True)

        assert (await first).state == APPROVED
        assert second.state == DONE
        assert len(sending.done) == 2
        await house.store.write(lambda db: db.execute("DROP TRIGGER spoiled"))

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await until_state(house, DONE)

        assert len(sending.done) == 2
        assert outcome(house) is not None


async def test_only_the_terminal_and_the_owners_chat_may_answer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
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
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()]) as house:
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
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()]) as house:
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
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()]) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(5)))
        await command(house, "/no 4")
        request = agent_service_pb2.ListProposalsRequest(page_size=2)
        pages = []
        while not pages or request.page_token:
            page = await house.stub().ListProposals(request, timeout=5)
            pages.append([one.number for one in page.proposals])
            request.page_token = page.next_page_token

        assert pages == [[5, 4], [3, 2], [1]]
        assert [one.number for one in await listed(house, state=OPEN)] == [5, 3, 2, 1]
        assert [one.number for one in await listed(house, state=REFUSED)] == [4]


async def test_the_same_act_twice_in_one_turn_is_asked_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A model that will not take the answer would else ask the user again and again."""
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()]) as house:
        model.say(*(Answer(calls=(call("whatsapp_send", **send()),)) for _ in range(9)))
        await house.ended(await house.deliver("send it", **BATCH))

        assert len(await listed(house)) == 1
        assert "same step with the same result" in house.seen.replies()[-1]


async def test_a_long_text_says_what_is_missing_and_a_command_shows_all_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        script = "echo one\n" * 400 + "rm -rf \u202e/\n" + "echo two\n" * 400
        await proposed(house, model, call("write", path="run.sh", text=script))

        (shown,) = await listed(house)
        whole = await command(house, "/proposals 1")
        assert "Not all of it is shown. /proposals 1 shows the whole." in shown.text
        assert "characters are not shown here" in shown.text
        assert "rm -rf" not in shown.text
        assert whole.count("| echo") == 800
        assert "| rm -rf \u27e8U+202E\u27e9/" in whole
        assert shown.text.splitlines()[0] == f"One asks to run write on {tmp_path}/workspace/run.sh:"


@pytest.mark.parametrize("outside", ["", '["shell"]'])
async def test_agent_toml_can_allow_an_agents_unbacked_turns_the_shell(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, outside: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        assert house
    settings = tmp_path / "data" / "agent" / "agents" / "One" / "agent.toml"
    if outside:
        text = settings.read_text()
        settings.write_text(text.replace("#outside = []", f"outside = {outside}"))
    async with living(tmp_path, memory, model) as house:
        await proposed(house, model, call("shell", command="echo ran > ran.txt"))

        assert (tmp_path / "workspace" / "ran.txt").exists() == bool(outside)
        assert len(await listed(house)) == (0 if outside else 1)


async def test_a_stop_ends_what_runs_with_the_users_yes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await proposed(house, model, call("shell", command="touch begun; sleep 600"))
        await command_without_waiting(house, "/yes 1")
        async with asyncio.timeout(10):
            while not (tmp_path / "workspace" / "begun").exists():
                await asyncio.sleep(0.01)

        said = await command(house, "/stop")
        await until_state(house, FAILED)

        assert said == "Stopped: One."
        assert "The user has stopped it." in outcome(house).text
        assert not outcome(house).wakes, "what was stopped says nothing more"


async def command_without_waiting(house: House, line: str) -> None:
    """The answer waits a little for the run."""
    task = asyncio.ensure_future(command(house, line))
    await until_state(house, APPROVED)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


async def test_a_tool_that_failed_or_does_not_know_says_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(3)))
        sending.gives = ToolResult(text="no such chat", failed=True)
        first = await answer(house, 1, yes=True)
        sending.gives = ToolResult(text="the network went", failed=True, outcome_known=False)
        second = await answer(house, 2, yes=True)
        sending.gives = RuntimeError("a fault of the tool's own")
        third = await answer(house, 3, yes=True)

        assert [one.state for one in (first, second, third)] == [FAILED, UNKNOWN, UNKNOWN]
        assert first.outcome == "| no such chat"
        assert "not known whether it ran" in outcome(house, 2).text
