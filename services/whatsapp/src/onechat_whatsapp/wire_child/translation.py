"""neonize's events as this gateway's own. Pure: it reads protobuf objects and imports nothing of the library.

What a message says of itself decides here: only a text that is meant to stay becomes one. Who the user is,
and what is hidden of it, is reading.py's. The shapes: whatsmeow, beneath neonize, has taken off the wrappers
of disappearing, view-once and edited messages and says so in flags. Which events are asked for: WANTED.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from onechat_whatsapp.domain.chat_ids import GROUPS, LIDS, LISTS, NUMBERS, Jid, bare, is_group, jid, server_of
from onechat_whatsapp.wire.events import (
    Banned,
    CaughtUp,
    Connected,
    Disconnected,
    GroupRenamed,
    Heard,
    LoggedOut,
    Outdated,
    Replaced,
    Undecryptable,
    WireDown,
    WireEvent,
)

#: Names in neonize.events. A receipt of a kind that the library does not know would end all events; what was
#: written before the link comes as HistorySyncEv only; a pairing's words come by another way.
WANTED: Final = (
    "ConnectedEv",
    "KeepAliveTimeoutEv",
    "KeepAliveRestoredEv",
    "LoggedOutEv",
    "StreamReplacedEv",
    "TemporaryBanEv",
    "ConnectFailureEv",
    "ClientOutdatedEv",
    "DisconnectedEv",
    "MessageEv",
    "JoinedGroupEv",
    "GroupInfoEv",
    "OfflineSyncCompletedEv",
    "UndecryptableMessageEv",
)
PINGS_LOST: Final = 2  # a single one is no break; each takes about 35 s
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_CHATS: Final = frozenset({NUMBERS, LIDS, GROUPS, LISTS})
_NOBODY: Final = frozenset({"0", "status"})  # WhatsApp's own announcements; what people post to all
_GONE_LATER: Final = ("IsEphemeral", "IsViewOnce", "IsViewOnceV2", "IsViewOnceV2Extension", "IsEdit")
# Around a text that does something besides: it names a group, asks a bot, is hidden until it is touched.
_WRAPPERS: Final = (
    "deviceSentMessage",
    "groupMentionedMessage",
    "botInvokeMessage",
    "botForwardedMessage",
    "spoilerMessage",
)
_WRAPPED_AT_MOST: Final = 5
_TEXT_MAX: Final = 200_000  # characters; WhatsApp's own programs let 65,536 be typed
_NAME_MAX: Final = 4_096  # likewise, of 25
_LATEST_S: Final = int(datetime(9998, 1, 1, tzinfo=UTC).timestamp())
_KEYS: Final = frozenset({"senderKeyDistributionMessage", "messageContextInfo"})


def translated(event: Any) -> list[WireEvent]:
    """What `event`, a protobuf object of neonize's, says; nothing for what is not read."""
    return list(_translated(event))


def _translated(event: Any) -> Iterator[WireEvent]:
    match event.DESCRIPTOR.name:
        case "Message":
            yield from _messages(event)
        case "UndecryptableMessage":
            yield from _undecryptable(event)
        case "GroupInfoEvent" if event.HasField("Name"):
            yield GroupRenamed(chat=group_of(event), name=as_text(event.Name.Name))
        case "JoinedGroup":
            yield GroupRenamed(chat=group_of(event.GroupInfo), name=as_text(event.GroupInfo.GroupName.Name))
        case _:
            yield from _of_the_link(event)


def _of_the_link(event: Any) -> Iterator[WireEvent]:
    match event.DESCRIPTOR.name:
        case "Connected" | "KeepAliveRestored":
            yield Connected()
        case "Disconnected":
            yield Disconnected()
        case "KeepAliveTimeout" if event.ErrorCount >= PINGS_LOST:
            yield Disconnected()
        case "OfflineSyncCompleted":
            yield CaughtUp(count=event.Count)
        case "LoggedOut":
            yield LoggedOut(reason=_word(event, "Reason"))
        case "StreamReplaced":
            yield Replaced()
        case "TemporaryBan":
            yield Banned(code=_word(event, "Code"), expire_s=event.Expire)
        case "ClientOutdated":
            yield Outdated()
        case "ConnectFailure":  # the library does not try again after it
            why = f"{_word(event, 'Reason')} {as_text(event.Message)}".strip()
            yield WireDown(why=f"WhatsApp refused the connection: {why}")


