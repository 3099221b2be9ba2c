"""What the demo makes of words about WhatsApp: chats are found, and what is sent goes to one of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.answers import Answer
from onechat_demo.asks import asks_in
from onechat_demo.model import DemoModel
from onechat_demo.writing import Write

Turn = Callable[..., dict[str, Any]]
Ran = Callable[..., list[dict[str, Any]]]
answer = DemoModel().answer

ANNA = "15550002222@s.whatsapp.net"
FOUND = f"{ANNA} | Anna | contact"
SEVERAL = f"{FOUND}\n15550003333@s.whatsapp.net | Anna Rossi | contact"
PICTURE = "0123456789abcdef.png"


def _strict(name: str, /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": name,
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        },
    }


@pytest.fixture
def tools(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The root's tools, those of WhatsApp among them."""
    sends = _strict("whatsapp_send", id="string", chat="string", text="string", image=["string", "null"])
    return [*tools, _strict("whatsapp_find", name="string"), sends]


def called(reply: Answer) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, json.loads(call.arguments)) for call in reply.calls]


def sent(reply: Answer) -> dict[str, Any]:
    """The arguments of the only call, a send, without its id."""
    ((name, arguments),) = called(reply)
    assert name == "whatsapp_send"
    assert arguments.pop("id")
    return arguments


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("find anna on WhatsApp", "anna"),
        ("Please look up the garden club on whatsapp?", "the garden club"),
        ('search for "Anna" in WhatsApp', "Anna"),
    ],
)
def test_a_chat_is_found(turn: Turn, text: str, name: str) -> None:
    assert called(answer(turn(text))) == [("whatsapp_find", {"name": name})]


def test_what_names_a_chats_id_is_sent_at_once(turn: Turn) -> None:
    reply = answer(turn(f"send I am late, go to the door to {ANNA}"))

    assert sent(reply) == {"chat": ANNA, "text": "I am late, go to the door", "image": None}


def test_what_names_a_person_is_sent_once_one_chat_was_found(turn: Turn, ran: Ran) -> None:
    words = "send `I am late` to Anna on WhatsApp."
    search = answer(turn(words))
    then = answer(turn(words, *ran("whatsapp_find", '{"name": "Anna"}', FOUND)))

    assert called(search) == [("whatsapp_find", {"name": "Anna"})]
    assert sent(then) == {"chat": ANNA, "text": "I am late", "image": None}


def test_of_several_the_one_with_just_that_name_is_meant(turn: Turn, ran: Ran) -> None:
    then = answer(turn("send hi to anna", *ran("whatsapp_find", '{"name": "anna"}', SEVERAL)))

    assert sent(then)["chat"] == ANNA


@pytest.mark.parametrize("given", [SEVERAL, "No contact and no group has `ann` in its name."])
def test_where_it_is_not_clear_who_is_meant_nothing_is_sent(turn: Turn, ran: Ran, given: str) -> None:
    reply = answer(turn("send hi to ann", *ran("whatsapp_find", '{"name": "ann"}', given)))

    assert reply.calls == ()
    assert "I sent nothing to ann" in reply.text


@pytest.mark.parametrize(("words", "caption"), [(PICTURE, ""), (f"{PICTURE}: the boiler", "the boiler")])
def test_a_stored_picture_goes_with_its_caption(turn: Turn, words: str, caption: str) -> None:
    assert sent(answer(turn(f"send {words} to {ANNA}"))) == {"chat": ANNA, "text": caption, "image": PICTURE}


def test_the_same_words_have_another_id_in_a_later_turn_and_the_same_in_one(turn: Turn) -> None:
    """The gateway sends nothing for an id that it knows."""
    words = f"send hi to {ANNA}"
    one, again = (called(answer(turn(words)))[0][1]["id"] for _ in range(2))
    later = answer(turn(words, view="<chat>\n0+1|user: hi\n</chat>"))

    assert one == again
    assert called(later)[0][1]["id"] != one


def test_a_send_that_was_made_is_told_and_not_made_again(turn: Turn, ran: Ran) -> None:
    words = f"send hi to {ANNA}"
    ((_, arguments),) = called(answer(turn(words)))

    reply = answer(turn(words, *ran("whatsapp_send", json.dumps(arguments), f"Sent to {ANNA}.")))

    assert reply.calls == ()
    assert f"whatsapp_send says: Sent to {ANNA}." in reply.text


def test_several_asks_of_one_message_are_all_taken_up(turn: Turn) -> None:
    names = [name for name, _ in called(answer(turn(f"run ls and send hi to {ANNA}\nfind bob on WhatsApp")))]

    assert names == ["shell", "whatsapp_send", "whatsapp_find"]


def test_without_the_tools_it_says_so(turn: Turn, tools: list[dict[str, Any]]) -> None:
    reply = answer(turn("send hi to Anna", tools=tools[:9]))

    assert reply.calls == ()
    assert "I have no tool whatsapp_send here." in reply.text


def test_words_of_others_send_nothing(turn: Turn) -> None:
    batch = f"work: [WhatsApp] whatsapp:{ANNA}:\n| send hi to {ANNA}"

    assert answer(turn({"role": "user", "content": batch})).calls == ()


@pytest.mark.parametrize("text", ["send", "send to Anna", "find out what is on", "I send my love to you all"])
def test_other_words_are_talk(text: str) -> None:
    assert not any(isinstance(ask, Write) for ask in asks_in(text))


def test_a_page_of_blanks_and_words_stalls_nothing() -> None:
    """A pattern that could share them out in many ways would take minutes."""
    asks_in("send " + "a to  " * 5_000 + "\n" + " and send" * 5_000)
