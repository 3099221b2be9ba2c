"""Five services, a root that answers its schedules, and schedules that come due when a test wants them to.

A minute is the least that a schedule can be told to wait, so `come_due` moves its instants in the store of a
scheduler that is stopped: what that finds at its start is what it would find had time passed. Times are
seconds.
"""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from onechat.agent.v1 import delivery_pb2
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_demo.prompt import Called, Said, Voice, read_prompt
from onechat_runtime.clock import micros

from tests.fakes.five_services import LOOK_S, SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, again, chatting
from tests.fakes.five_services_points import Point
from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, ScriptedModel, call

TEXT: Final = "Water the plants."
NOTED: Final = "I have noted it."  #: what it answers when it has set one
DONE: Final = "They have water."  #: what the root answers to any schedule
AHEAD: Final = timedelta(hours=6)  # how far from now what has missed runs comes next
MISSED: Final = 3  # days
WITHIN_S: Final = 30.0
_LATE: Final = re.compile(r"\d+ hours?( \d+ minutes?)? late")  # by how much hangs on when it runs
ONCE, DAILY = "once", "daily"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a schedule's run leaves behind; its id is N."""

    deliveries: tuple[tuple[str, int, bool, bool], ...]  #: source, kind, wakes, backed
    logged: tuple[str, ...]  #: what the root was told
    replies: int
    is_kept: bool


class Scene:
    """A root in its five services."""

    def __init__(self, services: FiveServices, chat: Chat, model: ScriptedModel) -> None:
        self.services = services
        self.chat = chat
        self.model = model
        self.root = ""
        self._daily_at = (datetime.now(ZoneInfo(services.environ["ONECHAT_TIME_ZONE"])) + AHEAD).replace(
            minute=0, second=0, microsecond=0
        )
        self._made = 0
        model.script(_answer_for_ever(hears_schedule, Answer(text=DONE)))

    async def open(self) -> None:
        """Start all five, and say hello."""
        await self.services.start(*SERVICES)
        await self.chat.ask("hello", key="hello")
        self.root = await self.chat.log_id()

    @property
    def scheduler(self) -> Any:
        """The scheduler as the operator reaches it."""
        return scheduler_service_pb2_grpc.SchedulerServiceStub(self.services.channel("operator", "scheduler"))

    # ------------------------------------------------------------ schedules

    def request(self, kind: str, owner: str = "") -> v1.CreateScheduleRequest:
        """A schedule that is far from due, the root's unless an owner is named; with its own request id."""
        self._made += 1
        when = {"at": next_year()} if kind == ONCE else {"cron": f"0 {self._daily_at.hour} * * *"}
        own = {"owner_id": owner or self.root, "request_id": f"made:{self._made}"}
        return v1.CreateScheduleRequest(text=TEXT, backed=True, **own, **when)

    async def create(self, kind: str, owner: str = "") -> int:
        """Set one; its id."""
        request = self.request(kind, owner)
        answer = await again(lambda: self.scheduler.CreateSchedule(request, timeout=CALL_S))
        return int(answer.schedule.schedule_id)

    async def set_by_tool(self, asked: str, **when: str) -> int:
        """Have the root set one, since its user says `asked`, in other words each time; its id."""
        before = set(await self.schedules())
        arguments = {"text": TEXT, "at": None, "cron": None, **when}
        self.model.script(
            _answer_for_ever(_is_step(asked, 0), Answer(calls=(call("schedule_set", **arguments),))),
            _answer_for_ever(_is_step(asked, 1), Answer(text=NOTED)),
        )
        assert await self.chat.ask(asked, key=f"said:{asked}") == NOTED
        (number,) = set(await self.schedules()) - before
        return number

    async def schedules(self) -> dict[int, v1.Schedule]:
        """All there are, by id."""
        request = v1.ListSchedulesRequest(page_size=1_000)
        answer = await again(lambda: self.scheduler.ListSchedules(request, timeout=CALL_S))
        return {one.schedule_id: one for one in answer.schedules}

    def come_due(self, number: int, kind: str, in_s: float = 0.0) -> datetime:
        """Have it be due in `in_s`, or have missed MISSED runs: the due instant of the run that comes of it.

        The scheduler is not running.
        """
        if kind == ONCE:
            due = datetime.now(UTC) + timedelta(seconds=in_s)
            self._move(number, due - timedelta(days=1), due)
            return due
        latest = self._daily_at - timedelta(days=1)
        first = latest - timedelta(days=MISSED - 1)
        self._move(number, (first - timedelta(minutes=1)).astimezone(UTC), first.astimezone(UTC))
        return latest.astimezone(UTC)

    def _move(self, number: int, last: datetime, following: datetime) -> None:
        with closing(sqlite3.connect(self.services.data / "scheduler" / "store.db")) as db, db:
            db.execute(
                "UPDATE schedules SET last_time = ?, next_time = ? WHERE schedule_id = ?",
                (micros(last), micros(following), number),
            )

    def runs_recorded(self) -> int:
        """How many runs the scheduler's store holds that are not settled."""
        with closing(sqlite3.connect(self.services.data / "scheduler" / "store.db")) as db:
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])

    async def is_full(self, service: str) -> None:
        """Return once `service` says that its disk is full."""
        stub: Any = ops_service_pb2_grpc.SnapshotServiceStub(self.services.channel("operator", service))
        async with asyncio.timeout(WITHIN_S):
            while not any(
                "free some space" in one.sentence
                for one in (await stub.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=CALL_S)).troubles
            ):
                await asyncio.sleep(LOOK_S)

    # ------------------------------------------------------------ runs

    async def run_of(self, kind: str, point: Point | None = None) -> Given:
        """What comes of a schedule's run, the scheduler killed at `point` and started again.

        Raises TimeoutError when that point is not reached.
        """
        number = await self.create(kind)
        await self.services.kill("scheduler")
        due = self.come_due(number, kind)
        await self.services.start("scheduler", point=point, ready=point is None)
        if point is not None:
            await self.services.killed("scheduler", within_s=WITHIN_S)
            await self.services.start("scheduler")
        await self.answered(number, due)
        given = await self.given(number)
        if given.is_kept:
            await self.remove(number)
        return given

    async def answered(self, number: int, due: datetime, within_s: float = WITHIN_S) -> None:
        """Return once the root has answered the run of `due`, and the scheduler knows that it is given."""
        key = key_of(number, due)
        await self.chat.until(lambda: self.chat.end_of(key) is not None, within_s)
        async with asyncio.timeout(WITHIN_S):
            while (one := (await self.schedules()).get(number)) and _is_past(one):
                await asyncio.sleep(LOOK_S)

    async def given(self, number: int) -> Given:
        """What has come of the schedule."""
        came = await self.deliveries_of(number)
        keys = {f"d:{one.delivery_id}" for one in came}
        turns = {one.turn for one in came}
        logged = [message.text for message in await self.chat.log() if message.key in keys]
        return Given(
            deliveries=tuple(
                (one.source.replace(str(number), "N"), one.kind, one.wakes, one.backed) for one in came
            ),
            logged=tuple(
                _LATE.sub("late", text.replace(f"[Schedule {number}]", "[Schedule N]")) for text in logged
            ),
            replies=sum(event.turn in turns and event.HasField("reply") for event in self.chat.events),
            is_kept=number in await self.schedules(),
        )

    async def deliveries_of(self, number: int) -> Sequence[delivery_pb2.Delivery]:
        """What the agent service has got of the schedule."""
        return [one for one in await self.chat.deliveries() if one.source == f"schedule:{number}"]

    async def remove(self, number: int) -> None:
        """Remove the schedule."""
        request = v1.DeleteScheduleRequest(
            owner_id=self.root, schedule_id=number, request_id=f"removed:{number}"
        )
        await again(lambda: self.scheduler.DeleteSchedule(request, timeout=CALL_S))


