"""Which chats' messages were read, so that they can be answered whether or not the session lists them."""

import apsw

from onechat_whatsapp.domain.chat_ids import ChatId


def has_heard(db: apsw.Connection, chat: ChatId) -> bool:
    """Whether a message of `chat` was read, within the time for which that is kept."""
    return db.execute("SELECT 1 FROM heard WHERE chat = ? LIMIT 1", (chat,)).get is not None
