"""Sends: once for each id, recorded before they leave, and never again by themselves."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_whatsapp.domain.records import RECORDS_KEPT, Message, SendRecord, SendState
from onechat_whatsapp.errors import (
    BadRequestId,
    ChatUnknown,
    ImageInvalid,
    MessageEmpty,
    NotConnected,
    NotLinked,
    SendUnknown,
)
from onechat_whatsapp.sending import Sending
from onechat_whatsapp.steps import on_we_go
from onechat_whatsapp.wire.ports import GroupRow, NotSent, OutcomeUnknown

from tests.fakes.whatsapp_desk import PNG, Desk, desk_at, text
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, CAT, GARDEN

STRANGER = "15559999999@s.whatsapp.net"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(tmp_path) as desk:
        yield desk


def left(desk: Desk) -> list[tuple[str, str]]:
    """Chats and texts of what left."""
    return [(sent.chat, sent.text) for sent in desk.account.sent]


async def test_a_text_leaves_as_it_was_written_and_is_recorded_with_its_message_id(desk: Desk) -> None:
    words = " *Hello* @15550003333,\n see https://example.org 👋 "

    answer = await desk.sending.send("1", text(words))

    assert left(desk) == [(BOB, words)]
    assert (answer.record.state, answer.other_message) == (SendState.SENT, False)
    assert answer.record.message_id == desk.account.sent[0].id
    assert desk.sending.record("1") == answer.record


async def test_an_image_leaves_with_its_caption_and_its_type_by_content(desk: Desk) -> None:
    await desk.sending.send("1", Message(chat=GARDEN, text="look", image=PNG))
    await desk.sending.send("2", Message(chat=GARDEN, text="", image=b"\xff\xd8\xff\xe0" + bytes(20)))

    first, second = desk.account.sent
    assert (first.chat, first.text, first.image, first.mime) == (GARDEN, "look", PNG, "image/png")
    assert (second.text, second.mime) == ("", "image/jpeg")


async def test_the_same_id_again_gets_the_first_answer_and_sends_nothing(desk: Desk) -> None:
    first = await desk.sending.send("1", text())
    desk.clock.advance(3600)

    again = await desk.sending.send("1", text())

    assert again == first
    assert len(left(desk)) == 1


@pytest.mark.parametrize(
    "other",
    [
        text("something else"),
        text(chat=CAT),
        Message(chat=BOB, text="hello", image=PNG),
        text(""),
        text(chat=STRANGER),
        text(chat="no id"),
    ],
)
async def test_a_used_id_with_another_message_says_when_it_was_used_and_sends_nothing(
    desk: Desk, other: Message
) -> None:
    """A model numbers from 1 in each turn; that must neither send twice nor look as if it had been sent."""
    first = await desk.sending.send("1", text())
    desk.clock.advance(60)

    answer = await desk.sending.send("1", other)

    assert answer.other_message
    assert answer.record == first.record
    assert len(left(desk)) == 1


async def test_a_used_id_is_answered_without_a_link_too(desk: Desk) -> None:
    first = await desk.sending.send("1", text())
    desk.account.log_out()

    again = await desk.sending.send("1", text())

    assert again == first


async def test_a_chat_by_its_lid_is_the_same_as_by_its_number(desk: Desk) -> None:
    """An agent may still have the LID that it was shown before the number was known."""
    first = await desk.sending.send("1", text(chat=BOB_LID))

    again = await desk.sending.send("1", text(chat=BOB))

    assert left(desk) == [(BOB, "hello")]
    assert again == first
    assert first.record.chat == BOB_LID


async def test_many_calls_with_one_id_at_once_send_once(desk: Desk) -> None:
    answers = await asyncio.gather(*(desk.sending.send("1", text()) for _ in range(20)))

    assert len(left(desk)) == 1
    assert {answer.record.state for answer in answers} == {SendState.SENT}


async def test_messages_of_one_chat_leave_in_the_order_of_asking_and_another_chat_waits_for_none(
    desk: Desk,
) -> None:
    desk.wire.stalled = asyncio.Event()
    first = asyncio.create_task(desk.sending.send("1", text("one")))
    second = asyncio.create_task(desk.sending.send("2", text("two")))
    await settled(desk, "1")
    held, desk.wire.stalled = desk.wire.stalled, None

    await desk.sending.send("3", text("to another", chat=CAT))
    held.set()
    await asyncio.gather(first, second)

    assert left(desk) == [(CAT, "to another"), (BOB, "one"), (BOB, "two")]


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
        (Message(chat=BOB, text="look", image=b""), ImageInvalid),
        (Message(chat=BOB, text="look", image=b"<svg/>"), ImageInvalid),
        (Message(chat=BOB, text="look", image=PNG + bytes(16 * 2**20)), ImageInvalid),
    ],
)
async def test_what_cannot_be_sent_is_refused_with_the_reason_and_leaves_no_record(
    desk: Desk, message: Message, refused: type[Exception]
) -> None:
    with pytest.raises(refused):
        await desk.sending.send("1", message)

    with pytest.raises(SendUnknown):
        desk.sending.record("1")
    assert left(desk) == []


@pytest.mark.parametrize("request_id", ["", "x" * 201, "ä", "a\nb"])
async def test_a_send_wants_an_id_that_can_be_told_from_others(desk: Desk, request_id: str) -> None:
    with pytest.raises(BadRequestId):
        await desk.sending.send(request_id, text())

    assert left(desk) == []


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
    assert left(desk) == [(chat, "hello")]


async def test_what_is_wrong_with_the_link_is_said(tmp_path: Path) -> None:
    """A ban or a session that was replaced does not end by itself."""
    async with desk_at(tmp_path, trouble="Open WhatsApp on the phone.") as desk:
        desk.account.ban()

        with pytest.raises(NotConnected, match=r"^Nothing was sent\. Open WhatsApp"):
            await desk.sending.send("1", text())


async def test_a_connection_lost_in_the_last_moment_counts_as_none(desk: Desk) -> None:
    """The wire says that surely nothing was sent; a record would keep the id from ever sending it."""
    desk.account.send_faults.append(NotSent("websocket not connected", offline=True))

    with pytest.raises(NotConnected):
        await desk.sending.send("1", text())
    answer = await desk.sending.send("1", text())

    assert answer.record.state == SendState.SENT
    assert len(left(desk)) == 1


async def test_what_whatsapp_refuses_has_failed_and_stays_so(desk: Desk) -> None:
    desk.account.send_faults.append(NotSent("server returned error 479"))

    first = await desk.sending.send("1", text())
    again = await desk.sending.send("1", text())

    assert first.record.state == SendState.FAILED
    assert again == first
    assert left(desk) == []


@pytest.mark.parametrize("landed", [True, False])
async def test_what_may_have_been_sent_is_not_known_and_never_sent_again(desk: Desk, landed: bool) -> None:
    desk.account.lands = landed
    desk.account.send_faults.append(OutcomeUnknown("timed out waiting for message send response"))

    first = await desk.sending.send("1", text())
    again = await desk.sending.send("1", text())

    assert first.record.state == SendState.UNKNOWN
    assert again == first
    assert len(left(desk)) == landed


async def test_a_crash_of_the_wire_in_a_send_makes_it_unknown(desk: Desk) -> None:
    desk.wire.stalled_after = asyncio.Event()
    sending = asyncio.create_task(desk.sending.send("1", text()))
    await settled(desk, "1")

    desk.wire.crash()
    answer = await sending

    assert answer.record.state == SendState.UNKNOWN


async def test_a_wire_that_never_answers_makes_it_unknown(desk: Desk) -> None:
    """A message of the same chat behind it must not wait for ever."""
    desk.wire.stalled_after = asyncio.Event()
    sending = Sending(desk.store, desk.wire, desk.directory, desk.clock, on_we_go, send_s=0.01)

    answer = await sending.send("1", text())

    assert answer.record.state == SendState.UNKNOWN


async def test_a_caller_that_goes_away_does_not_stop_a_send_that_has_begun(desk: Desk) -> None:
    """Its deadline may pass first; what becomes of the send must be known all the same."""
    desk.wire.stalled = asyncio.Event()
    caller = asyncio.create_task(desk.sending.send("1", text()))
    await settled(desk, "1")
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)

    desk.wire.stalled.set()
    answer = await desk.sending.send("1", text())

    assert answer.record.state == SendState.SENT
    assert len(left(desk)) == 1


async def test_a_send_that_nobody_waits_for_any_more_is_not_begun(desk: Desk) -> None:
    """Its caller has given it up; leaving minutes later, it would surprise."""
    desk.wire.stalled = asyncio.Event()
    first = asyncio.create_task(desk.sending.send("1", text("one")))
    await settled(desk, "1")
    caller = asyncio.create_task(desk.sending.send("2", text("two")))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)

    desk.wire.stalled.set()
    await first
    await desk.sending.send("3", text("three"))

    assert left(desk) == [(BOB, "one"), (BOB, "three")]
    with pytest.raises(SendUnknown):
        desk.sending.record("2")


async def test_what_was_being_sent_when_the_gateway_ended_is_not_known_after_it(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        desk.wire.stalled_after = asyncio.Event()
        caller = asyncio.create_task(desk.sending.send("1", text()))
        await settled(desk, "1")
        caller.cancel()

    async with desk_at(tmp_path, account=desk.account) as after:
        answer = await after.sending.send("1", text())

    assert answer.record.state == SendState.UNKNOWN
    assert len(left(after)) == 1


async def test_records_outlive_the_gateway(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        first = await desk.sending.send("1", text())

    async with desk_at(tmp_path, account=desk.account) as after:
        again = await after.sending.send("1", text())

    assert again == first
    assert len(left(after)) == 1


async def test_the_last_thousand_are_kept(desk: Desk) -> None:
    await asyncio.gather(*(desk.sending.send(str(n), text(str(n))) for n in range(RECORDS_KEPT + 2)))

    kept = [n for n in range(RECORDS_KEPT + 2) if known(desk, str(n))]

    assert kept == list(range(2, RECORDS_KEPT + 2))


async def test_one_that_is_at_work_is_kept_however_many_come_after_it(desk: Desk) -> None:
    """Forgotten, it could be sent a second time."""
    desk.wire.stalled = asyncio.Event()
    slow = asyncio.create_task(desk.sending.send("slow", text()))
    await settled(desk, "slow")
    held, desk.wire.stalled = desk.wire.stalled, None

    await asyncio.gather(*(desk.sending.send(str(n), text(chat=CAT)) for n in range(RECORDS_KEPT + 2)))
    held.set()

    assert (await slow).record.state == SendState.SENT
    assert known(desk, "slow")


async def test_a_chat_that_was_read_can_be_answered_whether_or_not_the_session_lists_it(desk: Desk) -> None:
    await desk.hear(STRANGER)

    await desk.sending.send("1", text(chat=STRANGER))

    assert left(desk) == [(STRANGER, "hello")]


async def test_a_group_that_the_user_has_just_joined_can_be_written_to(desk: Desk) -> None:
    """The list of groups is an hour old at most; a group of the last minutes is not in it."""
    new = "120363000000000009@g.us"
    await desk.sending.send("1", text(chat=GARDEN))
    desk.account.groups_joined.append(GroupRow(id=new, name="New"))
    desk.clock.advance(61)

    await desk.sending.send("2", text(chat=new))

    assert left(desk)[-1] == (new, "hello")


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

    assert left(desk) == [(real, "hello")]
    assert answer.record.chat == "OWN-1500000000@g.us"


async def test_a_private_file_holds_the_records_and_no_text_is_in_it(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        await desk.sending.send("1", text("a secret of some length"))

    files = list(tmp_path.glob("store.db*"))
    assert files
    assert all(b"a secret of some length" not in file.read_bytes() for file in files)
    assert {file.stat().st_mode & 0o077 for file in files if file.name == "store.db"} == {0}


async def settled(desk: Desk, request_id: str) -> None:
    """Return once the send with this id is at work on the wire."""
    async with asyncio.timeout(5):
        while not known(desk, request_id):
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)


def known(desk: Desk, request_id: str) -> SendRecord | None:
    try:
        return desk.sending.record(request_id)
    except SendUnknown:
        return None
