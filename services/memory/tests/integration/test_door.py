"""The service's door: making logs, unknown logs, who may call, what is not served yet."""

import pytest
from grpc import StatusCode
from onechat.memory.v1 import memory_service_pb2
from onechat.memory.v1.log_pb2 import LOG_SHAPE_TREE, LOG_STATE_LIVE, ViewLimits
from onechat_memory import errors
from onechat_memory.servicer import DESCRIPTOR
from onechat_runtime.errors import RemoteError, ServiceError
from onechat_runtime.tokens import CALLERS

from tests.fakes.memory_server import LOG, MemoryServer, timestamp
from tests.fakes.service_process import refusals


async def test_a_new_log_is_live_has_a_tree_and_the_usual_limits(memory, clock):
    log = await memory.create("new", label="House")

    assert (log.log_id, log.label, log.shape, log.state) == ("new", "House", LOG_SHAPE_TREE, LOG_STATE_LIVE)
    assert (log.chat_view.high_bytes, log.chat_view.low_bytes) == (128_000, 64_000)
    assert (log.compaction_view.high_bytes, log.compaction_view.low_bytes) == (32_000, 16_000)
    assert (log.generation, log.length, log.create_time) == (1, 0, timestamp(clock.now()))


async def test_a_log_that_is_there_is_given_as_it_is(memory, clock):
    first = await memory.create("new", label="House", shape="LOG_SHAPE_FLAT")
    await memory.append("a", log="new")
    clock.advance(60)

    again = await memory.create("new", label="House", shape="LOG_SHAPE_FLAT")

    assert (again.length, again.create_time) == (1, first.create_time)


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "Garden"},
        {"shape": "LOG_SHAPE_FLAT"},
        {"state": "LOG_STATE_STAGED"},
        {"chat_view": ViewLimits(high_bytes=9_000, low_bytes=4_000)},
        {"compaction_view": ViewLimits(low_bytes=4_000)},
    ],
)
async def test_a_log_that_is_there_otherwise_is_refused(memory, fields):
    await memory.create("new")

    with pytest.raises(RemoteError) as refused:
        await memory.create("new", **fields)

    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "LOG_EXISTS")


@pytest.mark.parametrize(
    "fields",
    [
        {"log": ""},
        {"log": "a/b"},
        {"log": "x" * 65},
        {"log": "è"},
        {"log": "new", "label": "l" * 201},
        {"log": "new", "shape": 9},
        {"log": "new", "state": "LOG_STATE_KEPT"},
        {"log": "new", "chat_view": ViewLimits(high_bytes=10, low_bytes=10)},
        {"log": "new", "chat_view": ViewLimits(high_bytes=-1, low_bytes=-2)},
        {"log": "new", "compaction_view": ViewLimits(high_bytes=1 << 60)},
    ],
)
async def test_a_log_that_cannot_be_is_refused(memory, fields):
    with pytest.raises(RemoteError) as refused:
        await memory.create(**fields)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "LOG_INVALID")


async def test_every_call_on_a_log_says_that_it_is_unknown(memory):
    piece = memory_service_pb2.CompactionPiece(first_id=0, count=1, lease_id="x")
    odd = memory_service_pb2.CompactionPiece(first_id=1, count=2, lease_id="x")
    calls = [
        memory.append("a", log="none"),
        memory.view("none", wait_s=60),
        memory.zoom("0+1", log="none"),
        memory.zoom("0+0", log="none"),
        memory.stats("none"),
        memory.search("word", log="none"),
        memory.messages(log="none"),
        memory.call("GetMessageTime", memory_service_pb2.GetMessageTimeRequest(log_id="none")),
        memory.complete("0+1", "line", log="none"),
        memory.complete("1+2", "line", log="none"),
        memory.fail(piece, "CAUSE_CONTENT", log="none"),
        memory.fail(odd, "CAUSE_CONTENT", log="none"),
        memory.rebuild(log="none"),
        memory.swap("none"),
        memory.swap(LOG, log="none"),
    ]

    for call in calls:
        with pytest.raises(RemoteError) as refused:
            await call
        assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "LOG_UNKNOWN")


async def test_every_call_of_the_contract_is_served(memory):
    answers = await refusals(memory.loopback.channel("operator"), DESCRIPTOR)

    assert set(answers) == {method.name for method in DESCRIPTOR.methods}
    assert [name for name, no in answers.items() if no and no.code is StatusCode.UNIMPLEMENTED] == []


@pytest.mark.parametrize("caller", CALLERS)
async def test_agent_and_operator_alone_may_call(memory, caller):
    seen = MemoryServer(memory.loopback, memory.store, caller)

    if caller in ("agent", "operator"):
        assert (await seen.view()).length == 0
    else:
        with pytest.raises(RemoteError) as refused:
            await seen.view()
        assert refused.value.code is StatusCode.PERMISSION_DENIED


def test_every_reason_is_of_the_contract():
    reasons = {name.removeprefix("ERROR_REASON_") for name, _ in memory_service_pb2.ErrorReason.items()}

    own = [
        error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, ServiceError) and error.__module__ == errors.__name__
    ]

    assert own
    assert {error.reason for error in own} <= reasons
