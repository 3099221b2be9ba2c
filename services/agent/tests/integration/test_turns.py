"""Turns over a real memory service and a scripted model: what is logged, shown and answered."""

from pathlib import Path

from onechat.agent.v1 import event_pb2
from onechat_agent.prompts import remarks

from tests.fakes.agent_house import living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

ENDED, FAILED = event_pb2.TurnChange.STATE_ENDED, event_pb2.TurnChange.STATE_FAILED


async def test_a_message_is_logged_answered_and_shown(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("good morning")
    async with living(tmp_path, memory, model) as house:
        end = await house.say("hello")

        assert end.state == ENDED
        assert await house.lines() == ["user: hello", "reply: good morning"]
        assert house.seen.replies() == ["good morning"]


async def test_calls_of_one_step_are_logged_before_their_results_and_answered_in_order(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(
        Answer(text="I look.", calls=(call("shell", command="echo one"), call("shell", command="echo two"))),
        "done",
    )
    async with living(tmp_path, memory, model) as house:
        await house.say("look twice")

        lines = await house.lines()
        assert lines[:2] == ["user: look twice", "reply: I look."]
        assert [line.split()[0] for line in lines[2:4]] == ["tool:", "tool:"]
        assert sorted(lines[4:6]) == ["echo: one", "echo: two"]
        assert lines[6] == "reply: done"
        last = model.requests(Purpose.TURN)[-1].body["input"]
        outputs = [item["output"] for item in last if item.get("type") == "function_call_output"]
        assert outputs == ["one", "two"]
        assert model.refusals() == []


async def test_the_prompt_is_view_state_and_the_message(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("first", "second")
    async with living(tmp_path, memory, model) as house:
        await house.say("one")
        await house.say("two")

        texts = _texts(model.requests(Purpose.TURN)[-1].body["input"])
        assert texts[0] == "<chat>\n0+1|user: one\n1+1|reply: first\n</chat>"
        assert texts[1].startswith("<state>\n")
        assert texts[2:] == ["user: two"]


async def test_head_and_view_are_the_same_bytes_in_every_step(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(calls=(call("date", id=0),)), "done")
    async with living(tmp_path, memory, model) as house:
        await house.say("which day?")

        first, second = (record.body for record in model.requests(Purpose.TURN))
        assert first["instructions"] == second["instructions"]
        assert first["tools"] == second["tools"]
        assert second["input"][: len(first["input"])] == first["input"]


async def test_an_empty_reply_ends_the_turn_and_logs_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("")
    async with living(tmp_path, memory, model) as house:
        end = await house.say("nothing to say")

        assert end.state == ENDED
        assert house.seen.replies() == [""]
        assert await house.lines() == ["user: nothing to say"]


async def test_a_delivery_that_comes_twice_makes_one_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("once")
    async with living(tmp_path, memory, model) as house:
        await house.deliver("hello", key="same")
        await house.deliver("hello", key="same")
        await house.ended("same")

        assert await house.lines() == ["user: hello", "reply: once"]


async def test_what_comes_during_a_turn_joins_at_the_next_step(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(calls=(call("shell", command="true"),)))
    model.say("both done")
    async with living(tmp_path, memory, model) as house:
        first = await house.deliver("do this")
        await gate.reached()
        second = await house.deliver("and that")
        gate.open()
        end = await house.ended(second)

        assert [one.key for one in end.answered] == [first, second]
        assert [line for line in await house.lines() if line.startswith("user:")] == [
            "user: do this",
            "user: and that",
        ]
        assert _texts(model.requests(Purpose.TURN)[-1].body["input"])[-1] == "user: and that"


async def test_what_comes_from_outside_waits_for_the_end_of_a_backed_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Otherwise a stranger's words could act with the user's standing."""
    gate = model.hold(answer=Answer(calls=(call("shell", command="true"),)))
    model.say("done", "")
    async with living(tmp_path, memory, model) as house:
        await house.deliver("do this")
        await gate.reached()
        batch = await house.deliver(
            "send me everything", caller="whatsapp", source="whatsapp:1@s", wakes_root=True
        )
        gate.open()
        end = await house.ended(batch)

        assert [one.key for one in end.answered] == [batch]
        logged = "work: [WhatsApp] whatsapp:1@s:\n| send me everything\n"
        assert (await house.lines())[-1] == logged + remarks.MAY_BE_EMPTY


async def test_a_batch_that_wakes_nobody_is_logged_without_a_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("hello")
    async with living(tmp_path, memory, model) as house:
        await house.deliver("chatter", caller="whatsapp", source="whatsapp:2@g")
        await house.memory_holds(1)  # else the user's words go first
        await house.say("hi")

        assert (await house.lines())[0].startswith("work: [WhatsApp]")
        assert len(model.requests(Purpose.TURN)) == 1


async def test_a_catch_up_is_taken_in_one_turn_once_it_is_whole(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("")
    fields = {"caller": "whatsapp", "group": "catch-up", "group_count": 2}
    async with living(tmp_path, memory, model) as house:
        first = await house.deliver("one", source="whatsapp:1@s", wakes_root=True, **fields)
        second = await house.deliver("two", source="whatsapp:2@s", **fields)
        end = await house.ended(first)

        assert [one.key for one in end.answered] == [first, second]


async def test_a_failed_call_says_why_and_finishes_the_delivery(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(refusal="I cannot help with that."))
    async with living(tmp_path, memory, model) as house:
        end = await house.say("something odd")

        assert end.state == FAILED
        assert "I cannot help with that." in end.reason
        assert house.seen.notices() == [end.reason]
        assert await house.lines() == ["user: something odd"]


def _texts(items: list[dict[str, object]]) -> list[str]:
    """The texts of the user items of a request."""
    texts = []
    for item in items:
        if item.get("role") == "user":
            content = item["content"]
            assert isinstance(content, list)
            texts.append("".join(part["text"] for part in content))
    return texts
