"""Tool calls as a confused model makes them: each is answered, and none ends more than its turn."""

import asyncio
from pathlib import Path

import pytest
from onechat.agent.v1 import event_pb2
from onechat_agent import sentences
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.tool import CallContext

from tests.fakes.agent_house import House, living
from tests.fakes.hostile_calls import HostileCalls
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, ScriptedModel

CALL_S = 20.0  # until a call that has no result counts as one that hangs
AT_ONCE = 25  # calls of one answer
FAULT = "by a fault of its own"
LINE = Script(answer=Answer(text="a line"), purpose=Purpose.COMPACTION, times=FOR_EVER)


@pytest.mark.parametrize("calls", [100, pytest.param(1_000, marks=pytest.mark.soak)])
async def test_hostile_calls_each_get_a_line_and_find_no_fault_of_ours(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, calls: int
) -> None:
    """Whoever stands behind them; a tool that raises says `by a fault of its own`."""
    async with living(tmp_path, memory, model) as house:
        hostile = HostileCalls(1, house.seat.toolbox.schemas)
        found = []
        for number in range(calls // AT_ONCE):
            async with asyncio.timeout(CALL_S):
                found += await asyncio.gather(
                    *(
                        house.seat.toolbox.run(one.name, one.arguments, _context(house, number, place))
                        for place, one in enumerate(hostile.calls(AT_ONCE), start=1)
                    )
                )

        assert [result.text for result in found if FAULT in result.text] == []
        assert len(found) == calls
        malformed = sum(result.malformed for result in found)
        assert 0.1 * calls < malformed < 0.9 * calls, (
            "they are no test if nearly all or nearly none come through"
        )


async def test_turns_full_of_hostile_calls_end_and_lose_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A short taste of the long run below."""
    await _converse(tmp_path, memory, model, seed=2, calls=75)


@pytest.mark.soak
async def test_turns_with_a_thousand_hostile_calls_end_and_lose_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await _converse(tmp_path, memory, model, seed=300, calls=1_000)


def _context(house: House, number: int, place: int) -> CallContext:
    return CallContext(
        agent=house.seat.id,
        agent_name=house.seat.name,
        memory_of=house.seat.memory_of,
        turn=TurnId("none"),
        call_key=f"t:none:{number}:{place}",
        backed=number % 3 > 0,
        tainted=number % 3 > 1,
        hops=number % 9,
        workdir=house.seat.workdir,
        protected=house.seat.protected,
    )


async def _converse(
    folder: Path, memory: MemoryServer, model: ScriptedModel, *, seed: int, calls: int
) -> None:
    model.script(LINE)
    async with living(folder, memory, model) as house:
        hostile = HostileCalls(seed, house.seat.toolbox.schemas)
        (house.seat.workdir / "notes.txt").write_text("some notes\n")
        for _ in range(calls // AT_ONCE):
            model.say(Answer(calls=hostile.calls(AT_ONCE)))
        said = 0
        while model.unused()[1:]:  # beside the one for lines; a turn that goes in circles leaves some
            await house.say(f"message {said}")
            said += 1
        model.say("fine")
        end = await house.say("are you well?")

        assert (end.state, house.seen.replies()[-1]) == (event_pb2.TurnChange.STATE_ENDED, "fine")
        told = [change.reason for change in house.seen.ends()] + house.seen.notices()
        assert sentences.OWN_FAULT not in told, f"seed {seed}"
        lines = await house.lines()
        assert [line for line in lines if FAULT in line] == [], f"seed {seed}"
        wanted = [f"user: message {number}" for number in range(said)] + ["user: are you well?"]
        assert [line for line in lines if line.startswith("user:")] == wanted
        messages = await house.log()
        asked = {message.key for message in messages if message.kind == 3}
        answered = {message.key.removesuffix(":r") for message in messages if message.kind == 4}
        assert len(asked) == calls
        assert asked == answered
        assert model.refusals() == [], f"seed {seed}"
