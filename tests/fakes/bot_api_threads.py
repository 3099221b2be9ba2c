"""Topics and replies: where a message stands in its chat, and which messages of a group reach the bot at all.

A topic's messages name it in message_thread_id and say is_topic_message, but for the general one, which is
never named; the first message of each is the answer to the topic's creation when it answers nothing else. In
a supergroup without topics a reply has the thread id of its root, and is no topic message.
"""

from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_directory import GENERAL, Group
from tests.fakes.bot_api_fields import flag, integer, structured
from tests.fakes.bot_api_found import covered
from tests.fakes.bot_api_refusals import THREAD_NOT_FOUND, RefusedByBotApi, refused
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


def standing(state: BotState, group: Group | None, thread: int | None, reply: Json | None) -> Json:
    """The fields of a message that say where it stands: its thread, and what it answers."""
    shown: Json = {} if reply is None else {"reply_to_message": reply}
    if group is None or group.type == "group":
        return shown
    if not group.is_forum:
        root = reply and reply.get("message_thread_id", reply["message_id"])
        return shown | ({"message_thread_id": root} if root else {})
    if thread in (None, GENERAL):
        return shown
    created = state.quoted(group.id, thread)
    if reply is None and created is not None:
        shown = {"reply_to_message": created}
    return shown | {"message_thread_id": thread, "is_topic_message": True}


def answered(state: BotState, chat: int, fields: Mapping[str, Any]) -> Json | None:
    """The message that a call answers by reply_parameters; refused when it is gone and was needed."""
    parameters = structured(fields, "reply_parameters")
    if parameters is None:
        return None
    if not isinstance(parameters, dict):
        raise refused("object expected as reply parameters")
    if integer(parameters, "chat_id", chat) != chat:
        raise refused("replies into other chats are not known here")
    found = state.quoted(chat, integer(parameters, "message_id"))
    if found is None and not flag(parameters, "allow_sending_without_reply"):
        raise refused("message to be replied not found")
    quote = parameters.get("quote")
    if found is not None and quote and quote not in found.get("text", found.get("caption", "")):
        raise refused("QUOTE_TEXT_INVALID")
    return found


def topic_of(
    state: BotState, group: Group | None, fields: Mapping[str, Any], reply: Json | None
) -> int | None:
    """The topic that a call writes into: the one it names, else that of what it answers; None is no topic."""
    named = integer(fields, "message_thread_id", 0) or None
    if named is not None and (group is None or named == GENERAL or named not in group.topics):
        raise RefusedByBotApi(400, THREAD_NOT_FOUND)
    if group is None or not group.is_forum:
        return None
    if named is None and reply is not None and reply.get("is_topic_message"):
        named = int(reply["message_thread_id"])
    topic = group.topics.get(named or GENERAL)
    if topic is not None and topic.closed and not group.member(state.bot_id).may("can_manage_topics"):
        raise refused("TOPIC_CLOSED")
    return named


def reaches_bot(state: BotState, group: Group, message: Json) -> bool:
    """Whether a group's message comes to the bot, by its place there and by BotFather's privacy mode."""
    place = group.member(state.bot_id)
    if not place.inside:
        return False
    if any(name in message for name in _SERVICE):
        return True
    if message["from"]["is_bot"] and "sender_chat" not in message:
        return False  # bots do not see one another
    if place.administers or not state.privacy:
        return True
    return _answers_bot(state, message) or _names_bot(state, message)


def _answers_bot(state: BotState, message: Json) -> bool:
    answered = message.get("reply_to_message")
    return answered is not None and answered["from"]["id"] == state.bot_id


def _names_bot(state: BotState, message: Json) -> bool:
    text = message.get("text", message.get("caption", ""))
    name = f"@{state.username}".lower()
    for entity in message.get("entities", message.get("caption_entities", ())):
        said = covered(text, entity).lower()
        match entity["type"]:
            case "mention" if said == name:
                return True
            case "text_mention" if entity["user"]["id"] == state.bot_id:
                return True
            case "bot_command":
                if said.endswith(name):
                    return True
                # Without a name it is for the bot that has written last.
                if "@" not in said and state.last_bots.get(message["chat"]["id"]) == state.bot_id:
                    return True
    return False
