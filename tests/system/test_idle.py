"""What five idle services cost, started one by one as a person starts them: memory and processor time."""

import asyncio
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.fakes.five_services import SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import chatting
from tests.fakes.five_services_model import model_process

MEMORY_MAX = 450 * 1024 * 1024  # bytes, all five together
LOOKED_AT_S = 5.0
BUSY_MAX = 0.02  # of one processor, each


@pytest.mark.soak
async def test_five_idle_services_are_small_and_sleep(forks: Forks, tmp_path: Path) -> None:
    """After a message, so that what is loaded at first use is loaded."""
    async with (
        model_process(forks, tmp_path) as model,
        five_services(forks, tmp_path, OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        with ExitStack() as stack:
            processes = {name: stack.enter_context(executed(services, name)) for name in SERVICES}
            seen = {name: psutil.Process(process.pid) for name, process in processes.items()}
            try:
                await chat.ask("run `echo hello`", key="first")
                before = {name: spent(process) for name, process in seen.items()}
                await asyncio.sleep(LOOKED_AT_S)  # what is measured is that nothing happens
                busy = {name: (spent(process) - before[name]) / LOOKED_AT_S for name, process in seen.items()}
                resident = {name: process.memory_info().rss for name, process in seen.items()}
            finally:
                for process in processes.values():
                    process.kill()

    print({name: f"{size / 2**20:.0f} MB, {busy[name]:.3f}" for name, size in resident.items()})
    assert sum(resident.values()) <= MEMORY_MAX, resident
    assert {name: share for name, share in busy.items() if share > BUSY_MAX} == {}


def executed(services: FiveServices, name: str) -> "subprocess.Popen[bytes]":
    """The service as a fresh process of its own."""
    with services.log_file(name).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"onechat_{name}"],
            env={"PATH": "/usr/bin:/bin", **services.environ},
            cwd=services.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def spent(process: psutil.Process) -> float:
    """Processor seconds so far, its children's that have ended among them."""
    return sum(process.cpu_times()[:4])
