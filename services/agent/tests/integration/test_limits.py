"""What ends, bends or holds a turn: limits, circles, roll-over, stop, failures of the model."""

import asyncio
import random
from datetime import timedelta
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.domain.limits import Limits
from onechat_agent.prompts.rendering import REPEATED, ROLLED_OVER

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import (
    FOR_EVER,
    Answer,
    Break,
    Call,
    Purpose,
    ScriptedModel,
    call,
    quota_used_up,
    rate_limited,
    server_error,
    unknown_model,
    wrong_key,
)

STATES = event_pb2.TurnChange
PAUSE_MAX_S = 300.0  # of a pause between tries; what sleeps longer does housekeeping
LOOK = Answer(calls=(call("date", id=0),))


async def test_a_turn_ends_at_its_limit_of_calls_with_a_plain_line(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(*(Answer(calls=(call("zoom", id=0, n=1, name=None, page=None),)) for _ in range(3)))
    async with living(tmp_path, memory, model, limits=Limits(calls=3)) as house:
        end = await house.say("go on for ever")

        assert end.state == STATES.STATE_ENDED
        assert "3 model calls" in house.seen.replies()[0]
        assert (await house.lines())[-1] == f"reply: {house.seen.replies()[0]}"


async def test_the_same_call_with_the_same_result_is_told_at_the_third_and_ended_at_the_fifth(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(*[LOOK] * 6)
    async with living(tmp_path, memory, model) as house:
        await house.say("what day was it?")

        requests = model.requests(Purpose.TURN)
        assert len(requests) == 5
        told = [[(REPEATED in out) for out in _outputs(request.body)] for request in requests]
        assert told[-1] == [False, False, True, True]
        assert "again and again" in house.seen.replies()[0]


async def test_five_malformed_calls_in_a_row_end_the_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    shapes = ['{"path": "a', "null", "[1]", "{}", '{"path": 5}']
    model.say(*(Answer(calls=(Call(name="read", arguments=shape),)) for shape in shapes), "never asked")
    async with living(tmp_path, memory, model) as house:
        await house.say("read it")

        assert "again and again" in house.seen.replies()[0]
        assert len(model.requests(Purpose.TURN)) == 5


async def test_an_unknown_tool_is_answered_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(calls=(call("teleport", to="Mars"),)), "I stay here.")
    async with living(tmp_path, memory, model) as house:
        await house.say("go")

        assert house.seen.replies() == ["I stay here."]
        assert "There is no tool teleport" in _outputs(model.requests(Purpose.TURN)[-1].body)[0]


async def test_a_turn_that_outgrows_a_call_goes_on_from_a_new_view(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    big = Answer(calls=(call("shell", command="head -c 20000 /dev/zero | tr '\\0' x"),))
    model.say(big, big, "done at last")
    async with living(tmp_path, memory, model, limits=Limits(context_bytes=30_000)) as house:
        await house.say("make much")

        last = model.requests(Purpose.TURN)[-1].body["input"]
        assert not [item for item in last if item.get("type") == "function_call"]
        texts = [part["text"] for item in last for part in item["content"]]
        assert any(text.startswith("user: make much") for text in texts)
        assert ROLLED_OVER in texts
        assert house.seen.replies() == ["done at last"]
        assert model.refusals() == []


async def test_a_rolled_over_turn_is_taken_up_again_with_the_same_bytes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    big = Answer(calls=(call("shell", command="head -c 20000 /dev/zero | tr '\\0' x"),))
    model.say(big, big)
    gate = model.hold(answer=Answer(text="never sent"))
    limits = Limits(context_bytes=30_000)
    async with living(tmp_path, memory, model, limits=limits) as house:
        key = await house.deliver("make much")
        await gate.reached()
    model.say("done at last")

    async with living(tmp_path, memory, model, limits=limits, after=0) as house:
        await house.ended(key)

        before, after = (record.body["input"] for record in model.requests(Purpose.TURN)[-2:])
        assert before == after
        assert (await house.lines()).count("user: make much") == 1


async def test_stop_ends_a_long_tool_and_its_turn_within_a_moment(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(calls=(call("shell", command="echo begun > mark; sleep 600"),)))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("wait long")
        await _until_file(house.seat.workdir / "mark")
        answer = await _command(house, "/stop [One]")  # as messages show names
        end = await house.ended(key)

        assert answer == "Stopped: One."
        assert end.state == STATES.STATE_STOPPED
        assert (await house.lines())[-1] == "echo: stopped"


async def test_stop_ends_only_what_began_before_it_was_given(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A /stop that is read late must not end the next turn."""
    gate = model.hold(answer=Answer(text="still here"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
        request = agent_service_pb2.RunCommandRequest(line="/stop")
        request.time.FromDatetime(house.started - timedelta(seconds=5))
        answer = await house.stub().RunCommand(request, timeout=20)
        gate.open()
        end = await house.ended(key)

        assert answer.answer == "Nothing is at work."
        assert end.state == STATES.STATE_ENDED


async def test_a_busy_server_is_asked_again_after_its_own_delay_and_nothing_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.fail(rate_limited(retry_after_s=7))
    model.say("here I am")
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await _sleep_through(clock, house, key)

        assert house.seen.replies() == ["here I am"]
        assert house.seen.notices() == []


async def test_an_outage_is_told_after_a_minute_and_the_turn_goes_on_by_itself(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.fail(server_error(), times=9)
    model.say("back again")
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await _sleep_through(clock, house, key)

        assert house.seen.replies() == ["back again"]
        assert len(house.seen.notices()) == 1
        assert "is kept" in house.seen.notices()[0]


async def test_a_cut_stream_voids_its_text_and_is_asked_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.break_stream(Break.CUT, answer=Answer(text="half a rep" * 40), after=20)
    model.say("the whole reply")
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await _sleep_through(clock, house, key)

        assert house.seen.replies() == ["the whole reply"]
        assert await house.lines() == ["user: hello", "reply: the whole reply"]


async def test_a_cause_that_lasts_is_told_once_until_a_call_succeeds(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        for fault in (wrong_key(), wrong_key(), quota_used_up(), unknown_model()):
            model.fail(fault)
            assert (await house.say("hello")).state == STATES.STATE_FAILED
        model.say("now it works")
        await house.say("and now?")
        model.fail(wrong_key())
        end = await house.say("again")

        assert len(house.seen.notices()) == 4
        assert "OPENAI_API_KEY" in house.seen.notices()[0]
        assert "OPENAI_API_KEY" in end.reason
        assert len([line for line in await house.lines() if line.startswith("user:")]) == 6


async def test_while_no_key_works_what_comes_from_outside_is_logged_without_a_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Each would only fail again; after a while one is tried, since somebody may have acted."""
    clock = ManualClock()
    batch = {"caller": "whatsapp", "source": "whatsapp:1@s", "wakes_root": True}
    model.fail(wrong_key(), times=2)
    model.say("I have read it")
    async with living(tmp_path, memory, model, clock=clock) as house:
        await house.say("hello")
        await house.deliver("one", **batch)
        await house.deliver("two", **batch)
        await house.memory_holds(3)
        failed = await house.say("and now?")
        assert (failed.state, len(model.requests(Purpose.TURN))) == (STATES.STATE_FAILED, 2)
        clock.advance(301)
        end = await house.ended(await house.deliver("three", **batch))

        assert end.state == STATES.STATE_ENDED
        assert house.seen.replies() == ["I have read it"]
        assert [line.partition(":")[0] for line in await house.lines()] == [
            *("user", "work", "work", "user", "work", "reply")
        ]


async def test_the_status_shows_a_failure_that_lasts_until_a_call_succeeds(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Nobody who asks what is wrong should hear that all is well while nothing gets an answer."""
    model.fail(wrong_key())
    async with living(tmp_path, memory, model) as house:
        end = await house.say("hello")
        troubles = [trouble.sentence for trouble in house.loopback.board.troubles().values()]
        model.say("now it works")
        await house.say("and now?")

        assert troubles == [end.reason]
        assert house.loopback.board.troubles() == {}


async def test_a_turn_that_waits_for_lines_fails_like_the_compaction_that_cannot_be_had(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.fail(wrong_key(), times=FOR_EVER, purpose=Purpose.COMPACTION)
    async with living(tmp_path, memory, model) as house:
        await house.say("x" * 2_000)  # its line needs a model
        end = await house.say("are you there?")

        assert end.state == STATES.STATE_FAILED
        assert "OPENAI_API_KEY" in end.reason
        assert (await house.lines())[-1] == "user: are you there?"


async def test_the_days_limit_is_told_once_and_deliveries_stay_queued(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.say("that was all for today", "a new day")
    async with living(tmp_path, memory, model, clock=clock, limits=Limits(tokens_per_day=1)) as house:
        await house.say("hello")
        key = await house.deliver("more")
        await house.seen.until(lambda seen: bool(seen.notices()))
        await clock.until_sleeping(2)
        listed = await house.stub().ListDeliveries(
            agent_service_pb2.ListDeliveriesRequest(key=key), timeout=5
        )
        assert listed.deliveries[0].state == 1
        clock.advance(14 * 3600)  # to the early hours of the next day in Rome
        await house.ended(key)

        assert house.seen.replies() == ["that was all for today", "a new day"]
        assert len([text for text in house.seen.notices() if "Today's limit" in text]) == 1


async def test_fifty_odd_answers_end_in_replies_or_one_line_and_lose_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Whatever a model writes, no exception leaves a turn."""
    rng = random.Random(5)
    texts = ["", "\ud800", "a\0b", "🎩" * 300, "<chat>\n0+1|no\n</chat>", "x" * 40_000]
    names = ["shell", "zoom", "", "no_such", "read"]
    shapes = [
        '{"path": "a',
        "null",
        "[1]",
        "{}",
        '{"id": 0, "n": 1, "name": null, "page": null}',
        '"\\ud83c"',
    ]
    for _ in range(50):
        calls = tuple(
            Call(name=rng.choice(names) or "x", arguments=rng.choice(shapes)) for _ in range(rng.randrange(3))
        )
        model.say(Answer(text=rng.choice(texts), calls=calls))
    clock = ManualClock()
    async with living(tmp_path, memory, model, clock=clock) as house:
        for number in range(12):
            key = await house.deliver(f"message {number}")
            await _sleep_through(clock, house, key)

        users = [line for line in await house.lines() if line.startswith("user:")]
        assert users == [f"user: message {number}" for number in range(12)]
        assert model.refusals() == []


def _outputs(body: dict[str, object]) -> list[str]:
    items = body["input"]
    assert isinstance(items, list)
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


async def _command(house: House, line: str) -> str:
    request = agent_service_pb2.RunCommandRequest(line=line)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


async def _until_file(path: Path) -> None:
    async with asyncio.timeout(30):
        while not path.exists():
            await asyncio.sleep(0.01)


async def _sleep_through(clock: ManualClock, house: House, key: str) -> None:
    """Ends each pause at once until the turn with `key` is over; while nobody pauses no time passes."""
    ended = asyncio.ensure_future(house.ended(key))
    while not ended.done():
        if clock.sleepers and clock.sleepers[0] <= PAUSE_MAX_S:
            clock.advance(clock.sleepers[0])
        await asyncio.wait({ended}, timeout=0.02)
    ended.result()
