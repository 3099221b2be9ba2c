"""schedule_set, schedule_list and schedule_remove: what an agent has itself reminded of, and when.

Each agent sees its own alone. A schedule that was set while text from outside may have had a hand in it has
runs that the user does not stand behind. A call that a restart has interrupted is made again with its key.
How the scheduler service is reached: adapters/scheduler.py. Consent: domain/consent.py.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import grpc
from onechat_runtime.errors import RemoteError, retriable

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.schedule import Planned, Schedule, ScheduleRefused
from onechat_agent.domain.text import OUTPUT_MAX, one_line
from onechat_agent.tools.schema import function_schema, integer, optional, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

_TEXT_LEAST: Final = 60  # characters that a list shows of each text, however many schedules there are
_ROW_REST: Final = 60  # and what the rest of its line may take
_NOT_BACKED: Final = (
    "Its runs will not count as the user's own word, since text from outside may have had a hand in this "
    "turn: some of what they do may need the user's yes."
)


class Calendar(Protocol):
    """The schedules of all agents; its calls raise RemoteError."""

    async def create(
        self, owner: AgentId, text: str, *, at: str | None, cron: str | None, backed: bool, request_id: str
    ) -> Planned:
        """Sets a schedule, once for the same `request_id`. Raises ScheduleRefused."""
        ...

    async def schedules(self, owner: AgentId) -> list[Schedule]:
        """All of an owner's, by next time."""
        ...

    async def remove(self, owner: AgentId, number: int, *, request_id: str) -> bool:
        """Removes one of the owner's, once for the same `request_id`; whether there is such a one.

        Raises ScheduleRefused.
        """
        ...


class ScheduleSetTool:
    """Sets a schedule of the agent that calls it."""

    name = "schedule_set"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "schedule_set",
        "Set a reminder or a task for a time to come, once or again and again. At its time you get the text "
        "as a message of the kind work that begins with `[Schedule ID]`, and carry it out in that turn. Only "
        "when the user wants it. Give either `at` or `cron`, and null for the other. Work out words such as "
        '"next Friday evening" by the clock in the state block. The answer gives the next runs: see that '
        "they are what the user meant.",
        text=text(
            "The task, an order to yourself with all that you need to know by then: what to do, for whom, "
            "which names, places and numbers. At most 10,000 characters."
        ),
        at=optional(text("For a single run: the user's local time, YYYY-MM-DD HH:MM, after now.")),
        cron=optional(
            text(
                "For runs again and again, in the user's local time: five fields of numbers, minute, hour, "
                "day of the month, month, day of the week (0 and 7 are Sunday), such as `0 8 * * 1-5` for "
                "workdays at eight. `*`, lists, ranges, and steps on `*` or a range; no names, no macros. "
                "Runs lie at least five minutes apart. If either day field begins with `*`, a day must "
                "match both, else one of them is enough."
            )
        ),
    )

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Sets it; the schedule and its next runs, in its zone."""
        at, cron = _given(arguments["at"]), _given(arguments["cron"])
        if (at is None) == (cron is None):
            given = "neither" if at is None else "both"
            return ToolResult(
                text=f"Nothing was set: it has {given} of `at` and `cron`. Give one, and null for the other.",
                failed=True,
            )
        try:
            planned = await self._calendar.create(
                context.agent,
                arguments["text"],
                at=at,
                cron=cron,
                backed=context.backed and not context.tainted,
                request_id=context.call_key,
            )
        except ScheduleRefused as refused:
            return ToolResult(text=f"Nothing was set. {refused}", failed=True)
        except RemoteError as error:
            return _failed(error, "set")
        return ToolResult(text=_set(planned))

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `schedule_set: 0 8 * * 1-5, sum up my groups`."""
        when = _given(arguments["at"]) or _given(arguments["cron"]) or "?"
        return f"schedule_set: {one_line(when, 40)}, {arguments['text']}"


