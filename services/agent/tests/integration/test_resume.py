"""A turn that a restart interrupts: it goes on where it was, and nothing is asked, logged or run twice."""

import asyncio
from pathlib import Path

from onechat.agent.v1 import event_pb2
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_REPLY
from onechat_agent.adapters import turn_rows
from onechat_agent.prompts.rendering import REPEATED

from tests.fakes.agent_house import TIMEOUT_S, living
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer, new_message
from tests.fakes.scripted_model import Answer, Call, Purpose, ScriptedModel, call

RESUMED = event_pb2.TurnChange.STATE_RESUMED


async def test_a_turn_goes_on_with_the_same_bytes_before_its_first_answer(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
    model.say("late, but here")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert await house.lines() == ["user: hello", "reply: late, but here"]
        first, second = (record.body for record in model.requests(Purpose.TURN))
        assert first["input"] == second["input"]
        assert RESUMED in [e.turn_change.state for e in house.seen.events("turn_change")]


async def test_a_reading_call_without_a_result_runs_again_and_its_step_is_not_asked_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(text="Let me see.", calls=(call("shell", command="sleep 600"), call("date", id=0))))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("look")
        await house.memory_holds(4)  # the message, the text and both calls
        await house.memory_holds(5)  # the date's result
    model.say("I have seen it.")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        lines = await house.lines()
        assert lines[:2] == ["user: look", "reply: Let me see."]
        assert sorted(line for line in lines if line.startswith("echo:")) == [
            "echo: dated 0",
            "echo: interrupted, not known whether it ran",
        ]
        assert lines[-1] == "reply: I have seen it."
        assert len(model.requests(Purpose.TURN)) == 2
        last = model.requests(Purpose.TURN)[-1].body["input"]
        outputs = {item["call_id"][-1]: item["output"] for item in last if "output" in item}
        assert outputs["1"] == "interrupted, not known whether it ran"
        assert outputs["2"].startswith("message 0") or "2026" in outputs["2"], "the pointer is followed again"
        assert model.refusals() == []


async def test_a_reply_that_was_logged_is_not_asked_for_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Killed between the reply's append and the turn's end: only the end is missing."""
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
        log, turn = house.seat.id, house.seen.events("turn_change")[0].turn
    reply = new_message(f"t:{turn}:1", "the reply\n", kind=MESSAGE_KIND_REPLY, turn=turn, step=1)
    await memory.append(reply, log=log)

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert house.seen.replies() == ["the reply"], "as without a restart"
        assert await house.lines() == ["user: hello", "reply: the reply\n"]
        assert len(model.requests(Purpose.TURN)) == 1


async def test_a_turn_of_which_only_the_end_is_missing_ends_with_the_taint_of_what_it_had_read(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A subagent's later turns hold what this one read, and are judged by it."""
    model.call(call("shell", command="echo Obey."))
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("look")
        await gate.reached()
        log, turn = house.seat.id, house.seen.events("turn_change")[0].turn
    reply = new_message(f"t:{turn}:2", "seen", kind=MESSAGE_KIND_REPLY, turn=turn, step=2)
    await memory.append(reply, log=log)

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert house.seen.replies() == ["seen"]
        assert house.store.read(lambda db: turn_rows.heard_outside(db, house.seat.id))


async def test_a_turn_that_never_gets_further_is_given_up_with_one_line(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    key = ""
    for start in range(7):
        gate = model.hold(answer=Answer(text="never sent"))
        async with living(tmp_path, memory, model, after=0) as house:
            key = key or await house.deliver("this breaks you")
            ended = asyncio.ensure_future(house.ended(key))
            reached = asyncio.ensure_future(gate.reached())
            await asyncio.wait({ended, reached}, return_when=asyncio.FIRST_COMPLETED)
            reached.cancel()
            ended.cancel()
            model.clear()
            if ended.done() and not ended.cancelled():
                break
        assert start < 6

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)
        assert len(house.seen.replies()) == 1
        assert "gave this task up" in house.seen.replies()[0]
        assert (await house.lines())[0] == "user: this breaks you"


async def test_a_call_that_kills_the_service_each_time_has_a_result_when_its_turn_is_given_up(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """No log keeps a call that nothing is known of."""
    sending = whatsapp_send()
    sending.before = asyncio.Event()
    model.call(call("whatsapp_send", **send()))
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        key = await house.deliver("send it")
        await sending.reached.wait()
    for asked in range(2, 7):
        async with living(tmp_path, memory, model, far_tools=[sending]):
            async with asyncio.timeout(TIMEOUT_S):
                while len(sending.asked) < asked:
                    await asyncio.sleep(0.01)

    async with living(tmp_path, memory, model, far_tools=[sending], after=0) as house:
        await house.ended(key)

        assert "gave this task up" in house.seen.replies()[0]
        assert (await house.lines())[2] == "echo: interrupted, not known whether it ran"
        assert sending.done == {}


async def test_what_joined_a_turn_is_logged_after_the_results_also_through_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    first_gate = model.hold(answer=Answer(calls=(call("date", id=0),)))
    second_gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        await house.deliver("one")
        await first_gate.reached()
        key = await house.deliver("two")
        first_gate.open()
        await second_gate.reached()
    model.say("both")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert [line.split(" ")[0] for line in await house.lines()] == [
            "user:",
            "tool:",
            "echo:",
            "user:",
            "reply:",
        ]


async def test_what_came_before_a_restart_joins_the_turn_that_is_taken_up_between_two_steps(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Else a kill right before it would have joined makes two turns of one, and two replies."""
    model.call(call("date", id=0))
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        await house.deliver("one")
        await gate.reached()
        key = await house.deliver("two")
    model.say("both")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert (await house.lines())[-2:] == ["user: two", "reply: both"]
        assert [len(end.answered) for end in house.seen.ends()] == [2]


async def test_output_that_reads_like_a_pointer_runs_no_command_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What a command prints may be anybody's words, such as those of a file it shows."""
    model.call(call("shell", command="echo once >> runs; echo zoomed 0+1"))
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("run it")
        await gate.reached()
    model.say("it has run")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert (tmp_path / "workspace" / "runs").read_text() == "once\n"
        before, after = (record.body["input"] for record in model.requests(Purpose.TURN)[1:])
        assert _outputs(after) == _outputs(before) == ["zoomed 0+1"]


async def test_circles_are_counted_through_a_restart_and_told_to_the_model_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Else each restart would give a turn that goes nowhere five more calls, and other bytes than before."""
    look = Answer(calls=(call("date", id=0),))
    model.say(*[look] * 3)
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("which day?")
        await gate.reached()
    model.say(*[look] * 3)

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        before, after, *_, last = (record.body["input"] for record in model.requests(Purpose.TURN)[3:])
        assert _outputs(after) == _outputs(before)
        assert [REPEATED in text for text in _outputs(last)] == [False, False, True, True]
        assert "again and again" in house.seen.replies()[0]
        assert sum(line.startswith("tool:") for line in await house.lines()) == 5


async def test_malformed_calls_are_counted_through_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    shapes = ['{"path": "a', "null", "[1]", "{}", '{"path": 5}', '{"path": 6}']
    wrong = [Answer(calls=(Call(name="read", arguments=shape),)) for shape in shapes]
    model.say(*wrong[:4])
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("read it")
        await gate.reached()
    model.say(*wrong[4:])

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert "again and again" in house.seen.replies()[0]
        assert len(model.unused()) == 1


def _outputs(items: list[dict[str, object]]) -> list[str]:
    return [str(item["output"]) for item in items if item.get("type") == "function_call_output"]
