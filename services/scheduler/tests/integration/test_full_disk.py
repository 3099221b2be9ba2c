"""A full disk: nothing is half done, the caller is told, and the same request works once there is room."""

from pathlib import Path

import grpc
import pytest
from onechat_runtime.errors import RemoteError

from tests.fakes.disk import Disk
from tests.fakes.scheduler_server import scheduling


async def test_a_change_that_finds_no_room_is_refused_and_done_once_there_is(tmp_path: Path, disk: Disk):
    async with scheduling(tmp_path, vfs=disk.name) as scheduler:
        await scheduler.create("kept", cron="0 8 * * *")
        changes = {
            "set": lambda: scheduler.create("new", cron="0 9 * * *", request_id="set"),
            "removed": lambda: scheduler.remove(1, request_id="removed"),
        }

        disk.full = True
        refused = {}
        for name, change in changes.items():
            with pytest.raises(RemoteError) as error:
                await change()
            refused[name] = (error.value.code, error.value.reason, error.value.outcome_known)
        meanwhile = await scheduler.ids()
        preview = await scheduler.preview(cron="0 8 * * *")
        disk.full = False
        for change in changes.values():
            await change()

        assert set(refused.values()) == {(grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL", True)}
        assert meanwhile == [1]
        assert len(preview.times) == 3
        assert [schedule.text for schedule in (await scheduler.listed()).schedules] == ["new"]
