"""What a call's end tells its caller and the log, for each of the four kinds of rpc."""

import json

import grpc
import pytest
from onechat_runtime.errors import RemoteError

from tests.fakes.echo import CALLS, SECRET_TEXT, EchoStub

KINDS = pytest.mark.parametrize("kind", list(CALLS))


async def _refused(call):
    with pytest.raises(RemoteError) as raised:
        await call
    return raised.value


@KINDS
async def test_a_refusal_reaches_its_caller_with_all_it_says(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "refuse"))

    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CUP_EMPTY")
    assert error.message == "The cup is empty. Fill it, then drink."
    assert error.metadata == {"cup": "größer 😀"}
    assert error.retry_after_s is None
    assert error.outcome_known


@KINDS
async def test_what_may_work_later_says_when(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "busy"))

    assert (error.code, error.retry_after_s) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 7.5)


@KINDS
async def test_a_bug_is_internal_without_its_text_and_its_stack_is_logged(loopback, kind, logged):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "break"))

    assert (error.code, error.reason) == (grpc.StatusCode.INTERNAL, "BUG")
    assert SECRET_TEXT not in str(error)
    assert not error.outcome_known
    lines = await logged(1)
    (failure,) = [line for line in lines if line["event"] == "rpc_failed"]
    assert "ValueError" in failure["stack"]
    assert "in _act" in failure["stack"] or "_act" in failure["stack"]
    assert SECRET_TEXT not in json.dumps(lines, ensure_ascii=False)


@KINDS
async def test_another_service_that_is_away_is_no_bug_of_this_one(loopback, kind, logged):
    """Its caller tries again, and nobody looks for a fault where there is none."""
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "away"))

    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "NEIGHBOUR_AWAY")
    assert SECRET_TEXT not in error.message
    assert "rpc_failed" not in [line["event"] for line in await logged(1)]


@KINDS
async def test_a_status_that_the_handler_set_itself_stays(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "abort"))

    assert (error.code, error.message) == (grpc.StatusCode.OUT_OF_RANGE, "past the end")


@KINDS
async def test_every_call_is_logged_once_without_what_was_said(loopback, kind, logged):
    await CALLS[kind](EchoStub(loopback.channel("agent")), SECRET_TEXT)
    await _refused(CALLS[kind](EchoStub(loopback.channel("agent")), "refuse"))

    lines = await logged(2)
    calls = [line for line in lines if line["event"] == "rpc"]
    assert [(one["rpc"], one["caller"], one["code"], one.get("reason")) for one in calls] == [
        (f"EchoService/{kind}", "agent", "OK", None),
        (f"EchoService/{kind}", "agent", "FAILED_PRECONDITION", "CUP_EMPTY"),
    ]
    assert SECRET_TEXT not in json.dumps(lines, ensure_ascii=False)
    assert "token-of" not in json.dumps(lines)
