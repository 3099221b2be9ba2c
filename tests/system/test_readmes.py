"""The calls that the READMEs show, typed as they stand there but for the ports."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from onechat_runtime.settings import SERVICE_PORTS

from tests.fakes.five_services import REPOSITORY, SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import chatting

CALLS = 10  # that an operator needs
GRPCURL = ".venv/bin/grpcurl"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FiveServices]:
    """All five at work where a person would start them, after a first message."""
    async with five_services(forks, tmp_path_factory.mktemp("home")) as services, chatting(services) as chat:
        await services.start(*SERVICES)
        await chat.ask("hello", key="before")
        yield services


def typed(home: FiveServices, commands: str) -> "subprocess.CompletedProcess[str]":
    """Run `commands` in a shell in the folder that holds data/; the first that fails ends it."""
    here = commands.replace(GRPCURL, str(Path(sys.executable).with_name("grpcurl")))
    for name, port in SERVICE_PORTS.items():
        here = re.sub(rf"127\.0\.0\.1:{port}\b", home.addresses[name], here)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here],
        cwd=home.folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_the_ten_calls_of_an_operator_work_as_written(home: FiveServices) -> None:
    block = re.search(r"```sh\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    assert block is not None
    calls = [line for line in block[1].splitlines() if line.startswith("call ")]

    done = typed(home, block[1])

    assert (done.returncode, done.stderr) == (0, "")
    assert len(calls) == CALLS
    assert "user: hello" in done.stdout, "the view was shown"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", SERVICES)
async def test_a_services_own_readme_shows_a_call_that_works(home: FiveServices, name: str) -> None:
    readme = (REPOSITORY / "services" / name / "README.md").read_text()
    first = next(line for line in readme.splitlines() if line.startswith(f"    {GRPCURL} "))

    done = typed(home, first)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
