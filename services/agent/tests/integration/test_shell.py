"""The shell tool on real processes: what it gives, and that nothing of a command outlives it."""

import asyncio
import os
import secrets
import subprocess
import sys

import psutil
import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.processes import GRACE_S
from onechat_agent.tools.shell import ShellTool
from onechat_agent.tools.tool import CallContext
from onechat_runtime.clock import SystemClock

from tests.fakes.clock import ManualClock


class Bench:
    """A working directory, a shell without a fence, and a pipe by which commands say that they have begun."""

    def __init__(self, work, clock):
        self.work, self.clock = work, clock
        self.mark = (
            f"600.{secrets.randbelow(10**9):09}"  # seconds to sleep, and how its processes are told apart
        )
        self.shell = ShellTool(Fence(closed=()), environ=os.environ, clock=clock, landlock=0)
        self.context = CallContext(
            agent=AgentId("a1"),
            agent_name="One",
            memory_of=AgentId("a"),
            turn=TurnId("1"),
            hops=0,
            call_key="t:1:1:c",
            backed=True,
            tainted=False,
            workdir=work,
        )
        os.mkfifo(work / "begun")
        self._begun = asyncio.Event()
        self._pipe = os.open(work / "begun", os.O_RDWR | os.O_NONBLOCK)
        asyncio.get_running_loop().add_reader(self._pipe, self._begun.set)

    async def run(self, command):
        return await self.shell.run(self.context, {"command": command.replace("MARK", self.mark)})

    async def begin(self, command):
        """Start a command that writes to `begun`, and return its task once it has."""
        task = asyncio.ensure_future(self.run(command))
        async with asyncio.timeout(20):
            await self._begun.wait()
        return task

    def left(self):
        """Command lines of living processes that carry the mark."""
        found = []
        for process in psutil.process_iter(["cmdline", "status"]):
            line = process.info["cmdline"] or []
            if any(self.mark in word for word in line) and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(line)
        return found

    def close(self):
        asyncio.get_running_loop().remove_reader(self._pipe)
        os.close(self._pipe)


@pytest.fixture
async def bench(tmp_path):
    bench = Bench(tmp_path, SystemClock())
    yield bench
    bench.close()


@pytest.fixture
async def timed(tmp_path):
    """The same on a clock that stands still."""
    bench = Bench(tmp_path, ManualClock())
    yield bench
    bench.close()


async def test_output_and_error_output_come_in_order(bench):
    result = await bench.run("echo one; echo two >&2; echo three")

    assert result.text == "one\ntwo\nthree"
    assert result.taints
    assert not result.failed


async def test_the_exit_status_is_told_when_it_is_not_0(bench):
    assert (await bench.run("echo a; exit 3")).text == "a\n(exit status 3)"
    assert (await bench.run("true")).text == "(no output)"
    assert (await bench.run("kill -9 $$")).text == "(killed by SIGKILL)"
    assert "(exit status 127)" in (await bench.run("no-such-program")).text
    assert "(exit status 2)" in (await bench.run("if")).text


async def test_a_command_runs_in_the_working_directory_and_gets_no_input(bench):
    result = await bench.run("pwd; cat; read line; echo status $?")

    assert result.text == f"{bench.work}\nstatus 1"


async def test_a_working_directory_that_is_gone_is_said(bench):
    bench.shell = ShellTool(Fence(closed=()), environ={}, clock=bench.clock, landlock=0)
    bench.context = CallContext(
        agent=AgentId("a1"),
        agent_name="One",
        memory_of=AgentId("a"),
        turn=TurnId("1"),
        hops=0,
        call_key="k",
        backed=True,
        tainted=False,
        workdir=bench.work / "gone",
    )

    assert "gone: no such file or directory)" in (await bench.run("echo hi")).text


async def test_a_command_that_the_system_cannot_take_is_said(bench):
    assert (await bench.run(": " + "x" * 200_000)).text == "(bash: argument list too long)"


async def test_no_secret_of_the_service_is_in_the_environment(bench, tmp_path):
    """An allow-list: a key may have any name."""
    environ = {
        **os.environ,
        "OPENAI_API_KEY": "sk-1",
        "ONECHAT_TOKEN_FILE": "/t",
        "ANYTHING": "x",
        "LC_ALL": "C",
    }
    bench.shell = ShellTool(Fence(closed=()), environ=environ, clock=bench.clock, landlock=0)

    names = {line.partition("=")[0] for line in (await bench.run("env")).text.splitlines()}

    assert {"PATH", "LC_ALL"} <= names
    assert not {"OPENAI_API_KEY", "ONECHAT_TOKEN_FILE", "ANYTHING"} & names


