"""Edits, deletions and buttons, as Telegram allows them."""

import pytest

from tests.fakes.bot_api import OWNER
from tests.fakes.pictures import PNG

SEND = {"chat_id": OWNER}


def keyboard(*buttons):
    return {"inline_keyboard": [list(buttons)]}


YES = {"text": "Yes", "callback_data": "yes:7"}
NO = {"text": "No", "callback_data": "no:7"}


@pytest.fixture
async def asked(call):
    """The id of a question with two buttons."""
    sent = await call("sendMessage", **SEND, text="Do it?", reply_markup=keyboard(YES, NO))
    return sent.result["message_id"]


async def test_an_edit_changes_the_message_where_it_stands(asked, api, call):
    await call("sendMessage", **SEND, text="below")

    edited = await call("editMessageText", **SEND, message_id=asked, text="Done.")

    assert edited.result["message_id"] == asked
    assert edited.result["edit_date"]
    assert api.texts() == ["Done.", "below"]
    assert [edit["text"] for edit in api.edits] == ["Done."]


async def test_an_edit_that_names_no_keyboard_takes_it_away(asked, call):
    edited = await call("editMessageText", **SEND, message_id=asked, text="Done.")

    assert "reply_markup" not in edited.result


async def test_a_keyboard_alone_can_be_taken_away(asked, api, call):
    edited = await call("editMessageReplyMarkup", **SEND, message_id=asked)

    assert edited.result["text"] == "Do it?"
    assert "reply_markup" not in edited.result


@pytest.mark.parametrize("text", ["Do it?", "Do it?\n"])
async def test_an_edit_that_changes_nothing_is_refused(text, asked, call):
    """Blanks at the end are not shown, so they are no change: a draft that grows by one must wait."""
    refused = await call(
        "editMessageText", **SEND, message_id=asked, text=text, reply_markup=keyboard(YES, NO)
    )

    assert refused.refusal[0] == 400
    assert refused.refusal[1].startswith("Bad Request: message is not modified")


async def test_a_bot_edits_nobody_elses_message_and_none_that_is_gone(api, call):
    theirs = api.say("mine")

    foreign = await call("editMessageText", **SEND, message_id=theirs, text="yours")
    gone = await call("editMessageText", **SEND, message_id=theirs + 50, text="yours")

    assert foreign.refusal == (400, "Bad Request: message can't be edited")
    assert gone.refusal == (400, "Bad Request: message to edit not found")


async def test_an_edit_has_the_limits_of_a_message(asked, api, call):
    refused = await call("editMessageText", **SEND, message_id=asked, text="🎩" * 2049)

    assert refused.refusal == (400, "Bad Request: message is too long")
    assert api.texts() == ["Do it?"]


async def test_a_text_has_no_caption_to_edit(asked, call):
    refused = await call("editMessageCaption", **SEND, message_id=asked, caption="?")

    assert refused.refusal == (400, "Bad Request: there is no caption in the message to edit")


async def test_a_picture_has_no_text_to_edit(api, bot, call):
    sent = await bot.send_photo(OWNER, PNG)

    refused = await call("editMessageText", **SEND, message_id=sent.message_id, text="?")

    assert refused.refusal == (400, "Bad Request: there is no text in the message to edit")


async def test_edits_are_under_flood_control_too(asked, api, call):
    api.flood.on = True
    await call("editMessageText", **SEND, message_id=asked, text="one")

    refused = await call("editMessageText", **SEND, message_id=asked, text="two")

    assert refused.refusal[0] == 429
    assert api.texts() == ["one"]


async def test_a_deleted_message_is_gone_for_everything_else(asked, api, call):
    deleted = await call("deleteMessage", **SEND, message_id=asked)

    again = await call("deleteMessage", **SEND, message_id=asked)
    edited = await call("editMessageText", **SEND, message_id=asked, text="Done.")

    assert deleted.result is True
    assert (again.status, edited.status) == (400, 400)
    assert api.texts() == []


