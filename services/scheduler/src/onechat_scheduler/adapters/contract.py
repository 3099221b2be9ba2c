"""Between onechat.scheduler.v1 and our own nouns, both ways."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat_runtime.clock import instant, micros

from onechat_scheduler.adapters.schedule_rows import Place
from onechat_scheduler.book import Plan
from onechat_scheduler.domain.asked import When
from onechat_scheduler.domain.schedule import Schedule, ScheduleId
from onechat_scheduler.errors import BadPage

PAGE_DEFAULT: Final = 100
PAGE_MAX: Final = 1_000
PAGE_BYTES_MAX: Final = 3_000_000  # a client of gRPC takes 4 MiB if it is not told otherwise
RUNS_DEFAULT: Final = 3
RUNS_MAX: Final = 100
_TOKEN: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")  # below what a row's numbers can be


def when(request: v1.CreateScheduleRequest | v1.PreviewScheduleRequest) -> When:
    """When it is to run; neither is set in a request that says nothing."""
    return When(
        at=request.at if request.HasField("at") else None,
        cron=request.cron if request.HasField("cron") else None,
    )


def page_size(asked: int) -> int:
    """How many schedules there are in a page. Raises BadPage."""
    if asked < 0:
        raise BadPage
    return min(asked or PAGE_DEFAULT, PAGE_MAX)


def runs_wanted(asked: int) -> int:
    """How many runs a preview tells."""
    return min(asked, RUNS_MAX) if asked > 0 else RUNS_DEFAULT


def place(token: str) -> Place | None:
    """The schedule that the page before ended with; None for the first page. Raises BadPage."""
    if not token:
        return None
    read = _TOKEN.fullmatch(token)
    if read is None:
        raise BadPage
    try:
        return Place(time=instant(int(read[1])), id=ScheduleId(int(read[2])))
    except OverflowError:  # past the year 9999
        raise BadPage from None


def page(schedules: Sequence[Schedule], size: int) -> v1.ListSchedulesResponse:
    """The first `size` of `schedules`, or as many as an answer can carry; it says where more begin."""
    shown: list[v1.Schedule] = []
    left = PAGE_BYTES_MAX
    for each in map(schedule_to_proto, schedules[:size]):
        left -= each.ByteSize()
        if shown and left < 0:
            break
        shown.append(each)
    more = len(schedules) > len(shown)
    return v1.ListSchedulesResponse(
        schedules=shown, next_page_token=_token(schedules[len(shown) - 1]) if more else ""
    )


def _token(last: Schedule) -> str:
    return "" if last.next_time is None else f"{micros(last.next_time)}-{last.id}"


def schedule_to_proto(schedule: Schedule) -> v1.Schedule:
    """A schedule as the contract has it."""
    return v1.Schedule(
        schedule_id=schedule.id,
        owner_id=schedule.owner,
        text=schedule.text,
        at=schedule.at,
        cron=schedule.cron,
        next_time=None if schedule.next_time is None else timestamp(schedule.next_time),
        zone=schedule.zone,
        backed=schedule.backed,
    )


def created(schedule: Schedule, plan: Plan) -> bytes:
    """The answer to who set a schedule, as it is sent and remembered."""
    return v1.CreateScheduleResponse(
        schedule=schedule_to_proto(schedule), next_times=timestamps(plan.times), remark=plan.remark
    ).SerializeToString()


def deleted(count: int) -> bytes:
    """The answer to who removed schedules, as it is sent and remembered."""
    return v1.DeleteScheduleResponse(deleted=count).SerializeToString()


def timestamps(instants: Iterable[datetime]) -> list[Timestamp]:
    """Instants as the contract has them."""
    return [timestamp(each) for each in instants]


def timestamp(instant: datetime) -> Timestamp:
    """An aware instant as the contract has it."""
    made = Timestamp()
    made.FromDatetime(instant)
    return made
