"""What the gateway counts on when it asks or sends over a wire to WhatsApp: the fake and the real one alike.

How it connects, and what comes: test_whatsapp_wires_alike.py.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.events import WireDown
from onechat_whatsapp.wire.ports import GroupRow, NotSent, OutcomeUnknown, WireGone

from tests.fakes.whatsapp_account import OWNER, Sent, WhatsAppAccount
from tests.fakes.whatsapp_scripts import BOB, BOB_LID, GARDEN, heard
from tests.fakes.whatsapp_wire_stage import KINDS, WITHIN_S, Staged, staging


@pytest.fixture(params=KINDS)
async def staged(request, tmp_path) -> AsyncIterator[Staged]:
    async with staging(request.param, tmp_path) as build:
        yield build


async def test_nothing_but_a_start_connects(staged):
    stage = await staged()

    with pytest.raises(WireGone):
        await stage.wire.groups()
    with pytest.raises(NotSent) as refused:
        await stage.wire.send_text(BOB, "hello")

    assert refused.value.offline
    assert not await stage.wire.is_online()
    assert stage.account.dials == 0


async def test_the_session_is_read_without_a_connection(staged):
    account = WhatsAppAccount(OWNER)
    account.contacts = [
        Contact(id=BOB, full_name="Bob Ünger", first_name="Bob", push_name="bobby", business_name=""),
        Contact(id=BOB_LID, full_name="", first_name="", push_name="bobby", business_name=""),
    ]
    account.lids = {BOB: BOB_LID}

    stage = await staged(account)

    assert await stage.wire.is_linked()
    assert await stage.wire.me() == OWNER
    assert sorted(await stage.wire.contacts(), key=lambda c: c.id) == sorted(
        account.contacts, key=lambda c: c.id
    )
    assert await stage.wire.number_of(BOB_LID) == BOB
    assert await stage.wire.lid_of(BOB) == BOB_LID
    assert await stage.wire.number_of("999@lid") == ""
    assert await stage.wire.lid_of("15559999999@s.whatsapp.net") == ""
    assert account.dials == 0


async def test_groups_are_asked_of_whatsapp_and_need_a_connection(staged):
    stage = await staged()
    stage.account.groups_joined = [GroupRow(id=GARDEN, name="Garden")]
    await stage.started()

    assert await stage.wire.groups() == [GroupRow(id=GARDEN, name="Garden")]
    stage.account.drop()
    with pytest.raises(WireGone):
        await stage.wire.groups()


async def test_what_is_sent_leaves_as_it_is_and_does_not_come_back(staged):
    stage = await staged()
    await stage.started()
    image = bytes(range(256)) * 4_096

    first = await stage.wire.send_text(BOB, "@15550002222 *hi*\n")
    second = await stage.wire.send_image(GARDEN, image, "image/png", "")

    assert stage.account.sent == [
        Sent(id=first, chat=BOB, text="@15550002222 *hi*\n"),
        Sent(id=second, chat=GARDEN, text="", image=image, mime="image/png"),
    ]
    stage.account.come(marker := heard("next"))
    assert await stage.next() == [marker]


@pytest.mark.parametrize(
    "fault",
    [NotSent("error 404"), NotSent("not connected", offline=True), OutcomeUnknown("timed out")],
    ids=["refused", "offline", "unknown"],
)
async def test_a_send_fails_as_what_it_is(staged, fault):
    stage = await staged()
    await stage.started()
    stage.account.send_faults.append(fault)

    with pytest.raises(type(fault), match=str(fault)) as failed:
        await stage.wire.send_text(BOB, "hello")

    assert getattr(failed.value, "offline", False) == getattr(fault, "offline", False)


async def test_a_send_while_the_connection_is_down_is_surely_not_sent(staged):
    stage = await staged()
    await stage.started()
    stage.account.drop()

    with pytest.raises(NotSent) as failed:
        await stage.wire.send_text(BOB, "hello")

    assert failed.value.offline
    assert stage.account.sent == []


async def test_a_fault_in_the_middle_of_a_send_leaves_its_outcome_unknown(staged):
    stage = await staged()
    await stage.started()
    stage.account.stall = asyncio.Event()
    sending = asyncio.create_task(stage.wire.send_text(BOB, "hello"))
    async with asyncio.timeout(WITHIN_S):
        await stage.account.stalled.wait()

    stage.crash()

    with pytest.raises(OutcomeUnknown):
        await sending
    (down,) = await stage.next()
    assert isinstance(down, WireDown)


async def test_a_logout_ends_the_link_and_the_session(staged):
    stage = await staged()
    await stage.started()

    await stage.wire.logout()

    assert (await stage.wire.is_linked(), await stage.wire.me(), await stage.wire.contacts()) == (
        False,
        None,
        [],
    )
    assert stage.account.me is None
    assert not await stage.wire.is_online()


async def test_a_logout_without_a_connection_changes_nothing(staged):
    """The session is forgotten by `forget`, and the user told to remove the device on the phone."""
    stage = await staged()
    await stage.started()
    stage.account.drop()

    with pytest.raises(WireGone):
        await stage.wire.logout()
    assert await stage.wire.is_linked()

    await stage.wire.forget()
    assert not await stage.wire.is_linked()
    await stage.wire.start()
    assert not await stage.wire.is_online()


async def test_calls_run_side_by_side(staged):
    """A send that hangs must not keep a search or the status from their answers."""
    stage = await staged()
    await stage.started()
    stage.account.stall = asyncio.Event()
    sending = asyncio.create_task(stage.wire.send_text(BOB, "slow"))
    async with asyncio.timeout(WITHIN_S):
        await stage.account.stalled.wait()

    assert await stage.wire.is_online()
    assert await stage.wire.groups() == []

    stage.account.stall.set()
    assert await sending == stage.account.sent[0].id
