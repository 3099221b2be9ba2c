"""Pairing: a code within its time, one at a time, and each failure in plain words."""

import asyncio

import pytest
from onechat_runtime.errors import KeyReused
from onechat_whatsapp import errors
from onechat_whatsapp.domain.link import LinkState
from onechat_whatsapp.domain.pairing import SENTENCES, Failure
from onechat_whatsapp.wire.events import Banned, Outdated, PairingStatus

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_account import CODE
from tests.fakes.whatsapp_link_bench import LinkBench, SlowAccount, linked_account


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, SlowAccount())


async def test_a_code_that_is_typed_in_links_the_account_and_the_user_hears_it(bench):
    async with bench.running() as running:
        given = await running.pair("+1 (555) 000-1111")
        bench.account.type_code()
        await running.settled()

        assert (given.code, bench.account.phones) == (CODE, ["15550001111"])
        assert given.expire_time.seconds - bench.clock.now().timestamp() == 160
        assert running.rooms.link.connected
        assert bench.account.dials == 1
        [notice] = bench.user.notices
        assert notice.startswith("WhatsApp is linked.")


async def test_the_link_that_a_pairing_has_made_is_kept_up(bench):
    async with bench.running() as running:
        await running.pair()
        bench.account.type_code()
        await running.after(3600, step_s=60)
        running.wire.crash()
        await running.after(3)

        assert running.rooms.link.connected
        assert bench.account.dials == 2
    async with bench.running() as running:
        await running.settled()

        assert running.rooms.link.connected


async def test_what_is_no_phone_number_is_refused_with_an_example(bench):
    async with bench.running() as running:
        with pytest.raises(errors.PhoneInvalid, match=r"\+1 555 000 2222"):
            await running.pair("Bob")

        assert bench.account.dials == 0


async def test_a_linked_account_is_not_paired_again(tmp_path):
    """Asking for a code on a session that is paired makes WhatsApp drop it."""
    bench = LinkBench(tmp_path, linked_account())
    async with bench.running() as running:
        await running.settled()
        since = running.rooms.link.now.linked_since
        with pytest.raises(errors.LinkedAlready):
            await running.pair()
        await running.settled()

        assert (bench.account.phones, bench.account.dials, bench.user.notices) == ([], 1, [])
        assert running.rooms.link.connected
        assert running.rooms.link.now.linked_since == since


async def test_three_tries_in_a_row_are_one_at_a_time(bench):
    async with bench.running() as running:
        tries = [running.pair(f"+1 555 000 111{number}") for number in range(3)]
        answers = await asyncio.gather(*tries, return_exceptions=True)

        assert [type(answer).__name__ for answer in answers] == [
            "PairResponse",
            "PairingRuns",
            "PairingRuns",
        ]
        assert bench.account.phones == ["15550001110"]


async def test_the_same_request_gets_the_same_code(bench):
    async with bench.running() as running:
        first = await running.pair(request_id="c:1")
        again = await running.pair(request_id="c:1")
        with pytest.raises(KeyReused):
            await running.pair("+1 555 000 9999", request_id="c:1")

        assert first == again
        assert len(bench.account.phones) == 1


async def test_a_code_that_nobody_types_in_ends_and_the_next_one_works(bench):
    async with bench.running() as running:
        await running.pair()
        bench.account.end_pairing("timeout")
        await running.settled()
        ended = running.wire.up
        await running.pair()
        bench.account.type_code()
        await running.settled()

        assert not ended
        assert bench.user.notices[0] == SENTENCES[Failure.NOT_TYPED]
        assert running.rooms.link.connected


async def test_a_code_whose_end_whatsapp_does_not_say_ends_all_the_same(bench):
    async with bench.running() as running:
        await running.pair()
        await running.after(170)
        with pytest.raises(errors.PairingRuns):
            await running.pair()
        await running.after(10)

        assert not running.wire.up
        assert bench.user.notices == [SENTENCES[Failure.NOT_TYPED]]
        assert (await running.pair()).code == CODE


