"""What awaits the user's yes: shown as it would run, run once as it was shown, its outcome told."""

import asyncio
import json
from pathlib import Path

import pytest
from onechat.agent.v1 import event_pb2
from onechat_agent.tools.tool import ToolResult

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import (
    BATCH,
    answer,
    command,
    listed,
    outcomes,
    proposed,
    states,
    until_state,
)
from tests.fakes.scripted_model import Answer, ScriptedModel, call

OPEN, APPROVED = event_pb2.PROPOSAL_STATE_OPEN, event_pb2.PROPOSAL_STATE_APPROVED
DONE, FAILED = event_pb2.PROPOSAL_STATE_DONE, event_pb2.PROPOSAL_STATE_FAILED
UNKNOWN, REFUSED = event_pb2.PROPOSAL_STATE_UNKNOWN, event_pb2.PROPOSAL_STATE_REFUSED
EXPIRED = event_pb2.PROPOSAL_STATE_EXPIRED


async def test_what_is_held_back_is_one_proposal_that_shows_what_would_run(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
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
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
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
        told = outcomes(house)[0]
        assert (told.kind, told.wakes, told.backed, told.agent) == ("work", True, False, house.seat.id)
        assert (await house.lines())[-2] == (
            "work: [proposal 1] whatsapp_send: the user said yes, and it has run. Its result:\n| sent"
        )
        assert len(model.requests()) - requests == 1, "the outcome's own turn; the run itself asks no model"


async def test_what_nobody_answers_expires_by_a_timer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock, sending = ManualClock(), whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=clock) as house:
        await proposed(house, model)
        async with asyncio.timeout(30):
            while EXPIRED not in states(house):
                clock.advance(3600)
                await asyncio.sleep(0.01)
        late = await answer(house, 1, yes=True)

        assert late.state == EXPIRED
        assert (outcomes(house)[0].wakes, outcomes(house)[0].hops) == (True, 1)
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

        assert len(outcomes(house)) == 1


async def test_a_fault_of_ours_at_an_end_costs_that_proposal_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Neither the service nor what others have asked for; the next start goes on with it."""
    clock, sending = ManualClock(), whatsapp_send()
    spoiled = "CREATE TRIGGER spoiled BEFORE INSERT ON deliveries WHEN new.source = 'proposal:1' BEGIN"
    async with living(tmp_path, memory, model, far_tools=[sending], clock=clock) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(2)))
        await house.store.write(lambda db: db.execute(f"{spoiled} SELECT raise(ABORT, 'spoiled'); END"))
        first = asyncio.ensure_future(answer(house, 1, yes=True))
        second = await answer(house, 2, yes=True)

        async with asyncio.timeout(30):
            while not first.done():
                clock.advance(3)  # an answer does not wait for ever
                await asyncio.sleep(0.01)
        assert (await first).state == APPROVED
        assert second.state == DONE
        assert len(sending.done) == 2
        await house.store.write(lambda db: db.execute("DROP TRIGGER spoiled"))

    async with living(tmp_path, memory, model, far_tools=[sending], after=0, clock=ManualClock()) as house:
        await until_state(house, DONE)

        assert len(sending.done) == 2
        assert len(outcomes(house)) == 1


async def test_the_same_act_twice_in_one_turn_is_asked_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A model that will not take the answer would else ask the user again and again."""
    async with living(tmp_path, memory, model, far_tools=[whatsapp_send()], clock=ManualClock()) as house:
        model.say(*(Answer(calls=(call("whatsapp_send", **send()),)) for _ in range(9)))
        await house.ended(await house.deliver("send it", **BATCH))

        assert len(await listed(house)) == 1
        assert "same step with the same result" in house.seen.replies()[-1]


async def test_a_long_text_says_what_is_missing_and_a_command_shows_all_of_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
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
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        assert house
    settings = tmp_path / "data" / "agent" / "agents" / "One" / "agent.toml"
    if outside:
        text = settings.read_text()
        settings.write_text(text.replace("#outside = []", f"outside = {outside}"))
    async with living(tmp_path, memory, model, clock=ManualClock()) as house:
        await proposed(house, model, call("shell", command="echo ran > ran.txt"))

        assert (tmp_path / "workspace" / "ran.txt").exists() == bool(outside)
        assert len(await listed(house)) == (0 if outside else 1)


async def test_a_tool_that_failed_or_does_not_know_says_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending], clock=ManualClock()) as house:
        await proposed(house, model, *(call("whatsapp_send", **send(str(n))) for n in range(3)))
        sending.gives = ToolResult(text="no such chat", failed=True)
        first = await answer(house, 1, yes=True)
        sending.gives = ToolResult(text="the network went", failed=True, outcome_known=False)
        second = await answer(house, 2, yes=True)
        sending.gives = RuntimeError("a fault of the tool's own")
        third = await answer(house, 3, yes=True)

        assert [one.state for one in (first, second, third)] == [FAILED, UNKNOWN, UNKNOWN]
        assert first.outcome == "| no such chat"
        assert "not known whether it ran" in outcomes(house, 2)[0].text
