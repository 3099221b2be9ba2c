"""What several of these tests share: an outbox and its receiver, a served echo, a service as a process."""

import asyncio
import json

import pytest
import structlog
from onechat_runtime import logs
from onechat_runtime.outbox import Outbox

from tests.fakes.echo import EchoServicer, echo_served
from tests.fakes.echo_process import Running
from tests.fakes.loopback import serving
from tests.fakes.outbox_receiver import Receiver, Steady


@pytest.fixture
def receiver():
    return Receiver()


@pytest.fixture
def make_outbox(clock, receiver, board):
    def made(store, settled=None, rng=None, senders=None):
        senders = senders or {"cup": receiver.take, "plate": receiver.take}
        return Outbox(store, clock, rng or Steady(), senders, settled, board=board)

    return made


@pytest.fixture
async def outbox(store, make_outbox):
    return make_outbox(store)


@pytest.fixture
async def running(outbox):
    task = asyncio.create_task(outbox.run())
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def put(store, outbox, clock):
    async def put_one(key, *, lane="", kind="cup", body=b"tea", box=outbox):
        await store.write(lambda db: box.put(db, kind=kind, key=key, body=body, lane=lane, now=clock.now()))

    return put_one


@pytest.fixture
def start(program, tmp_path):
    async def started(**environ):
        environ = {"ONECHAT_SCHEDULER_ADDRESS": "127.0.0.1:0", **environ}
        return await program("echo_service.py", cwd=tmp_path, **environ)

    return started


@pytest.fixture
def start_ready(start, tmp_path):
    async def started(**environ):
        process = await start(**environ)
        async with asyncio.timeout(20):
            while line := await process.stderr.readline():
                said = json.loads(line)
                if said["event"] == "ready":
                    return Running(process, said, tmp_path)
        raise AssertionError("it ended before it was ready")

    return started


@pytest.fixture
def servicer():
    return EchoServicer()


@pytest.fixture
async def loopback(servicer):
    async with serving(echo_served(servicer, allow=frozenset({"agent", "operator"}))) as opened:
        yield opened


@pytest.fixture
def logged(capsys):
    """The lines that were logged, as objects, once so many calls are among them.

    A call's line is written when the call is over, which its caller may know before.
    """
    logs.configure("kitchen", "debug", json=True)
    lines = []

    async def until(calls):
        async with asyncio.timeout(5):
            while True:
                lines.extend(json.loads(line) for line in capsys.readouterr().err.splitlines())
                if len([line for line in lines if line["event"] == "rpc"]) >= calls:
                    return lines
                await asyncio.sleep(0.005)

    yield until
    structlog.reset_defaults()
