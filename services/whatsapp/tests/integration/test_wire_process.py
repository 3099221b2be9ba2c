"""The child process behind the wire: what it gets, when it is replaced, how it ends, and what it can't do to
us."""

import asyncio
import os
import re
import subprocess
import sys
import textwrap
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_runtime.listening import DRAIN_S
from onechat_whatsapp.wire.events import CaughtUp, Connected, Disconnected, WireDown
from onechat_whatsapp.wire.ports import DialFailed, LibraryMissing, NotSent, WireGone
from onechat_whatsapp.wire.process import PASSED, SET
from onechat_whatsapp.wire.supervisor import Patience, WhatsAppSupervisor
from onechat_whatsapp.wire_child.session_lock import SessionLock

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import BOB, heard
from tests.fakes.whatsapp_world import QUICK, real_wire

WITHIN_S = 60.0


def wire_over(
    folder: Path, script: str, *, patience: Patience = QUICK, **environment: str
) -> WhatsAppSupervisor:
    """A wire whose child runs `script` and nothing of ours."""
    return WhatsAppSupervisor(
        folder / "session.db",
        command=(sys.executable, "-c", textwrap.dedent(script)),
        environment={**os.environ, **environment},
        patience=patience,
    )


async def until(done, within_s: float = WITHIN_S) -> None:
    """Return once `done` holds."""
    async with asyncio.timeout(within_s):
        while not done():
            await asyncio.sleep(0.02)


def runs(pid: int) -> bool:
    """Whether a process of that number is there and no zombie."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def test_the_child_is_told_no_token_and_no_setting(tmp_path):
    """Go code of others runs in it, which a stranger's message reaches first."""
    wire = wire_over(
        tmp_path,
        """
        import os, sys
        from pathlib import Path
        Path(sys.argv[1] + ".told").write_text("\\n".join(os.environ))
        """,
        OPENAI_API_KEY="sk-1",
        ONECHAT_TOKEN_FILE="/tokens/whatsapp",
        HTTPS_PROXY="http://127.0.0.1:9",
    )

    with pytest.raises(WireGone):
        await wire.start()

    told = set((tmp_path / "session.db.told").read_text().split("\n"))
    assert {"HTTPS_PROXY", *SET} <= told
    assert not {"OPENAI_API_KEY", "ONECHAT_TOKEN_FILE"} & told
    assert told <= {*PASSED, *SET, "LC_CTYPE"}  # the last is Python's own


async def test_the_child_is_told_before_it_begins_that_no_message_is_a_bots(tmp_path):
    """The library reads it as it is loaded; without it each private message carries a bot's mark."""
    wire = wire_over(
        tmp_path,
        """
        import os, sys
        from pathlib import Path
        Path(sys.argv[1] + ".told").write_text(os.environ["NEONIZE_BOT_TAG"])
        """,
        NEONIZE_BOT_TAG="on",
    )

    with pytest.raises(WireGone):
        await wire.start()

    assert (tmp_path / "session.db.told").read_text() == "off"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import os; os.abort()", "signal 6"),
        ("print('Press Ctrl+C to exit', flush=True); input()", "a frame of"),
        (
            "import sys; sys.exit('goroutine 1\\npanic: no session for 15550002222\\nmain.go:1')",
            "panic: no session for …$",
        ),
    ],
    ids=["ends", "aborts", "speaks something else", "panics"],
)
async def test_a_child_that_is_no_good_is_said_with_its_last_words_but_nobodys_number(tmp_path, script, why):
    with pytest.raises(WireGone, match=why):
        await wire_over(tmp_path, script).start()


async def test_a_child_that_never_answers_is_given_up_and_ended(tmp_path):
    wire = wire_over(
        tmp_path,
        """
        import os, signal, sys
        from pathlib import Path
        Path(sys.argv[1] + ".pid").write_text(str(os.getpid()))
        signal.pause()
        """,
        patience=replace(QUICK, dial_s=2),
    )

    with pytest.raises(WireGone, match="no answer within 2 s"):
        await wire.start()

    assert not runs(int((tmp_path / "session.db.pid").read_text()))


