"""The gateway's process and its child's as a person starts them: which loads the library, how they end."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_whatsapp.__main__ import NAME, SESSION

from tests.fakes.five_services import until
from tests.fakes.service_process import started
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_library import missing
from tests.fakes.whatsapp_world import write_session

CHILD = "onechat_whatsapp.wire_child"
NOTES_WHO_LOADS_IT = """
import os
from pathlib import Path
with Path({file!r}).open("a") as file:
    file.write(Path("/proc/self/cmdline").read_text() + "\\n")
raise ImportError("failed to find libmagic.  Check your installation")
"""


def children_of(pid: int) -> list[int]:
    """The wire's children of process `pid`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and CHILD in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


def is_gone(pid: int) -> bool:
    """Whether process `pid` has ended; one that nobody has collected has."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


async def test_the_gateway_never_loads_the_library_and_explains_itself_where_it_cannot_be_loaded(tmp_path):
    """It fails at import where the system lacks libmagic, and a fault in it ends the process."""
    modules, loaded = tmp_path / "modules", tmp_path / "loaded"
    modules.mkdir()
    (modules / "neonize.py").write_text(NOTES_WHO_LOADS_IT.format(file=str(loaded)))
    with started(NAME, tmp_path, PYTHONPATH=str(modules)) as gateway:
        async with open_channel(gateway.address, token=gateway.token("agent"), name=NAME) as channel:
            stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)
            with pytest.raises(RemoteError) as refused:
                await stub.Pair(v1.PairRequest(phone="+1 555 000 1111"), timeout=25)
            status = await stub.GetStatus(v1.GetStatusRequest(), timeout=5)

        assert children_of(gateway.pid) == []
        assert gateway.stop() == 0
    loaders = loaded.read_text().splitlines()

    assert refused.value.reason == "LIBRARY_MISSING"
    assert "sudo apt install libmagic1" in refused.value.message
    assert status.link == v1.LINK_STATE_NOT_LINKED
    assert loaders
    assert all(CHILD in each for each in loaders)


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
async def test_no_child_outlives_its_gateway(tmp_path, end):
    """It would hold the session, and the next gateway's child would be the second on it."""
    folder = tmp_path / NAME
    folder.mkdir(mode=0o700)
    write_session(folder / SESSION, WhatsAppAccount(OWNER))  # one that a gateway dials with, again and again
    with started(NAME, tmp_path, HTTPS_PROXY="http://127.0.0.1:9") as gateway:
        await until(lambda: bool(children_of(gateway.pid)))
        [child] = children_of(gateway.pid)
        if end is signal.SIGTERM:
            assert gateway.stop() == 0
            assert is_gone(child)
        else:
            os.kill(gateway.pid, end)
            await until(lambda: is_gone(child))


def test_the_child_keeps_its_memory_and_its_files_to_itself():
    """The account's keys are in both, and a command of the agent's shell may be of the same user."""
    script = (
        "import ctypes, os, resource; from onechat_whatsapp.wire_child.__main__ import guard; guard();"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE), os.umask(0))"
    )

    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert said.strip() == "0 (0, 0) 63"  # undumpable; no core file; 0o077
