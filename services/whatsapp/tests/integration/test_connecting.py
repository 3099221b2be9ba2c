"""The connection: made at the start, again at growing distances, and not where WhatsApp has ended it."""

import pytest
from onechat_whatsapp.domain.link import SENTENCES, LinkState
from onechat_whatsapp.wire.ports import LibraryMissing, WireGone

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_link_bench import LinkBench, SlowAccount, linked_account


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, linked_account())


def waits(bench) -> set[float]:
    """What sleeps on the clock, in whole seconds."""
    return {round(each) for each in bench.clock.sleepers}


async def test_a_session_is_used_at_the_start(bench):
    async with bench.running() as running:
        assert ((await running.status()).trouble, running.board.troubles()) == ("", {})
        await running.settled()

        assert running.rooms.link.connected
        assert bench.account.dials == 1
        assert (running.board.troubles(), running.board.remarks()) == ({}, {})


async def test_without_a_session_nothing_is_dialled_and_it_says_so(tmp_path):
    bench = LinkBench(tmp_path, SlowAccount())
    async with bench.running() as running:
        await running.after(3600, step_s=600)

        assert bench.account.dials == 0
        assert running.board.remarks() == {"link": SENTENCES[LinkState.NOT_LINKED]}
        assert (running.board.troubles(), bench.user.notices) == ({}, [])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no route to host", SENTENCES[LinkState.DISCONNECTED]),
        (WireGone("the process ended with signal 6"), SENTENCES[LinkState.DISCONNECTED]),
        (LibraryMissing("Install libmagic1."), "Install libmagic1."),
    ],
    ids=["no network", "a process that ends at once", "no library"],
)
async def test_attempts_that_fail_are_made_again_after_2_seconds_doubled_up_to_5_minutes(bench, fault, said):
    bench.account.dial_faults.extend([fault] * 12)
    async with bench.running() as running:
        distances = []
        for dials in range(1, 12):
            await running.settled()
            assert bench.account.dials == dials
            wait_s = 2.0
            while wait_s not in waits(bench):
                wait_s = min(300.0, wait_s * 2)
            distances.append(wait_s)
            await running.after(wait_s)

        assert distances == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        assert running.board.troubles()["link"].sentence == said


async def test_it_works_again_by_itself_and_the_next_failure_begins_with_2_seconds(bench):
    bench.account.dial_faults.extend(["no route to host"] * 4)
    async with bench.running() as running:
        await running.after(30, step_s=1)
        assert running.rooms.link.connected

        await running.after(120)
        running.wire.crash()
        await running.settled()

        assert 2 in waits(bench)


async def test_a_fault_of_the_library_after_each_connection_has_growing_distances_too(bench):
    """Else one that ends at its first message would be a storm on WhatsApp's server."""
    async with bench.running() as running:
        for wait_s in (2, 4, 8, 16, 32):
            await running.settled()
            running.wire.crash()
            await running.settled()
            assert wait_s in waits(bench)
            await running.after(wait_s)

        assert bench.account.dials == 6


