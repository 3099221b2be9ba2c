"""Batches on their way: each handed over once, in its group, over restarts, lost answers and refusals."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import key_of_batch
from onechat_whatsapp.wire.events import CaughtUp, Connected, LoggedOut

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_batches import CAT, GARDEN, Bench, delivered, said, texts_in


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        yield Bench(tmp_path / "whatsapp", agent, loopback.address)


async def test_what_was_open_at_an_end_waits_for_the_next_catch_up_and_goes_with_it(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("before"))
    async with bench.running() as running:
        bench.clock.advance(40)
        assert delivered(bench.agent) == []
        await running.hear(Connected())
        await running.take(said("meanwhile", at_s=30))
        await running.hear(CaughtUp(count=1))
        deliveries = await running.until_delivered(2)

    assert texts_in(deliveries) == ["before", "meanwhile"]
    assert [one.group_count for one in deliveries] == [2, 2]


async def test_without_a_link_what_was_kept_goes_at_once(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("before"))
    async with bench.running(linked=False) as running:
        assert texts_in(await running.until_delivered(1)) == ["before"]


async def test_what_waits_goes_at_once_when_the_phone_has_ended_the_link(bench: Bench) -> None:
    async with bench.running() as running:
        await running.take(said("before"))
        await running.hear(LoggedOut(reason="LOGGED_OUT"))

        assert texts_in(await running.until_delivered(1)) == ["before"]


async def test_what_waits_goes_at_once_when_the_user_has_ended_the_link(bench: Bench) -> None:
    async with bench.running() as running:
        await running.take(said("before"))
        running.catch_up.unlinked()

        assert texts_in(await running.until_delivered(1)) == ["before"]


async def test_what_the_agent_could_not_take_before_a_restart_is_one_group_with_what_came_meanwhile(
    bench: Bench,
) -> None:
    bench.agent.fail("Deliver", times=1000)
    async with bench.running() as running:
        await running.live()
        for text in ("a", "b"):
            await running.take(said(text))
            await running.quiet()
        await running.until(lambda: "handing_batches_over" in running.passed)
    bench.agent.faults.clear()
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("c", at_s=500), said("d", at_s=900))
        await running.hear(CaughtUp(count=2))
        deliveries = await running.until_delivered(4)

    assert texts_in(deliveries) == ["a", "b", "c", "d"]
    assert {one.group_count for one in deliveries} == {4}
    assert len({one.group for one in deliveries}) == 1


async def test_a_batch_whose_answer_was_lost_before_a_restart_is_not_waited_for_in_the_group(
    bench: Bench,
) -> None:
    """The agent service has it by itself: a group that counted it would be held for a minute."""
    bench.agent.fail("Deliver", when="after", times=1000)
    async with bench.running() as running:
        await running.live()
        await running.take(said("a"))
        await running.quiet()
        await bench.agent.until(lambda: bool(bench.agent.deliveries))
    bench.agent.faults.clear()
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("b", at_s=500), said("c", at_s=900))
        await running.hear(CaughtUp(count=2))
        deliveries = await running.until_delivered(3)

    assert texts_in(deliveries) == ["a", "b", "c"]
    assert [one.group_count for one in deliveries] == [0, 2, 2]


async def test_a_group_whose_answer_was_lost_before_a_restart_is_not_given_twice(bench: Bench) -> None:
    bench.agent.fail("Deliver", when="after", times=1000)
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("a", at_s=-900), said("b", at_s=-500))
        await running.hear(CaughtUp(count=2))
        await bench.agent.until(lambda: bool(bench.agent.deliveries))
    bench.agent.faults.clear()
    async with bench.running() as running:
        await running.live()
        deliveries = await running.until_delivered(2)

    assert texts_in(deliveries) == ["a", "b"]
    assert [one.group_count for one in deliveries] == [2, 2]


async def test_more_batches_than_one_call_holds_are_still_one_group(bench: Bench) -> None:
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(*(said("x", chat=ChatId(f"1555{n:07d}@s.whatsapp.net")) for n in range(300)))
        await running.hear(CaughtUp(count=300))
        deliveries = await running.until_delivered(300)

    assert {one.group_count for one in deliveries} == {300}
    assert len({one.group for one in deliveries}) == 1
    assert bench.agent.calls["Deliver"] == 2


async def test_a_group_that_was_handed_over_in_part_before_a_restart_is_completed(bench: Bench) -> None:
    """Else the agent service would wait for its rest a minute, and have two turns of it."""
    missed = [said("x", chat=ChatId(f"1555{n:07d}@s.whatsapp.net"), at_s=n) for n in range(300)]
    last = missed[-1]
    bench.agent.fail("Deliver", times=1000, only_key=key_of_batch(last.chat, last.id, last.time))
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(*missed)
        await running.hear(CaughtUp(count=300))
        await bench.agent.until(lambda: bench.agent.calls["Deliver"] == 2)
    bench.agent.faults.clear()
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("meanwhile"))
        await running.hear(CaughtUp(count=1))
        deliveries = await running.until_delivered(301)

    assert [one.group_count for one in deliveries] == [300] * 300 + [1]
    assert len({one.group for one in deliveries}) == 2


async def test_a_batch_that_the_agent_refuses_keeps_back_no_other(bench: Bench) -> None:
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("a"), said("bad", chat=CAT), said("c", chat=GARDEN))
        bench.agent.fail("Deliver", code=grpc.StatusCode.INVALID_ARGUMENT, reason="DELIVERY_INVALID")
        await running.hear(CaughtUp(count=3))
        deliveries = await running.until_delivered(3)

    assert texts_in(deliveries) == ["a", "bad", "c"]
    assert bench.agent.calls["Deliver"] == 4


async def test_what_was_just_taken_is_on_disk_after_an_end(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.batching.take([said("at the last moment")])
    async with bench.running(linked=False) as running:
        assert texts_in(await running.until_delivered(1)) == ["at the last moment"]