async def test_an_end_that_a_full_disk_cannot_keep_is_told_once_there_is_room(bench):
    disk = Disk("of-pairing", waits=False)
    bench.vfs = disk.name
    async with bench.running() as running:
        await running.pair()
        await running.settled()
        disk.full = True
        bench.clock.advance(180)
        await running.until(lambda: 10 in {round(each) for each in bench.clock.sleepers})
        disk.full = False
        await running.after(10)

        assert bench.user.notices == [SENTENCES[Failure.NOT_TYPED]]
        assert (await running.pair()).code == CODE
    disk.unregister()


@pytest.mark.parametrize(
    ("event", "failure"),
    [
        (PairingStatus(status="passkey-request"), Failure.PASSKEY),
        (PairingStatus(status="err-client-outdated"), Failure.OUTDATED),
        (PairingStatus(status="err-unexpected-state"), Failure.REFUSED),
        (Outdated(), Failure.OUTDATED),
        (Banned(code="101", expire_s=60), Failure.BANNED),
    ],
)
async def test_each_failure_after_the_code_is_told_in_plain_words(bench, event, failure):
    async with bench.running() as running:
        await running.pair()
        bench.account.emit(event)
        await running.settled()

        assert bench.user.notices == [SENTENCES[failure]]
        assert running.rooms.link.now.state is LinkState.NOT_LINKED
        assert not running.wire.up
        assert (await running.pair()).code == CODE


async def test_a_process_that_ends_under_a_pairing_is_told(bench):
    async with bench.running() as running:
        await running.pair()
        running.wire.crash()
        await running.settled()

        assert bench.user.notices == [SENTENCES[Failure.BROKEN]]


async def test_an_unknown_status_leaves_the_pairing_open(bench):
    async with bench.running() as running:
        await running.pair()
        bench.account.end_pairing("code")
        bench.account.type_code()
        await running.settled()

        assert running.rooms.link.connected


async def test_a_connection_that_is_told_of_before_the_success_links(bench):
    """The two come by different ways out of the library."""
    async with bench.running() as running:
        await running.pair()
        bench.account.me = linked_account().me
        bench.account.take_up()
        bench.account.emit(PairingStatus(status="success"))
        await running.settled()

        assert running.rooms.link.connected
        assert (bench.account.dials, len(bench.user.notices)) == (1, 1)


async def test_a_session_that_was_put_back_by_hand_is_used_and_not_paired(bench):
    async with bench.running() as running:
        bench.account.me = linked_account().me
        with pytest.raises(errors.LinkedAlready):
            await running.pair()
        await running.settled()

        assert running.rooms.link.connected
        assert bench.account.phones == []


async def test_a_code_that_is_typed_in_as_its_process_ends_links_all_the_same(bench):
    """The session holds the device; without this it would be found at the next start only."""
    async with bench.running() as running:
        await running.pair()
        bench.account.me = linked_account().me
        running.wire.crash()
        await running.after(3)

        assert running.rooms.link.connected
        assert bench.account.dials == 2


@pytest.mark.parametrize(
    ("reason", "refusal", "said"),
    [
        ("phone number too short", errors.PhoneInvalid, "international form"),
        ("international phone number required (must not start with 0)", errors.PhoneInvalid, "international"),
        ("429: rate-overlimit", errors.NotConnected, SENTENCES[Failure.OFTEN]),
        ("400: bad-request", errors.NotConnected, SENTENCES[Failure.REFUSED]),
    ],
)
async def test_a_code_that_is_refused_says_why(bench, reason, refusal, said):
    bench.account.pairing_fault = reason
    async with bench.running() as running:
        with pytest.raises(refusal) as refused:
            await running.pair()

        assert said in refused.value.message
        assert not running.wire.up
        assert bench.user.notices == []


