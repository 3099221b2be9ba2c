"""Every update and every answer is what the public schema describes: no field is missing that must be there,
and none is there that the schema does not have.
"""

from collections.abc import Callable
from typing import Any

import pytest
import telegram

from tests.fakes.bot_api import OWNER, BotApi
from tests.fakes.bot_api_readers import unknown_fields
from tests.fakes.pictures import PNG, drawn

PHOTO = drawn(1000, 500)
BOLD = {"type": "bold", "offset": 0, "length": 4}
BUTTONS = {
    "inline_keyboard": [[{"text": "Yes", "callback_data": "y"}, {"text": "See", "url": "https://a.example"}]]
}


def _supergroup(api: BotApi) -> int:
    chat = api.groups.found("Crew", [7, 8], forum=True)
    api.groups.promote(chat, api.bot_id)
    return chat


def _pressed(api: BotApi) -> None:
    message = {"message_id": 9, "from": api.bot(), "chat": api.directory.chat(OWNER), "date": 1, "text": "?"}
    api.keep(message | {"reply_markup": BUTTONS})
    api.callbacks.press(9, "Yes")


def _anonymous(api: BotApi) -> None:
    chat = _supergroup(api)
    api.groups.promote(chat, 7, anonymous=True, title="Chief")
    api.say("order!", user=7, chat=chat)


ACTS: dict[str, Callable[[BotApi], Any]] = {
    "text": lambda api: api.say("/start with @someone at https://a.example #now"),
    "reply": lambda api: api.say("no", reply_to=api.say("yes")),
    "edit": lambda api: api.edit(api.say("helo"), "hello"),
    "photo": lambda api: api.people.show_photo(PHOTO, "look"),
    "edited caption": lambda api: api.edit(api.people.show_photo(PHOTO), "a caption, later"),
    "file": lambda api: api.people.show_file(PNG, name="dot.png", mime="image/png"),
    "album": lambda api: api.people.show_album([(PHOTO, "a"), (PNG, "")]),
    "forward of a user": lambda api: api.people.forward("their words", 8),
    "forward of one who hides": lambda api: api.people.forward("their words", "Nobody"),
    "button": _pressed,
    "basic group": lambda api: api.groups.found("Crew", [7], kind="group"),
    "supergroup": lambda api: api.groups.found("Crew", [7]),
    "removed from a basic group": lambda api: api.groups.remove_bot(api.groups.found("Crew", kind="group")),
    "removed from a supergroup": lambda api: api.groups.remove_bot(api.groups.found("Crew")),
    "administrator": _supergroup,
    "muted": lambda api: api.groups.mute_bot(_supergroup(api)),
    "no administrator any more": lambda api: api.groups.demote(_supergroup(api), api.bot_id),
    "anonymous administrator": _anonymous,
    "somebody joins": lambda api: api.groups.join(_supergroup(api), 9),
    "somebody leaves": lambda api: api.groups.leave(_supergroup(api), 8),
    "somebody is removed": lambda api: api.groups.leave(_supergroup(api), 8, by=OWNER),
    "new title": lambda api: api.groups.rename(_supergroup(api), "Old crew"),
    "topic": lambda api: api.groups.open_topic(_supergroup(api), "Tools"),
    "migration": lambda api: api.groups.migrate(api.groups.found("Crew", kind="group")),
    "blocked": lambda api: api.groups.block(OWNER),
}


@pytest.mark.parametrize("act", ACTS)
async def test_an_update_has_the_fields_of_the_schema_and_no_others(act, api, bot):
    everything = list(telegram.Update.ALL_TYPES)
    await bot.get_updates(allowed_updates=everything)

    ACTS[act](api)

    updates = await bot.get_updates(allowed_updates=everything)
    assert updates
    assert list(unknown_fields(updates)) == []


async def test_what_is_sent_has_the_fields_of_the_schema_and_no_others(api, bot):
    chat = _supergroup(api)
    topic = api.groups.open_topic(chat, "Tools")
    asked = api.say("well?", user=7, chat=chat, thread=topic)
    reply = telegram.ReplyParameters(asked)
    keyboard = telegram.InlineKeyboardMarkup.de_json(BUTTONS, bot)

    written = await bot.send_message(
        chat,
        "bold @them",
        entities=[telegram.MessageEntity("bold", 0, 4)],
        message_thread_id=topic,
        reply_parameters=reply,
        reply_markup=keyboard,
        protect_content=True,
        link_preview_options=telegram.LinkPreviewOptions(is_disabled=True),
    )
    shown = [
        written,
        await bot.send_photo(chat, PHOTO, caption="look", has_spoiler=True),
        await bot.send_document(chat, PNG, filename="dot.png"),
        await bot.edit_message_text("plain", chat, written.message_id),
    ]

    assert list(unknown_fields(shown)) == []
    assert all(message.from_user.id == api.bot_id for message in shown)


async def test_what_is_asked_has_the_fields_of_the_schema_and_no_others(api, bot):
    chat = _supergroup(api)
    api.groups.promote(chat, 7, anonymous=True, title="Chief")
    api.groups.leave(chat, 8, by=OWNER)
    api.people.show_photo(PHOTO)
    await bot.set_my_commands([("help", "What there is")])

    found = [
        await bot.get_me(),
        await bot.get_chat(OWNER),
        await bot.get_chat(chat),
        [await bot.get_chat_member(chat, user) for user in (OWNER, 7, 8, api.bot_id)],
        list(await bot.get_chat_administrators(chat)),
        await bot.get_webhook_info(),
        list(await bot.get_my_commands()),
        await bot.get_file(api.updates[-1]["message"]["photo"][-1]["file_id"]),
    ]

    assert list(unknown_fields(found)) == []


def test_a_field_that_the_schema_lacks_is_found_however_deep():
    """The three tests above say nothing unless this one holds."""
    chat = {"id": 1, "type": "private", "colour": "red"}

    update = telegram.Update.de_json(
        {"update_id": 1, "message": {"message_id": 1, "date": 1, "chat": chat}}, None
    )

    assert list(unknown_fields(update)) == [".message.chat.colour"]
