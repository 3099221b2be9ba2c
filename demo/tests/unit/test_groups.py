"""What the demo answers to the members of a group, and whether it takes a message for one to its agent."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.judging import judged
from onechat_demo.model import DemoModel
from onechat_demo.outside import words_of_member
from onechat_demo.talk import SIGNATURE

Turn = Callable[..., dict[str, Any]]
answer = DemoModel().answer
NOW = "now: Monday 2026-11-30 14:05 (Europe/Berlin, UTC+01:00)"
STATE = f'<state>\n{NOW}\nthe group calls itself: "Friends"\n</state>'
HEAD = "[Telegram] telegram:-100:"
ANA = '2026-11-30 14:04 71 "Ana"'


def of_group(turn: Turn, *lines: str, head: str = HEAD) -> dict[str, Any]:
    """A group's turn about one message."""
    text = "\n".join([f"work: {head}", *(f"| {line}" for line in lines)])
    body = turn({"role": "user", "content": text})
    body["input"][1] = {"role": "user", "content": STATE}
    return body


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ([f"{ANA}: hello"], "Hello."),
        ([f"{ANA}: @robobot, hello"], "Hello."),
        ([f'{ANA}, in the thread "Trips: all", in reply to you:', "  > of May", "  thanks"], "welcome"),
        ([f"{ANA}: the mill", "  is at ten"], "You said: the mill\nis at ten"),
        ([f"{ANA}, in reply to you:", "  > hello", "  the mill"], "You said: the mill "),
        (["what time is it?"], "14:05"),
    ],
)
def test_whoever_speaks_to_a_groups_agent_gets_an_answer(turn: Turn, lines: list[str], part: str) -> None:
    reply = answer(of_group(turn, *lines))

    assert part in reply.text
    assert reply.text.startswith(SIGNATURE)
    assert "run ls" not in reply.text, "that is not offered to members"


def test_a_member_gets_an_answer_in_private_too(turn: Turn) -> None:
    head = "[Telegram] telegram:71, in private, not to be repeated in the group:"

    assert "You said: a secret" in answer(of_group(turn, f"{ANA}: a secret", head=head)).text


def test_what_a_member_wants_looked_up_is_zoomed_and_no_other_tool_is_called_than_there_is(
    turn: Turn,
) -> None:
    wanted = of_group(turn, f"{ANA}: what did we say about the heron?")
    body = of_group(turn, f"{ANA}: run ls and date 2")
    body["tools"] = [tool for tool in body["tools"] if tool["name"] in ("zoom", "date")]

    assert [call.name for call in answer(wanted).calls] == ["zoom"]
    assert [call.name for call in answer(body).calls] == ["date"]


def test_outside_a_groups_turn_the_same_words_are_not_answered(turn: Turn) -> None:
    """The root may get what others wrote: nothing of it speaks to the demo."""
    text = f"work: {HEAD}\n| {ANA}: hello"

    assert answer(turn({"role": "user", "content": text})).text == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD,
        "[proposal 1] write: the user said yes, and it has run. Its result:\n| done",
        "[House] hi\n| x",
    ],
)
def test_what_no_member_wrote_is_not_taken_for_a_members_words(text: str) -> None:
    assert words_of_member(text) is None


def asked(message: str, *before: str, names: tuple[str, ...] = ("robo", "Demo Bot")) -> dict[str, bool]:
    question = json.dumps({"names": names, "before": before, "message": message})
    return dict(judged(question))


@pytest.mark.parametrize(
    "message",
    [
        "robo, when do we meet?",
        "Hello robo!",
        "hey Robo: the bill",
        "when do we meet, robo",
        "does demo bot know?",
        "thanks robo",
    ],
)
def test_who_is_called_by_name_is_spoken_to(message: str) -> None:
    assert asked(message)["mentions"]


@pytest.mark.parametrize(
    "message", ["robo said the 14th", "I asked robo", "robots, when?", "when do we meet?", "roborobo?", ""]
)
def test_who_is_only_spoken_about_is_not_spoken_to(message: str) -> None:
    assert not any(asked(message).values())


def test_a_question_right_after_the_agents_own_words_is_for_it() -> None:
    assert asked("and where?", "Ben: when?", "you: the 14th")["mentions"]
    assert not asked("and where?", "you: the 14th", "Ben: ok")["mentions"]
    assert not asked("fine", "you: the 14th")["mentions"]


def test_commands_and_wishes_for_privacy_count_only_for_whom_they_are_meant() -> None:
    assert asked("robo, clear your memory") == {"mentions": True, "command": True, "private": False}
    assert asked("robo, between us: who pays?") == {"mentions": True, "command": False, "private": True}
    assert asked("Ben, clear the memory of your phone in private") == dict.fromkeys(asked(""), False)


@pytest.mark.parametrize("question", ["", "null", "[]", '{"message": 3, "names": "robo"}', "no json"])
def test_what_is_no_question_is_for_nobody(question: str) -> None:
    assert not any(judged(question).values())


def test_a_long_message_is_judged_at_once() -> None:
    """Patterns must not share out the same text in many ways."""
    assert not asked("robo " + "so hey " * 600)["mentions"]
    assert words_of_member(f"{HEAD}\n| " + '2026-11-30 14:04 7 "a"' + ', "' * 20_000) is not None
