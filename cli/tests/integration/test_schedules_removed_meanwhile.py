"""`onechat schedules remove` of a schedule that goes, or is not to be reached, after it was found."""

from datetime import UTC, datetime

import grpc
import pytest
from onechat_cli.commands.schedules import remove
from onechat_cli.config import settings_from
from onechat_cli.domain.schedules import Scheduled
from onechat_cli.outcome import CommandFailed
from onechat_runtime.errors import RemoteError

FOUND = Scheduled(
    id=3,
    owner="root-id",
    text="water the plants",
    at="2027-01-05 18:00",
    cron=None,
    next_time=datetime(2027, 1, 5, 17, tzinfo=UTC),
    zone="Europe/Rome",
    backed=True,
)
GONE = RemoteError(grpc.StatusCode.NOT_FOUND, "not this owner's", reason="SCHEDULE_UNKNOWN")
FULL = RemoteError(grpc.StatusCode.RESOURCE_EXHAUSTED, "no room", reason="STORE_FULL")


class Late:
    """A scheduler that has changed by the time that what it listed is to be removed."""

    def __init__(self, error):
        self._error = error

    async def schedules(self):
        return [FOUND]

    async def remove(self, one, *, request_id):
        raise self._error


async def test_one_that_has_run_meanwhile_is_said_not_to_be_there(variables):
    with pytest.raises(CommandFailed, match="There is no schedule 3"):
        await remove(Late(GONE), settings_from(variables), 3, as_json=False)


async def test_any_other_failure_is_not_taken_for_that(variables):
    with pytest.raises(RemoteError, match="no room"):
        await remove(Late(FULL), settings_from(variables), 3, as_json=False)
