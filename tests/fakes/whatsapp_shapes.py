"""The library's own events in every shape that they may have, each with what a wire makes of it.

    for shape in shapes():
        shape.event                 # a protobuf object of the library's
        shape.heard                 # what `WhatsAppWire.events` gives of it, in order; nothing for most

Each has been through its bytes. Where neonize is not installed there are none: whatsapp_events.MISSING.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

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
    WireEvent,
)

from tests.fakes.whatsapp_events import (
    content,
    e2e,
    keyless,
    library_jid,
    plain,
    proto,
    said,
    text,
    through_bytes,
)
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, GARDEN

WRITTEN = datetime(2027, 1, 15, 8, tzinfo=UTC)
FLOOD = 5_000
WRAPPERS = ("groupMentionedMessage", "botInvokeMessage", "botForwardedMessage", "spoilerMessage")
HIDING = (
    "ephemeralMessage",
    "viewOnceMessage",
    "viewOnceMessageV2",
    "viewOnceMessageV2Extension",
    "editedMessage",
)
KEY = {"remoteJID": BOB, "fromMe": False, "ID": "OLD"}


@dataclass(frozen=True)
class Shape:
    """An event, and what it is on the wire."""

    name: str
    event: Any
    heard: tuple[WireEvent, ...] = ()


def shapes() -> Iterator[Shape]:
    """All of them; the link ends with the last."""
    yield from _ids()
    yield from _replays()
    yield from _wrappers()
    yield from _edits()
    yield from _keyless()
    yield from _of_the_link()


def flood() -> Iterator[Shape]:
    """So many messages as no person writes."""
    for number in range(FLOOD):
        around = {"chat": BOB, "sender": BOB, "message_id": f"F{number}"}
        yield Shape(
            f"message {number}", said(plain(f"{number}"), **around), (_heard(f"{number}", f"F{number}"),)
        )


def _heard(words: str, message_id: str, **fields: Any) -> Heard:
    usual: dict[str, Any] = {
        "chat": BOB,
        "sender": BOB,
        "sender_alt": "",
        "recipient_alt": "",
        "from_me": False,
        "is_group": False,
        "mentions": (),
        "quoted_author": "",
        "push_name": "Bob",
        "time": WRITTEN,
        "retry": 0,
    }
    return Heard(text=words, message_id=message_id, **(usual | fields))


def _ids() -> Iterator[Shape]:
    device = "15550002222:7@s.whatsapp.net"
    yield Shape(
        "a device beside a number",
        said(plain("hi"), chat=BOB, sender=device, sender_alt="111222333444:2@lid", message_id="I1"),
        (_heard("hi", "I1", sender_alt=BOB_LID),),
    )
    yield Shape(
        "a chat by LID",
        said(plain("hi"), chat=BOB_LID, sender=BOB_LID, sender_alt=BOB, message_id="I2"),
        (_heard("hi", "I2", chat=BOB_LID, sender=BOB_LID, sender_alt=BOB),),
    )
    answer = {"stanzaID": "X", "participant": "99887766554433:12@lid", "quotedMessage": plain("before")}
    mentions = ["15550001111:2@s.whatsapp.net", ANN_LID]
    yield Shape(
        "devices in mentions and answers",
        said(text("@you", mentionedJID=mentions, **answer), chat=GARDEN, sender=BOB, message_id="I3"),
        (_heard("@you", "I3", chat=GARDEN, is_group=True, mentions=(ANN, ANN_LID), quoted_author=ANN_LID),),
    )
    for name, chat, sender, alt in (("by number", BOB, ANN, ""), ("by LID", BOB_LID, ANN_LID, BOB)):
        around = {
            "chat": chat,
            "sender": sender,
            "recipient_alt": alt,
            "from_me": True,
            "message_id": f"I4{name}",
        }
        own = _heard("mine", f"I4{name}", chat=chat, sender=sender, recipient_alt=alt, from_me=True)
        yield Shape(f"the echo of what the phone sent, {name}", said(plain("mine"), **around), (own,))


def _replays() -> Iterator[Shape]:
    for retry in (0, 0, 2):
        again = said(plain("again"), chat=BOB, sender=BOB, message_id="R1", retry=retry)
        yield Shape(f"a replay, {retry}", again, (_heard("again", "R1", retry=retry),))


def _wrappers() -> Iterator[Shape]:
    within = e2e("FutureProofMessage")(message=text("within", mentionedJID=[ANN]))
    for name in WRAPPERS:
        wrapped = said(content(**{name: within}), chat=GARDEN, sender=BOB, message_id=f"W{name}")
        heard = _heard("within", f"W{name}", chat=GARDEN, is_group=True, mentions=(ANN,))
        yield Shape(f"a text in {name}", wrapped, (heard,))
    sent = content(deviceSentMessage=e2e("DeviceSentMessage")(destinationJID=BOB, message=plain("within")))
    yield Shape(
        "a text that the phone sent on",
        said(sent, chat=BOB, sender=ANN, from_me=True, message_id="W5"),
        (_heard("within", "W5", sender=ANN, from_me=True),),
    )
    for name in HIDING:
        hidden = content(**{name: e2e("FutureProofMessage")(message=plain("hidden"))})
        yield Shape(f"a text in {name}", said(hidden, chat=BOB, sender=BOB))
    gone = said(text("gone", expiration=86_400), chat=BOB, sender=BOB)
    yield Shape("a text that disappears without saying so", gone)


def _edits() -> Iterator[Shape]:
    protocol = e2e("ProtocolMessage")
    here: dict[str, Any] = {"chat": BOB, "sender": BOB}
    edit = protocol(key=KEY, type=protocol.MESSAGE_EDIT, editedMessage=plain("new"), timestampMS=1)
    revoked = content(protocolMessage=protocol(key=KEY, type=protocol.REVOKE))
    yield Shape("an edit by its flag", said(plain("new"), flags=("IsEdit",), **here))
    yield Shape("an edit by its envelope", said(plain("new"), edit="1", **here))
    yield Shape(
        "an edit as a message", said(content(protocolMessage=edit), edit="1", flags=("IsEdit",), **here)
    )
    yield Shape("a deletion", said(revoked, edit="7", **here))
    yield Shape("a reaction", said(content(reactionMessage={"key": KEY, "text": "👍"}), **here))
    yield Shape("a poll", said(content(pollCreationMessageV3={"name": "q"}), **here))
    yield Shape("a contact card", said(content(contactMessage={"displayName": "E", "vcard": "V"}), **here))
    yield Shape("a location", said(content(locationMessage={"degreesLatitude": 1.0, "name": "Here"}), **here))
    yield Shape("an empty body", said(plain(""), **here))
    for chat in ("status@broadcast", "120363111@newsletter"):
        yield Shape(chat, said(plain("hi"), chat=chat, sender=BOB))


def _keyless() -> Iterator[Shape]:
    missing = Undecryptable(message_id="K1", chat=GARDEN, sender=BOB, time=WRITTEN)
    sender = "15550002222:7@s.whatsapp.net"
    yield Shape("without a key", keyless(chat=GARDEN, sender=sender, message_id="K1"), (missing,))
    yield Shape("view-once", keyless(chat=BOB, sender=BOB, message_id="K2", unavailable=True))
    yield Shape("hidden on purpose", keyless(chat=BOB, sender=BOB, message_id="K3", hide=True))


def _of_the_link() -> Iterator[Shape]:
    reason, ban = proto("ConnectFailureReason"), proto("TemporaryBan")
    empty = ("Notify", "PrevParticipantsVersionID", "ParticipantVersionID", "JoinReason", "NewInviteLink")
    renamed = proto("GroupInfoEvent")(
        JID=library_jid(GARDEN),
        Sender=library_jid(BOB),
        Timestamp=0,
        Name=proto("GroupName")(Name="Garden 🌱", NameSetAt=0, NameSetBy=library_jid(BOB)),
        **dict.fromkeys(empty, ""),
    )
    for name, event, *heard in (
        ("a new name", renamed, GroupRenamed(chat=GARDEN, name="Garden 🌱")),
        ("a ping lost", proto("KeepAliveTimeout")(ErrorCount=1, LastSuccess=0)),
        ("a connection lost", proto("Disconnected")(status=True), Disconnected()),
        ("taken up again", proto("Connected")(status=True), Connected()),
        ("caught up", proto("OfflineSyncCompleted")(Count=40), CaughtUp(count=40)),
        ("402", ban(Code=ban.BLOCKED_BY_USERS, Expire=3600), Banned(code="BLOCKED_BY_USERS", expire_s=3600)),
        ("405", proto("ClientOutdated")(), Outdated()),
        ("440", proto("StreamReplaced")(), Replaced()),
        (
            "401",
            proto("LoggedOut")(OnConnect=True, Reason=reason.Value("LOGGED_OUT")),
            LoggedOut(reason="LOGGED_OUT"),
        ),
    ):
        yield Shape(name, through_bytes(event), tuple(heard))
