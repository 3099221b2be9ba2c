"""Snapshots of a service that is a process of its own: the memory a copy takes, and an end while frozen."""

import asyncio
import hashlib
import json
import signal

import psutil
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.tokens import read_token

from tests.fakes.echo import EchoStub

MIB = 1024 * 1024


@pytest.fixture
def start(program, tmp_path):
    """Starts the echo service; the process, and how to open a channel to it."""

    async def started():
        process = await program("echo_service.py", cwd=tmp_path, ONECHAT_SCHEDULER_ADDRESS="127.0.0.1:0")
        async with asyncio.timeout(20):
            while line := await process.stderr.readline():
                said = json.loads(line)
                if said["event"] == "ready":
                    break
        token = read_token(tmp_path / "data" / "tokens" / "operator")
        return process, lambda: open_channel(said["address"], token=token, name="scheduler")

    return started


@pytest.fixture
def open_its_store(open_store, tmp_path):
    """Opens the store of the echo service while that does not run."""
    path = tmp_path / "data" / "scheduler" / "store.db"
    return lambda path=path: open_store(path=path, component="scheduler")


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


async def test_fifty_megabytes_are_streamed_in_little_memory(start, open_its_store, tmp_path):
    add = "INSERT INTO cups (tea) VALUES (hex(randomblob(1500)))"
    async with open_its_store() as store:
        await store.write(lambda db: [db.execute(add) for _ in range(17_000)] and None)
    process, channel_to = await start()
    watched, most, size, digest = psutil.Process(process.pid), 0, 0, hashlib.sha256()

    async with channel_to() as channel:
        ops = ops_service_pb2_grpc.SnapshotServiceStub(channel)
        await ops.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=5)
        before = watched.memory_info().rss
        frozen = await ops.Freeze(ops_service_pb2.FreezeRequest(), timeout=5)
        await ops.Thaw(ops_service_pb2.ThawRequest(snapshot_id=frozen.snapshot_id), timeout=5)
        request = ops_service_pb2.ReadSnapshotRequest(snapshot_id=frozen.snapshot_id)
        async for response in ops.ReadSnapshot(request, timeout=60):
            size += len(response.chunk.content)
            digest.update(response.chunk.content)
            most = max(most, watched.memory_info().rss)

    assert size > 50 * MIB
    assert response.chunk.sha256 == digest.digest()
    assert most - before < 20 * MIB


async def test_a_service_that_is_frozen_ends_in_time_and_commits_what_waits(start, open_its_store, tmp_path):
    process, channel_to = await start()
    async with channel_to() as channel:
        echo = EchoStub(channel)
        await echo.Echo(StringValue(value="before"), timeout=5)
        ops = ops_service_pb2_grpc.SnapshotServiceStub(channel)
        await ops.Freeze(ops_service_pb2.FreezeRequest(), timeout=5)
        waiting = [
            asyncio.ensure_future(echo.Echo(StringValue(value=tea), timeout=20)) for tea in ("one", "other")
        ]
        await ops.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=5)

        async with asyncio.timeout(4):
            process.send_signal(signal.SIGTERM)
            await asyncio.gather(*waiting)
            await process.wait()

    assert process.returncode == 0
    async with open_its_store() as store:
        assert sorted(store.read(_teas)) == ["before", "one", "other"]
