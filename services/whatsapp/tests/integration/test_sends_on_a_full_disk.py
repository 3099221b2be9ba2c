"""A full disk: nothing is sent that cannot be recorded, and what was sent is recorded once there is room."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from onechat_runtime.errors import StoreFull
from onechat_whatsapp.domain.records import SendState
from onechat_whatsapp.errors import SendUnknown
from onechat_whatsapp.sending import RECORD_AGAIN_S

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_desk import desk_at, text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(f"disk of {tmp_path}", waits=False)
    yield disk
    disk.unregister()


async def test_a_send_that_cannot_be_noted_does_not_leave_and_can_be_tried_again(
    tmp_path: Path, disk: Disk
) -> None:
    async with desk_at(tmp_path, vfs=disk.name) as desk:
        disk.full = True
        with pytest.raises(StoreFull):
            await desk.sending.send("1", text())
        before = list(desk.account.sent)
        with pytest.raises(SendUnknown):
            desk.sending.record("1")
        disk.full = False
        answer = await desk.sending.send("1", text())

    assert before == []
    assert answer.record.state == SendState.SENT


async def test_what_left_before_the_disk_was_full_is_recorded_when_there_is_room(
    tmp_path: Path, disk: Disk
) -> None:
    async with desk_at(tmp_path, vfs=disk.name) as desk:
        held = desk.wire.stalled_after = asyncio.Event()
        call = asyncio.create_task(desk.sending.send("1", text()))
        async with asyncio.timeout(5):
            while not desk.account.sent:
                await asyncio.sleep(0)
        disk.full = True
        held.set()
        await desk.clock.until_sleeping()
        disk.full = False
        desk.clock.advance(RECORD_AGAIN_S)

        assert (await call).record.state == SendState.SENT
        assert desk.sending.record("1").state == SendState.SENT
