"""What becomes of the library's real events: only a text that stays is a message."""

from datetime import UTC, datetime
from typing import Any

import pytest
from onechat_whatsapp.wire.codec import body_of_event, event_in
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
)
from onechat_whatsapp.wire.frames import Kind, frame
from onechat_whatsapp.wire_child.translation import WANTED, translated

from tests.fakes.whatsapp_events import (
    MISSING,
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

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

ANNOUNCED = "120363111@newsletter"
LIST = "1234567@broadcast"


def heard(event: Any) -> Heard:
    (found,) = translated(event)
    assert isinstance(found, Heard)
    return found


def test_a_plain_text_is_read_with_all_that_stands_around_it() -> None:
    event = said(
        plain("hi\nthere"), chat=BOB, sender="15550002222:7@s.whatsapp.net", sender_alt=BOB_LID, retry=2
    )

    assert heard(event) == Heard(
        message_id="3EB0AA",
        chat=BOB,
        sender=BOB,
        sender_alt=BOB_LID,
        recipient_alt="",
        from_me=False,
        is_group=False,
        text="hi\nthere",
        mentions=(),
        quoted_author="",
        push_name="Bob",
        time=datetime(2027, 1, 15, 8, tzinfo=UTC),
        retry=2,
    )


def spoilt(event: Any, word: str) -> Any:
    """`event` with half a letter in place of `word`, as another program may send it."""
    return type(event).FromString(event.SerializeToString().replace(word.encode(), b"\xed\xa0\xbd"))


@pytest.mark.parametrize("words", [plain("one XYZ two"), text("one XYZ two", mentionedJID=["XYZ@lid"])])
def test_a_text_and_a_name_that_are_no_utf8_are_read_as_far_as_they_are(words: Any) -> None:
    """The library gives bytes then, which no frame takes: the message would be lost without a word."""
    event = spoilt(said(words, chat=GARDEN, sender=BOB, push_name="B XYZ"), "XYZ")

    found = heard(event)

    assert found.text == "one \ufffd\ufffd\ufffd two"
    assert found.push_name == "B \ufffd\ufffd\ufffd"
    assert event_in(body_of_event(found)) == found


@pytest.mark.parametrize(
    ("written_ms", "year"),
    [
        (0, 1970),
        (-62_135_596_800_000, 1970),  # where WhatsApp gives none: the library's year 1
        (2**62, 9998),
        (1_800_000_000_999, 2027),
    ],
)
def test_whatever_time_it_says_is_one_that_the_agent_service_takes(written_ms: int, year: int) -> None:
    found = heard(said(plain("hi"), chat=BOB, sender=BOB, written_ms=written_ms))

    assert found.time.year == year
    assert found.time.microsecond == 0
    assert event_in(body_of_event(found)) == found


@pytest.mark.parametrize("words", [plain("x" * 40_000_000), text("x" * 40_000_000)])
def test_a_text_beyond_all_bounds_fits_into_a_frame(words: Any) -> None:
    found = heard(said(words, chat=BOB, sender=BOB, push_name="x" * 40_000_000))

    assert frame(Kind.EVENT, body_of_event(found))
    assert (len(found.text), found.push_name) == (200_000, "")


def test_in_a_group_mentions_and_the_author_of_what_is_answered_are_told_without_devices() -> None:
    answered = {"stanzaID": "X", "participant": "99887766554433:12@lid", "quotedMessage": plain("before")}
    event = said(
        text("@15550001111 re", mentionedJID=["15550001111:2@s.whatsapp.net", BOB_LID], **answered),
        chat=GARDEN,
        sender=BOB_LID,
        sender_alt=BOB,
    )

    found = heard(event)

    assert (found.is_group, found.mentions, found.quoted_author) == (True, (ANN, BOB_LID), ANN_LID)


def test_a_mention_of_all_names_the_group_itself() -> None:
    assert heard(said(text("@all up", nonJIDMentions=1), chat=GARDEN, sender=BOB)).mentions == (GARDEN,)


def test_an_author_without_a_message_that_is_answered_is_no_reply() -> None:
    assert heard(said(text("hi", participant=ANN), chat=GARDEN, sender=BOB)).quoted_author == ""


@pytest.mark.parametrize(
    ("chat", "sender", "alt"), [(BOB, ANN, ""), (BOB_LID, ANN_LID, BOB), (GARDEN, ANN_LID, "")]
)
def test_what_the_user_writes_on_the_phone_is_read(chat: str, sender: str, alt: str) -> None:
    found = heard(said(plain("hi"), chat=chat, sender=sender, from_me=True, recipient_alt=alt))

    assert (found.from_me, found.chat, found.recipient_alt) == (True, chat, alt)


@pytest.mark.parametrize(
    "wrapper", ["groupMentionedMessage", "botInvokeMessage", "botForwardedMessage", "spoilerMessage"]
)
def test_a_text_in_a_wrapper_is_read(wrapper: str) -> None:
    wrapped = content(**{wrapper: e2e("FutureProofMessage")(message=text("within", mentionedJID=[BOB]))})

    found = heard(said(wrapped, chat=GARDEN, sender=BOB))

    assert (found.text, found.mentions) == ("within", (BOB,))


def test_a_text_that_was_sent_on_to_the_users_other_devices_is_read_in_its_wrapper() -> None:
    sent = content(deviceSentMessage=e2e("DeviceSentMessage")(destinationJID=BOB, message=plain("within")))

    assert heard(said(sent, chat=BOB, sender=ANN, from_me=True)).text == "within"


def test_what_was_sent_to_a_list_keeps_the_lists_id() -> None:
    """Whose chat it is filed in, who reads decides: only there is it known who the user is."""
    found = heard(said(plain("hi"), chat=LIST, sender=BOB))

    assert (found.chat, found.sender, found.is_group) == (LIST, BOB, False)


def test_a_business_that_meta_runs_is_the_same_person() -> None:
    assert heard(said(plain("hi"), chat=BOB, sender="15550002222:99@hosted")).sender == BOB


def key() -> dict[str, Any]:
    return {"remoteJID": BOB, "fromMe": False, "ID": "OLD"}


def not_read() -> dict[str, Any]:
    """What is no text that stays, each in a private chat."""
    if MISSING:
        return {}
    protocol = e2e("ProtocolMessage")
    edit = protocol(key=key(), type=protocol.MESSAGE_EDIT, editedMessage=plain("hi"), timestampMS=1)
    later = text("x", expiration=86_400)
    here = {"chat": BOB, "sender": BOB}
    wrapped = e2e("FutureProofMessage")(message=plain("hi"))
    return {
        "an edit by its flag": said(plain("hi"), flags=("IsEdit",), **here),
        "an edit by its envelope": said(plain("hi"), edit="1", **here),
        "an edit as a message": said(content(protocolMessage=edit), **here),
        "an edit in its wrapper": said(content(editedMessage=wrapped), **here),
        "a deletion": said(
            content(protocolMessage=protocol(key=key(), type=protocol.REVOKE)), edit="7", **here
        ),
        "a deletion by an admin": said(plain("hi"), edit="8", chat=GARDEN, sender=BOB),
        "a reaction": said(content(reactionMessage={"key": key(), "text": "👍"}), **here),
        "a poll": said(content(pollCreationMessageV3={"name": "q"}), chat=GARDEN, sender=BOB),
        "a contact card": said(content(contactMessage={"displayName": "Eve", "vcard": "V"}), **here),
        "a location": said(content(locationMessage={"degreesLatitude": 1.0, "name": "Here"}), **here),
        "an empty body": said(plain(""), **here),
        "an empty text": said(text(""), **here),
        "no content": said(content(), **here),
        "a picture": said(content(imageMessage={"mimetype": "image/jpeg", "caption": "cap"}), **here),
        "a sticker": said(content(stickerMessage={}), **here),
        "a key for a group": said(
            content(senderKeyDistributionMessage={"groupID": GARDEN}), chat=GARDEN, sender=BOB
        ),
        "view-once": said(
            content(imageMessage={"viewOnce": True}), flags=("IsViewOnce", "IsViewOnceV2"), **here
        ),
        "a view-once text": said(plain("hi"), flags=("IsViewOnceV2Extension",), **here),
        "a view-once text without a flag": said(
            content(extendedTextMessage={"text": "hi", "viewOnce": True}), **here
        ),
        "view-once in its wrapper": said(content(viewOnceMessageV2=wrapped), **here),
        "disappearing": said(later, flags=("IsEphemeral",), **here),
        "disappearing without the flag": said(later, **here),
        "disappearing in its wrapper": said(content(ephemeralMessage=wrapped), **here),
        "disappearing once it is read": said(text("x", afterReadDuration=60), **here),
        "disappearing within a wrapper": said(
            content(spoilerMessage=e2e("FutureProofMessage")(message=later)), **here
        ),
        "a group's status": said(text("x", isGroupStatus=True), chat=GARDEN, sender=BOB),
        "a group's status in its wrapper": said(
            content(groupStatusMessageV2=wrapped), chat=GARDEN, sender=BOB
        ),
        "asked of the phone anew": said(plain("hi"), asked="REQUEST", **here),
        "from the user's own devices": said(plain("hi"), category="peer", chat=BOB, sender=ANN, from_me=True),
        "the user to themselves": said(plain("hi"), chat=ANN, sender=ANN, from_me=True),
        "the user to themselves by LID": said(plain("hi"), chat=ANN_LID, sender=ANN_LID, from_me=True),
        "the user to themselves by both": said(
            plain("hi"), chat=ANN_LID, sender=ANN, sender_alt=ANN_LID, from_me=True
        ),
        "a status": said(plain("hi"), chat="status@broadcast", sender=BOB),
        "a newsletter": said(plain("hi"), chat=ANNOUNCED, sender=ANNOUNCED),
        "a bot": said(plain("hi"), chat="867051314767696@bot", sender="867051314767696@bot"),
        "WhatsApp itself": said(plain("hi"), chat="0@s.whatsapp.net", sender="0@s.whatsapp.net"),
        "nobody": said(plain("hi"), chat="", sender=""),
        "without an id": said(plain("hi"), message_id="", **here),
    }


@pytest.mark.parametrize("name", not_read())
def test_what_is_no_text_that_stays_is_not_read(name: str) -> None:
    assert translated(not_read()[name]) == []


def test_a_picture_that_could_not_be_decrypted_before_has_come_without_a_text() -> None:
    """It isn't read; but it is not missing any more either."""
    picture = content(imageMessage={"mimetype": "image/jpeg", "caption": "cap"})

    found = heard(said(picture, chat=BOB, sender=BOB, retry=1))

    assert (found.message_id, found.chat, found.text, found.retry) == ("3EB0AA", BOB, "", 1)
    assert heard(said(text("x", expiration=86_400), chat=BOB, sender=BOB, retry=1)).text == ""


@pytest.mark.parametrize(
    "event",
    [
        {"message": {"senderKeyDistributionMessage": {"groupID": GARDEN}}, "chat": GARDEN, "sender": BOB},
        {"message": {}, "chat": BOB, "sender": BOB},
        {"message": {"conversation": "hi"}, "chat": BOB, "sender": BOB, "asked": "REQUEST"},
        {"message": {"stickerMessage": {}}, "chat": "status@broadcast", "sender": BOB},
    ],
    ids=["a key", "nothing", "asked of the phone", "a status"],
)
def test_what_came_late_and_says_nothing_of_a_message_is_nothing(event: dict[str, Any]) -> None:
    fields = {name: value for name, value in event.items() if name != "message"}

    assert translated(said(content(**event["message"]), retry=1, **fields)) == []


def test_a_message_without_a_key_is_told_with_its_chat_and_time() -> None:
    found = translated(keyless(chat=GARDEN, sender="15550002222:7@s.whatsapp.net"))

    assert found == [
        Undecryptable(message_id="3EB0AA", chat=GARDEN, sender=BOB, time=datetime(2027, 1, 15, 8, tzinfo=UTC))
    ]


@pytest.mark.parametrize(
    ("around", "chat"),
    [
        ({"chat": BOB_LID, "sender": BOB_LID, "sender_alt": BOB}, BOB),
        ({"chat": BOB_LID, "sender": BOB_LID}, BOB_LID),
        ({"chat": BOB_LID, "sender": ANN_LID, "sender_alt": ANN, "recipient_alt": BOB, "from_me": True}, BOB),
        ({"chat": GARDEN, "sender": BOB_LID, "sender_alt": BOB}, GARDEN),
        ({"chat": LIST, "sender": BOB}, LIST),
    ],
)
def test_a_message_without_a_key_is_of_the_chat_by_number_where_that_is_said(
    around: dict[str, Any], chat: str
) -> None:
    (found,) = translated(keyless(**around))

    assert isinstance(found, Undecryptable)
    assert found.chat == chat


@pytest.mark.parametrize(
    "around",
    [
        {"unavailable": True, "chat": BOB, "sender": BOB},
        {"hide": True, "chat": BOB, "sender": BOB},
        {"chat": "status@broadcast", "sender": BOB},
        {"chat": ANNOUNCED, "sender": ANNOUNCED},
        {"chat": ANN, "sender": ANN, "from_me": True},
        {"chat": ANN_LID, "sender": ANN, "sender_alt": ANN_LID, "from_me": True},
        {"chat": ANN_LID, "sender": ANN, "recipient_alt": ANN, "from_me": True},
        {"chat": BOB, "sender": ANN, "from_me": True, "category": "peer"},
        {"chat": BOB, "sender": BOB, "edit": "1"},
        {"chat": BOB, "sender": BOB, "message_id": ""},
        {"chat": LIST, "sender": ANN, "from_me": True},
    ],
)
def test_what_would_not_have_been_read_with_a_key_is_not_missed(around: dict[str, Any]) -> None:
    """View-once comes as unavailable; what no program shows a place for is a reaction or the like."""
    assert translated(keyless(**around)) == []


def others() -> dict[str, tuple[Any, list[Any]]]:
    """The events beside messages, each with what it is here."""
    if MISSING:
        return {}
    reason, ban = proto("ConnectFailureReason"), proto("TemporaryBan")
    node = proto("Node")(Tag="failure", Attrs=[], Nodes=[], Nil=True)
    name = proto("GroupName")(Name="Garden", NameSetAt=0, NameSetBy=library_jid(BOB))
    return {
        "connected": (proto("Connected")(status=True), [Connected()]),
        "disconnected": (proto("Disconnected")(status=True), [Disconnected()]),
        "a ping without an answer": (proto("KeepAliveTimeout")(ErrorCount=1, LastSuccess=0), []),
        "two of them": (proto("KeepAliveTimeout")(ErrorCount=2, LastSuccess=0), [Disconnected()]),
        "answers again": (proto("KeepAliveRestored")(), [Connected()]),
        "caught up": (proto("OfflineSyncCompleted")(Count=40), [CaughtUp(count=40)]),
        "logged out": (
            proto("LoggedOut")(OnConnect=True, Reason=reason.Value("MAIN_DEVICE_GONE")),
            [LoggedOut(reason="MAIN_DEVICE_GONE")],
        ),
        "replaced": (proto("StreamReplaced")(), [Replaced()]),
        "banned": (
            ban(Code=ban.BLOCKED_BY_USERS, Expire=3600),
            [Banned(code="BLOCKED_BY_USERS", expire_s=3600)],
        ),
        "outdated": (proto("ClientOutdated")(), [Outdated()]),
        "refused": (
            proto("ConnectFailure")(Reason=reason.Value("BAD_USER_AGENT"), Message="no", Raw=node),
            [WireDown(why="WhatsApp refused the connection: BAD_USER_AGENT no")],
        ),
        "renamed": (
            proto("GroupInfoEvent")(
                JID=library_jid(GARDEN), Notify="", Sender=library_jid(BOB), Timestamp=0, Name=name,
                PrevParticipantsVersionID="", ParticipantVersionID="", JoinReason="", NewInviteLink="",
            ),
            [GroupRenamed(chat=GARDEN, name="Garden")],
        ),
        "another change of a group": (
            proto("GroupInfoEvent")(
                JID=library_jid(GARDEN), Notify="", Sender=library_jid(BOB), Timestamp=0, NewInviteLink="",
                PrevParticipantsVersionID="", ParticipantVersionID="", JoinReason="", Join=[library_jid(BOB)],
            ),
            [],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", others())
def test_each_other_event_is_one_of_ours_or_nothing(name: str) -> None:
    event, ours = others()[name]

    assert translated(through_bytes(event)) == ours


def test_what_was_written_before_the_link_is_neither_asked_for_nor_read() -> None:
    assert "HistorySyncEv" not in WANTED
    assert "ReceiptEv" not in WANTED
    assert translated(proto("HistorySync")()) == []
