"""Which chats' messages disappear, as far as what came of them since this process began says.

What disappears is not read, so a message of such a chat that could not be decrypted is none that is missing.
It reads neonize's protobuf objects, as translation.py does, and imports nothing of the library.
"""

from typing import Any

from onechat_whatsapp.wire_child.translation import chat_of, group_of


class Disappearing:
    """Learns it from events, and answers for those that say nothing of it themselves."""

    def __init__(self) -> None:
        self._chats: set[str] = set()

    def covers(self, event: Any) -> bool:
        """Whether `event` is a message without a key in such a chat; others tell which those are."""
        match event.DESCRIPTOR.name:
            case "UndecryptableMessage":
                return chat_of(event.Info.MessageSource) in self._chats
            case "Message":
                self._learn(chat_of(event.Info.MessageSource), _said_by(event))
            case "GroupInfoEvent" if event.HasField("Ephemeral"):
                self._learn(group_of(event), event.Ephemeral.IsEphemeral)
            case "JoinedGroup":
                self._learn(group_of(event.GroupInfo), event.GroupInfo.GroupEphemeral.IsEphemeral)
        return False

    def _learn(self, chat: str, disappears: bool | None) -> None:
        if disappears:
            self._chats.add(chat)
        elif disappears is not None:
            self._chats.discard(chat)


def _said_by(event: Any) -> bool | None:
    """Whether a message says that those of its chat disappear; None where it says nothing of that."""
    message = event.Message
    if message.HasField("protocolMessage"):
        protocol = message.protocolMessage
        changes = protocol.type == protocol.EPHEMERAL_SETTING
        return bool(protocol.ephemeralExpiration) if changes else None
    contexts = [
        within.contextInfo
        for field, within in message.ListFields()
        if field.message_type is not None and "contextInfo" in field.message_type.fields_by_name
    ]
    if event.IsEphemeral or any(context.expiration for context in contexts):
        return True
    return False if message.conversation or contexts else None
