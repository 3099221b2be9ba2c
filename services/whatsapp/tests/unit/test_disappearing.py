"""What disappears is not read, so it is not missed either, where it is known to disappear."""

from typing import Any

import pytest
from onechat_whatsapp.wire_child.disappearing import Disappearing

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
from tests.fakes.whatsapp_scripts import BOB, BOB_LID, CAT, GARDEN

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

DAY = 86_400


def after(*events: Any, **around: Any) -> bool:
    """Whether a message without a key is none that is missing, once `events` have come."""
    disappearing = Disappearing()
    for event in events:
        assert not disappearing.covers(event), "whatever else comes is looked at"
    return disappearing.covers(keyless(**around))


def setting(seconds: int) -> Any:
    protocol = e2e("ProtocolMessage")
    change = protocol(type=protocol.EPHEMERAL_SETTING, ephemeralExpiration=seconds)
    return said(content(protocolMessage=change), chat=BOB, sender=BOB)


def changed_group(**parts: Any) -> Any:
    return through_bytes(
        proto("GroupInfoEvent")(
            JID=library_jid(GARDEN), Notify="", Sender=library_jid(BOB), Timestamp=0, NewInviteLink="",
            PrevParticipantsVersionID="", ParticipantVersionID="", JoinReason="", **parts,
        )
    )  # fmt: skip


def ephemeral(seconds: int) -> Any:
    return proto("GroupEphemeral")(IsEphemeral=bool(seconds), DisappearingTimer=seconds)


def test_a_chat_of_which_nothing_is_known_misses_it() -> None:
    assert not after(chat=BOB, sender=BOB)


def test_a_chat_whose_last_message_disappears_misses_nothing_and_others_do() -> None:
    last = said(text("x", expiration=DAY), chat=BOB, sender=BOB)

    assert after(last, chat=BOB, sender=BOB)
    assert not after(last, chat=CAT, sender=CAT)


def test_a_picture_that_disappears_tells_of_its_chat_too() -> None:
    picture = content(imageMessage={"contextInfo": {"expiration": DAY}})

    assert after(said(picture, chat=GARDEN, sender=BOB), chat=GARDEN, sender=CAT)
    assert after(said(plain("x"), flags=("IsEphemeral",), chat=BOB, sender=BOB), chat=BOB, sender=BOB)


def test_a_text_that_stays_says_that_the_next_ones_do() -> None:
    later = said(text("x", expiration=DAY), chat=BOB, sender=BOB)

    for stays in (plain("x"), text("x", mentionedJID=[CAT])):
        assert not after(later, said(stays, chat=BOB, sender=BOB), chat=BOB, sender=BOB)


def test_what_says_nothing_of_it_changes_nothing() -> None:
    later = said(text("x", expiration=DAY), chat=BOB, sender=BOB)
    protocol = e2e("ProtocolMessage")
    revoked = content(protocolMessage=protocol(type=protocol.REVOKE))
    reaction = content(reactionMessage={"text": "👍"})

    for silent in (revoked, reaction):
        assert after(later, said(silent, chat=BOB, sender=BOB), chat=BOB, sender=BOB)


def test_the_chats_own_setting_is_heard() -> None:
    assert after(setting(DAY), chat=BOB, sender=BOB)
    assert not after(setting(DAY), setting(0), chat=BOB, sender=BOB)


def test_a_groups_setting_is_heard_also_as_the_user_joins_it() -> None:
    assert after(changed_group(Ephemeral=ephemeral(DAY)), chat=GARDEN, sender=BOB)
    on, off, other = (changed_group(Ephemeral=ephemeral(DAY)), changed_group(Ephemeral=ephemeral(0)),
                      changed_group())  # fmt: skip
    assert not after(on, off, chat=GARDEN, sender=BOB)
    assert after(on, other, chat=GARDEN, sender=BOB)
    info = proto("GroupInfo")()
    info.JID.CopyFrom(library_jid(GARDEN))
    info.GroupEphemeral.CopyFrom(ephemeral(DAY))
    assert after(proto("JoinedGroup")(GroupInfo=info), chat=GARDEN, sender=BOB)


def test_a_person_is_one_by_number_and_by_lid() -> None:
    by_lid = said(text("x", expiration=DAY), chat=BOB_LID, sender=BOB_LID, sender_alt=BOB)

    assert after(by_lid, chat=BOB, sender=BOB)