async def test_after_48_hours_nothing_of_a_private_chat_is_deleted(asked, call, clock):
    clock.now += 48 * 3600

    refused = await call("deleteMessage", **SEND, message_id=asked)

    assert refused.refusal[0] == 400


async def test_a_bot_deletes_others_messages_in_a_group_with_the_right_alone(api, call):
    chat = api.groups.found("Crew", [7])
    theirs = api.say("oops", user=7, chat=chat)

    without = await call("deleteMessage", chat_id=chat, message_id=theirs)
    api.groups.promote(chat, api.bot_id)
    with_it = await call("deleteMessage", chat_id=chat, message_id=theirs)

    assert without.refusal[0] == 400
    assert with_it.result is True


@pytest.mark.parametrize("data", ["x" * 64, "é" * 32])
async def test_a_button_bears_up_to_64_bytes(data, call):
    sent = await call("sendMessage", **SEND, text="?", reply_markup=keyboard(YES | {"callback_data": data}))

    assert sent.result["reply_markup"] == keyboard(YES | {"callback_data": data})


@pytest.mark.parametrize(
    "button",
    [
        YES | {"callback_data": "x" * 65},
        YES | {"callback_data": "é" * 33},
        YES | {"callback_data": ""},
        YES | {"url": "https://a.example"},
        {"text": "nothing happens"},
        {"text": "See", "url": "javascript:alert(1)"},
        {"text": "", "callback_data": "x"},
        "Yes",
    ],
)
async def test_a_button_that_can_do_nothing_or_too_much_is_refused(button, api, call):
    refused = await call("sendMessage", **SEND, text="?", reply_markup=keyboard(button))

    assert refused.refusal[0] == 400
    assert api.sent == []


async def test_a_keyboard_ends_at_a_hundred_buttons(call):
    full = await call("sendMessage", **SEND, text="?", reply_markup=keyboard(*[YES] * 100))
    more = await call("sendMessage", **SEND, text="?", reply_markup=keyboard(*[YES] * 101))

    assert (full.status, more.status) == (200, 400)


async def test_a_press_comes_with_the_data_the_message_and_who_pressed(asked, api, call):
    query = api.callbacks.press(asked, "No")

    [update] = (await call("getUpdates")).result
    shown = update["callback_query"]
    assert (shown["id"], shown["data"], shown["from"]["id"]) == (query, "no:7", OWNER)
    assert (shown["message"]["message_id"], shown["message"]["text"]) == (asked, "Do it?")


async def test_a_query_is_answered_once(asked, api, call):
    query = api.callbacks.press(asked, "Yes")

    first = await call("answerCallbackQuery", callback_query_id=query, text="Noted")
    second = await call("answerCallbackQuery", callback_query_id=query)

    assert first.result is True
    assert second.refusal[0] == 400
    assert api.callbacks.answers == {query: {"text": "Noted", "show_alert": False}}


async def test_a_query_that_is_too_old_or_was_never_asked_is_refused(asked, api, call):
    query = api.callbacks.press(asked, "Yes")
    api.callbacks.expire()

    old = await call("answerCallbackQuery", callback_query_id=query)
    invented = await call("answerCallbackQuery", callback_query_id="1")

    assert old.refusal == invented.refusal
    assert old.refusal[1].startswith("Bad Request: query is too old")


async def test_an_answer_to_a_query_ends_at_200_characters(asked, api, call):
    query = api.callbacks.press(asked, "Yes")

    long = await call("answerCallbackQuery", callback_query_id=query, text="x" * 201)
    right = await call("answerCallbackQuery", callback_query_id=query, text="x" * 200)

    assert (long.status, right.status) == (400, 200)


async def test_nobody_presses_a_button_that_is_not_shown_any_more(asked, api, call):
    await call("editMessageText", **SEND, message_id=asked, text="Done.")

    with pytest.raises(ValueError, match="shows no button"):
        api.callbacks.press(asked, "Yes")
