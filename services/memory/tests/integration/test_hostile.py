"""What no caller should send: nothing of it is an error of ours, and none of it harms a log."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import grpc
import pytest
from google.protobuf import message_factory
from onechat.memory.v1 import memory_service_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.hostile import TEXTS, Hostile
from tests.fakes.memory_rows import lines_of, nodes_of
from tests.fakes.memory_server import MemoryServer, remembering

LOGS = ("tree", "small", "flat")
OTHERS = ("staged", "kept-0", "kept-1")
KNOWN: dict[str, Any] = {
    "log_id": (*LOGS * 3, *OTHERS),
    "staged_log_id": (*OTHERS, "tree"),
    "kept_log_id": (*OTHERS, "new"),
    "request_id": ("", "", "", "", "r1"),
    "builder": ("demo", "gpt-5.6"),
    "holder": ("one", "one", "one", "two"),
    "first_id": (*range(9), 16, 32),
    "count": (0, 1, 1, 2, 2, 4, 8),
    "id": range(9),
    "key": ("a", "b", *(f"k{number}" for number in range(500))),
    "kind": (1, 2, 3, 4, 5, 6),
    "text": (*TEXTS[1:], "hello", "x" * 600),
    "line": ("a line", "x" * 1_100, "y" * 300, *TEXTS),
    "zone": ("", "Europe/Rome", "Europe", "nowhere", "a.b/c", "__init__.py", "zone.tab", "x" * 300),
    "source": ("", "user"),
    "turn": ("", "t"),
    "call": ("", "c"),
    "step": (0, 1),
    "images": ("0123456789abcdef.png",),
    "generation": (0, 1, 1, 2),
    "cause": (1, 2, 2, 2),
    "start_id": (0, 0, 1),
    "seconds": (0,),
}
EXPECTED = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
}


@pytest.mark.parametrize("seed", range(1))
async def test_a_few_hundred_hostile_requests_end_in_an_answer_or_a_reason(tmp_path: Path, seed: int) -> None:
    """A short taste of the long run below."""
    async with remembering(tmp_path) as memory:
        await _attack(memory, seed, requests=250)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 106))
async def test_many_hostile_requests_end_in_an_answer_or_a_reason(tmp_path: Path, seed: int) -> None:
    """No INTERNAL, no hang, and every log as sound as before, also once it is opened anew."""
    async with remembering(tmp_path) as memory:
        await _attack(memory, seed, requests=2_000)
    async with remembering(tmp_path) as again:
        again.store.read(_must_be_sound)
        await _attack(again, seed + 1_000, requests=500)


async def _attack(memory: MemoryServer, seed: int, requests: int) -> None:
    await _begin(memory)
    hostile = Hostile(seed, KNOWN)
    methods = memory_service_pb2.DESCRIPTOR.services_by_name["MemoryService"].methods
    often = ("AppendMessages", "CompleteCompaction", "FailCompaction", "SwapLog")
    favoured = [one for one in methods if one.name in often]
    for number in range(requests):
        method = hostile.choice([*methods, *favoured * 3])
        request = hostile.request(message_factory.GetMessageClass(method.input_type))
        if hasattr(request, "wait"):
            request.wait.Clear()
        if hasattr(request, "builder") or hasattr(request, "lease_id"):
            await _lease_sometimes(memory, hostile)
        if number % 20 == 0:
            await _stage(memory, hostile)
        if method.name == "CreateLog" and not request.log_id.startswith("new"):
            request.log_id = hostile.choice((request.log_id, f"new{number}"))
        refused = await _refusal(memory, method, request)
        fine = refused is None or (refused.code in EXPECTED and refused.reason)
        assert fine, f"{method.name}: {refused!r}, seed {seed}, {str(request)[:500]}"
        if number % 100 == 0:
            memory.store.read(_must_be_sound)
    memory.store.read(_must_be_sound)
    for log in ("tree", "small"):
        view, stats = await memory.view(log), await memory.stats(log)
        assert (view.bytes, view.lines, view.length) == (stats.view_bytes, stats.view_lines, stats.log.length)


async def _begin(memory: MemoryServer) -> None:
    """Make the logs of which each must be there to the end, whatever is swapped into its place."""
    limits = {"high_bytes": 2_000, "low_bytes": 900}
    smaller = {"high_bytes": 700, "low_bytes": 300}
    there = await memory.logs()
    if "tree" not in there:
        await memory.create("tree")
        await memory.create("small", chat_view=limits, compaction_view=smaller)
        await memory.create("flat", shape="LOG_SHAPE_FLAT")
    assert there.keys() >= set(LOGS) or not there


async def _stage(memory: MemoryServer, hostile: Hostile) -> None:
    """So that there is a log to swap in, and kept ones after it."""
    shape = hostile.choice(("LOG_SHAPE_TREE", "LOG_SHAPE_TREE", "LOG_SHAPE_FLAT"))
    try:
        await memory.create("staged", shape=shape, state="LOG_STATE_STAGED")
        await memory.append("short", "x" * 600, "y" * 300, log="staged")
    except RemoteError as refused:
        assert refused.reason == "LOG_EXISTS", refused  # noqa: PT017 - most times it is not swapped in yet


async def _lease_sometimes(memory: MemoryServer, hostile: Hostile) -> None:
    """So that some pieces are out, with leases that the next request may name."""
    leased = await memory.lease(hostile.choice(("one", "one", "two")))
    hostile.known["lease_id"] = [piece.lease_id for piece in leased.pieces] or ["none"]
    if leased.pieces and hostile.choice((True, False)):
        piece = leased.pieces[0]
        if hostile.choice((True, False)):
            await memory.fail(
                piece, hostile.choice(("CAUSE_CONTENT", "CAUSE_UNAVAILABLE")), log=leased.log_id
            )
        else:
            name = f"{piece.first_id}+{piece.count}"
            await memory.complete(name, hostile.choice(KNOWN["line"][:3]), log=leased.log_id)


async def _refusal(memory: MemoryServer, method: Any, request: Any) -> RemoteError | None:
    """How the service refused `request`; None when it answered."""
    answer = getattr(memory.stub, method.name)(
        _one(request) if method.client_streaming else request, timeout=20
    )
    try:
        if method.server_streaming:
            async for _ in answer:
                pass
        else:
            await answer
    except RemoteError as refused:
        return refused
    return None


async def _one(request: Any) -> AsyncIterator[Any]:
    yield request


def _must_be_sound(db: apsw.Connection) -> None:
    """Ids dense, views tile their log, queues and counters say what is there."""
    for number, shape, length, built, leaves, degraded in db.execute(
        "SELECT number, shape, length, built_nodes, built_leaves, degraded_nodes FROM logs WHERE deleted = 0"
    ).fetchall():
        ids = [row[0] for row in db.execute("SELECT id FROM messages WHERE log = ? ORDER BY id", (number,))]
        assert ids == list(range(length))
        if shape == "flat":
            assert (built, leaves) == (0, 0)
            continue
        nodes = {(level, place): text for level, place, text, *_ in nodes_of(db, number)}
        assert all(nodes.values()), "an empty line"
        assert built == len(nodes)
        assert leaves == sum(level == 0 for level, _ in nodes)
        marks = db.execute("SELECT count(*) FROM nodes WHERE log = ? AND degraded", (number,)).fetchall()
        assert degraded == marks[0][0]
        _views_must_tile(db, number, length, nodes)
        _queues_must_fit(db, number, length, nodes)


def _views_must_tile(
    db: apsw.Connection, number: int, length: int, nodes: dict[tuple[int, int], str]
) -> None:
    for view in ("chat", "compaction"):
        rows = lines_of(db, number, view)
        counted = db.execute(f"SELECT {view}_lines FROM logs WHERE number = ?", (number,)).get
        assert counted == len(rows)
        ends = [(first, first + (1 << level)) for first, level in rows]
        assert all(before[1] == after[0] for before, after in pairwise(ends))
        assert (ends[0][0], ends[-1][1]) == (0, length) if ends else length == 0
        assert all((level, first >> level) in nodes for first, level in rows if level)


def _queues_must_fit(
    db: apsw.Connection, number: int, length: int, nodes: dict[tuple[int, int], str]
) -> None:
    waiting = {row[0] for row in db.execute("SELECT message FROM unbuilt_leaves WHERE log = ?", (number,))}
    assert waiting == {leaf for leaf in range(length) if (0, leaf) not in nodes}
    ready = {
        (level, last >> level)
        for last, level in db.execute("SELECT last, level FROM ready_merges WHERE log = ?", (number,))
    }
    parents = {(level + 1, place >> 1) for level, place in nodes if (level, place ^ 1) in nodes}
    assert ready == {parent for parent in parents if parent not in nodes}
    again = {
        (level, last >> level)
        for last, level in db.execute("SELECT last, level FROM rebuilds WHERE log = ?", (number,))
    }
    assert again <= nodes.keys()
    failed = set(db.execute("SELECT level, place FROM failures WHERE log = ?", (number,)).fetchall())
    assert not failed & nodes.keys() - again
