"""Services for as long as a chat needs them, over stand-ins in the real ones' places."""

import asyncio
import json
import os
from pathlib import Path

import psutil
import pytest
from onechat_cli.config import SERVICES, settings_from
from onechat_cli.up.started import services
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused
from onechat_runtime.tokens import ensure_tokens

from tests.fakes.free_ports import free_ports
from tests.fakes.loopback import serving

ROOT = Path(__file__).parents[3]


@pytest.fixture
def environ(tmp_path):
    """An environment in which stand-ins are found before the services."""
    for name in SERVICES:
        code = f"from tests.fakes.stand_in_service import run\nrun({name!r}, 'serve')\n"
        (tmp_path / f"onechat_{name}.py").write_text(code)
    own = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    ports = zip(SERVICES, free_ports(len(SERVICES)), strict=True)
    told = {f"ONECHAT_{name.upper()}_ADDRESS": f"127.0.0.1:{port}" for name, port in ports}
    return own | told | {"PYTHONPATH": f"{ROOT}:{tmp_path}", "ONECHAT_DATA": str(tmp_path / "data")}


def needing(environ, said, clock=None):
    """`services` for `environ`; what it tells goes to `said`."""
    return services(
        settings_from(environ),
        environ,
        demo=False,
        clock=clock or SystemClock(),
        progress=lambda awaited: said.append(len(awaited)),
        waiting=lambda: None,
        starting=lambda: said.append("starting"),
        ending=lambda: said.append("ending"),
    )


def runs(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def test_services_that_were_started_here_end_here(environ, tmp_path):
    said = []
    async with needing(environ, said):
        pids = [json.loads((tmp_path / "data" / f"{name}.json").read_text())["pid"] for name in SERVICES]
        assert all(map(runs, pids))

    assert not any(map(runs, pids))
    assert said[:2] == ["starting", 5]
    assert said[2:-3] == sorted(said[2:-3], reverse=True)
    assert said[-3:] == [0, "ending", 0]
    assert "All services have ended." in (tmp_path / "data" / "logs" / "up.log").read_text()


async def test_services_that_run_are_left_alone(environ, tmp_path):
    """Leaving the chat stops only what it started."""
    ensure_tokens(tmp_path / "data")
    said = []
    async with serving(address=environ["ONECHAT_AGENT_ADDRESS"]), needing(environ, said):
        pass

    assert said == [0]
    assert not (tmp_path / "data" / "logs").exists()


async def test_services_that_are_ending_are_waited_for_and_started_anew(environ, tmp_path):
    """A terminal that was closed and opened again at once: the old services still drain."""
    ensure_tokens(tmp_path / "data")
    said = []
    looked = asyncio.Event()

    class Looking(SystemClock):
        async def sleep(self, seconds):
            looked.set()
            await super().sleep(seconds)

    async with serving(address=environ["ONECHAT_AGENT_ADDRESS"]) as ending:
        ending.board.drain()
        entering = asyncio.create_task(entered(environ, said, Looking()))
        await looked.wait()
        assert said == []
    await entering

    assert said[0] == "starting"


async def entered(environ, said, clock):
    async with needing(environ, said, clock):
        pass


async def test_services_of_another_data_folder_are_told_apart(environ):
    async with serving(address=environ["ONECHAT_AGENT_ADDRESS"]):
        with pytest.raises(StartRefused, match="data folder"):
            await entered(environ, [], SystemClock())


async def test_a_start_that_is_refused_says_what_the_service_said(environ, tmp_path):
    code = "from tests.fakes.stand_in_service import run\nrun('memory', 'refuse')\n"
    (tmp_path / "onechat_memory.py").write_text(code)

    with pytest.raises(StartRefused, match="memory does not start: the store is held by process 7"):
        async with needing(environ, []):
            pass
