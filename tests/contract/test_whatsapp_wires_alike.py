"""What the gateway counts on of a wire to WhatsApp: the fake and the real one, with its child process, pass
this.

At the end of both is the same account (tests/fakes/whatsapp_account.py). Behind the real one are the
supervisor, the pipe, a child and its session file; only the library itself is a stub there. The library:
tests of the gateway's own, in services/whatsapp.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

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
    WireEvent,
)
from onechat_whatsapp.wire.ports import (
    Contact,
    DialFailed,
    GroupRow,
    LibraryMissing,
    NotSent,
    OutcomeUnknown,
    PairingRefused,
    WhatsAppWire,
    WireGone,
)

from tests.fakes.whatsapp_account import CODE, OWNER, Sent, WhatsAppAccount
from tests.fakes.whatsapp_scripts import (
    BOB,
    BOB_LID,
    GARDEN,
    by_number_and_lid,
    flood,
    heard,
    mention,
    own,
    replayed,
    undecryptable,
)
from tests.fakes.whatsapp_wire import FakeWire
from tests.fakes.whatsapp_world import real_wire

WITHIN_S = 60.0


@dataclass
class Stage:
    """A wire, and the account at its end."""

    wire: WhatsAppWire
    account: WhatsAppAccount
    crash: Callable[[], None]
    _events: AsyncIterator[WireEvent]

    async def next(self, count: int = 1) -> list[WireEvent]:
        """The next `count` events."""
        async with asyncio.timeout(WITHIN_S):
            return [await anext(self._events) for _ in range(count)]

    async def started(self) -> None:
        """Start, and take what a start of a linked account brings."""
        await self.wire.start()
        assert await self.next(2) == [Connected(), CaughtUp(count=0)]


@pytest.fixture(params=["fake", "real"])
async def staged(request, tmp_path) -> AsyncIterator[Callable[..., Awaitable[Stage]]]:
    async with AsyncExitStack() as stack:

        async def build(account: WhatsAppAccount | None = None) -> Stage:
            account = account or WhatsAppAccount(OWNER)
            if request.param == "fake":
                fake = FakeWire(account)
                return Stage(fake, account, fake.crash, fake.events())
            wire, world = await stack.enter_async_context(real_wire(tmp_path, account))
            return Stage(wire, account, world.crash, wire.events())

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


async def test_nothing_but_a_start_connects(staged):
    stage = await staged()

    with pytest.raises(WireGone):
        await stage.wire.groups()
    with pytest.raises(NotSent) as refused:
        await stage.wire.send_text(BOB, "hello")

    assert refused.value.offline
    assert not await stage.wire.is_online()
    assert stage.account.dials == 0


async def test_the_session_is_read_without_a_connection(staged):
    account = WhatsAppAccount(OWNER)
    account.contacts = [
        Contact(id=BOB, full_name="Bob Ünger", first_name="Bob", push_name="bobby", business_name=""),
        Contact(id=BOB_LID, full_name="", first_name="", push_name="bobby", business_name=""),
    ]
    account.lids = {BOB: BOB_LID}

    stage = await staged(account)

    assert await stage.wire.is_linked()
    assert await stage.wire.me() == OWNER
    assert sorted(await stage.wire.contacts(), key=lambda c: c.id) == sorted(
        account.contacts, key=lambda c: c.id
    )
    assert await stage.wire.number_of(BOB_LID) == BOB
    assert await stage.wire.lid_of(BOB) == BOB_LID
    assert await stage.wire.number_of("999@lid") == ""
    assert await stage.wire.lid_of("15559999999@s.whatsapp.net") == ""
    assert account.dials == 0


async def test_groups_are_asked_of_whatsapp_and_need_a_connection(staged):
    stage = await staged()
    stage.account.groups_joined = [GroupRow(id=GARDEN, name="Garden")]
    await stage.started()

    assert await stage.wire.groups() == [GroupRow(id=GARDEN, name="Garden")]
    stage.account.drop()
    with pytest.raises(WireGone):
        await stage.wire.groups()


async def test_what_is_sent_leaves_as_it_is_and_does_not_come_back(staged):
    stage = await staged()
    await stage.started()
    image = bytes(range(256)) * 4_096

    first = await stage.wire.send_text(BOB, "@15550002222 *hi*\n")
    second = await stage.wire.send_image(GARDEN, image, "image/png", "")

    assert stage.account.sent == [
        Sent(id=first, chat=BOB, text="@15550002222 *hi*\n"),
        Sent(id=second, chat=GARDEN, text="", image=image, mime="image/png"),
    ]
    stage.account.come(marker := heard("next"))
    assert await stage.next() == [marker]


@pytest.mark.parametrize(
    "fault",
    [NotSent("error 404"), NotSent("not connected", offline=True), OutcomeUnknown("timed out")],
    ids=["refused", "offline", "unknown"],
)
async def test_a_send_fails_as_what_it_is(staged, fault):
    stage = await staged()
    await stage.started()
    stage.account.send_faults.append(fault)

    with pytest.raises(type(fault), match=str(fault)) as failed:
        await stage.wire.send_text(BOB, "hello")

    assert getattr(failed.value, "offline", False) == getattr(fault, "offline", False)


async def test_a_send_while_the_connection_is_down_is_surely_not_sent(staged):
    stage = await staged()
    await stage.started()
    stage.account.drop()

    with pytest.raises(NotSent) as failed:
        await stage.wire.send_text(BOB, "hello")

    assert failed.value.offline
    assert stage.account.sent == []


async def test_a_fault_in_the_middle_of_a_send_leaves_its_outcome_unknown(staged):
    stage = await staged()
    await stage.started()
    stage.account.stall = asyncio.Event()
    sending = asyncio.create_task(stage.wire.send_text(BOB, "hello"))
    async with asyncio.timeout(WITHIN_S):
        await stage.account.stalled.wait()

    stage.crash()

    with pytest.raises(OutcomeUnknown):
        await sending
    (down,) = await stage.next()
    assert isinstance(down, WireDown)


async def test_a_logout_ends_the_link_and_the_session(staged):
    stage = await staged()
    await stage.started()

    await stage.wire.logout()

    assert (await stage.wire.is_linked(), await stage.wire.me(), await stage.wire.contacts()) == (
        False,
        None,
        [],
    )
    assert stage.account.me is None
    assert not await stage.wire.is_online()


async def test_a_logout_without_a_connection_changes_nothing(staged):
    """The session is forgotten by `forget`, and the user told to remove the device on the phone."""
    stage = await staged()
    await stage.started()
    stage.account.drop()

    with pytest.raises(WireGone):
        await stage.wire.logout()
    assert await stage.wire.is_linked()

    await stage.wire.forget()
    assert not await stage.wire.is_linked()
    await stage.wire.start()
    assert not await stage.wire.is_online()


async def test_calls_run_side_by_side(staged):
    """A send that hangs must not keep a search or the status from their answers."""
    stage = await staged()
    await stage.started()
    stage.account.stall = asyncio.Event()
    sending = asyncio.create_task(stage.wire.send_text(BOB, "slow"))
    async with asyncio.timeout(WITHIN_S):
        await stage.account.stalled.wait()

    assert await stage.wire.is_online()
    assert await stage.wire.groups() == []

    stage.account.stall.set()
    assert await sending == stage.account.sent[0].id
