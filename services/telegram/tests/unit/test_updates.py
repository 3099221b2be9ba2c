"""What updates say, how they are worded for the agent, and which keys they get."""

from datetime import UTC, datetime
from typing import Any

import pytest
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
from onechat_telegram.domain.updates import NotRead, PassedOver, Written, lane_of, read_update
from onechat_telegram.domain.wording import for_agent, marked

ADA = {"id": 1, "is_bot": False, "first_name": "Ada", "last_name": "L"}


def message(**fields: Any) -> dict[str, Any]:
    return {
        "message": {"message_id": 7, "date": 1_800_000_000, "from": ADA, "chat": {"id": 1, "type": "private"}}
        | fields
    }


def written(**fields: Any) -> Written:
    incoming = read_update(message(**fields))
    assert isinstance(incoming, Written)
    return incoming


def test_a_text_is_read_and_goes_as_it_is() -> None:
    incoming = written(text="  hello\nthere ")

    assert (incoming.user, incoming.chat, incoming.message, incoming.date) == (1, 1, 7, 1_800_000_000)
    assert for_agent(incoming) == "  hello\nthere "


@pytest.mark.parametrize(
    ("origin", "author"),
    [
        ({"type": "user", "sender_user": {"first_name": "Eve", "last_name": "X"}}, "Eve X"),
        ({"type": "hidden_user", "sender_user_name": "Someone"}, "Someone"),
        ({"type": "chat", "sender_chat": {"title": "The group"}}, "The group"),
        ({"type": "channel", "chat": {"title": "News\n/stop"}}, "News /stop"),
    ],
)
def test_a_forward_names_whose_words_it_quotes(origin: dict[str, Any], author: str) -> None:
    text = for_agent(written(text="one\rtwo\u2028three", forward_origin=origin))

    assert text == f"Forwarded, written by {author}:\n| one\n| two\n| three"


def test_a_reply_shows_what_it_answers() -> None:
    to_bot = {"message_id": 3, "from": {"is_bot": True, "first_name": "One"}, "text": "Shall I?"}

    assert for_agent(written(text="yes", reply_to_message=to_bot)) == (
        "In reply to what you wrote:\n| Shall I?\nyes"
    )
    chosen = written(text="yes", reply_to_message=to_bot, quote={"text": "Shall"})
    assert for_agent(chosen) == "In reply to what you wrote:\n| Shall\nyes"


def test_a_reply_to_a_picture_without_words_quotes_nothing() -> None:
    replied = {"message_id": 3, "from": ADA, "photo": []}

    assert for_agent(written(text="yes", reply_to_message=replied)) == "yes"


def test_an_edit_says_which_message_it_replaces() -> None:
    update = {"edited_message": message(text="hello", edit_date=1_800_000_060)["message"]}

    incoming = read_update(update)

    assert isinstance(incoming, Written)
    assert incoming.edit_date == 1_800_000_060
    assert for_agent(incoming) == "[edited; replaces what I wrote on 2027-01-15 at 08:00:00 UTC]\nhello"


def test_halves_of_letters_are_joined_or_replaced() -> None:
    """JSON may hold them; nothing later may fail on one."""
    assert for_agent(written(text="\ud83c\udf78 \ud83c x")) == "🍸 \ufffd x"


def test_a_mark_on_every_line_can_not_be_closed_from_inside() -> None:
    assert marked("a\n\nb\x0bc\x85d") == "| a\n| \n| b\n| c\n| d"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"photo": []}, "Photos"), ({"voice": {}}, "Voice messages"), ({"sticker": {}}, "Stickers")],
)
def test_kinds_that_are_not_read_are_named(fields: dict[str, Any], kind: str) -> None:
    assert read_update(message(**fields)) == NotRead(user=1, chat=1, kind=kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"channel_post": {}},
        message(pinned_message={}),
        message(text="x", chat={"id": -1, "type": "supergroup"}),
        {"edited_message": message(live_location={}, location={}, edit_date=1)["message"]},
    ],
)
def test_anything_else_is_passed_over(update: dict[str, Any]) -> None:
    assert read_update(update) == PassedOver()


@pytest.mark.parametrize(
    ("update", "lane"),
    [
        (message(text="/stop"), "command"),
        (message(text="stop"), "message"),
        (message(text="/"), "message"),
        (message(text="/stop", forward_origin={}), "message"),
        (message(text=5), "message"),
        ({"message": None}, "message"),
        ({"message": {"chat": 3}}, "message"),
        ("nonsense", "message"),
        (None, "message"),
        (message(text="/stop", **{"from": {"id": 2}}), "stranger"),
        (message(photo=[], **{"from": {"id": 2}}), "stranger"),
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
        ("/start@my_bot abc ", Start(code="abc")),
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
