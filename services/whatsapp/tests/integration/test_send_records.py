"""What becomes of sends: their records, outcomes that are not known, callers and gateways that go away."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_runtime.steps import on_we_go
from onechat_whatsapp.domain.records import SendState
from onechat_whatsapp.errors import NotConnected, SendUnknown
from onechat_whatsapp.sending import Sending
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown

from tests.fakes.whatsapp_desk import Desk, desk_at, text
from tests.fakes.whatsapp_scripts import BOB, CAT

RECORDS_KEPT = 1_000


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(tmp_path) as desk:
        yield desk


async def test_a_connection_lost_in_the_last_moment_counts_as_none(desk: Desk) -> None:
    """The wire says that surely nothing was sent; a record would keep the id from ever sending it."""
    desk.account.send_faults.append(NotSent("websocket not connected", offline=True))

    with pytest.raises(NotConnected):
        await desk.sending.send("1", text())
    answer = await desk.sending.send("1", text())

    assert answer.record.state == SendState.SENT
    assert len(desk.left()) == 1


async def test_what_whatsapp_refuses_has_failed_and_stays_so(desk: Desk) -> None:
    desk.account.send_faults.append(NotSent("server returned error 479"))

    first = await desk.sending.send("1", text())
    again = await desk.sending.send("1", text())

    assert first.record.state == SendState.FAILED
    assert first.record.failure == "WhatsApp refused it with error 479."
    assert again == first
    assert desk.left() == []


async def test_why_a_send_failed_is_known_after_a_restart(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        desk.account.send_faults.append(NotSent(f"no LID found for {BOB} from server"))
        first = await desk.sending.send("1", text())
    async with desk_at(tmp_path) as desk:
        again = await desk.sending.send("1", text())

    assert first.record.failure == "WhatsApp knows no account with this number."
    assert again == first


@pytest.mark.parametrize("landed", [True, False])
async def test_what_may_have_been_sent_is_not_known_and_never_sent_again(desk: Desk, landed: bool) -> None:
    desk.account.lands = landed
    desk.account.send_faults.append(OutcomeUnknown("timed out waiting for message send response"))

    first = await desk.sending.send("1", text())
    again = await desk.sending.send("1", text())

    assert first.record.state == SendState.UNKNOWN
    assert again == first
    assert len(desk.left()) == landed


async def test_a_crash_of_the_wire_in_a_send_makes_it_unknown(desk: Desk) -> None:
    desk.wire.stalled_after = asyncio.Event()
    sending = asyncio.create_task(desk.sending.send("1", text()))
    await desk.at_work("1")

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
    await desk.at_work("1")
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)

    desk.wire.stalled.set()
    answer = await desk.sending.send("1", text())

    assert answer.record.state == SendState.SENT
    assert len(desk.left()) == 1


async def test_a_send_that_nobody_waits_for_any_more_is_not_begun(desk: Desk) -> None:
    """Its caller has given it up; leaving minutes later, it would surprise."""
    desk.wire.stalled = asyncio.Event()
    first = asyncio.create_task(desk.sending.send("1", text("one")))
    await desk.at_work("1")
    caller = asyncio.create_task(desk.sending.send("2", text("two")))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)

    desk.wire.stalled.set()
    await first
    await desk.sending.send("3", text("three"))

    assert desk.left() == [(BOB, "one"), (BOB, "three")]
    with pytest.raises(SendUnknown):
        desk.sending.record("2")


async def test_what_was_being_sent_when_the_gateway_ended_is_not_known_after_it(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        desk.wire.stalled_after = asyncio.Event()
        caller = asyncio.create_task(desk.sending.send("1", text()))
        await desk.at_work("1")
        caller.cancel()

    async with desk_at(tmp_path, account=desk.account) as after:
        answer = await after.sending.send("1", text())

    assert answer.record.state == SendState.UNKNOWN
    assert len(after.left()) == 1


async def test_records_outlive_the_gateway(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        first = await desk.sending.send("1", text())

    async with desk_at(tmp_path, account=desk.account) as after:
        again = await after.sending.send("1", text())

    assert again == first
    assert len(after.left()) == 1


async def test_the_last_thousand_are_kept(desk: Desk) -> None:
    await asyncio.gather(*(desk.sending.send(str(n), text(str(n))) for n in range(RECORDS_KEPT + 2)))

    kept = [n for n in range(RECORDS_KEPT + 2) if desk.known(str(n))]

    assert kept == list(range(2, RECORDS_KEPT + 2))


async def test_one_that_is_at_work_is_kept_however_many_come_after_it(desk: Desk) -> None:
    """Forgotten, it could be sent a second time."""
    desk.wire.stalled = asyncio.Event()
    slow = asyncio.create_task(desk.sending.send("slow", text()))
    await desk.at_work("slow")
    held, desk.wire.stalled = desk.wire.stalled, None

    await asyncio.gather(*(desk.sending.send(str(n), text(chat=CAT)) for n in range(RECORDS_KEPT + 2)))
    held.set()

    assert (await slow).record.state == SendState.SENT
    assert desk.known("slow")


async def test_a_private_file_holds_the_records_and_no_text_is_in_it(tmp_path: Path) -> None:
    async with desk_at(tmp_path) as desk:
        await desk.sending.send("1", text("a secret of some length"))

    files = list(tmp_path.glob("store.db*"))
    assert files
    assert all(b"a secret of some length" not in file.read_bytes() for file in files)
    assert {file.stat().st_mode & 0o077 for file in files if file.name == "store.db"} == {0}
