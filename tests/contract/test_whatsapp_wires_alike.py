"""What the gateway counts on of a wire to WhatsApp's connection: the fake and the real one pass this.

What is asked and sent over it: test_whatsapp_wires_ask_alike.py. What the library itself does: tests of the
gateway's own, in services/whatsapp.
"""

from collections.abc import AsyncIterator

import pytest
from onechat_whatsapp.wire.events import (
    Banned,
    CaughtUp,
    Connected,
    Disconnected,
    GroupRenamed,
    Heard,
    LoggedOut,
    Outdated,
    PairingStatus,
    Replaced,
    WireDown,
)
from onechat_whatsapp.wire.ports import DialFailed, LibraryMissing, PairingRefused, WireGone

from tests.fakes.whatsapp_account import CODE, OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import (
    GARDEN,
    by_number_and_lid,
    flood,
    heard,
    mention,
    own,
    replayed,
    undecryptable,
)
from tests.fakes.whatsapp_wire_stage import KINDS, Staged, staging


@pytest.fixture(params=KINDS)
async def staged(request, tmp_path) -> AsyncIterator[Staged]:
    async with staging(request.param, tmp_path) as build:
        yield build


async def test_a_linked_account_connects_catches_up_and_hears(staged):
    stage = await staged()
    stage.account.come(heard("while you were away"))

    await stage.wire.start()
    stage.account.come(hello := heard("hello"))

    connected, kept, caught_up, came = await stage.next(4)
    assert (connected, caught_up, came) == (Connected(), CaughtUp(count=1), hello)
    assert isinstance(kept, Heard)
    assert await stage.wire.is_online()


async def test_every_shape_of_what_may_come_comes_as_it_is(staged):
    stage = await staged()
    await stage.started()
    script = [
        *replayed(heard("thrice")),
        *by_number_and_lid("one", "two", "three"),
        mention(),
        own("from my phone"),
        heard("an answer", chat=GARDEN, quoted_author=OWNER.lid),
        heard("to many", chat="1234567@broadcast"),
        heard("שלום 👋\n‏line two\x00", push_name="ב"),
        undecryptable(),
        GroupRenamed(chat=GARDEN, name="Garden 🌱"),
    ]

    stage.account.come(*script)

    assert await stage.next(len(script)) == script


async def test_a_flood_comes_whole_and_in_order(staged):
    stage = await staged()
    script = list(flood(5_000))
    stage.account.come(*script)

    await stage.wire.start()

    assert await stage.next(5_002) == [Connected(), *script, CaughtUp(count=5_000)]


async def test_a_connection_that_breaks_is_taken_up_by_itself(staged):
    stage = await staged()
    await stage.started()

    stage.account.drop()
    stage.account.come(kept := heard("meanwhile"))
    assert await stage.next() == [Disconnected()]
    assert not await stage.wire.is_online()
    stage.account.take_up()

    assert await stage.next(3) == [Connected(), kept, CaughtUp(count=1)]


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (WhatsAppAccount.log_out, LoggedOut(reason="LOGGED_OUT")),
        (WhatsAppAccount.replace, Replaced()),
        (WhatsAppAccount.ban, Banned(code="101", expire_s=3600)),
        (WhatsAppAccount.outdate, Outdated()),
    ],
    ids=["logged out", "replaced", "banned", "outdated"],
)
async def test_a_link_that_ends_is_said_once_and_not_taken_up(staged, happens, said):
    stage = await staged()
    await stage.started()

    happens(stage.account)

    assert await stage.next() == [said]
    assert not await stage.wire.is_online()
    assert stage.account.dials == 1


async def test_a_failed_start_can_be_made_again_and_says_nothing_by_itself(staged):
    stage = await staged()
    stage.account.dial_faults.extend(["no route to host", "no route to host"])

    for _ in range(2):
        with pytest.raises(DialFailed, match="no route to host"):
            await stage.wire.start()

    await stage.started()


async def test_a_missing_library_is_said_in_a_sentence_and_may_be_there_the_next_time(staged):
    stage = await staged()
    stage.account.library_missing = "Install libmagic1."

    with pytest.raises(LibraryMissing, match=r"Install libmagic1\."):
        await stage.wire.start()

    stage.account.library_missing = ""
    await stage.started()


async def test_a_fault_of_the_library_is_said_and_the_next_start_connects_again(staged):
    stage = await staged()
    await stage.started()

    stage.crash()

    (down,) = await stage.next()
    assert isinstance(down, WireDown)
    assert not await stage.wire.is_online()
    await stage.started()


async def test_a_stop_ends_the_connection_without_a_word_and_may_be_repeated(staged):
    stage = await staged()
    await stage.started()

    await stage.wire.stop()
    await stage.wire.stop()

    assert not stage.account.online
    assert not await stage.wire.is_online()
    await stage.started()


async def test_a_start_of_what_runs_begins_anew(staged):
    stage = await staged()
    await stage.started()

    await stage.started()

    assert stage.account.dials == 2


async def test_what_came_before_a_stop_is_still_given(staged):
    stage = await staged()
    await stage.wire.start()
    stage.account.come(hello := heard("hello"))

    await stage.wire.stop()

    assert await stage.next(3) == [Connected(), CaughtUp(count=0), hello]


async def test_a_pairing_gives_a_code_and_then_a_link(staged):
    stage = await staged(WhatsAppAccount())
    assert not await stage.wire.is_linked()
    await stage.wire.start()

    code = await stage.wire.pair("15550001111")
    stage.account.type_code()

    assert code == CODE
    assert await stage.next(3) == [PairingStatus(status="success"), Connected(), CaughtUp(count=0)]
    assert await stage.wire.is_linked()
    assert await stage.wire.me() == OWNER
    assert stage.account.phones == ["15550001111"]


async def test_a_pairing_that_comes_to_nothing_is_said_and_left_by_a_kill(staged):
    stage = await staged(WhatsAppAccount())
    await stage.wire.start()
    await stage.wire.pair("15550001111")

    stage.account.end_pairing("passkey-request")
    assert await stage.next() == [PairingStatus(status="passkey-request")]
    await stage.wire.kill()

    with pytest.raises(WireGone):
        await stage.wire.pair("15550001111")
    assert not await stage.wire.is_linked()


async def test_a_refused_number_is_told_in_the_librarys_words(staged):
    stage = await staged(WhatsAppAccount())
    stage.account.pairing_fault = "phone number too short"
    await stage.wire.start()

    with pytest.raises(PairingRefused, match="phone number too short"):
        await stage.wire.pair("1555")