async def test_a_broken_connection_is_left_to_the_library_for_five_minutes(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.drop()
        await running.after(290, step_s=10)
        before, trouble = bench.account.dials, (await running.status()).trouble
        await running.after(20, step_s=1)

        assert trouble == SENTENCES[LinkState.DISCONNECTED]

        assert (before, bench.account.dials) == (1, 2)
        assert running.rooms.link.connected


async def test_a_connection_that_brings_no_login_is_made_anew_after_a_minute(bench):
    bench.account.mute_dials = 1
    async with bench.running() as running:
        await running.after(59, step_s=1)
        before = bench.account.dials
        await running.after(4, step_s=1)

        assert (before, bench.account.dials) == (1, 2)
        assert running.rooms.link.connected


async def test_a_connection_that_the_library_takes_up_is_kept(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.drop()
        await running.after(100)
        bench.account.take_up()
        await running.after(3600, step_s=60)

        assert bench.account.dials == 1
        assert running.board.troubles() == {}


async def test_ten_minutes_without_a_connection_are_told_once_and_so_is_the_end(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.dial_faults.extend(["no route to host"] * 15)
        bench.account.drop()
        await running.after(599, step_s=30)
        before = list(bench.user.notices)
        await running.after(1800, step_s=30)
        away = list(bench.user.notices)
        bench.account.dial_faults.clear()
        await running.after(300)

        assert before == []
        assert away == [
            "WhatsApp has been disconnected since 2026-11-30 13:01. It is tried again by itself; what comes "
            "meanwhile is read later, if WhatsApp keeps it."
        ]
        assert bench.user.notices == [*away, "WhatsApp is connected again."]


@pytest.mark.parametrize("step_s", [-3600, -4 * 365 * 86_400, 3600])
async def test_the_ten_minutes_are_ten_also_where_the_clock_is_set(bench, step_s):
    async with bench.running() as running:
        await running.after(60)
        bench.account.dial_faults.extend(["no route to host"] * 9)
        bench.account.drop()
        await running.after(60)
        bench.clock.step_wall_clock(step_s)
        await running.after(530, step_s=10)
        before = list(bench.user.notices)
        await running.after(70, step_s=10)
        away = len(bench.user.notices)
        bench.account.dial_faults.clear()
        await running.after(600, step_s=60)

        assert (before, away) == ([], 1)
        assert running.rooms.link.connected
        assert bench.user.notices[1:] == ["WhatsApp is connected again."]


async def test_each_break_is_told_by_itself(bench):
    """The agent service shows a notice once by its key."""
    async with bench.running() as running:
        for _ in range(2):
            await running.after(60)
            bench.account.dial_faults.extend(["no route to host"] * 9)
            bench.account.drop()
            await running.after(660, step_s=30)
            bench.account.dial_faults.clear()
            await running.after(300, step_s=30)

        assert [notice[:27] for notice in bench.user.notices] == [
            "WhatsApp has been disconnec",
            "WhatsApp is connected again",
        ] * 2


async def test_a_shorter_break_is_told_by_nothing(bench):
    async with bench.running() as running:
        for _ in range(5):
            await running.after(60)
            bench.account.drop()
            await running.after(280)
            bench.account.take_up()
        await running.after(3600, step_s=60)

        assert bench.user.notices == []


async def test_a_break_that_was_told_is_not_told_again_after_a_restart(bench):
    bench.account.dial_faults.extend(["no route to host"] * 200)
    async with bench.running() as running:
        await running.after(900, step_s=30)
    async with bench.running() as running:
        await running.after(900, step_s=30)
        away = list(bench.user.notices)
        bench.account.dial_faults.clear()
        await running.after(300)

        assert len(away) == 1
        assert bench.user.notices == [*away, "WhatsApp is connected again."]


@pytest.mark.parametrize(
    ("strike", "state"),
    [("log_out", "logged_out"), ("replace", "replaced"), ("ban", "banned"), ("outdate", "outdated")],
)
async def test_what_whatsapp_ends_is_said_once_in_status_and_notice_and_not_tried_again(bench, strike, state):
    """A storm of retries is what accounts are shut out for."""
    async with bench.running() as running:
        await running.after(60)
        getattr(bench.account, strike)()
        await running.after(3000, step_s=300)
        status = await running.status()

        assert bench.account.dials == 1
        assert not running.wire.up
        assert status.trouble == SENTENCES[LinkState(state)] == running.board.troubles()["link"].sentence
        assert status.change_time.ToDatetime(tzinfo=bench.clock.now().tzinfo) == running.rooms.link.now.since
        [notice] = bench.user.notices
        assert notice.startswith(SENTENCES[LinkState(state)])


async def test_a_log_out_deletes_what_is_left_of_the_session(bench):
    bench.account.lids["15550002222@s.whatsapp.net"] = "111222333444@lid"
    async with bench.running() as running:
        await running.after(60)
        bench.account.log_out()
        await running.settled()

        assert bench.account.lids == {}
    async with bench.running() as running:
        await running.settled()

        assert running.rooms.link.now.state is LinkState.LOGGED_OUT


async def test_a_ban_that_ends_is_tried_again_and_told(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.ban(expire_s=3600)
        await running.after(3599, step_s=60)
        before, status = bench.account.dials, await running.status()
        await running.after(60, step_s=1)

        assert (before, bench.account.dials) == (1, 2)
        assert status.ban_end_time.seconds - status.change_time.seconds == 3600
        assert bench.user.notices[1:] == ["WhatsApp is connected again."]


async def test_a_ban_that_a_corrected_clock_ends_is_tried_within_a_minute(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.ban(expire_s=7200)
        await running.settled()
        bench.clock.step_wall_clock(7200)
        await running.after(60)

        assert bench.account.dials == 2


async def test_a_missing_library_is_explained_and_the_rest_goes_on(bench):
    bench.account.library_missing = "WhatsApp needs libmagic: install the package libmagic1."
    async with bench.running() as running:
        await running.settled()
        status = await running.status()
        bench.account.library_missing = ""
        await running.after(3)

        assert status.trouble == "WhatsApp needs libmagic: install the package libmagic1."
        assert running.rooms.link.connected
        assert (await running.status()).trouble == ""
        bench.account.drop()
        await running.settled()
        assert (await running.status()).trouble == SENTENCES[LinkState.DISCONNECTED]


async def test_a_session_that_was_lost_is_said_once(bench):
    async with bench.running() as running:
        await running.settled()
    bench.account.me = None
    for _ in range(2):
        async with bench.running() as running:
            await running.settled()

            assert running.rooms.link.now.state is LinkState.NOT_LINKED
    [notice] = bench.user.notices
    assert notice.startswith("The WhatsApp session is not here any more")


async def test_the_times_of_the_last_connection_and_disconnection_outlive_a_restart(bench):
    async with bench.running() as running:
        connected = bench.clock.now()
        await running.after(60)
    stopped = bench.clock.now()
    bench.clock.advance(3600)
    bench.account.dial_faults.append("no route to host")
    async with bench.running() as running:
        await running.settled()
        status = await running.status()

        assert status.last_connect_time.seconds == connected.timestamp()
        assert status.last_disconnect_time.seconds == stopped.timestamp()


async def test_an_end_of_the_service_ends_the_connection(bench):
    async with bench.running() as running:
        await running.settled()
        wire = running.wire

    assert not wire.up
    assert bench.account.me == OWNER


async def test_a_full_disk_ends_nothing_and_what_was_due_is_told_once_there_is_room(bench):
    disk = Disk("of-the-link", waits=False)
    bench.vfs = disk.name
    async with bench.running() as running:
        await running.settled()
        bench.account.dial_faults.extend(["no route to host"] * 99)
        bench.account.drop()
        await running.after(590)
        disk.full = True
        bench.clock.advance(20)
        await running.until(lambda: 10 in waits(bench))
        disk.full = False
        await running.after(10)

        [notice] = bench.user.notices
        assert notice.startswith("WhatsApp has been disconnected")
    disk.unregister()
