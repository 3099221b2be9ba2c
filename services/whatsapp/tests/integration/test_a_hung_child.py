"""A child process that hangs, or speaks nonsense: it is ended, and that is told as any other end."""

import asyncio
import os
import signal
import sys
import textwrap
from dataclasses import replace

from onechat_whatsapp.wire.events import CaughtUp, Connected, WireDown
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import heard
from tests.fakes.whatsapp_world import QUICK, real_wire

WITHIN_S = 60.0
LOOKING = replace(QUICK, look_s=0.1, silent_s=5.0)


async def test_a_child_that_hangs_is_ended_and_told_of_and_another_connects(tmp_path):
    """It would else pass for a connection over which nothing comes, for hours."""
    async with real_wire(tmp_path, WhatsAppAccount(OWNER), patience=LOOKING) as (wire, world):
        events = wire.events()
        await wire.start()
        assert [await anext(events), await anext(events)] == [Connected(), CaughtUp(count=0)]
        os.kill(world.pid, signal.SIGSTOP)
        async with asyncio.timeout(WITHIN_S):
            down = await anext(events)

        assert isinstance(down, WireDown)
        assert down.why.startswith("it did not answer any more")
        await wire.start()
        assert [await anext(events), await anext(events)] == [Connected(), CaughtUp(count=0)]


async def test_a_child_that_answers_is_left_in_peace(tmp_path):
    async with real_wire(tmp_path, WhatsAppAccount(OWNER), patience=LOOKING) as (wire, world):
        events = wire.events()
        await wire.start()
        assert [await anext(events), await anext(events)] == [Connected(), CaughtUp(count=0)]
        async with asyncio.timeout(WITHIN_S):
            while world.asked["AskOnline"] < 4:
                await asyncio.sleep(0.02)
        said = heard("still there")
        world.account.come(said)

        assert await anext(events) == said
        assert world.children == 1
        assert set(world.asked) == {"Dial", "AskOnline"}


async def test_a_child_that_sends_what_is_no_value_is_ended_and_told_of(tmp_path):
    """Else nobody would listen to it any more, and it would pass for connected."""
    script = """
        import os, signal
        from onechat.whatsapp.v1 import wire_pb2
        from onechat_whatsapp.wire.calls import Done
        from onechat_whatsapp.wire.codec import body_of_answer
        from onechat_whatsapp.wire.frames import Kind, frame
        event = wire_pb2.WireEvent()
        event.heard.time.seconds = 2**60
        os.read(0, 1)
        os.write(1, frame(Kind.ANSWER, body_of_answer(1, Done())))
        os.write(1, frame(Kind.EVENT, event.SerializeToString()))
        signal.pause()
        """
    wire = WhatsAppSupervisor(
        tmp_path / "session.db", command=(sys.executable, "-c", textwrap.dedent(script)), patience=QUICK
    )
    await wire.start()
    async with asyncio.timeout(WITHIN_S):
        down = await anext(wire.events())

    assert down == WireDown(why="no such value in a frame's heard")
