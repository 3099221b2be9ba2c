"""Unlinking: on WhatsApp's side where it can be told, here in any case."""

import asyncio

import pytest
from onechat_runtime.errors import StoreFull
from onechat_whatsapp.domain.link import LinkState
from onechat_whatsapp.errors import NotConnected

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_account import CODE, OWNER
from tests.fakes.whatsapp_link_bench import LinkBench, SlowAccount, linked_account
from tests.fakes.whatsapp_scripts import heard, undecryptable


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, linked_account())


async def test_a_connected_link_is_ended_on_whatsapps_side(bench):
    async with bench.running() as running:
        await running.settled()
        told = await running.unlink()
        await running.after(3600, step_s=600)
        status = await running.status()

        assert told
        assert bench.account.me is None
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
        assert not running.wire.up
        assert (status.trouble, running.board.troubles(), bench.user.notices) == ("", {}, [])
        assert bench.unlinked == 1


async def test_a_link_without_a_connection_is_ended_here_and_the_user_has_to_remove_the_device(bench):
    async with bench.running() as running:
        await running.after(60)
        bench.account.drop()
        await running.settled()
        told = await running.unlink()
        await running.after(3600, step_s=600)

        assert not told
        assert not await running.wire.is_linked()
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
        assert (bench.account.dials, bench.user.notices) == (1, [])


async def test_a_whatsapp_that_does_not_answer_is_waited_for_15_seconds(bench):
    """Whoever gave the command waits no longer than 25."""
    bench.account.hold = asyncio.Event()
    async with bench.running() as running:
        await running.settled()
        unlinking = asyncio.create_task(running.unlink())
        await running.after(15)

        assert await unlinking is False
        assert not await running.wire.is_linked()


@pytest.mark.parametrize("strike", ["replace", "ban", "outdate"])
async def test_what_whatsapp_has_ended_can_be_unlinked(bench, strike):
    async with bench.running() as running:
        await running.after(60)
        getattr(bench.account, strike)()
        await running.settled()

        assert await running.unlink() is False
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
        assert running.board.troubles() == {}


async def test_between_two_attempts_it_can_be_unlinked(bench):
    bench.account.dial_faults.extend(["no route to host"] * 9)
    async with bench.running() as running:
        await running.after(20, step_s=1)
        dials = bench.account.dials
        told = await running.unlink()
        await running.after(600)

        assert (told, bench.account.dials) == (False, dials)


async def test_without_a_link_it_changes_nothing(tmp_path):
    bench = LinkBench(tmp_path, SlowAccount())
    async with bench.running() as running:
        since = running.rooms.link.now.since
        await running.after(60)
        told = await running.unlink()

        assert told
        assert running.rooms.link.now.since == since
        assert bench.unlinked == 0


async def test_the_same_request_unlinks_once(bench):
    """A repeat after a lost answer must not end the link that was made meanwhile."""
    async with bench.running() as running:
        await running.settled()
        bench.account.drop()
        await running.settled()
        first = await running.unlink("c:1")
        await running.pair()
        bench.account.type_code()
        await running.settled()
        again = await running.unlink("c:1")

        assert (first, again) == (False, False)
        assert running.rooms.link.connected
    async with bench.running() as running:
        await running.settled()

        assert await running.unlink("c:1") is False
        assert running.rooms.link.connected


async def test_a_request_that_found_no_link_ends_none_that_is_made_later(tmp_path):
    bench = LinkBench(tmp_path, SlowAccount())
    async with bench.running() as running:
        first = await running.unlink("c:1")
        await running.pair()
        bench.account.type_code()
        await running.settled()

        assert (first, await running.unlink("c:1")) == (True, True)
        assert running.rooms.link.connected


async def test_a_full_disk_ends_no_link(bench):
    """The answer could not be kept, so a repeat would end whatever link there is then."""
    disk = Disk("of-unlinking", waits=False)
    bench.vfs = disk.name
    async with bench.running() as running:
        await running.settled()
        disk.full = True
        with pytest.raises(StoreFull):
            await running.unlink()
        disk.full = False

        assert running.rooms.link.connected
        assert await running.unlink() is True
    disk.unregister()


async def test_two_at_once_both_get_an_answer(bench):
    async with bench.running() as running:
        await running.settled()

        assert await asyncio.gather(running.unlink("c:1"), running.unlink("c:2")) == [True, True]


async def test_after_it_another_account_can_be_linked_and_nothing_of_the_first_is_left(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable())
        await running.settled()
        before = (await running.status()).undecryptable
        await running.unlink()
        assert not (await running.status()).HasField("last_event_time")
        await running.after(60)
        assert (await running.pair()).code == CODE
        bench.account.type_code()
        await running.settled()
        status = await running.status()

        assert (before, status.undecryptable) == (1, 0)
        assert not status.HasField("last_event_time")
        bench.account.come(heard("hello"))
        await running.settled()
        assert (await running.status()).last_event_time.seconds == bench.clock.now().timestamp()


async def test_it_ends_a_pairing_so_that_its_code_links_nothing_any_more(tmp_path):
    """Whoever unlinks wants no link, and whoever has the code could type it in for minutes."""
    bench = LinkBench(tmp_path, SlowAccount())
    async with bench.running() as running:
        await running.pair()
        told = await running.unlink()
        up = running.wire.up
        await running.after(600, step_s=60)

        assert (told, up) == (True, False)
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
        assert bench.user.notices == []
        assert (await running.pair()).code == CODE


async def test_it_ends_a_pairing_that_has_no_code_yet(tmp_path):
    bench = LinkBench(tmp_path, SlowAccount())
    bench.account.hold = asyncio.Event()
    async with bench.running() as running:
        pairing = asyncio.create_task(running.pair())
        await running.until(lambda: bool(bench.account.phones))
        told = await running.unlink()

        assert (told, running.wire.up) == (True, False)
        with pytest.raises(NotConnected, match="/whatsapp unlink has ended"):
            await pairing


async def test_a_code_that_is_typed_in_as_it_unlinks_leaves_no_link(tmp_path):
    bench = LinkBench(tmp_path, SlowAccount())
    async with bench.running() as running:
        await running.pair()
        bench.account.me = OWNER
        await running.unlink()
        await running.after(600, step_s=60)

        assert not await running.wire.is_linked()
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