async def test_no_network_and_no_library_are_said_at_once(bench):
    bench.account.dial_faults.append("no route to host")
    async with bench.running() as running:
        with pytest.raises(errors.NotConnected, match="cannot be reached"):
            await running.pair()
        bench.account.library_missing = "Install the package libmagic1."
        with pytest.raises(errors.LibraryMissing, match=r"Install the package libmagic1\."):
            await running.pair()
        bench.account.library_missing = ""

        assert (await running.pair()).code == CODE


async def test_a_passkey_that_is_asked_for_before_there_is_a_code_is_said_at_once(bench):
    async with bench.running() as running:
        bench.account.hold = asyncio.Event()
        asking = asyncio.create_task(running.pair())
        await running.until(lambda: bool(bench.account.phones))
        bench.account.end_pairing("passkey-request")

        with pytest.raises(errors.PasskeyWanted, match="passkey"):
            await asking
        assert not running.wire.up


async def test_a_code_that_works_before_it_is_answered_leaves_nothing_of_its_pairing(bench):
    async with bench.running() as running:
        bench.account.hold = asyncio.Event()
        asking = asyncio.create_task(running.pair())
        await running.until(lambda: bool(bench.account.phones))
        bench.account.type_code()
        await running.settled()
        bench.account.hold.set()
        assert (await asking).code == CODE
        assert running.rooms.link.connected

        await running.unlink()
        bench.account.hold = asyncio.Event()
        again = asyncio.create_task(running.pair())
        await running.until(lambda: len(bench.account.phones) == 2)
        bench.account.end_pairing("passkey-request")
        with pytest.raises(errors.PasskeyWanted):
            await again


async def test_a_pairing_waits_for_the_end_of_what_was_behind_the_wire(bench):
    async with bench.running() as running:
        async with running.rooms.connecting.wire_free:
            asking = asyncio.create_task(running.pair())
            await running.settled()
            before = bench.account.dials

        assert (await asking).code == CODE
        assert (before, bench.account.dials) == (0, 1)


async def test_a_code_that_does_not_come_is_waited_for_22_seconds(bench):
    """Whoever gave the command waits no longer than 25."""
    async with bench.running() as running:
        bench.account.hold = asyncio.Event()
        asking = asyncio.create_task(running.pair())
        await running.until(lambda: bool(bench.account.phones))
        await running.after(22)

        with pytest.raises(errors.NotConnected):
            await asking
        assert not running.wire.up


async def test_a_caller_that_goes_away_leaves_no_pairing_behind(bench):
    async with bench.running() as running:
        bench.account.hold = asyncio.Event()
        asking = asyncio.create_task(running.pair())
        await running.until(lambda: bool(bench.account.phones))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        bench.account.hold = None

        assert not running.wire.up
        assert (await running.pair()).code == CODE


async def test_an_account_that_was_logged_out_can_be_paired_again(tmp_path):
    bench = LinkBench(tmp_path, linked_account())
    async with bench.running() as running:
        await running.after(60)
        bench.account.log_out()
        await running.settled()
        await running.pair()
        bench.account.type_code()
        await running.settled()

        assert running.rooms.link.connected
        assert running.board.troubles() == {}


async def test_the_phone_number_is_in_no_log_and_in_no_store(bench, capfd):
    bench.account.pairing_fault = "no such number 15550001111"
    async with bench.running() as running:
        with pytest.raises(errors.NotConnected):
            await running.pair("+1 555 000 1111", request_id="c:1")
        bench.account.pairing_fault = ""
        await running.pair("+1 555 000 1111", request_id="c:2")
        await running.settled()
    kept = b"".join(path.read_bytes() for path in bench.folder.iterdir())
    said = capfd.readouterr()

    assert b"5550001111" not in kept
    assert "5550001111" not in said.out + said.err


async def test_what_is_left_of_a_session_that_cannot_be_used_is_no_hindrance(bench):
    """Half a file that was put back by hand: who is told to look at the network would look for ever."""
    bench.account.dial_faults.append("failed to upgrade database: file is not a database")
    async with bench.running() as running:
        given = await running.pair()
        bench.account.type_code()
        await running.settled()

        assert (given.code, bench.account.dials) == (CODE, 2)
        assert running.rooms.link.connected
