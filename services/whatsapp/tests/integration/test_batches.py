"""From a read message to the agent: batches close in time, by arrival or, after a catch-up, by their own."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from onechat.agent.v1 import delivery_pb2
from onechat_runtime.clock import micros
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.wire.events import CaughtUp, Connected, Disconnected

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_batches import BOB, CAT, GARDEN, NOON, Bench, delivered, said, texts_in


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        yield Bench(tmp_path / "whatsapp", agent, loopback.address)


async def test_a_batch_is_one_work_message_of_its_chat_that_nobody_stands_behind(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("hello"), said("are you there?", at_s=10), said("yes", at_s=15, from_me=True))
        await running.quiet()
        (delivery,) = await running.until_delivered(1)

    assert delivery.text == (
        '[WhatsApp] "Bob" (15550002222@s.whatsapp.net)\n'
        '2026-11-30 13:00 "Bob": hello\n'
        '2026-11-30 13:00 "Bob": are you there?\n'
        "2026-11-30 13:00 You: yes"
    )
    assert delivery.source == f"whatsapp:{BOB}"
    assert delivery.kind == delivery_pb2.DELIVERY_KIND_WORK
    assert delivery.time.ToMicroseconds() == micros(NOON) + 15_000_000
    assert (delivery.wakes_root, delivery.backed, delivery.to, delivery.group) == (True, False, "", "")


async def test_a_batch_stays_open_while_messages_come_and_closes_after_twenty_quiet_seconds(
    bench: Bench,
) -> None:
    async with bench.running() as running:
        await running.live()
        for second in (0, 19, 38):
            await running.take(said(f"at {second}"))
            await running.settled()
            bench.clock.advance(19)
        await running.settled()
        assert delivered(bench.agent) == []
        bench.clock.advance(1)
        deliveries = await running.until_delivered(1)

    assert texts_in(deliveries) == ["at 0", "at 19", "at 38"]


async def test_a_batch_closes_at_the_age_of_two_minutes_though_messages_come(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        for second in range(0, 120, 15):
            await running.take(said(f"at {second}"))
            await bench.clock.until_sleeping()
            bench.clock.advance(15)
        (first,) = await running.until_delivered(1)

    assert texts_in([first]) == [f"at {second}" for second in range(0, 120, 15)]


async def test_a_batch_closes_with_its_fiftieth_message_at_once(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(*(said(f"message {number}") for number in range(120)))
        deliveries = await running.until_delivered(2)

        assert [len(texts_in([one])) for one in deliveries] == [50, 50]
        assert running.handover.waiting() == 1


async def test_a_fiftieth_message_closes_its_batch_though_none_comes_after_it(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(*(said(f"message {number}") for number in range(49)))
        await running.settled()
        assert delivered(bench.agent) == []
        await running.take(said("message 49"))
        (delivery,) = await running.until_delivered(1)

    assert len(texts_in([delivery])) == 50


async def test_each_chat_has_a_batch_of_its_own_and_says_whether_it_wakes_the_root(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("psst"), said("mine", chat=CAT, from_me=True), said("all", chat=GARDEN))
        await running.quiet()
        private, own, group = await running.until_delivered(3)
        await running.take(said("you there", chat=GARDEN, calls_user=True), said("and so on", chat=GARDEN))
        await running.quiet()
        *_, calling = await running.until_delivered(4)

    assert [one.wakes_root for one in (private, own, group, calling)] == [True, False, False, True]


async def test_a_message_is_taken_once_however_often_it_comes_over_reconnects_and_restarts(
    bench: Bench,
) -> None:
    again = said("once", message_id="3EB0AA")
    async with bench.running() as running:
        await running.live()
        await running.take(again, again)
        await running.hear(Disconnected())
        await running.live()
        await running.until_delivered(1)
        await running.take(again)
    async with bench.running() as running:
        await running.live()
        await running.take(again, said("another"))
        await running.quiet()
        deliveries = await running.until_delivered(2)

    assert texts_in(deliveries) == ["once", "another"]


async def test_the_same_id_in_another_chat_is_another_message(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("a", message_id="3EB0AA"), said("b", message_id="3EB0AA", chat=CAT))
        await running.quiet()

        assert texts_in(await running.until_delivered(2)) == ["a", "b"]


async def test_forty_messages_of_the_last_day_are_one_group_in_batches_by_their_own_times(
    bench: Bench,
) -> None:
    """One turn of the root, not forty."""
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(*(said(f"message {number}", at_s=-2160 * number) for number in range(38)))
        await running.take(said("a", at_s=-100_000, chat=CAT), said("b", at_s=-99_990, chat=CAT))
        bench.clock.advance(30)
        assert delivered(bench.agent) == []
        await running.hear(CaughtUp(count=40))
        deliveries = await running.until_delivered(39)

    assert texts_in(deliveries) == ["a", "b", *(f"message {number}" for number in reversed(range(38)))]
    assert {(one.group != "", one.group_count) for one in deliveries} == {(True, 39)}
    assert len({one.group for one in deliveries}) == 1
    assert bench.agent.calls["Deliver"] == 1


async def test_a_catch_up_that_never_ends_is_waited_for_a_minute(bench: Bench) -> None:
    async with bench.running() as running:
        await running.hear(Connected())
        await running.take(said("old", at_s=-5000), said("older", at_s=-6000))
        await bench.clock.until_sleeping()
        bench.clock.advance(59)
        assert delivered(bench.agent) == []
        bench.clock.advance(1)
        deliveries = await running.until_delivered(2)

    assert [one.group_count for one in deliveries] == [2, 2]


async def test_after_a_catch_up_batches_go_by_themselves_again(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.hear(Disconnected(), Connected())
        await running.take(said("missed", at_s=-5000))
        await running.live()
        await running.until_delivered(1)
        await running.take(said("fresh"))
        await running.quiet()
        missed, fresh = await running.until_delivered(2)

    assert (missed.group_count, fresh.group_count) == (1, 0)


async def test_nothing_of_a_later_catch_up_goes_before_its_end_however_much_comes(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.hear(Disconnected(), Connected())
        await running.take(*(said(f"message {second}", at_s=second) for second in range(120)))
        await running.hear(CaughtUp(count=120))
        deliveries = await running.until_delivered(3)

    assert [len(texts_in([one])) for one in deliveries] == [50, 50, 20]
    assert {one.group_count for one in deliveries} == {3}


async def test_what_comes_as_a_batch_closes_is_of_the_next_one(bench: Bench) -> None:
    async with bench.running() as running:
        await running.live()
        await running.take(said("in time"))
        await bench.clock.until_sleeping()
        bench.clock.advance(20)
        await running.take(said("too late"))
        (first,) = await running.until_delivered(1)

    assert texts_in([first]) == ["in time"]


async def test_a_message_is_known_for_months_and_not_for_ever(bench: Bench) -> None:
    again = said("once")
    async with bench.running() as running:
        await running.live()
        await running.take(again)
        for day in (2, 80):
            await running.quiet()
            bench.clock.advance(timedelta(days=day).total_seconds())
            await running.take(said(f"{day} days later"), again)
        await running.quiet()
        deliveries = await running.until_delivered(3)
        bench.clock.advance(timedelta(days=91).total_seconds())
        await running.take(said("long after"))
        await running.quiet()
        known = running.store.read(lambda db: db.execute("SELECT count(*) FROM heard").get)

    assert texts_in(deliveries) == ["once", "2 days later", "80 days later"]
    assert known == 1


async def test_a_chat_that_was_known_by_lid_and_then_by_number_is_one(bench: Bench) -> None:
    lid = ChatId("111222333444@lid")
    again = said("by lid", chat=lid, message_id="3EB0AA")
    async with bench.running() as running:
        await running.live()
        await running.take(again)
        await running.batching.merge(lid, BOB)
        await running.take(said("by lid", message_id="3EB0AA"), said("by number"))
        await running.quiet()
        (delivery,) = await running.until_delivered(1)

    assert delivery.source == f"whatsapp:{BOB}"
    assert texts_in([delivery]) == ["by lid", "by number"]


async def test_a_batch_carries_the_chats_other_id_as_it_was_known_at_its_close(bench: Bench) -> None:
    """The agent must be handed the same thing again after a lost answer, whatever was learnt meanwhile."""
    lid = ChatId("111222333444@lid")
    async with bench.running() as running:
        await running.live()
        await running.take(said("before", chat=lid))
        await running.quiet()
        await running.until_delivered(1)
        bench.agent.fail("Deliver", times=1, when="after")
        await running.take(said("still by lid", chat=lid))
        await running.quiet()
        await bench.agent.until(lambda: len(bench.agent.deliveries) == 2)
        await running.batching.merge(lid, BOB)
        await running.take(said("by number"), said("of nobody else", chat=CAT))
        await running.quiet()
        deliveries = await running.until_delivered(4)

    assert bench.agent.calls["Deliver"] >= 4
    assert [(one.source, one.former_source) for one in deliveries] == [
        (f"whatsapp:{lid}", ""),
        (f"whatsapp:{lid}", ""),
        (f"whatsapp:{BOB}", f"whatsapp:{lid}"),
        (f"whatsapp:{CAT}", ""),
    ]


async def test_the_other_id_of_a_chat_is_known_after_a_restart_and_learnt_once(bench: Bench) -> None:
    """Else each start would cost a commit for each chat."""
    lid = ChatId("111222333444@lid")
    async with bench.running() as running:
        await running.batching.merge(lid, BOB)
    async with bench.running() as running:
        await running.live()
        written = running.store.read(data_version)
        await running.batching.merge(lid, BOB)
        unwritten = running.store.read(data_version)
        await running.take(said("by number"))
        await running.quiet()
        (delivery,) = await running.until_delivered(1)

    assert unwritten == written
    assert delivery.former_source == f"whatsapp:{lid}"


async def test_what_came_by_the_old_id_since_is_of_the_chat_too(bench: Bench) -> None:
    """A session that is linked anew may know the number later than the one before it did."""
    lid = ChatId("111222333444@lid")
    async with bench.running() as running:
        await running.live()
        await running.batching.merge(lid, BOB)
        await running.batching.take([said("by lid", chat=lid)])
        await running.batching.merge(lid, BOB)
        await running.take(said("by number"))
        await running.batching.merge(lid, BOB)
        await running.quiet()
        (delivery,) = await running.until_delivered(1)

    assert texts_in([delivery]) == ["by lid", "by number"]


async def test_a_number_that_came_to_somebody_else_is_theirs_alone(bench: Bench) -> None:
    lid, later = ChatId("111222333444@lid"), ChatId("999888777666@lid")
    async with bench.running() as running:
        await running.live()
        await running.batching.merge(lid, BOB)
        await running.batching.merge(later, BOB)
        await running.batching.merge(lid, CAT)
        await running.take(said("the later one"), said("the first one", chat=CAT))
        await running.quiet()
        deliveries = await running.until_delivered(2)

    assert [(one.source, one.former_source) for one in deliveries] == [
        (f"whatsapp:{BOB}", f"whatsapp:{later}"),
        (f"whatsapp:{CAT}", f"whatsapp:{lid}"),
    ]


async def test_two_full_batches_of_a_chat_that_became_one_are_two(bench: Bench) -> None:
    lid = ChatId("111222333444@lid")
    async with bench.running() as running:
        await running.live()
        await running.take(*(said(f"a{number}", chat=lid) for number in range(49)))
        await running.take(*(said(f"b{number}") for number in range(49)))
        await running.batching.merge(lid, BOB)
        deliveries = await running.until_delivered(2)

    assert [len(texts_in([one])) for one in deliveries] == [50, 48]
    assert texts_in(deliveries) == [f"{chat}{number}" for chat in "ab" for number in range(49)]


def data_version(db: apsw.Connection) -> int:
    """A number that changes with each commit of another connection, as the one that writes is."""
    return int(db.execute("PRAGMA data_version").get)
