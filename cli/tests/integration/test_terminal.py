"""The chat on a pseudo-terminal: keys go in, what a person would see comes out."""

import asyncio
import codecs
import os
import pty
import re
import signal
import struct
import sys
import termios
from contextlib import asynccontextmanager
from fcntl import ioctl
from pathlib import Path

import pytest
from onechat.agent.v1 import event_pb2
from onechat_cli.outcome import Exit

from tests.fakes.agent_servicer import agent_serving
from tests.fakes.pictures import drawn
from tests.fakes.terminal_screen import TerminalScreen

ENTER, ALT_ENTER, CTRL_C, CTRL_D = "\r", "\x1b\r", "\x03", "\x04"
COLOURS = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7])[;m]")


class Terminal:
    """A terminal of 80 columns with the chat in it."""

    def __init__(self, process, master):
        self.process = process
        self._master = master
        self.raw = ""
        self._screen = TerminalScreen()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self):
        try:
            piece = os.read(self._master, 65_536)
        except OSError:  # the last one to hold the terminal has gone
            piece = b""
        if not piece:
            asyncio.get_running_loop().remove_reader(self._master)
        text = self._decode(piece)
        self.raw += text
        self._screen.feed(text)
        self._changed.set()

    @property
    def seen(self):
        """What a person sees, with all that has scrolled away."""
        return self._screen.text

    def type(self, text):
        os.write(self._master, text.encode())

    async def until(self, *parts, within_s=20.0):
        """Return once each of `parts` is on the screen, in this order."""
        try:
            async with asyncio.timeout(within_s):
                while not re.search(".*".join(map(re.escape, parts)), self.seen, re.DOTALL):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"{parts} did not come: {self.seen[-2000:]!r}") from None

    async def ended(self, within_s=15.0):
        async with asyncio.timeout(within_s):
            return await self.process.wait()


@pytest.fixture
def opened(variables):
    """Opens a chat on a new terminal."""

    @asynccontextmanager
    async def opening(**environ):
        master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "onechat_cli", "chat"),
            env={**own, **variables, "TERM": "xterm-256color", **environ},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        terminal = Terminal(process, master)
        try:
            yield terminal
        finally:
            asyncio.get_running_loop().remove_reader(master)
            if process.returncode is None:
                process.kill()
                await process.wait()
            os.close(master)

    return opening


async def test_messages_of_one_and_of_many_lines_are_sent_and_answered(agent, opened):
    agent.on_delivery = lambda delivery: agent.answer(
        delivery.key, f"<{delivery.text}>\n\x1b[31mred", turn=delivery.key
    )
    async with opened() as terminal:
        await terminal.until("One · ready")

        terminal.type("hello" + ENTER)
        await terminal.until("<hello>", "␛[31mred")
        terminal.type("one" + ALT_ENTER + "two" + ENTER)
        await terminal.until("<one", "two>")
        terminal.type("\x1b[200~three\nfour\n\x1b[201~")
        terminal.type(ENTER)
        await terminal.until("<three", "four>")
        terminal.type("by a program\n")
        await terminal.until("<by a program>")
        terminal.type(CTRL_D)
        code = await terminal.ended()

    assert code == Exit.OK
    assert terminal.seen.count("<hello>") == 1
    assert terminal.seen.count("› hello") == 1
    assert agent.texts() == ["hello", "one\ntwo", "three\nfour", "by a program"]
    assert "\x1b[31mred" not in terminal.raw


async def test_a_picture_that_the_agent_shows_is_drawn_in_colours(agent, opened):
    name = "0123456789abcdef.png"
    agent.images[name] = drawn(4, 4, colour=(255, 0, 0))
    async with opened(COLORTERM="truecolor") as terminal:
        await terminal.until("One · ready")

        await agent.tell(image=event_pb2.ShownImage(image=name, caption="the boiler"))
        await agent.notice("and more")
        await terminal.until(f"[image {name}] the boiler", "▀▀▀▀", "▀▀▀▀", "and more", "One · ready")

    assert "38;2;255;0;0" in terminal.raw


