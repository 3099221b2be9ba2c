"""Freeze, ReadSnapshot and Thaw through the door, on a real store behind a real server."""

import asyncio
import hashlib
import threading
from itertools import count

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_runtime.freezing import Snapshots

from tests.fakes.echo import EchoServicer, EchoStub, echo_served
from tests.fakes.loopback import serving

READ_S = 60


class StoringServicer(EchoServicer):
    """Writes what it hears before it answers."""

    def __init__(self, store):
        super().__init__()
        self._store = store

    async def Echo(self, request, context):
        self.arrived.set()
        await self._store.write(
            lambda db: db.execute("INSERT INTO cups (tea) VALUES (?)", (request.value,)).get
        )
        return request


def _add_many(tea, cups):
    return lambda db: db.executemany("INSERT INTO cups (tea) VALUES (?)", [(tea,)] * cups).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


class Pruning:
    """A prune hook that deletes nothing, or one that has work without an end."""

    ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    def __init__(self):
        self.endless = False
        self._begun = threading.Event()

    def __call__(self, db):
        if self.endless:
            self._begun.set()
            db.execute(self.ENDLESS).fetchall()

    async def until_begun(self):
        assert await asyncio.to_thread(self._begun.wait, 10)


class House:
    """A service with a store, and an operator who calls it."""

    def __init__(self, loopback, store, servicer, pruning):
        self.loopback = loopback
        self.store = store
        self.servicer = servicer
        self.pruning = pruning
        self.ops = ops_service_pb2_grpc.SnapshotServiceStub(loopback.channel())
        self._echo = EchoStub(loopback.channel())

    async def freeze(self, request_id=""):
        return await self.ops.Freeze(ops_service_pb2.FreezeRequest(request_id=request_id), timeout=5)

    async def thaw(self, snapshot_id, request_id=""):
        request = ops_service_pb2.ThawRequest(snapshot_id=snapshot_id, request_id=request_id)
        return await self.ops.Thaw(request, timeout=5)

    async def read(self, snapshot_id):
        request = ops_service_pb2.ReadSnapshotRequest(snapshot_id=snapshot_id)
        return [one async for one in self.ops.ReadSnapshot(request, timeout=READ_S)]

    async def echo(self, said):
        return (await self._echo.Echo(StringValue(value=said), timeout=20)).value

    def files(self):
        return sorted(path.name for path in (self.store.path.parent / "snapshots").rglob("*"))


@pytest.fixture
async def house(store, clock):
    numbers, pruning, servicer = count(), Pruning(), StoringServicer(store)
    async with (
        Snapshots.open(store, clock=clock, new_id=lambda: f"s{next(numbers)}", prune=pruning) as snapshots,
        serving(echo_served(servicer), name="kitchen", snapshots=snapshots) as loopback,
    ):
        yield House(loopback, store, servicer, pruning)


async def _refused(call):
    with pytest.raises(RemoteError) as raised:
        await call
    return raised.value


async def test_a_backup_of_a_running_service(house, clock, open_store, tmp_path):
    await house.store.write(_add_many("x" * 1000, 500))
    await house.echo("before")

    frozen = await house.freeze("backup-1")
    meanwhile = asyncio.create_task(house.echo("meanwhile"))
    await house.thaw(frozen.snapshot_id, "backup-1-thaw")
    responses = await house.read(frozen.snapshot_id)

    assert await meanwhile == "meanwhile"
    assert frozen.hold_end_time.ToDatetime(tzinfo=clock.now().tzinfo) > clock.now()
    assert frozen.readable_for.ToTimedelta().total_seconds() == 600
    content = b"".join(one.chunk.content for one in responses)
    assert [one.total_bytes for one in responses] == [len(content)] + [0] * (len(responses) - 1)
    assert {len(one.chunk.content) for one in responses[:-2]} == {65536}
    assert all(one.chunk.sha256 == b"" for one in responses[:-1])
    assert responses[-1].chunk.content == b""
    assert responses[-1].chunk.sha256 == hashlib.sha256(content).digest()
    path = tmp_path / "restored" / "store.db"
    path.parent.mkdir()
    path.write_bytes(content)
    async with open_store(path=path) as restored:
        assert restored.read(_teas)[-2:] == ["x" * 1000, "before"]
    assert house.store.read(_teas)[-1] == "meanwhile"


