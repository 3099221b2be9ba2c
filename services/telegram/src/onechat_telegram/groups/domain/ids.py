"""Ids of group chats. A platform's own ids, as text: whatever it calls a chat, a member, a message, a thread.

Only adapters make and read them; here they are compared and kept. Keys and sources are built here alone.
"""

from typing import Final, NewType

ChatId = NewType("ChatId", str)  # of a group, or of a member's private chat
MemberId = NewType("MemberId", str)  # one person, whatever the name; a group that writes as itself is one
MessageId = NewType("MessageId", str)  # within its chat
ThreadId = NewType("ThreadId", str)  # within its chat; "" where there are none
AgentId = NewType("AgentId", str)
MessageKey = NewType("MessageKey", str)  # see KEY_MAX; a state of a message, the same always gives the same
Source = NewType("Source", str)  # what the agent service knows a group by

KEY_MAX: Final = 160  # printable ASCII characters of a message's key; suffixes make it longer
NO_THREAD: Final = ThreadId("")


def source_of(channel: str, chat: ChatId) -> Source:
    """The source of a group: its platform's channel and its id when it was first admitted."""
    return Source(f"{channel}:{chat}")


def key_of_batch(first: MessageKey) -> MessageKey:
    """The key of the batch that `first` began; a message begins one batch at most."""
    return MessageKey(f"{first}:batch")


def key_of_own(reply: MessageKey) -> MessageKey:
    """The key under which the bot's own words `reply` are remembered."""
    return MessageKey(f"{reply}:own")


def key_of_line(cause: MessageKey) -> MessageKey:
    """The key of the gateway's own line in answer to `cause`."""
    return MessageKey(f"{cause}:line")
