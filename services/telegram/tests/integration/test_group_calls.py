"""The calls on groups when Telegram or the agent service is away; pages and ids at their limits.

A removal that breaks off: test_group_removals.py. What the operator counts on otherwise:
tests/contract/test_telegram_groups_alike.py.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat.telegram.v1 import telegram_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_telegram.adapters.group_contract import PAGE_BYTES_MAX, page
from onechat_telegram.domain.bot_errors import TooManyCalls
from onechat_telegram.groups import rows
from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import AgentId, ChatId, Source
from onechat_telegram.groups.domain.settings import NAME_MAX, NAMES_MAX, GroupSettings

from tests.fakes.group_bench import GroupBench
from tests.fakes.loopback import Loopback
from tests.fakes.telegram_groups import add, groups_serving

GARDEN = -1001234567890
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def bench(tmp_path: Path) -> GroupBench:
    return GroupBench(tmp_path)


def calling(loopback: Loopback) -> Callable[..., Awaitable[Any]]:
    """Makes the operator's calls, by their names."""
    stub: Any = telegram_service_pb2_grpc.TelegramServiceStub(loopback.channel("operator"))

    async def made(method: str, **fields: Any) -> Any:
        return await getattr(stub, method)(getattr(v1, f"{method}Request")(**fields), timeout=10)

    return made


def group(chat: str, **about: Any) -> Group:
    return Group(
        chat=ChatId(chat),
        title="Garden",
        state=GroupState.ADMITTED,
        source=Source(f"tavern:{chat}"),
        agent=AgentId("a"),
        **{"settings": GroupSettings(), **about},
    )


async def test_a_group_is_not_admitted_while_the_agent_service_is_away(bench: GroupBench) -> None:
    """Its agent could not be made, and a group without one is not served."""
    async with bench.running() as running, groups_serving(running) as loopback:
        call = calling(loopback)
        await add(running, GARDEN, "Garden")
        bench.agents.fails = RemoteError(grpc.StatusCode.UNAVAILABLE, "away")

        with pytest.raises(RemoteError) as refused:
            await call("AdmitGroup", chat_id=GARDEN, request_id="a")
        bench.agents.fails = None
        before = (await call("ListGroups")).groups[0].admitted
        after = (await call("AdmitGroup", chat_id=GARDEN, request_id="a")).group.admitted

    assert refused.value.reason == "NEIGHBOUR_AWAY"
    assert (before, after) == (False, True)


async def test_how_long_telegram_wants_to_be_left_alone_is_handed_on(bench: GroupBench) -> None:
    def full() -> None:
        raise TooManyCalls("Too Many Requests: retry after 7", retry_after_s=7.0)

    async with bench.running() as running, groups_serving(running) as loopback:
        await add(running, GARDEN, "Garden")
        bench.agents.step = full

        with pytest.raises(RemoteError) as refused:
            await calling(loopback)("RemoveGroup", chat_id=GARDEN)

    assert (refused.value.reason, refused.value.retry_after_s) == ("NOT_CONNECTED", 7.0)
    assert refused.value.message == (
        "Telegram cannot be asked now, and nothing was changed. Try again; `onechat status` shows the link."
    )


async def test_a_first_answer_outlives_the_process(bench: GroupBench) -> None:
    async with bench.running() as running, groups_serving(running) as loopback:
        await add(running, GARDEN, "Garden")
        first = await calling(loopback)("AdmitGroup", chat_id=GARDEN, request_id="a")
        await calling(loopback)("RemoveGroup", chat_id=GARDEN)

    async with bench.running() as running, groups_serving(running) as loopback:
        again = await calling(loopback)("AdmitGroup", chat_id=GARDEN, request_id="a")

        assert again == first
        assert list((await calling(loopback)("ListGroups")).groups) == []


async def test_a_group_that_moved_is_still_known_by_its_earlier_id(bench: GroupBench) -> None:
    """An operator who listed it before it moved names it so."""
    async with bench.running() as running, groups_serving(running) as loopback:
        await add(running, -42, "Garden")
        bench.platform.move(ChatId("-42"), str(GARDEN))
        await running.settled()

        admitted = (await calling(loopback)("AdmitGroup", chat_id=-42)).group

    assert (admitted.chat_id, admitted.admitted) == (GARDEN, True)


async def test_an_id_that_no_number_of_the_contract_holds_hides_no_other_group(bench: GroupBench) -> None:
    async with bench.running() as running, groups_serving(running) as loopback:
        for chat in ("-" + "9" * 20, "!room", "-7"):
            await running.store.write(lambda db, chat=chat: rows.save(db, group(chat), NOW))

        listed = await calling(loopback)("ListGroups")

    assert [one.chat_id for one in listed.groups] == [-7]


def test_a_page_is_never_larger_than_an_answer_can_be() -> None:
    full = GroupSettings(names=("水" * NAME_MAX,) * NAMES_MAX)
    groups = sorted((group(str(number), settings=full) for number in range(1_000)), key=lambda one: one.chat)

    first = page(groups, 1_000, "")
    rest = page(groups, 1_000, first.next_page_token)

    assert PAGE_BYTES_MAX - 10_000 < first.ByteSize() < PAGE_BYTES_MAX + 100_000
    found = [one.chat_id for one in (*first.groups, *rest.groups)]
    assert (sorted(found), rest.next_page_token) == (list(range(1_000)), "")
