"""Which script a request gets, and the scripts' JSON form."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.answers import Answer, Call, CutReason
from onechat_demo.control import script_from_json
from onechat_demo.faults import Break, HttpFault, StreamFault, rate_limited
from onechat_demo.model import Purpose
from onechat_demo.scripts import FOR_EVER, Gate, Script, ScriptQueue, in_turn

Turn = Callable[..., dict[str, Any]]


def test_scripts_are_used_once_in_their_order(turn: Turn) -> None:
    queue = ScriptQueue()
    queue.add(*in_turn("one", "two"))

    taken = [queue.take(turn("x"), Purpose.TURN) for _ in range(3)]

    assert [script and script.answer and script.answer.text for script in taken] == ["one", "two", None]


def test_a_script_waits_for_the_request_that_it_fits(turn: Turn) -> None:
    queue = ScriptQueue()
    queue.add(
        Script(answer=Answer(text="c"), purpose=Purpose.COMPACTION),
        Script(answer=Answer(text="w"), contains='say "hi"\nthere'),
        Script(answer=Answer(text="m"), match=lambda body: body["model"] == "other"),
    )

    assert queue.take(turn("nothing"), Purpose.TURN) is None
    found = [
        queue.take(turn('say "hi"\nthere'), Purpose.TURN),
        queue.take(turn("x", model="other"), Purpose.TURN),
        queue.take(turn("x"), Purpose.COMPACTION),
    ]
    assert [script and script.answer and script.answer.text for script in found] == ["w", "m", "c"]
    assert queue.waiting() == ()


def test_a_script_can_be_used_several_times_or_for_ever(turn: Turn) -> None:
    queue = ScriptQueue()
    queue.add(Script(http=rate_limited(), times=2), Script(answer=Answer(), times=FOR_EVER))

    taken = [queue.take(turn("x"), Purpose.TURN) for _ in range(5)]

    assert [script is not None and script.http is not None for script in taken] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert len(queue.waiting()) == 1


async def test_a_gate_says_that_it_is_reached_and_holds_until_opened() -> None:
    gate = Gate()
    waiting = asyncio.create_task(gate.passed())
    await asyncio.wait_for(gate.reached(), 30)

    assert not waiting.done()
    gate.open()
    await asyncio.wait_for(waiting, 30)


def test_a_fault_leaves_at_least_the_terminal_event_out() -> None:
    assert [StreamFault(kind=Break.CUT, after=after).place(8) for after in (0, 3, 99, None)] == [0, 3, 7, 4]


def test_a_script_has_a_json_form() -> None:
    gates: dict[str, Gate] = {}
    script = script_from_json(
        {
            "answer": {
                "text": "t",
                "calls": [
                    {"name": "shell", "arguments": {"command": "ls"}},
                    {"name": "x", "arguments": '{"pa'},
                ],
                "cut": "max_output_tokens",
                "failure": ["server_error", "m"],
            },
            "http": {"status": 429, "code": "insufficient_quota", "message": "m", "retry_after_s": 3},
            "stream": {"kind": "stall", "after": 2},
            "gate": "a",
            "stall": "b",
            "purpose": "turn",
            "contains": "w",
            "times": 2,
        },
        lambda name: gates.setdefault(name, Gate()),
    )

    assert script == Script(
        answer=Answer(
            text="t",
            calls=(Call(name="shell", arguments='{"command": "ls"}'), Call(name="x", arguments='{"pa')),
            cut=CutReason.LENGTH,
            failure=("server_error", "m"),
        ),
        http=HttpFault(status=429, code="insufficient_quota", message="m", retry_after_s=3),
        stream=StreamFault(kind=Break.STALL, after=2),
        gate=gates["a"],
        stall=gates["b"],
        purpose=Purpose.TURN,
        contains="w",
        times=2,
    )


@pytest.mark.parametrize(
    "value", [3, {"anwser": {}}, {"answer": {"txt": ""}}, {"stream": {"kind": "explode"}}, {"stream": {}}]
)
def test_what_is_no_script_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        script_from_json(value, lambda name: Gate())