async def test_without_colours_a_picture_is_its_line(agent, opened):
    name = "0123456789abcdef.png"
    agent.images[name] = drawn(4, 4)
    async with opened(NO_COLOR="1") as terminal:
        await terminal.until("One · ready")

        await agent.tell(image=event_pb2.ShownImage(image=name, caption="the boiler"))
        await agent.notice("and more")
        await terminal.until(f"[image {name}] the boiler", "and more")

    assert "▀" not in terminal.seen
    assert agent.calls["GetImage"] == 0


async def test_a_chat_that_is_opened_again_shows_dimmed_what_it_had_shown(agent, opened):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, f"<{delivery.text}>", turn=delivery.key)
    async with opened() as terminal:
        await terminal.until("One · ready")
        terminal.type("hello" + ENTER)
        await terminal.until("<hello>")
        terminal.type("/quit" + ENTER)
        await terminal.ended()
    await agent.notice("meanwhile")

    async with opened() as terminal:
        await terminal.until("earlier, from", "› hello", "<hello>", "since you were last here", "meanwhile")

    assert re.search(r"\x1b\[0;2m<hello>", terminal.raw)
    assert not re.search(r"\x1b\[0;2mmeanwhile", terminal.raw)


async def test_a_line_that_may_hold_a_phone_number_is_not_in_the_history(agent, opened, variables):
    """What pairs WhatsApp names the account's number, which is kept nowhere."""
    async with opened() as terminal:
        await terminal.until("One · ready")
        terminal.type("/WhatsApp pair +39 333 123 4567" + ENTER)
        await terminal.until("did /WhatsApp pair")
        terminal.type("/agents" + ENTER)
        await terminal.until("did /agents")
        terminal.type(CTRL_D)
        await terminal.ended()

    history = Path(variables["ONECHAT_DATA"], "cli", "history").read_text()
    assert "/agents" in history
    assert "pair" not in history


async def test_ctrl_c_stops_the_turn_and_not_the_client(agent, opened):
    async def stop():
        await agent.over("turn", state="STATE_STOPPED", answered=[{"key": key} for key in agent.deliveries])

    async def begin(delivery):
        await agent.begin_turn()
        await agent.say("I am at it")

    agent.on_delivery, agent.on_stop = begin, stop
    async with opened() as terminal:
        await terminal.until("One · ready")
        terminal.type("work" + ENTER)
        await terminal.until("I am at it", "at work")

        terminal.type(CTRL_C)
        await terminal.until("stopped", "One · ready")
        terminal.type(CTRL_C)
        await terminal.until("Ctrl-D or /quit leaves")
        terminal.type("/quit" + ENTER)
        code = await terminal.ended()

    assert code == Exit.OK
    assert len(agent.stops) == 1


async def test_a_chat_outlives_its_agent_service(agent, service, opened, variables):
    async with opened() as terminal:
        await terminal.until("One · ready")

        await service.listening.drain(0)
        await terminal.until("away")
        terminal.type("are you there?" + ENTER)
        await terminal.until("1 to be sent")
        async with agent_serving(agent, address=service.address):
            await agent.until(lambda: agent.texts() == ["are you there?"])
            await agent.answer(next(iter(agent.deliveries)), "I am back.")
            await terminal.until("I am back.")

    assert agent.texts() == ["are you there?"]


async def test_what_a_script_of_keys_sees_without_colour(agent, opened):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "plain")
    async with opened(NO_COLOR="1") as terminal:
        await terminal.until("One · ready")
        terminal.type("/us")
        await terminal.until("model calls and tokens")
        terminal.type("\t" + ENTER)
        await terminal.until("did /usage")
        terminal.type("hi" + ENTER)
        await terminal.until("plain")

        terminal.process.send_signal(signal.SIGHUP)
        code = await terminal.ended()

    assert code == Exit.OK
    assert not COLOURS.search(terminal.raw)


async def test_a_proposal_is_answered_with_a_key_and_enter(agent, opened):
    """The key only writes the answer: what is asked may change at the moment it is pressed."""
    async with opened() as terminal:
        await terminal.until("One · ready")
        await agent.propose(7, 'One asks to run shell in /home:\ncommand: "ls"')
        await terminal.until("proposal 7: One asks to run shell in /home:", 'command: "ls"', "Alt-Y yes")

        terminal.type("\x1by")
        await terminal.until("/yes 7")
        terminal.type(ENTER)
        await terminal.until("did /yes 7")

    assert [one.line for one in agent.commands.values()] == ["/yes 7"]
    assert agent.texts() == []