def key_of(number: int, due: datetime) -> str:
    """The key under which a run is given."""
    return f"schedule:{number}:{due:%Y-%m-%dT%H:%MZ}"


def next_year() -> str:
    """A local time that is far away."""
    return f"{datetime.now(UTC).year + 1}-06-15 18:00"


def _is_past(one: v1.Schedule) -> bool:
    return bool(one.next_time.ToDatetime(UTC) <= datetime.now(UTC))


def hears_schedule(body: dict[str, Any]) -> bool:
    """Whether a request's turn was begun by a schedule."""
    return any(
        isinstance(one, Said) and one.voice is Voice.WORK and one.text.startswith("[Schedule ")
        for one in read_prompt(body).turn
    )


def _is_step(asked: str, calls: int) -> Callable[[dict[str, Any]], bool]:
    """Fits requests of the turn in which the user says `asked`, once it has made so many calls."""

    def fits(body: dict[str, Any]) -> bool:
        turn = read_prompt(body).turn
        heard = any(isinstance(one, Said) and one.voice is Voice.USER and one.text == asked for one in turn)
        return heard and sum(isinstance(one, Called) for one in turn) == calls

    return fits


def _answer_for_ever(match: Callable[[dict[str, Any]], bool], answer: Answer) -> Script:
    return Script(answer=answer, purpose=Purpose.TURN, match=match, times=FOR_EVER)


@asynccontextmanager
async def scene_in(forks: Forks, folder: Path) -> AsyncIterator[Scene]:
    """The scene, opened."""
    async with (
        ScriptedModel.serving() as model,
        five_services(forks, folder, OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        scene = Scene(services, chat, model)
        await scene.open()
        yield scene
