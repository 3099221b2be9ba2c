"""What `onechat telegram` counts on of the telegram service: the real one and its double pass this."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat.telegram.v1 import telegram_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_telegram.domain.bot_errors import NotReached

from tests.fakes.group_bench import GroupBench
from tests.fakes.group_platform import on_we_go
from tests.fakes.loopback import Loopback
from tests.fakes.telegram_groups import add, groups_serving
from tests.fakes.telegram_servicer import TelegramServicer, telegram_serving

CALL_S = 20.0
GARDEN, CARS = -1001234567890, -42
WRITES = ("AdmitGroup", "SetGroup", "RemoveGroup")


class Real:
    """The service, over a platform that a test has in its hand."""

    def __init__(self, bench: GroupBench, stack: AsyncExitStack) -> None:
        self.bench = bench
        self._stack = stack

    async def open(self, *, has_bot: bool = True) -> Loopback:
        """The service's door."""
        self.running = await self._stack.enter_async_context(self.bench.running())
        return await self._stack.enter_async_context(groups_serving(self.running, has_bot=has_bot))

    async def add(self, chat: int, title: str) -> None:
        """The owner puts the bot into a group."""
        await add(self.running, chat, title)

    def reach(self, *, reachable: bool) -> None:
        """Whether Telegram can be reached from now on."""
        self.bench.agents.step = on_we_go if reachable else self._fail

    def _fail(self) -> None:
        raise NotReached("no way there")


class Double:
    """The double."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.telegram = TelegramServicer()
        self._stack = stack

    async def open(self, *, has_bot: bool = True) -> Loopback:
        if not has_bot:
            self.telegram.link = v1.LINK_STATE_NO_TOKEN
        return await self._stack.enter_async_context(telegram_serving(self.telegram))

    async def add(self, chat: int, title: str) -> None:
        self.telegram.add(chat, title)

    def reach(self, *, reachable: bool) -> None:
        self.telegram.link = v1.LINK_STATE_CONNECTED if reachable else v1.LINK_STATE_UNREACHABLE


@pytest.fixture(params=["service", "double"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Real | Double]:
    async with AsyncExitStack() as stack:
        yield Real(GroupBench(tmp_path), stack) if request.param == "service" else Double(stack)


@pytest.fixture
async def loopback(house: Real | Double) -> Loopback:
    """The door of a service with one group, which awaits the owner's yes."""
    opened = await house.open()
    await house.add(GARDEN, "Garden")
    return opened


@pytest.fixture
def call(loopback: Loopback) -> Callable[..., Awaitable[Any]]:
    """Makes a call of the operator's, by its name."""
    return calling(loopback)


def calling(loopback: Loopback, caller: str = "operator") -> Callable[..., Awaitable[Any]]:
    stub: Any = telegram_service_pb2_grpc.TelegramServiceStub(loopback.channel(caller))

    async def made(method: str, **fields: Any) -> Any:
        return await getattr(stub, method)(getattr(v1, f"{method}Request")(**fields), timeout=CALL_S)

    return made


async def reason(call: Awaitable[Any]) -> str:
    """Why a call is refused."""
    with pytest.raises(RemoteError) as refused:
        await call
    return refused.value.reason


def as_set(chat: int = GARDEN, **fields: Any) -> v1.Group:
    return v1.Group(**{"chat_id": chat, "detector": v1.DETECTOR_HYBRID, "names": ["kobold"], **fields})


def writes(chat: int) -> list[tuple[str, dict[str, Any]]]:
    """Each call that changes a group."""
    return [
        ("AdmitGroup", {"chat_id": chat}),
        ("SetGroup", {"group": as_set(chat)}),
        ("RemoveGroup", {"chat_id": chat}),
    ]


async def test_a_group_that_the_owner_has_added_is_listed_as_not_yet_admitted(call):
    (group,) = (await call("ListGroups")).groups

    assert group == v1.Group(
        chat_id=GARDEN,
        title="Garden",
        detector=v1.DETECTOR_SIMPLE,
        names=["@robobot", "Robo"],
        ask_model=True,
        learn=True,
        private_chats=True,
    )


async def test_an_admitted_group_has_an_agent_and_admitting_it_again_changes_nothing(call):
    first = (await call("AdmitGroup", chat_id=GARDEN)).group

    again = (await call("AdmitGroup", chat_id=GARDEN)).group

    assert first.admitted
    assert first.agent_id
    assert again == first == (await call("ListGroups")).groups[0]


async def test_a_group_is_set_as_a_whole_but_for_its_title_admission_and_agent(call):
    agent = (await call("AdmitGroup", chat_id=GARDEN)).group.agent_id
    wanted = as_set(names=["kob*", "@robobot"], learn=True, title="Mine", admitted=False, agent_id="x")

    answer = (await call("SetGroup", group=wanted)).group

    assert answer == v1.Group(
        chat_id=GARDEN,
        title="Garden",
        admitted=True,
        detector=v1.DETECTOR_HYBRID,
        names=["kob*", "@robobot"],
        learn=True,
        agent_id=agent,
    )
    assert list((await call("ListGroups")).groups) == [answer]


async def test_a_group_that_awaits_a_yes_can_be_set_already(call):
    assert not (await call("SetGroup", group=as_set())).group.admitted
    assert list((await call("AdmitGroup", chat_id=GARDEN)).group.names) == ["kobold"]