async def test_a_child_that_hears_of_no_end_is_ended_all_the_same(tmp_path):
    wire = wire_over(
        tmp_path,
        """
        import os, signal, sys
        from pathlib import Path
        from onechat_whatsapp.wire.calls import Done
        from onechat_whatsapp.wire.codec import body_of_answer
        from onechat_whatsapp.wire.frames import Kind, frame
        Path(sys.argv[1] + ".pid").write_text(str(os.getpid()))
        os.read(0, 1)
        os.write(1, frame(Kind.ANSWER, body_of_answer(1, Done())))
        signal.pause()
        """,
        patience=replace(QUICK, hang_up_s=0.2),
    )
    await wire.start()
    pid = int((tmp_path / "session.db.pid").read_text())

    await wire.stop()

    assert not runs(pid)


async def test_a_program_that_is_not_there_is_said(tmp_path):
    wire = WhatsAppSupervisor(tmp_path / "session.db", command=(str(tmp_path / "nothing"),), environment={})

    with pytest.raises(WireGone, match="could not be started"):
        await wire.start()


async def test_a_start_that_is_given_up_leaves_no_child(tmp_path):
    wire = wire_over(
        tmp_path,
        """
        import os, signal, sys
        from pathlib import Path
        Path(sys.argv[1] + ".pid").write_text(str(os.getpid()))
        signal.pause()
        """,
    )
    starting = asyncio.create_task(wire.start())
    pid = tmp_path / "session.db.pid"
    await until(lambda: pid.exists() and pid.read_text())

    starting.cancel()
    with suppress(asyncio.CancelledError):
        await starting

    assert not runs(int(pid.read_text()))


async def test_a_child_is_replaced_when_it_has_dialled_often_enough(tmp_path):
    """Each failed dial leaks a descriptor in the library."""
    account = WhatsAppAccount(OWNER)
    account.dial_faults.extend(["refused"] * 7)
    async with real_wire(tmp_path, account, dials_max=3) as (wire, world):
        for _ in range(7):
            with pytest.raises(DialFailed):
                await wire.start()

        assert (account.dials, world.children) == (7, 3)


async def test_a_connection_that_stands_is_followed_by_one_in_a_new_child(tmp_path):
    """One that is not paired can't be ended within its process: there would be two."""
    async with real_wire(tmp_path, WhatsAppAccount()) as (wire, world):
        await wire.start()
        await wire.start()

        assert (world.account.dials, world.children) == (2, 2)


async def test_of_a_connection_that_is_being_ended_only_messages_are_still_given(tmp_path):
    """Its end was asked for; told of it later, the gateway would take the next connection for broken."""

    class Leaving(WhatsAppAccount):
        async def hang_up(self) -> None:
            self.emit(Disconnected())
            self.emit(last)
            await super().hang_up()

    last = heard("the last one")
    async with real_wire(tmp_path, Leaving(OWNER)) as (wire, _):
        events = wire.events()
        await wire.start()
        await wire.stop()
        await wire.start()

        came = [await anext(events) for _ in range(5)]

    assert came == [Connected(), CaughtUp(count=0), last, Connected(), CaughtUp(count=0)]


async def test_a_child_that_ends_after_its_library_gave_up_is_said_once(tmp_path):
    async with real_wire(tmp_path, WhatsAppAccount(OWNER)) as (wire, world):
        events = wire.events()
        await wire.start()
        world.account.emit(WireDown(why="the library gave up"))
        came = [await anext(events) for _ in range(3)]
        world.crash()
        with pytest.raises(WireGone):
            await wire.groups()
        await wire.is_linked()  # in which time the child's end is taken note of
        await wire.start()
        came += [await anext(events) for _ in range(2)]

    assert came == [Connected(), CaughtUp(count=0), WireDown(why="the library gave up"), *came[:2]]


async def test_of_a_link_that_was_ended_no_file_is_left(tmp_path):
    """The library itself keeps contacts and keys in it."""
    async with real_wire(tmp_path, WhatsAppAccount(OWNER)) as (wire, world):
        await wire.start()
        await wire.logout()

        assert not world.session.exists()
        assert not await wire.is_linked()


