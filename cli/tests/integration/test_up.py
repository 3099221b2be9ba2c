"""`onechat up` over services that start in no time: its lines, its ends, and what it leaves behind."""

import asyncio
import json
import os
import signal
import socket
import stat
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from onechat_cli.outcome import Exit

from tests.fakes.free_ports import free_ports

ROOT = Path(__file__).parents[3]
NAMES = ("agent", "memory")
# Also those that are not started get ports of their own: a onechat of the user may run on the usual ones.
ADDRESSED = (*NAMES, "whatsapp", "telegram", "scheduler")
STARTS_UP = """
import asyncio, os, sys
from onechat_cli.commands.up import up
from onechat_cli.config import environment, settings_from
from onechat_cli.__main__ import _complain
from onechat_runtime.errors import StartRefused
variables = environment()
modules = {name: f"stand_in_{name}" for name in sys.argv[1].split(",")}
try:
    code = asyncio.run(up(settings_from(variables), variables, os.environ, demo=False, modules=modules))
except StartRefused as refused:
    code = _complain(str(refused), 2)
sys.exit(code)
"""


class Up:
    """An `onechat up` that runs; `lines` is what it printed so far."""

    def __init__(self, process, data):
        self.process = process
        self.data = data
        self.lines = []

    async def until(self, part, within_s=20.0):
        """The first line with `part` that comes from now on."""
        async with asyncio.timeout(within_s):
            while line := (await self.process.stdout.readline()).decode():
                self.lines.append(line.rstrip("\n"))
                if part in line:
                    return line
        raise AssertionError(f"{part!r} did not come: {self.lines}")

    async def end(self, within_s=20.0):
        """The rest of its lines and its exit code, once it has ended."""
        async with asyncio.timeout(within_s):
            self.lines += (await self.process.stdout.read()).decode().splitlines()
            return await self.process.wait()

    def child(self, name):
        """What the child `name` said of itself."""
        return json.loads((self.data / f"{name}.json").read_text())


@pytest.fixture
def addresses():
    return {
        name: f"127.0.0.1:{port}" for name, port in zip(ADDRESSED, free_ports(len(ADDRESSED)), strict=True)
    }


@pytest.fixture
def start(tmp_path, addresses):
    """Starts `up` with the given behaviours."""

    @asynccontextmanager
    async def starting(**behaviours):
        data = tmp_path / "data"
        told = {f"ONECHAT_{name.upper()}_ADDRESS": address for name, address in addresses.items()}
        for name, behaviour in behaviours.items():
            code = f"from tests.fakes.stand_in_service import run\nrun({name!r}, {behaviour!r})\n"
            (tmp_path / f"stand_in_{name}.py").write_text(code)
        own = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", STARTS_UP, ",".join(behaviours)),
            env={
                **own,
                **told,
                "ONECHAT_DATA": str(data),
                "PYTHONPATH": f"{ROOT}:{tmp_path}",
                "OPENAI_API_KEY": "k",
                "TELEGRAM_TOKEN": "t",
            },
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            yield Up(process, data)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    return starting


async def until_gone(pid, within_s=15.0):
    """Return once no process `pid` runs; its end is watched, not slept for."""
    try:
        await asyncio.to_thread(psutil.Process(pid).wait, within_s)
    except psutil.NoSuchProcess:
        return


async def test_each_service_has_a_line_a_log_and_its_own_secrets_and_ends_with_up(start):
    async with start(agent="serve", memory="serve") as up:
        await up.until("All is up")
        agent, memory = up.child("agent"), up.child("memory")
        up.process.send_signal(signal.SIGTERM)
        code = await up.end()

    assert code == Exit.OK
    assert sorted(line.split()[:2] for line in up.lines if " ready at " in line) == [
        ["agent", "ready"],
        ["memory", "ready"],
    ]
    assert any(line.startswith("Time zone: ") for line in up.lines)
    assert "OPENAI_API_KEY" in agent["environ"]
    assert not {"OPENAI_API_KEY", "TELEGRAM_TOKEN"} & memory["environ"].keys()
    assert agent["environ"]["ONECHAT_TIME_ZONE"] == memory["environ"]["ONECHAT_TIME_ZONE"]
    for child in (agent, memory):
        await until_gone(child["pid"])
    log = up.data / "logs" / "agent.log"
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["ready", "ended"]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert (up.data / "tokens" / "operator").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells a child of its parent's end on Linux")
async def test_the_services_end_even_when_up_is_killed(start):
    async with start(agent="serve", memory="serve") as up:
        await up.until("All is up")
        pids = [up.child(name)["pid"] for name in NAMES]

        up.process.kill()
        for pid in pids:
            await until_gone(pid)


async def test_a_service_that_refuses_to_start_ends_all_with_its_line(start):
    async with start(agent="refuse", memory="serve") as up:
        code = await up.end()

    assert code == Exit.REFUSED
    assert "onechat: agent does not start: the store is held by process 7." in up.lines


async def test_all_that_refuse_are_heard_and_a_fault_that_they_share_is_told_once(start):
    """A person mends a wrong .env in one go."""
    async with start(agent="refuse", memory="refuse") as up:
        code = await up.end()

    assert code == Exit.REFUSED
    assert [line for line in up.lines if line.startswith("onechat: ")] == [
        "onechat: agent, memory do not start: the store is held by process 7."
    ]


async def test_a_service_that_died_is_started_again_and_told(start):
    async with start(agent="die once", memory="serve") as up:
        line = await up.until("starting again in")
        await up.until("agent      ready")

    assert "ended with exit code 1" in line
    assert "agent.log" in line


async def test_a_second_up_on_the_same_data_is_refused_and_the_first_goes_on(start):
    async with start(agent="serve", memory="serve") as first:
        await first.until("All is up")
        async with start(agent="serve", memory="serve") as second:
            code = await second.end()

        assert first.process.returncode is None
    assert code == Exit.REFUSED
    assert len(second.lines) == 1
    assert f"process {first.process.pid}" in second.lines[0]


async def test_an_address_in_use_is_one_line_and_starts_nothing(start, addresses):
    host, _, port = addresses["memory"].rpartition(":")
    with socket.create_server((host, int(port))):
        async with start(agent="serve", memory="serve") as up:
            code = await up.end()

    assert code == Exit.REFUSED
    assert len(up.lines) == 1
    assert "ONECHAT_MEMORY_ADDRESS" in up.lines[0]
    assert not (up.data / "agent.json").exists()


async def test_a_data_folder_that_is_a_file_is_one_line(start, tmp_path):
    (tmp_path / "data").write_text("mine")
    async with start(agent="serve") as up:
        code = await up.end()

    assert code == Exit.REFUSED
    assert len(up.lines) == 1
    assert (tmp_path / "data").read_text() == "mine"