async def test_programs_find_the_signals_as_they_are_anywhere_else(bench):
    """Python ignores SIGPIPE; a command that inherited it would go on writing into a closed pipe."""
    result = await bench.run("yes | head -n 1; echo ${PIPESTATUS[0]}; umask")

    assert result.text == "y\n141\n0022"


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'sleep MARK & echo hi'",
        "setsid sleep MARK & echo hi",
        "(setsid sh -c 'setsid sleep MARK & sleep MARK' &) ; echo hi",
        "nohup sleep MARK >/dev/null 2>&1 & echo hi",
        "env -i setsid sleep MARK & echo hi",
        "(trap '' TERM HUP; exec sleep MARK) & echo hi",
        "sleep MARK & kill -STOP $!; echo hi",
    ],
)
async def test_what_a_command_leaves_behind_ends_with_it(bench, command):
    result = await asyncio.wait_for(bench.run(command), 60)  # what it leaves behind would take minutes

    assert result.text == "hi"
    assert bench.left() == []


@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM; echo so far; echo > begun; sleep MARK",
        "trap '' TERM; echo so far; echo > begun; while :; do sleep MARK; done",
        "echo so far; setsid sleep MARK & echo > begun; sleep MARK",
    ],
)
async def test_at_its_limit_a_command_ends_and_its_output_so_far_is_kept(timed, command):
    task = await timed.begin(command)

    timed.clock.advance(600)
    result = await task

    assert result.text == "so far\n(ended: it ran into its limit of 10 minutes)"
    assert result.failed
    assert timed.left() == []


@pytest.mark.parametrize(
    "command",
    [
        "echo > begun; sleep MARK",
        "trap '' TERM; echo > begun; while :; do sleep MARK; done",
        "(trap '' TERM; exec setsid sleep MARK) & echo > begun; wait",
        "echo > begun; kill -STOP $PPID; sleep MARK",
    ],
)
async def test_a_stop_ends_a_command_within_a_second(bench, command):
    """The last one halts its own supervisor."""
    task = await bench.begin(command)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)  # the command would take minutes; a busy machine, seconds

    assert GRACE_S < 1
    assert bench.left() == []


async def test_a_second_stop_does_not_let_a_command_escape(bench):
    """A stop and then the end of the service: the first must not be broken off."""
    task = await bench.begin("trap '' TERM; echo > begun; while :; do sleep MARK; done")

    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert bench.left() == []


async def test_when_the_event_loop_ends_a_command_ends_with_it(bench):
    """Then every task is cancelled, also the one that waits for the end."""
    await bench.begin("trap '' TERM; echo > begun; while :; do sleep MARK; done")
    others = asyncio.all_tasks() - {asyncio.current_task()}

    for task in others:
        task.cancel()
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)

    assert bench.left() == []


async def test_a_stop_before_the_command_has_begun_leaves_nothing(bench):
    task = asyncio.ensure_future(bench.run("sleep MARK"))
    await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert bench.left() == []


async def test_a_command_that_kills_its_supervisor_ends_too(bench):
    result = await bench.run("kill -9 $PPID; sleep MARK")

    assert "its exit status is not known" in result.text
    assert bench.left() == []


def test_when_the_service_is_killed_its_commands_end(tmp_path):
    """The supervisor sees its input end, as at a stop."""
    program = (
        "import asyncio, os, sys; from pathlib import Path; from onechat_runtime.clock import SystemClock;"
        "from onechat_agent.tools.processes import Command, run_command;"
        "command = Command(text='echo $PPID > begun; sleep 600', folder=Path(sys.argv[1]),"
        " environment=dict(os.environ), landlock=0);"
        "asyncio.run(run_command(command, clock=SystemClock(), limit_s=600))"
    )
    os.mkfifo(tmp_path / "begun")
    service = subprocess.Popen([sys.executable, "-c", program, tmp_path])
    supervisor = psutil.Process(int((tmp_path / "begun").read_text()))
    processes = [supervisor, *supervisor.children(recursive=True)]

    service.kill()
    service.wait()

    _, alive = psutil.wait_procs(processes, timeout=10)
    assert alive == []


async def test_fifty_megabytes_of_output_show_head_tail_and_size(bench):
    result = await bench.run("echo first; yes | head -c 50000000; echo last")

    assert result.text.startswith("first\ny\n")
    assert result.text.endswith("y\nlast")
    assert len(result.text) <= 30_000
    assert "of 50,000,011 bytes left out" in result.text


async def test_binary_output_shows_as_size_and_type(bench):
    assert (await bench.run("head -c 300 /dev/urandom")).text == "(binary output: 300 bytes, binary data)"
    assert "a gzip" not in (await bench.run("echo hello")).text
    assert "gzip data" in (await bench.run("head -c 500 /dev/urandom | gzip")).text


async def test_commands_run_side_by_side(bench):
    """Each waits for the other's file: in a row they would never end."""
    os.mkfifo(bench.work / "one")
    os.mkfifo(bench.work / "two")

    async with asyncio.timeout(20):
        first, second = await asyncio.gather(
            bench.run("echo a > one; cat two"), bench.run("cat one; echo b > two")
        )

    assert (first.text, second.text) == ("b", "a")


def test_people_see_the_command_in_a_line(tmp_path):
    shell = ShellTool(Fence(closed=()), environ={}, clock=SystemClock(), landlock=0)

    assert shell.summary({"command": "ls\n-la"}) == "shell: ls -la"
    assert "10 minutes" in shell.schema["description"]
