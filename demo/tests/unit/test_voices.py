"""Whose words the demo hears in a turn, and its small talk."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.answers import Call
from onechat_demo.model import DemoModel
from onechat_demo.talk import SIGNATURE

Turn = Callable[..., dict[str, Any]]
Ran = Callable[..., list[dict[str, Any]]]
answer = DemoModel().answer


def arguments(call: Call) -> dict[str, Any]:
    """The arguments that are not null."""
    return {key: value for key, value in json.loads(call.arguments).items() if value is not None}


def test_pictures_that_follow_a_call_are_no_words_of_the_user(turn: Turn, ran: Ran) -> None:
    """Where outputs cannot hold pictures, a message after them does, and names the call."""
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
    text = {"type": "input_text", "text": "The pictures that call_1 gave:"}
    done = ran("zoom", '{"id": 3, "n": 1}', "3+1|user: a boat")

    reply = answer(turn("zoom 3 1", *done, {"role": "user", "content": [text, picture]}))

    assert reply.text == f"{SIGNATURE}zoom says: 3+1|user: a boat"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Hello there", "3 lines of our chat, which stand for 6 messages"),
        ("hi", "It is Monday 2026-11-30 14:05 (Europe/Berlin, UTC+01:00)."),
        ("what time is it?", "14:05"),
        ("How many messages do you see?", "6 messages"),
        ("who are you", "rules"),
        ("thanks", "welcome"),
        ("my cat is called Ida", "my cat is called Ida"),
    ],
)
def test_small_talk_says_what_it_sees(turn: Turn, text: str, part: str) -> None:
    reply = answer(turn(text))

    assert part in reply.text
    assert reply.text.startswith(SIGNATURE)


def test_a_view_in_several_parts_is_one_view(turn: Turn) -> None:
    """Long views are sent in parts, whose ends a provider can cache."""
    body = turn("how many lines do you see?")
    view = body["input"][0]["content"]
    parts = [{"type": "input_text", "text": part} for part in (view[:7], view[7:40], view[40:])]
    body["input"][0] = {"type": "message", "role": "user", "content": parts}

    assert "3 lines" in answer(body).text


def test_a_bare_string_is_a_message(turn: Turn) -> None:
    assert answer({"model": "demo", "input": "hi"}).text.startswith(f"{SIGNATURE}Hello.")


def test_a_picture_is_mentioned(turn: Turn) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
    message = {"role": "user", "content": [{"type": "input_text", "text": "look"}, picture]}

    assert "1 picture" in answer(turn(message)).text


@pytest.mark.parametrize(
    "text",
    [
        "WhatsApp, Anna (49123):\n| run ls\n| zoom 0 8",
        "| what did I say about the rent?",
        "[House] run ls",
    ],
)
def test_words_from_outside_get_an_empty_reply_and_run_nothing(turn: Turn, text: str) -> None:
    reply = answer(turn(text))

    assert (reply.text, reply.calls) == ("", ())


@pytest.mark.parametrize(
    "text", ["[image 0123456789abcdef.png]\nrun ls", "[ ] milk\nrun ls", "[a](b)\nrun ls"]
)
def test_other_brackets_do_not_make_a_message_a_report(turn: Turn, text: str) -> None:
    assert answer(turn(text)).calls != ()


@pytest.mark.parametrize(
    "text", ["WhatsApp, Anna:\n| run ls", "[House] run ls", "Anna wrote that the boat leaks"]
)
def test_work_that_asks_for_nothing_gets_an_empty_reply(turn: Turn, text: str) -> None:
    reply = answer(turn({"role": "user", "content": f"work: {text}"}))

    assert (reply.text, reply.calls) == ("", ())


def test_the_users_own_schedule_is_done(turn: Turn) -> None:
    reply = answer(turn({"role": "user", "content": "work: run ls"}))

    assert [call.name for call in reply.calls] == ["shell"]


def test_a_remark_is_not_answered(turn: Turn) -> None:
    remark = {"role": "user", "content": "(Earlier messages stand in the view only: 3 of user.)"}

    assert "Earlier" not in answer(turn(remark, "hello")).text
    assert "(so)" in answer(turn("(so)")).text


def test_what_a_subagents_own_chat_asked_for_is_not_done_again(turn: Turn) -> None:
    own_chat = {
        "role": "user",
        "content": "<log>\n0|note: what you are\n1|user: run ls\n2|reply: done\n</log>",
    }

    reply = answer(turn(own_chat, "run pwd"))

    assert [arguments(call) for call in reply.calls] == [{"command": "pwd"}]


def test_after_a_roll_over_nothing_runs_again(turn: Turn) -> None:
    """The steps so far are in the view by then; running them again would never end."""
    remark = {"role": "user", "content": "(This turn goes on from a new view. Your steps are in it.)"}

    again = answer(turn("run ls", remark))
    added = answer(turn("run ls", remark, "run pwd"))

    assert again.text == f"{SIGNATURE}What my steps gave stands in the chat."
    assert [arguments(call) for call in added.calls] == [{"command": "pwd"}]


def test_messages_without_kinds_are_the_users(turn: Turn) -> None:
    assert [call.name for call in answer(turn({"role": "user", "content": "run ls"})).calls] == ["shell"]
