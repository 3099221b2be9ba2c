"""Silence: what does not come over a connection that stands, and what comes without a key."""

import pytest
from onechat_whatsapp.wire.events import GroupRenamed

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_link_bench import LinkBench, linked_account
from tests.fakes.whatsapp_scripts import GARDEN, heard, undecryptable

HOUR = 3600.0
DAY = 24 * HOUR


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, linked_account())


@pytest.fixture
def disk(bench):
    disk = Disk("of-silence", waits=False)
    bench.vfs = disk.name
    yield disk
    disk.unregister()


def waits(bench) -> set[float]:
    """What sleeps on the clock, in whole seconds."""
    return {round(each) for each in bench.clock.sleepers}


async def a_week_of(running, *, every_s: float, days: float = 8) -> None:
    """A message `every_s`, for `days`."""
    for _ in range(int(days * DAY / every_s)):
        running.bench.account.come(heard("hello"))
        await running.after(every_s)
    running.bench.account.come(heard("hello"))
    await running.settled()


async def test_twice_the_longest_gap_without_anything_is_told_once(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=8 * HOUR)
        last = bench.clock.now()
        await running.after(16 * HOUR - 120, step_s=HOUR)
        before = ((await running.status()).trouble, list(bench.user.notices))
        await running.after(2 * DAY, step_s=HOUR)
        status = await running.status()

        assert before == ("", [])
        [notice] = bench.user.notices
        assert "Nothing has come from WhatsApp since" in notice
        assert status.trouble == notice == running.board.troubles()["silence"].sentence
        assert status.last_event_time.seconds == last.timestamp()


async def test_something_that_comes_ends_it_and_its_gap_counts_from_then_on(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=8 * HOUR)
        await running.after(20 * HOUR, step_s=HOUR)
        bench.account.come(heard("back"))
        await running.settled()
        trouble = ((await running.status()).trouble, running.board.troubles())
        await running.after(38 * HOUR, step_s=HOUR)
        before = len(bench.user.notices)
        await running.after(4 * HOUR, step_s=HOUR)

        assert trouble == ("", {})
        assert (before, len(bench.user.notices)) == (1, 2)


async def test_less_than_six_hours_are_no_silence_however_often_somebody_writes(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=HOUR)
        await running.after(5.9 * HOUR, step_s=HOUR)
        before = list(bench.user.notices)
        await running.after(HOUR, step_s=300)

        assert before == []
        assert len(bench.user.notices) == 1


async def test_nothing_is_odd_in_the_first_week_of_a_link(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=HOUR, days=1)
        await running.after(5 * DAY, step_s=6 * HOUR)

        assert bench.user.notices == []


async def test_an_outage_is_no_silence(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=4 * HOUR)
        bench.account.dial_faults.extend(["no route to host"] * 1_000)
        bench.account.drop()
        await running.after(DAY, step_s=HOUR)
        bench.account.dial_faults.clear()
        await running.after(300)
        await running.after(5 * HOUR, step_s=HOUR)

        assert running.rooms.link.connected
        assert all("disconnected" in notice or "again" in notice for notice in bench.user.notices)


async def test_the_name_of_a_group_is_something_that_comes(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=4 * HOUR)
        for _ in range(6):
            await running.after(4 * HOUR)
            bench.account.come(GroupRenamed(chat=GARDEN, name="Garden"))
        await running.settled()

        assert bench.user.notices == []


async def test_a_restart_neither_ends_a_silence_nor_tells_it_again(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=8 * HOUR)
        await running.after(10 * HOUR, step_s=HOUR)
    async with bench.running() as running:
        await running.after(8 * HOUR, step_s=HOUR)
        told = list(bench.user.notices)
        bench.user.heard.clear()
    async with bench.running() as running:
        await running.after(HOUR, step_s=60)
        trouble = (await running.status()).trouble

        assert len(told) == 1
        assert bench.user.notices == []
        assert trouble == told[0]


async def test_messages_without_a_key_are_counted_and_told_once_with_chats_and_times(bench):
    async with bench.running() as running:
        await running.settled()
        for at_s in (0, 60, 300):
            bench.account.come(undecryptable(at_s=at_s))
        bench.account.come(undecryptable(chat=GARDEN, at_s=DAY))
        await running.after(HOUR, step_s=300)
        status = await running.status()

        assert bench.user.notices == [
            "WhatsApp messages came that could not be decrypted, so I have not read them; look at the "
            "phone:\n"
            "Bob: 3 messages, 2026-11-30 13:00 to 13:05\n"
            "Garden: 1 message, 2026-12-01 13:00"
        ]
        assert status.undecryptable == 4
        assert "4 messages could not be decrypted" in running.board.remarks()["undecryptable"]


async def test_more_of_them_are_told_a_day_later_and_no_sooner(bench):
    async with bench.running() as running:
        await running.settled()
        for number in range(6):
            bench.account.come(undecryptable(at_s=number))
            await running.after(HOUR, step_s=600)
        before = len(bench.user.notices)
        await running.after(20 * HOUR, step_s=HOUR)

        assert before == 1
        assert [notice.count("\n") for notice in bench.user.notices] == [1, 1]
        assert "5 messages" in bench.user.notices[1]


async def test_one_that_comes_again_and_can_be_decrypted_is_not_missing(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(at_s=5), undecryptable(at_s=5), heard("hello", at_s=5, retry=1))
        await running.after(HOUR, step_s=300)

        assert bench.user.notices == []
        assert (await running.status()).undecryptable == 0


async def test_the_same_one_twice_counts_once(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(), undecryptable())
        await running.settled()

        assert (await running.status()).undecryptable == 1


async def test_a_notice_of_very_many_chats_stays_short(bench):
    async with bench.running() as running:
        await running.settled()
        for number in range(400):
            bench.account.come(undecryptable(chat=f"{number:015d}{'9' * 200}@g.us"))
        await running.after(HOUR, step_s=600)

        [notice] = bench.user.notices
        assert "other chats: 390 messages" in notice


async def test_they_are_forgotten_after_90_days(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable())
        await running.after(91 * DAY, step_s=30 * DAY)
        bench.account.come(undecryptable(at_s=91 * DAY))
        await running.settled()

        assert (await running.status()).undecryptable == 1


async def test_what_comes_while_the_disk_is_full_is_counted_once_there_is_room(bench, disk):
    async with bench.running() as running:
        await running.settled()
        disk.full = True
        bench.account.come(undecryptable(), heard("hello", at_s=1))
        await running.until(lambda: 1 in waits(bench))
        disk.full = False
        bench.clock.advance(1)
        await running.settled()

        assert (await running.status()).undecryptable == 1
