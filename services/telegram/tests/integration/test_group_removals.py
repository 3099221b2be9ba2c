"""RemoveGroup that breaks off half way, or comes twice at once: the group is left, and left once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat_runtime.store import Store, migrations_in
from onechat_telegram.errors import NotConnected
from onechat_telegram.group_servicer import GroupServicer
from onechat_telegram.groups.admission import Admission
from onechat_telegram.groups.domain.ids import ChatId, MemberId, MessageKey
from onechat_telegram.groups.domain.messages import Added, Member

from tests.fakes.clock import ManualClock
from tests.fakes.group_agents import GroupAgentsInMemory, OwnerInMemory
from tests.fakes.group_platform import Platform, PlatformAdapter, Trip, Tripped

GARDEN = -1001234567890
PATIENCE_S = 5.0  # far more than anything takes here
REMOVE = v1.RemoveGroupRequest(chat_id=GARDEN, request_id="a")


class WatchedAdapter(PlatformAdapter):
    """Tells a test when a group is left, before that and after."""

    before: Callable[[], Awaitable[object]] | None = None
    after: Callable[[], object] | None = None
    times_left = 0

    async def leave(self, chat: ChatId) -> None:
        if self.before is not None:
            await self.before()
        self.times_left += 1
        await super().leave(chat)
        if self.after is not None:
            self.after()


@pytest.fixture
def platform() -> Platform:
    platform = Platform(ManualClock().now)
    platform.room(str(GARDEN), "Garden", "anna")
    return platform


@pytest.fixture
def adapter(platform: Platform) -> WatchedAdapter:
    return WatchedAdapter(platform)


@pytest.fixture
async def opened(tmp_path: Path, adapter: WatchedAdapter) -> AsyncIterator[Callable[[float], GroupServicer]]:
    """The calls, for which Telegram may take so many seconds, with one group that awaits a yes."""
    clock = ManualClock()
    migrations = migrations_in("onechat_telegram.migrations")
    async with Store.open(
        tmp_path / "store.db", component="telegram", migrations=migrations, clock=clock
    ) as store:
        admission = Admission(adapter, GroupAgentsInMemory(), OwnerInMemory(), store, clock)
        olga = Member(id=MemberId("olga"), name="Olga")
        added = Added(
            key=MessageKey("tavern:1"), chat=ChatId(str(GARDEN)), title="Garden", by=olga, by_owner=True
        )
        await admission.added(added)
        yield lambda telegram_s: GroupServicer(store, admission, clock, telegram_s=telegram_s)


@pytest.fixture
def servicer(opened: Callable[[float], GroupServicer]) -> GroupServicer:
    return opened(PATIENCE_S)


async def listed(servicer: GroupServicer) -> list[int]:
    page = await servicer.ListGroups(v1.ListGroupsRequest(), None)
    return [group.chat_id for group in page.groups]


@pytest.mark.parametrize("at", [0, 1])
async def test_a_removal_that_broke_off_is_done_by_its_repeat(
    servicer: GroupServicer, adapter: WatchedAdapter, platform: Platform, at: int
) -> None:
    """Before the group is left, and after that but before it is noted."""
    trip = Trip(at)

    async def before() -> None:
        trip()

    adapter.before, adapter.after = before, trip

    with pytest.raises(Tripped):
        await servicer.RemoveGroup(REMOVE, None)
    assert await listed(servicer) == [GARDEN]
    await servicer.RemoveGroup(REMOVE, None)

    assert await listed(servicer) == []
    assert not platform.rooms[ChatId(str(GARDEN))].bot_inside


async def test_a_repeat_that_overtakes_its_call_waits_for_it(
    servicer: GroupServicer, adapter: WatchedAdapter
) -> None:
    """A group that the owner adds again in between would be left by a repeat that did not."""
    leaving, go_on = asyncio.Event(), asyncio.Event()

    async def before() -> None:
        leaving.set()
        await go_on.wait()

    adapter.before = before
    calls = [asyncio.ensure_future(servicer.RemoveGroup(REMOVE, None)) for _ in range(2)]
    await leaving.wait()
    group = v1.Group(chat_id=GARDEN, detector=v1.DETECTOR_MODEL)
    others = await servicer.SetGroup(v1.SetGroupRequest(group=group), None)
    go_on.set()
    await asyncio.gather(*calls)

    assert adapter.times_left == 1
    assert others.group.detector == v1.DETECTOR_MODEL


async def test_a_telegram_that_never_answers_holds_up_no_caller(
    opened: Callable[[float], GroupServicer], adapter: WatchedAdapter
) -> None:
    """Who waits longer than the call may take learns nothing of why."""
    never = asyncio.Event()

    async def before() -> None:
        await never.wait()

    adapter.before = before
    servicer = opened(0.0)

    with pytest.raises(NotConnected):
        await servicer.RemoveGroup(REMOVE, None)
    assert await listed(servicer) == [GARDEN]
