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


def translated(event: Any) -> list[WireEvent]:
    """What `event`, a protobuf object of neonize's, says; nothing for what is not read.

    Raises OverflowError for a time that no clock shows.
    """
    return list(_translated(event))


def _translated(event: Any) -> Iterator[WireEvent]:
    match event.DESCRIPTOR.name:
        case "Message":
            yield from _messages(event)
        case "UndecryptableMessage":
            yield from _undecryptable(event)
        case "GroupInfoEvent" if event.HasField("Name"):
            yield GroupRenamed(chat=_id(event.JID), name=event.Name.Name)
        case "JoinedGroup":
            yield GroupRenamed(chat=_id(event.GroupInfo.JID), name=event.GroupInfo.GroupName.Name)
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
            yield WireDown(
                why=f"WhatsApp refused the connection: {_word(event, 'Reason')} {event.Message}".strip()
            )


def _messages(event: Any) -> Iterator[Heard]:
    source, said = event.Info.MessageSource, _text_of(event.Message)
    if said is None or not event.Info.ID or not _is_read(source) or _passes(event):
        return
    text, context = said
    chat = _id(source.Chat)
    yield Heard(
        message_id=event.Info.ID,
        chat=chat,
        sender=_id(source.Sender),
        sender_alt=_id(source.SenderAlt),
        recipient_alt=_id(source.RecipientAlt),
        from_me=source.IsFromMe,
        is_group=is_group(chat),
        text=text,
        mentions=_mentions(context, chat),
        quoted_author=bare(context.participant) if context is not None and context.stanzaID else "",
        push_name=event.Info.Pushname,
        time=_time(event.Info),
        retry=event.RetryCount,
    )


def _undecryptable(event: Any) -> Iterator[Undecryptable]:
    """One that this device is not meant to have (view-once), or that no program shows, is none."""
    source = event.Info.MessageSource
    hidden = _word(event, "DecryptFailMode") == "DECRYPT_FAIL_HIDE"
    if not event.IsUnavailable and not hidden and _is_read(source):
        yield Undecryptable(chat=_id(source.Chat), sender=_id(source.Sender), time=_time(event.Info))


def _is_read(source: Any) -> bool:
    """Whether it is of a chat that is read: no status, no newsletter, not the user's with themselves."""
    chat = _id(source.Chat)
    to_self = source.IsFromMe and chat in (_id(source.Sender), _id(source.SenderAlt))
    return server_of(chat) in _CHATS and source.Chat.User not in _NOBODY and not to_self


def _passes(event: Any) -> bool:
    """Whether it is no message of its own that stays: an edit, a deletion, one that disappears.

    One that was asked of the phone because it could not be decrypted may be any of these without saying so.
    """
    flagged = any(getattr(event, flag) for flag in _GONE_LATER)
    return flagged or bool(event.Info.Edit or event.UnavailableRequestID) or event.Info.Category == "peer"


def _text_of(message: Any) -> tuple[str, Any] | None:
    """The text of `message`, and its context or None; None without a text to read."""
    for _ in range(_WRAPPED_AT_MOST):
        if wrapper := next((name for name in _WRAPPERS if message.HasField(name)), None):
            message = getattr(message, wrapper).message
    if not message.HasField("extendedTextMessage"):
        return (message.conversation, None) if message.conversation else None
    extended = message.extendedTextMessage
    context = extended.contextInfo
    # The library's own flag is often unset where a time to disappear is set.
    passes = extended.viewOnce or context.expiration or context.afterReadDuration or context.isGroupStatus
    return None if passes or not extended.text else (extended.text, context)


def _mentions(context: Any, chat: Jid) -> tuple[str, ...]:
    """Who is mentioned; the chat itself where all of it are."""
    if context is None:
        return ()
    everybody = (chat,) if context.nonJIDMentions else ()
    return (*filter(None, map(bare, context.mentionedJID)), *everybody)


def _id(library_jid: Any) -> Jid:
    return jid(library_jid.User, library_jid.Server)


def _time(info: Any) -> datetime:
    return EPOCH + timedelta(seconds=info.Timestamp // 1000)


def _word(event: Any, field: str) -> str:
    """The name of the value of an enumeration."""
    values = event.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    return str(values[getattr(event, field)].name)