@pytest.mark.parametrize(
    "fields",
    [
        {"detector": v1.DETECTOR_UNSPECIFIED},
        {"detector": 9},
        {"names": ["*"]},
        {"names": [""]},
        {"names": ["x" * 61]},
        {"names": ["robo"] * 21},
    ],
    ids=str,
)
async def test_a_setting_that_cannot_be_changes_nothing(call, fields):
    before = await call("ListGroups")

    assert await reason(call("SetGroup", group=as_set(**fields))) == "SETTING_INVALID"

    assert await call("ListGroups") == before


async def test_a_group_that_was_removed_is_gone_until_it_is_added_again_and_keeps_its_agent(call, house):
    before = (await call("AdmitGroup", chat_id=GARDEN)).group
    await call("SetGroup", group=as_set())

    await call("RemoveGroup", chat_id=GARDEN)
    await call("RemoveGroup", chat_id=GARDEN)

    assert list((await call("ListGroups")).groups) == []
    assert await reason(call("AdmitGroup", chat_id=GARDEN)) == "GROUP_UNKNOWN"
    assert await reason(call("SetGroup", group=as_set())) == "GROUP_UNKNOWN"
    await house.add(GARDEN, "Garden")
    after = (await call("AdmitGroup", chat_id=GARDEN)).group
    assert (after.agent_id, after.names) == (before.agent_id, ["kobold"])


@pytest.mark.parametrize(("method", "fields"), writes(CARS), ids=WRITES)
async def test_a_group_that_the_bot_never_saw_is_unknown(call, method, fields):
    assert await reason(call(method, **fields)) == "GROUP_UNKNOWN"


async def test_a_repeat_under_one_request_id_gives_the_first_answer_and_does_nothing_again(call, house):
    """A call whose answer was lost is made again, when others may have gone on from what it did."""
    admitted = await call("AdmitGroup", chat_id=GARDEN, request_id="a")
    was_set = await call("SetGroup", group=as_set(), request_id="s")
    await call("RemoveGroup", chat_id=GARDEN, request_id="r")
    await house.add(GARDEN, "Garden")
    await call("AdmitGroup", chat_id=GARDEN)
    now = await call("SetGroup", group=as_set(names=["imp"]))

    again = [
        await call("AdmitGroup", chat_id=GARDEN, request_id="a"),
        await call("SetGroup", group=as_set(), request_id="s"),
    ]
    await call("RemoveGroup", chat_id=GARDEN, request_id="r")

    assert again == [admitted, was_set]
    assert list((await call("ListGroups")).groups) == [now.group]


@pytest.mark.parametrize(("method", "fields"), writes(GARDEN), ids=WRITES)
async def test_a_request_id_is_for_one_request(call, method, fields):
    await call(method, **fields, request_id="a")
    other = dict(writes(CARS))[method]

    assert await reason(call(method, **other, request_id="a")) == "KEY_REUSED"
    assert await reason(call(method, **fields, request_id="ö")) == "BAD_REQUEST_ID"


async def test_pages_hold_every_group_once(call, house):
    for number in range(1, 7):
        await house.add(-number, f"Group {number}")

    pages = [await call("ListGroups", page_size=3)]
    while pages[-1].next_page_token:
        pages.append(await call("ListGroups", page_size=3, page_token=pages[-1].next_page_token))

    assert [len(page.groups) for page in pages] == [3, 3, 1]
    found = [group.chat_id for page in pages for group in page.groups]
    assert sorted(found) == sorted([GARDEN, *range(-6, 0)])


@pytest.mark.parametrize("fields", [{"page_size": -1}, {"page_token": "x"}], ids=str)
async def test_a_page_that_cannot_be_is_refused(call, fields):
    assert await reason(call("ListGroups", **fields)) == "BAD_PAGE"


async def test_a_group_is_not_left_while_telegram_is_away(call, house):
    await call("AdmitGroup", chat_id=GARDEN)
    house.reach(reachable=False)

    assert await reason(call("RemoveGroup", chat_id=GARDEN, request_id="a")) == "NOT_CONNECTED"
    house.reach(reachable=True)
    (group,) = (await call("ListGroups")).groups
    assert group.admitted
    await call("RemoveGroup", chat_id=GARDEN, request_id="a")

    assert list((await call("ListGroups")).groups) == []


async def test_without_a_token_there_is_no_group_and_nothing_to_change(house):
    call = calling(await house.open(has_bot=False))
    await house.add(GARDEN, "Garden")

    assert list((await call("ListGroups")).groups) == []
    for method, fields in writes(GARDEN):
        assert await reason(call(method, **fields)) == "NO_TOKEN"
    assert (await call("GetStatus")).link == v1.LINK_STATE_NO_TOKEN


@pytest.mark.parametrize("caller", ["agent", "whatsapp", "scheduler"])
async def test_only_the_operator_sees_and_changes_groups(loopback, caller):
    """An agent that could admit a group would let strangers write to it."""
    call = calling(loopback, caller)

    refused = [
        await reason(call(method, **fields)) for method, fields in [("ListGroups", {}), *writes(GARDEN)]
    ]

    assert set(refused) == {"CALLER_NOT_ALLOWED"}
