"""What the wire makes of the library's own objects: the real neonize in the child, with a client that plays.

What the library does by itself: test_the_real_library.py.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest
from onechat_whatsapp.wire.events import CaughtUp, Connected, Heard, PairingStatus, WireDown
from onechat_whatsapp.wire.ports import (
    DialFailed,
    GroupRow,
    NotSent,
    OutcomeUnknown,
    PairingRefused,
    WireGone,
)
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_events import e2e
from tests.fakes.whatsapp_library import missing
from tests.fakes.whatsapp_scripts import BOB, CARS, GARDEN
from tests.fakes.whatsapp_world import QUICK

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")

WITHIN_S = 60.0
HUNG_MAX = 8  # of wire_child/neonize_client.py, which only a child may load


@pytest.fixture
async def playing(tmp_path) -> AsyncIterator[Callable[[str], WhatsAppSupervisor]]:
    """A wire whose library plays a script."""
    async with AsyncExitStack() as stack:

        def build(script: str, **patience: float) -> WhatsAppSupervisor:
            wire = WhatsAppSupervisor(
                tmp_path / "session.db",
                command=(sys.executable, "-m", "tests.fakes.whatsapp_client", script),
                environment={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                patience=replace(QUICK, **patience),
            )
            stack.push_async_callback(wire.kill)
            return wire

        yield build


@asynccontextmanager
async def events_of(wire: WhatsAppSupervisor):
    """A way to take the next events of `wire`."""
    events = wire.events()

    async def following(count: int):
        async with asyncio.timeout(WITHIN_S):
            return [await anext(events) for _ in range(count)]

    yield following


def left(tmp_path):
    """What was given to the library to send: chat and message."""
    lines = (tmp_path / "session.db.left").read_text().splitlines()
    sent = [json.loads(line) for line in lines]
    return [(chat, e2e("Message").FromString(bytes.fromhex(message))) for chat, message in sent]


async def test_a_linked_session_connects_hears_and_stops(playing):
    wire = playing("linked")
    async with events_of(wire) as following:
        await wire.start()

        connected, hello, caught_up = await following(3)
        online = await wire.is_online()
        groups = await wire.groups()
        await wire.stop()

    assert (connected, caught_up) == (Connected(), CaughtUp(count=1))
    assert isinstance(hello, Heard)
    assert (hello.text, hello.chat) == ("hello", BOB)
    assert online
    assert groups == [GroupRow(id=GARDEN, name="Garden"), GroupRow(id=CARS, name="C�rs")]
    assert not await wire.is_online()


async def test_a_text_leaves_word_for_word_and_an_image_with_what_was_uploaded(playing, tmp_path):
    """The library's own way with a text would make mentions of what looks like one."""
    wire = playing("linked")
    await wire.start()

    ids = [
        await wire.send_text(BOB, "@15550003333 see https://example.org"),
        await wire.send_image(GARDEN, b"\x89PNG", "image/png", "@15550003333"),
        await wire.send_image("15550001111-1500000000@g.us", b"\x89PNG", "image/png", ""),
    ]

    (to_bob, text), (to_group, image), (to_old_group, bare) = left(tmp_path)
    assert ids == ["3EB0CC"] * 3
    assert (to_bob, to_group, to_old_group) == (BOB, GARDEN, "15550001111-1500000000@g.us")
    assert text == e2e("Message")(conversation="@15550003333 see https://example.org")
    assert (image.imageMessage.mimetype, image.imageMessage.caption) == ("image/png", "@15550003333")
    assert (image.imageMessage.fileLength, image.imageMessage.directPath) == (4, "/x")
    assert not image.imageMessage.contextInfo.mentionedJID
    assert not bare.imageMessage.HasField("caption")


async def test_a_send_that_fails_says_whether_it_may_be_out(playing, tmp_path):
    """One process for all of them: each starts the library anew, which takes seconds."""
    wire = playing("linked")
    await wire.start()

    async def failure_of(chat: str) -> tuple[type, bool]:
        with pytest.raises((NotSent, OutcomeUnknown)) as failed:
            await wire.send_text(chat, "hello")
        return type(failed.value), getattr(failed.value, "offline", False)

    assert await failure_of("14040000000@s.whatsapp.net") == (NotSent, False)
    assert await failure_of("15000000000@s.whatsapp.net") == (OutcomeUnknown, False)
    for no_chat in ("15550002222@newsletter", "status@broadcast", "../../etc/passwd", "", "@g.us", "١٢٣@lid"):
        assert await failure_of(no_chat) == (NotSent, False), no_chat
    with pytest.raises(NotSent, match="status code 400"):
        await wire.send_image(BOB, b"", "image/png", "hello")
    assert await failure_of("16000000000@s.whatsapp.net") == (OutcomeUnknown, False)
    assert not (tmp_path / "session.db.left").exists()


async def test_sends_that_hang_in_the_library_end_in_a_new_process(playing):
    """Each keeps a thread for ever, and without one nothing can be asked any more."""
    wire = playing("linked")
    async with events_of(wire) as following:
        await wire.start()
        await following(3)
        sends = [wire.send_text("17000000000@s.whatsapp.net", "hello") for _ in range(HUNG_MAX)]

        outcomes = await asyncio.gather(*sends, return_exceptions=True)

        assert [type(outcome) for outcome in outcomes] == [OutcomeUnknown] * HUNG_MAX
        assert isinstance((await following(1))[0], WireDown)
        await wire.start()
        assert (await following(3))[0] == Connected()


async def test_a_pairing_gets_a_code_and_its_words_come_through(playing):
    wire = playing("unpaired")
    async with events_of(wire) as following:
        await wire.start()

        assert not await wire.is_online()
        assert await wire.pair("15550001111") == "ABCD-EFGH"

        came = await following(4)

    assert PairingStatus(status="success") in came
    assert Connected() in came


async def test_a_pairing_that_wants_a_passkey_says_so_and_can_be_left(playing):
    """Such a connection can't be ended; the process can."""
    wire = playing("unpaired")
    async with events_of(wire) as following:
        await wire.start()
        with pytest.raises(PairingRefused, match="too short"):
            await wire.pair("1555")

        await wire.pair("15550001119")

        assert await following(1) == [PairingStatus(status="passkey-request")]
        await asyncio.wait_for(wire.stop(), 10)


async def test_a_library_that_gives_up_is_said_and_dialled_anew(playing):
    wire = playing("gives-up")
    async with events_of(wire) as following:
        for _ in range(2):
            await wire.start()

            await following(3)
            await wire.groups()

            assert await following(1) == [WireDown(why="unknown failure 418 of …")]
            with pytest.raises(WireGone, match="not connected"):
                await wire.groups()


async def test_a_refused_dial_is_told_in_the_librarys_words(playing):
    wire = playing("refused")

    for _ in range(2):
        with pytest.raises(DialFailed, match="failed to dial"):
            await wire.start()


async def test_a_library_that_says_nothing_is_given_up(playing):
    wire = playing("mute", dial_s=3)

    with pytest.raises(WireGone, match="no answer within 3 s"):
        await wire.start()


async def test_a_logout_says_nothing_of_an_end_that_was_asked_for(playing):
    wire = playing("linked")
    async with events_of(wire) as following:
        await wire.start()
        await following(3)

        await wire.logout()
        await wire.start()

        assert (await following(3))[0] == Connected()