def _messages(event: Any) -> Iterator[Heard]:
    source = event.Info.MessageSource
    said = None if _passes(event) else _text_of(event.Message)
    if said is None and _came_late(event):
        said = "", None
    if said is None or not event.Info.ID or not _is_read(source):
        return
    text, context = said
    chat = _id(source.Chat)
    yield Heard(
        message_id=as_text(event.Info.ID),
        chat=chat,
        sender=_id(source.Sender),
        sender_alt=_id(source.SenderAlt),
        recipient_alt=_id(source.RecipientAlt),
        from_me=source.IsFromMe,
        is_group=is_group(chat),
        text=text,
        mentions=_mentions(context, chat),
        quoted_author=bare(as_text(context.participant)) if context is not None and context.stanzaID else "",
        push_name=_push_name(event.Info),
        time=_time(event.Info),
        retry=event.RetryCount,
    )


def _undecryptable(event: Any) -> Iterator[Undecryptable]:
    """One that this device is not meant to have (view-once), or that no program shows, is none."""
    info, source = event.Info, event.Info.MessageSource
    hidden = event.IsUnavailable or _word(event, "DecryptFailMode") == "DECRYPT_FAIL_HIDE"
    unread = hidden or info.Edit or info.Category == "peer" or not info.ID or not _is_read(source)
    chat = chat_of(source)
    if unread or (source.IsFromMe and server_of(chat) == LISTS):  # each on the list has it in their own chat
        return
    yield Undecryptable(message_id=as_text(info.ID), chat=chat, sender=_id(source.Sender), time=_time(info))


def chat_of(source: Any) -> Jid:
    """The chat that a message came in; a person's by number where WhatsApp says it."""
    chat = _id(source.Chat)
    if server_of(chat) != LIDS:
        return chat
    return _id(source.RecipientAlt if source.IsFromMe else source.SenderAlt) or chat


def group_of(event: Any) -> Jid:
    """The group that an event, or a description, is about."""
    return _id(event.JID)


def _is_read(source: Any) -> bool:
    """Whether it is of a chat that is read: no status, no newsletter, not the user's with themselves."""
    chat = _id(source.Chat)
    own = {_id(source.Sender), _id(source.SenderAlt)} - {""}
    to_self = source.IsFromMe and (chat in own or _id(source.RecipientAlt) in own)
    return server_of(chat) in _CHATS and source.Chat.User not in _NOBODY and not to_self


def _passes(event: Any) -> bool:
    """Whether it is no message of its own that stays: an edit, a deletion, one that disappears.

    One that was asked of the phone because it could not be decrypted may be any of these without saying so.
    """
    flagged = any(getattr(event, flag) for flag in _GONE_LATER)
    return flagged or bool(event.Info.Edit or event.UnavailableRequestID) or event.Info.Category == "peer"


def _came_late(event: Any) -> bool:
    """Whether it is what could not be decrypted before, and not only the key for what is still to come."""
    within = {field.name for field, _ in event.Message.ListFields()}
    return event.RetryCount > 0 and not event.UnavailableRequestID and bool(within - _KEYS)


def _text_of(message: Any) -> tuple[str, Any] | None:
    """The text of `message`, and its context or None; None without a text to read."""
    for _ in range(_WRAPPED_AT_MOST):
        if wrapper := next((name for name in _WRAPPERS if message.HasField(name)), None):
            message = getattr(message, wrapper).message
    if not message.HasField("extendedTextMessage"):
        return (as_text(message.conversation)[:_TEXT_MAX], None) if message.conversation else None
    extended = message.extendedTextMessage
    context = extended.contextInfo
    # The library's own flag is often unset where a time to disappear is set.
    passes = extended.viewOnce or context.expiration or context.afterReadDuration or context.isGroupStatus
    return None if passes or not extended.text else (as_text(extended.text)[:_TEXT_MAX], context)


def _push_name(info: Any) -> str:
    """Empty for one that is no name; a part of it could be a part of a number."""
    name = as_text(info.Pushname)
    return name if len(name) <= _NAME_MAX else ""


def _mentions(context: Any, chat: Jid) -> tuple[str, ...]:
    """Who is mentioned; the chat itself where all of it are."""
    if context is None:
        return ()
    everybody = (chat,) if context.nonJIDMentions else ()
    return (*filter(None, map(bare, map(as_text, context.mentionedJID))), *everybody)


def _id(library_jid: Any) -> Jid:
    return jid(as_text(library_jid.User), as_text(library_jid.Server))


def as_text(text: Any) -> str:
    """`text`, which is bytes where it is no UTF-8: senders may write anything."""
    return text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")


def _time(info: Any) -> datetime:
    """EPOCH where none is given, which the library has as the year 1."""
    return EPOCH + timedelta(seconds=min(max(0, info.Timestamp // 1000), _LATEST_S))


def _word(event: Any, field: str) -> str:
    """The name of the value of an enumeration."""
    values = event.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    return str(values[getattr(event, field)].name)
