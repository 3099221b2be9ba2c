"""Topics and replies: where a message stands in its chat.

A topic's messages name it in message_thread_id and say is_topic_message, but for the general one, which is
never named; the first message of each is the answer to the topic's creation when it answers nothing else. In
a supergroup without topics a reply has the thread id of its root, and is no topic message.
"""

from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_directory import GENERAL, Group
from tests.fakes.bot_api_fields import flag, integer, structured
from tests.fakes.bot_api_refusals import THREAD_NOT_FOUND, RefusedByBotApi, refused
from tests.fakes.bot_api_state import BotState, Json


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