async def test_a_freeze_that_is_sent_again_gives_the_first_answer_also_while_frozen(house):
    """It must not wait for the writer that it holds."""
    first = await house.freeze("id-1")

    async with asyncio.timeout(2):
        again = await house.freeze("id-1")
        other = await _refused(house.freeze("id-2"))
        nameless = await _refused(house.freeze())
    await house.thaw(first.snapshot_id)

    assert again == first == await house.freeze("id-1")
    for refused in (other, nameless):
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "FROZEN_ALREADY")
    assert (await house.freeze("id-2")).snapshot_id != first.snapshot_id


async def test_two_freezes_at_once_under_one_id_are_one(house):
    busy = threading.Event()
    holder = asyncio.create_task(house.store.write(lambda db: busy.wait(10)))
    both = [asyncio.create_task(house.freeze("id-1")) for _ in range(2)]
    await asyncio.sleep(0)
    busy.set()

    one, other = await asyncio.gather(*both)

    await holder
    assert one == other


async def test_one_id_serves_one_call(house):
    frozen = await house.freeze("id-1")

    reused = await _refused(house.thaw(frozen.snapshot_id, "id-1"))
    too_long = await _refused(house.freeze("x" * 201))

    assert (reused.code, reused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED")
    assert too_long.reason == "BAD_REQUEST_ID"


async def test_a_thaw_is_answered_as_often_as_it_comes(house):
    frozen = await house.freeze()

    for request_id in ("", "", "id-1", "id-1"):
        await house.thaw(frozen.snapshot_id, request_id)

    assert await house.echo("after") == "after"


async def test_what_is_no_snapshot_is_refused(house):
    errors = [await _refused(call) for call in (house.thaw("s9"), house.thaw(""), house.read("s9"))]

    assert {(one.code, one.reason) for one in errors} == {(grpc.StatusCode.NOT_FOUND, "SNAPSHOT_UNKNOWN")}


async def test_calls_wait_for_the_end_of_the_hold_and_reads_do_not(house, clock):
    await house.echo("before")
    await house.freeze()
    calls = [asyncio.create_task(house.echo(str(number))) for number in range(8)]
    await house.servicer.arrived.wait()
    seen = house.store.read(_teas)
    waited = not any(call.done() for call in calls)
    await clock.until_sleeping()
    clock.advance(5)

    answers = await asyncio.gather(*calls)

    assert waited
    assert seen == ["before"]
    assert sorted(answers) == sorted(house.store.read(_teas)[1:]) == [str(number) for number in range(8)]


async def test_a_reader_that_goes_away_leaves_no_file(house, until):
    frozen = await house.freeze()
    house.pruning.endless = True
    request = ops_service_pb2.ReadSnapshotRequest(snapshot_id=frozen.snapshot_id)
    reading = house.ops.ReadSnapshot(request, timeout=READ_S)
    await house.pruning.until_begun()
    at_work = house.files()
    reading.cancel()

    await until(lambda: house.files() == [])

    assert "loose.db" in at_work


async def test_the_end_of_the_service_lets_go_of_the_writer_and_ends_readers(house):
    frozen = await house.freeze()
    house.pruning.endless = True
    waiting = asyncio.create_task(house.echo("waited"))
    await house.servicer.arrived.wait()
    reading = asyncio.create_task(house.read(frozen.snapshot_id))
    await house.pruning.until_begun()

    async with asyncio.timeout(5):
        draining = asyncio.create_task(house.loopback.listening.drain())
        answer = await waiting
        ended = await _refused(reading)
        await draining

    assert answer == "waited"
    assert house.store.read(_teas) == ["waited"]
    assert ended.code is grpc.StatusCode.UNAVAILABLE
    assert house.files() == []