async def test_a_child_whose_gateway_is_gone_ends(tmp_path):
    """Else it would keep the session, and the next gateway's would be the second on it."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "onechat_whatsapp.wire_child", str(tmp_path / "session.db")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin
    child.stdin.close()

    assert await asyncio.wait_for(child.wait(), WITHIN_S) == 0


async def test_a_child_that_cannot_go_on_says_why(tmp_path):
    """Its last words are all that there is to find the fault by."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "onechat_whatsapp.wire_child", str(tmp_path / "session.db")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    _, said = await asyncio.wait_for(child.communicate(b"HTTP/1.1 400\r\n"), WITHIN_S)

    assert child.returncode == 1
    assert said.decode().splitlines()[-1] == "FrameBroken: a frame of 1213486160 bytes"


async def test_a_second_process_is_kept_off_the_session_until_the_first_is_gone(tmp_path):
    """WhatsApp would end one of them, and the two would end each other by turns."""
    session = tmp_path / "session.db"
    script = f"""
    import asyncio
    from pathlib import Path
    from onechat_whatsapp.wire_child.session_lock import SessionLock
    asyncio.run(SessionLock(Path({str(session)!r})).hold())
    print("held", flush=True)
    input()
    """
    first = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(script)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert first.stdout
    await first.stdout.readline()
    second = SessionLock(session)

    with pytest.raises(DialFailed, match="another process holds the session"):
        await second.hold(wait_s=0.2)
    waiting = asyncio.create_task(second.hold())
    first.kill()

    await asyncio.wait_for(waiting, WITHIN_S)
    await second.hold()
    await first.wait()


async def test_an_abort_of_the_child_is_said_and_what_is_sent_then_is_surely_not_sent(tmp_path):
    async with real_wire(tmp_path, WhatsAppAccount(OWNER)) as (wire, world):
        events = wire.events()
        await wire.start()
        assert [await anext(events), await anext(events)] == [Connected(), CaughtUp(count=0)]

        world.crash()

        assert await asyncio.wait_for(anext(events), WITHIN_S) == WireDown(
            why="the process ended with signal 6"
        )
        with pytest.raises(NotSent) as failed:
            await wire.send_text(BOB, "hello")
        assert failed.value.offline
        await wire.start()
        assert [await anext(events), await anext(events)] == [Connected(), CaughtUp(count=0)]


@pytest.mark.parametrize(
    ("module", "fault", "sentence"),
    [
        (
            "magic",
            "raise ImportError('failed to find libmagic.  Check your installation')",
            "sudo apt install libmagic1",
        ),
        ("neonize", "raise ModuleNotFoundError('No module named neonize', name='neonize')", "Run make setup"),
        ("neonize", "raise OSError('libc.so.6: version GLIBC_2.34 not found')", "newer system"),
        ("neonize", "raise RuntimeError('protobuf')", r"\(RuntimeError: protobuf\)"),
    ],
    ids=["libmagic", "neonize", "glibc", "anything else"],
)
async def test_where_the_library_cannot_be_loaded_a_sentence_says_what_to_do(
    tmp_path, module, fault, sentence
):
    """The gateway runs all the same, and the user can be told."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / f"{module}.py").write_text(fault + "\n")
    wire = WhatsAppSupervisor(
        tmp_path / "session.db",
        environment={**os.environ, "PYTHONPATH": str(tmp_path / "modules")},
        patience=QUICK,
    )

    with pytest.raises(LibraryMissing, match=sentence):
        await wire.start()
    with pytest.raises(WireGone):
        await wire.pair("15550001111")


async def test_a_child_ends_with_its_gateway_though_it_looks_at_nothing_any_more(tmp_path):
    """A library that hangs would else keep the session from the next gateway's child for ever."""
    child = textwrap.dedent(
        """
        import os, signal
        from onechat_whatsapp.wire_child.__main__ import guard
        guard()
        print(os.getpid(), flush=True)
        signal.pause()
        """
    )
    gateway = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", gateway), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    pid = int(await process.stdout.readline())
    assert runs(pid)

    process.kill()

    await until(lambda: not runs(pid))
    await process.wait()


def test_the_gateway_has_time_for_the_end_of_its_child_when_it_is_stopped():
    """Past its grace a deployment kills, and the library would be cut off while it writes the session."""
    grace_s = re.search(r"stop_grace_period: (\d+)s", (REPOSITORY / "compose.yaml").read_text())
    patience = Patience()

    assert grace_s
    assert DRAIN_S + patience.hang_up_s + patience.end_s < int(grace_s[1])
