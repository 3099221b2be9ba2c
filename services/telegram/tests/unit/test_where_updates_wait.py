"""In which queue an update waits, what commands and tokens say, and which keys messages get."""

from datetime import UTC, datetime
from typing import Any

import pytest
from onechat_telegram.domain.callbacks import Callback
from onechat_telegram.domain.commands import Start, command_of, given_at
from onechat_telegram.domain.ids import (
    BotId,
    ChatId,
    MessageId,
    UserId,
    bot_of_token,
    bot_of_update_key,
    key_for_message,
    key_for_update,
)
from onechat_telegram.domain.pairing import CODE_LETTERS, new_code, same_code
from onechat_telegram.domain.updates import InGroup, PassedOver, lane_of, read_update

ADA = {"id": 1, "is_bot": False, "first_name": "Ada", "last_name": "L"}
GROUP = {"id": -5, "type": "supergroup"}


def message(**fields: Any) -> dict[str, Any]:
    return {
        "message": {"message_id": 7, "date": 1_800_000_000, "from": ADA, "chat": {"id": 1, "type": "private"}}
        | fields
    }


@pytest.mark.parametrize(
    "update",
    [
        message(text="hi", chat=GROUP),
        {"edited_message": message(text="hi", chat=GROUP, edit_date=1)["message"]},
        {"my_chat_member": {"chat": GROUP, "from": ADA, "date": 1}},
        {
            "message": {
                "message_id": 1,
                "date": 1,
                "chat": {"id": -5, "type": "group"},
                "migrate_to_chat_id": -6,
            }
        },
    ],
)
def test_what_belongs_to_a_group_has_a_queue_of_its_own(update: dict[str, Any]) -> None:
    assert read_update(update) == InGroup(chat=-5)  # type: ignore[arg-type]
    assert lane_of(update, UserId(1)) == "group:-5"


def test_a_press_of_a_button_is_read_and_waits_for_no_message() -> None:
    update = {"callback_query": {"id": "9", "from": ADA, "data": "x"}}

    incoming = read_update(update)

    assert isinstance(incoming, Callback)
    assert (incoming.id, incoming.user) == ("9", 1)
    assert lane_of(update, UserId(1)) == "button"
    assert lane_of(update, UserId(2)) == "stranger:1"


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"channel_post": {}},
        message(pinned_message={}),
        message(text="x", chat={"id": -1, "type": "channel"}),
        {"my_chat_member": {"chat": {"id": 1, "type": "private"}, "from": ADA, "date": 1}},
        {"message": {"message_id": 7, "date": 1, "chat": {"id": 1, "type": "private"}, "text": "x"}},
        {"edited_message": message(live_location={}, location={}, edit_date=1)["message"]},
    ],
)
def test_anything_else_is_passed_over(update: dict[str, Any]) -> None:
    assert read_update(update) == PassedOver()


@pytest.mark.parametrize(
    ("update", "lane"),
    [
        (message(text="/stop"), "stop"),
        (message(text="/Stop@my_bot House"), "stop"),
        (message(text="/stops"), "command"),
        (message(text="/stop/it"), "message"),
        (message(text="/usage"), "command"),
        (message(text="/WhatsApp-pair +39 333 1234567"), "command"),
        (message(text="/whatsapp\npair +39 333 1234567"), "command"),
        (message(text="/etc/hosts is a file"), "message"),
        (message(text="/é"), "message"),
        (message(text="/7"), "message"),
        (message(text="stop"), "message"),
        (message(text="/"), "message"),
        (message(text="/stop", forward_origin={}), "message"),
        (message(caption="/stop", photo=[]), "message"),
        (message(text="/stop " + "a" * 4000), "message"),
        (message(text=5), "message"),
        ({"message": None}, "message"),
        ({"message": {"chat": 3}}, "message"),
        ("nonsense", "message"),
        (None, "message"),
        (message(text="/stop", **{"from": {"id": 2}}), "stranger:2"),
        (message(photo=[], **{"from": {"id": 2}}), "stranger:2"),
    ],
)
def test_commands_pass_what_waits_and_strangers_hold_up_nobody(update: object, lane: str) -> None:
    assert lane_of(update, UserId(1)) == lane


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/stop", "/stop"),
        ("/stop House", "/stop House"),
        ("/stop@my_bot House", "/stop House"),
        ("/start", Start(code="")),
        ("/Start abc", Start(code="abc")),
        ("/start@my_bot abc ", Start(code="abc")),
        ("/agents \ud83c", "/agents \ufffd"),
        ("/whatsapp pair +977 98", "/whatsapp pair +977 98"),
    ],
)
def test_commands_lose_the_bots_name(text: str, command: Start | str) -> None:
    assert command_of(text) == command


def test_a_command_counts_as_given_at_the_end_of_its_second() -> None:
    """What began in the same second is what it was meant to stop."""
    sent = datetime.fromtimestamp(1_800_000_000, UTC)

    assert given_at(1_800_000_000, sent.replace(minute=5)) == sent.replace(second=1)
    assert given_at(1_800_000_000, sent.replace(microsecond=5)) == sent.replace(microsecond=5)


def test_keys_tell_messages_and_their_edits_apart() -> None:
    bot, chat, one = BotId(8), ChatId(1), MessageId(7)

    assert key_for_message(bot, chat, one) == "telegram:8:1:7"
    assert key_for_message(bot, chat, one, 99) == "telegram:8:1:7:99"
    assert bot_of_update_key(key_for_update(bot, 5, 1, 0)) == bot


@pytest.mark.parametrize(
    ("token", "bot"),
    [
        ("123:AAb-c_d", 123),
        ("123", None),
        ("", None),
        ("x:y", None),
        ("1:", None),
        ("1:a/b", None),
        ("1:é", None),
    ],
)
def test_a_token_names_its_bot(token: str, bot: int | None) -> None:
    assert bot_of_token(token) == bot


def test_a_code_is_made_by_chance_and_compared_whatever_its_case() -> None:
    code = new_code(lambda letters: letters[3])

    assert code == CODE_LETTERS[3] * 10
    assert same_code(code, f" {code.upper()} ")
    assert not same_code(code, code[:-1])
    assert not same_code("", "")