class ScheduleListTool:
    """Lists the schedules of the agent that calls it."""

    name = "schedule_list"
    resumption = Resumption.AGAIN
    schema = function_schema(
        "schedule_list",
        "List your schedules by their next time: ID | next time | cron expression or once | text.",
    )

    def __init__(self, calendar: Calendar, user_zone: str) -> None:
        """`user_zone`: the IANA zone in which times are shown."""
        self._calendar = calendar
        self._user_zone = user_zone

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """A line each. It taints when the user did not stand behind one: others may have had it written."""
        try:
            found = await self._calendar.schedules(context.agent)
        except RemoteError as error:
            return _failed(error, "done", harmless=True)
        if not found:
            return ToolResult(text="You have no schedules.")
        return ToolResult(
            text="\n".join(self._lines(found)), taints=not all(schedule.backed for schedule in found)
        )

    def _lines(self, found: Sequence[Schedule]) -> list[str]:
        room = max(_TEXT_LEAST, OUTPUT_MAX // (len(found) + 1) - _ROW_REST)
        rows = [
            f"{one.number} | {_moment(one.next_time, self._user_zone)} | {one.cron or 'once'} | "
            f"{one_line(one.text, room)}"
            for one in found
        ]
        return [f"ID | next time in {self._user_zone} | cron expression or once | text", *rows]

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Just `schedule_list`."""
        return "schedule_list"


class ScheduleRemoveTool:
    """Removes a schedule of the agent that calls it."""

    name = "schedule_remove"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "schedule_remove",
        "Remove one of your schedules for good. Only when the user wants it. One with a single run goes by "
        "itself once it has run.",
        id=integer("Its ID, as schedule_set and schedule_list give it."),
    )

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Removes it, and says so."""
        number = arguments["id"]
        try:
            was_there = await self._calendar.remove(context.agent, number, request_id=context.call_key)
        except ScheduleRefused as refused:
            return ToolResult(text=f"Nothing was removed. {refused}", failed=True)
        except RemoteError as error:
            return _failed(error, "removed")
        if not was_there:
            return ToolResult(text=f"You have no schedule {number}; schedule_list shows yours.", failed=True)
        return ToolResult(text=f"Schedule {number} is removed.")

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `schedule_remove: 3`."""
        return f"schedule_remove: {arguments['id']}"


def _given(argument: str | None) -> str | None:
    """An argument as it is meant: a blank one is none."""
    return (argument or "").strip() or None


def _set(planned: Planned) -> str:
    schedule = planned.schedule
    times = ", ".join(_moment(time, schedule.zone) for time in planned.next_times) or "none any more"
    if schedule.cron is None:
        lines = [f"Schedule {schedule.number} is set. It runs once: {times}, in {schedule.zone}."]
    else:
        lines = [
            f"Schedule {schedule.number} is set: {schedule.cron}, in {schedule.zone}. Its next runs: {times}."
        ]
    lines += [planned.remark] if planned.remark else []
    lines += [] if schedule.backed else [_NOT_BACKED]
    return "\n".join(lines)


def _moment(time: datetime | None, zone_name: str) -> str:
    """`time` for reading, with its weekday; in UTC, and so marked, where this machine has no such zone."""
    if time is None:
        return "none any more"
    zone: tzinfo
    try:
        zone, mark = ZoneInfo(zone_name), ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone, mark = UTC, " UTC"
    return f"{time.astimezone(zone):%a %Y-%m-%d %H:%M}{mark}"


def _failed(error: RemoteError, done: str, *, harmless: bool = False) -> ToolResult:
    """That the scheduler did not do it, and whether it may have."""
    away = retriable(error.code) or error.code is grpc.StatusCode.CANCELLED
    what = "could not be reached" if away else "failed at this"
    known = harmless or error.outcome_known
    if known:
        outcome = f"nothing was {done}."
    else:
        outcome = (
            f"it is not known whether anything was {done}. Look with schedule_list before you try again."
        )
    return ToolResult(text=f"The scheduler service {what}: {outcome}", failed=True, outcome_known=known)
