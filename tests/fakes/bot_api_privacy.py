"""Which messages of a group reach the bot, as Telegram's pages on privacy mode list them.

A bot that administers the group gets everything, and so does one that was added while privacy mode was off:
the setting counts from the next time that the bot is added. All others get service messages, commands with
the bot's name, commands without one while it is the last bot that has written, and replies to what is the
bot's or was for it. A mention is not on that list, though @BotFather's words sound so; in use it does not
come. Other bots' messages never do.
"""

from tests.fakes.bot_api_directory import Group
from tests.fakes.bot_api_found import covered
from tests.fakes.bot_api_state import BotState, Json

_SERVICE = (
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "group_chat_created",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "forum_topic_created",
    "forum_topic_closed",
    "forum_topic_reopened",
)


def reaches_bot(state: BotState, group: Group, message: Json) -> bool:
    """Whether a group's message comes to the bot."""
    place = group.member(state.bot_id)
    if not place.inside:
        return False
    if any(name in message for name in _SERVICE):
        return True
    if message["from"]["is_bot"] and "sender_chat" not in message:
        return False
    return place.administers or not group.private or _meant(state, message)


def _meant(state: BotState, message: Json) -> bool:
    """Whether it is the bot's own, a command for it, or answers one that is."""
    if message["from"]["id"] == state.bot_id or _commands(state, message):
        return True
    answered = message.get("reply_to_message")
    if answered is None:
        return False
    whole = state.messages.get((message["chat"]["id"], answered["message_id"]), answered)
    return _meant(state, whole)


def _commands(state: BotState, message: Json) -> bool:
    text = message.get("text", message.get("caption", ""))
    entities = message.get("entities", message.get("caption_entities", ()))
    for entity in entities:
        if entity["type"] != "bot_command":
            continue
        _, _, name = covered(text, entity).lower().partition("@")
        if name == state.username.lower():
            return True
        if not name and state.last_bots.get(message["chat"]["id"]) == state.bot_id:
            return True
    return False
