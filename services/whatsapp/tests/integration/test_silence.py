"""Silence: what does not come over a connection that stands.

What comes without a key: test_missing_messages.py.
"""

import pytest
from onechat_whatsapp.wire.events import GroupRenamed

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_link_bench import LinkBench, linked_account
from tests.fakes.whatsapp_scripts import GARDEN, heard

HOUR = 3600.0
DAY = 24 * HOUR


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, linked_account())


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


async def test_a_gap_of_the_last_14_days_counts_and_an_older_one_does_not(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=12 * HOUR, days=2)
        await running.after(40 * HOUR, step_s=5 * HOUR)
        await a_week_of(running, every_s=6 * HOUR, days=13)
        await running.after(20 * HOUR, step_s=HOUR)
        before = list(bench.user.notices)
        await a_week_of(running, every_s=6 * HOUR, days=14)
        await running.after(41 * HOUR, step_s=HOUR)

        assert before == []
        assert len(bench.user.notices) == 1


async def test_of_a_day_the_longest_gap_counts(bench):
    """A night without messages and a day with many."""
    async with bench.running() as running:
        for _ in range(9):
            await running.after(12 * HOUR, step_s=4 * HOUR)
            for _ in range(6):
                bench.account.come(heard("hello"))
                await running.after(2 * HOUR)
        await running.after(25 * HOUR, step_s=HOUR)  # and 2 since the last one; the night was one of 14
        before = list(bench.user.notices)
        await running.after(2 * HOUR, step_s=HOUR)

        assert (before, len(bench.user.notices)) == ([], 1)


async def test_after_a_long_outage_the_last_gap_before_it_counts(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=8 * HOUR)
        bench.account.dial_faults.extend(["no route to host"] * 9_999)
        bench.account.drop()
        await running.after(20 * DAY, step_s=DAY)
        bench.account.dial_faults.clear()
        await running.after(300)
        bench.user.heard.clear()
        await running.after(17 * HOUR, step_s=HOUR)

        [notice] = bench.user.notices
        assert "Nothing has come from WhatsApp since" in notice


async def test_a_gap_that_ends_while_the_disk_is_full_counts_all_the_same(bench):
    disk = Disk("of-silence", waits=False)
    bench.vfs = disk.name
    async with bench.running() as running:
        await a_week_of(running, every_s=HOUR)
        await running.after(10 * HOUR, step_s=HOUR)
        disk.full = True
        bench.account.come(heard("after ten hours"))
        await running.until(lambda: 1 in {round(each) for each in bench.clock.sleepers})
        disk.full = False
        bench.clock.advance(1)
        await running.settled()
        bench.user.heard.clear()
        await running.after(19 * HOUR, step_s=HOUR)
        before = list(bench.user.notices)
        await running.after(2 * HOUR, step_s=HOUR)

        assert (before, len(bench.user.notices)) == ([], 1)
    disk.unregister()


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


async def test_what_is_not_connected_is_not_said_to_be_silent(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=4 * HOUR)
        await running.after(9 * HOUR, step_s=HOUR)
        bench.account.dial_faults.extend(["no route to host"] * 99)
        bench.account.drop()
        await running.after(60)
        away = list(running.board.troubles())
        bench.account.dial_faults.clear()
        bench.account.take_up()
        await running.after(120, step_s=60)

        assert away == ["link"]
        assert list(running.board.troubles()) == ["silence"]
        assert len(bench.user.notices) == 1


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


async def test_a_clock_that_was_set_back_does_not_end_the_watch(bench):
    """A link that seems to be made in the future would else be a new one for years."""
    async with bench.running() as running:
        await a_week_of(running, every_s=4 * HOUR)
        bench.clock.step_wall_clock(-4 * 365 * DAY)
        await running.after(9 * HOUR, step_s=HOUR)

        [notice] = bench.user.notices
        assert "Nothing has come from WhatsApp since" in notice


async def test_a_day_that_a_clock_which_was_ahead_has_noted_counts_no_longer(bench):
    async with bench.running() as running:
        await a_week_of(running, every_s=4 * HOUR)
        bench.clock.step_wall_clock(365 * DAY)
        await running.after(40 * HOUR, step_s=5 * HOUR)
        bench.account.come(heard("a gap of forty hours"))
        await running.settled()
        bench.clock.step_wall_clock(-365 * DAY)
        await a_week_of(running, every_s=4 * HOUR, days=2)
        bench.user.heard.clear()
        await running.after(12 * HOUR, step_s=HOUR)

        assert len(bench.user.notices) == 1
