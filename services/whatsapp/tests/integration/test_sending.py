"""Sends: once for each id, recorded before they leave, and never again by themselves."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_whatsapp.domain.records import OutgoingMessage, SendState
from onechat_whatsapp.errors import (
    BadRequestId,
    ChatUnknown,
    ImageInvalid,
    MessageEmpty,
    NotConnected,
    NotLinked,
    SendUnknown,
)
from onechat_whatsapp.wire.ports import GroupRow

from tests.fakes.whatsapp_desk import PNG, Desk, desk_at, text
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, CAT, GARDEN

STRANGER = "15559999999@s.whatsapp.net"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(tmp_path) as desk:
        yield desk


async def test_a_text_leaves_as_it_was_written_and_is_recorded_with_its_message_id(desk: Desk) -> None:
    words = " *Hello* @15550003333,\n see https://example.org 👋 "

    answer = await desk.sending.send("1", text(words))

    assert desk.left() == [(BOB, words)]
    assert (answer.record.state, answer.other_message) == (SendState.SENT, False)
    assert answer.record.message_id == desk.account.sent[0].id
    assert desk.sending.record("1") == answer.record


async def test_an_image_leaves_with_its_caption_and_its_type_by_content(desk: Desk) -> None:
    await desk.sending.send("1", OutgoingMessage(chat=GARDEN, text="look", image=PNG))
    await desk.sending.send("2", OutgoingMessage(chat=GARDEN, text="", image=b"\xff\xd8\xff\xe0" + bytes(20)))

    first, second = desk.account.sent
    assert (first.chat, first.text, first.image, first.mime) == (GARDEN, "look", PNG, "image/png")
    assert (second.text, second.mime) == ("", "image/jpeg")


async def test_the_same_id_again_gets_the_first_answer_and_sends_nothing(desk: Desk) -> None:
    first = await desk.sending.send("1", text())
    desk.clock.advance(3600)

    again = await desk.sending.send("1", text())

    assert again == first
    assert len(desk.left()) == 1


@pytest.mark.parametrize(
    "other",
    [
        text("something else"),
        text(chat=CAT),
        OutgoingMessage(chat=BOB, text="hello", image=PNG),
        text(""),
        text(chat=STRANGER),
        text(chat="no id"),
    ],
)
async def test_a_used_id_with_another_message_says_when_it_was_used_and_sends_nothing(
    desk: Desk, other: OutgoingMessage
) -> None:
    """A model numbers from 1 in each turn; that must neither send twice nor look as if it had been sent."""
    first = await desk.sending.send("1", text())
    desk.clock.advance(60)

    answer = await desk.sending.send("1", other)

    assert answer.other_message
    assert answer.record == first.record
    assert len(desk.left()) == 1


async def test_a_used_id_is_answered_without_a_link_too(desk: Desk) -> None:
    first = await desk.sending.send("1", text())
    desk.account.log_out()

    again = await desk.sending.send("1", text())

    assert again == first


async def test_a_chat_by_its_lid_is_the_same_as_by_its_number(desk: Desk) -> None:
    """An agent may still have the LID that it was shown before the number was known."""
    first = await desk.sending.send("1", text(chat=BOB_LID))

    again = await desk.sending.send("1", text(chat=BOB))

    assert desk.left() == [(BOB, "hello")]
    assert again == first
    assert first.record.chat == BOB_LID


async def test_many_calls_with_one_id_at_once_send_once(desk: Desk) -> None:
    answers = await asyncio.gather(*(desk.sending.send("1", text()) for _ in range(20)))

    assert len(desk.left()) == 1
    assert {answer.record.state for answer in answers} == {SendState.SENT}


async def test_messages_of_one_chat_leave_in_the_order_of_asking_and_another_chat_waits_for_none(
    desk: Desk,
) -> None:
    desk.wire.stalled = asyncio.Event()
    first = asyncio.create_task(desk.sending.send("1", text("one")))
    await desk.at_work("1")
    held, desk.wire.stalled = desk.wire.stalled, None
    second = asyncio.create_task(desk.sending.send("2", text("two")))

    await desk.sending.send("3", text("to another", chat=CAT))
    held.set()
    await asyncio.gather(first, second)

    assert desk.left() == [(CAT, "to another"), (BOB, "one"), (BOB, "two")]


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        (text(""), MessageEmpty),
        (text(" \n\t"), MessageEmpty),
        (text(chat=STRANGER), ChatUnknown),
        (text(chat="Bob"), ChatUnknown),
        (text(chat=""), ChatUnknown),
        (text(chat="15550002222"), ChatUnknown),
        (text(chat="status@broadcast"), ChatUnknown),
        (text(chat="1234567@broadcast"), ChatUnknown),
        (text(chat="120363111@newsletter"), ChatUnknown),
        (text(chat="120363000000000009@g.us"), ChatUnknown),
        (text(chat=ANN), ChatUnknown),
        (text(chat=ANN_LID), ChatUnknown),
        (OutgoingMessage(chat=BOB, text="look", image=b""), ImageInvalid),
        (OutgoingMessage(chat=BOB, text="look", image=b"<svg/>"), ImageInvalid),
        (OutgoingMessage(chat=BOB, text="look", image=PNG + bytes(16 * 2**20)), ImageInvalid),
    ],
)
async def test_what_cannot_be_sent_is_refused_with_the_reason_and_leaves_no_record(
    desk: Desk, message: OutgoingMessage, refused: type[Exception]
) -> None:
    with pytest.raises(refused):
        await desk.sending.send("1", message)

    with pytest.raises(SendUnknown):
        desk.sending.record("1")
    assert desk.left() == []


@pytest.mark.parametrize("request_id", ["", "x" * 201, "ä", "a\nb"])
async def test_a_send_wants_an_id_that_can_be_told_from_others(desk: Desk, request_id: str) -> None:
    with pytest.raises(BadRequestId):
        await desk.sending.send(request_id, text())

    assert desk.left() == []


async def test_without_a_link_it_says_so(desk: Desk) -> None:
    desk.account.log_out()

    with pytest.raises(NotLinked, match="/whatsapp pair PHONE"):
        await desk.sending.send("1", text())


@pytest.mark.parametrize("chat", [BOB, GARDEN])
async def test_without_a_connection_nothing_is_sent_and_the_id_can_be_tried_again(
    desk: Desk, chat: str
) -> None:
    desk.account.drop()

    with pytest.raises(NotConnected, match="nothing was sent"):
        await desk.sending.send("1", text(chat=chat))
    desk.account.take_up()
    answer = await desk.sending.send("1", text(chat=chat))

    assert answer.record.state == SendState.SENT
    assert desk.left() == [(chat, "hello")]


async def test_what_is_wrong_with_the_link_is_said(tmp_path: Path) -> None:
    """A ban or a session that was replaced does not end by itself."""
    async with desk_at(tmp_path, trouble="Open WhatsApp on the phone.") as desk:
        desk.account.ban()

        with pytest.raises(NotConnected, match=r"^Nothing was sent\. Open WhatsApp"):
            await desk.sending.send("1", text())


async def test_a_chat_that_was_read_can_be_answered_whether_or_not_the_session_lists_it(desk: Desk) -> None:
    await desk.hear(STRANGER)

    await desk.sending.send("1", text(chat=STRANGER))

    assert desk.left() == [(STRANGER, "hello")]


async def test_a_group_that_the_user_has_just_joined_can_be_written_to(desk: Desk) -> None:
    """The list of groups is an hour old at most; a group of the last minutes is not in it."""
    new = "120363000000000009@g.us"
    await desk.sending.send("1", text(chat=GARDEN))
    desk.account.groups_joined.append(GroupRow(id=new, name="New"))
    desk.clock.advance(61)

    await desk.sending.send("2", text(chat=new))

    assert desk.left()[-1] == (new, "hello")


async def test_many_wrong_groups_do_not_ask_whatsapp_each_time(desk: Desk) -> None:
    for n in range(10, 20):
        with pytest.raises(ChatUnknown):
            await desk.sending.send(str(n), text(chat=f"12036300000000{n:04}@g.us"))

    assert desk.account.group_calls == 1


async def test_a_group_that_the_user_founded_takes_its_id_back_as_it_was_shown(desk: Desk) -> None:
    """The real one holds the user's number."""
    real = f"{ANN.partition('@')[0]}-1500000000@g.us"
    desk.account.groups_joined.append(GroupRow(id=real, name="Old"))

    answer = await desk.sending.send("1", text(chat="OWN-1500000000@g.us"))

    assert desk.left() == [(real, "hello")]
    assert answer.record.chat == "OWN-1500000000@g.us"
