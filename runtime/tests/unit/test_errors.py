"""What a service refuses with, and what its caller gets of it."""

import grpc
import pytest
from google.rpc import error_details_pb2
from onechat.common.v1 import errors_pb2
from onechat_runtime.errors import (
    NotServedYet,
    RemoteError,
    ServiceError,
    StoreFull,
    retriable,
)


class CupEmpty(ServiceError):
    """The cup is empty.

    Fill it, then drink.
    """

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "CUP_EMPTY"


def _unpacked(status, kind):
    found = []
    for detail in status.details:
        if detail.Is(kind.DESCRIPTOR):
            message = kind()
            detail.Unpack(message)
            found.append(message)
    return found


def test_the_docstring_is_the_message_on_one_line():
    assert CupEmpty().message == "The cup is empty. Fill it, then drink."
    assert CupEmpty("Another sentence.").message == "Another sentence."


def test_a_status_holds_one_error_info():
    status = CupEmpty(cup="3").to_status("kitchen.onechat")

    (info,) = _unpacked(status, error_details_pb2.ErrorInfo)
    assert (status.code, status.message) == (9, "The cup is empty. Fill it, then drink.")
    assert (info.reason, info.domain, dict(info.metadata)) == ("CUP_EMPTY", "kitchen.onechat", {"cup": "3"})
    assert _unpacked(status, error_details_pb2.RetryInfo) == []


def test_what_may_work_later_says_when():
    usual = StoreFull().to_status("memory.onechat")
    named = StoreFull(retry_after_s=7.5).to_status("memory.onechat")

    assert _unpacked(usual, error_details_pb2.RetryInfo)[0].retry_delay.ToTimedelta().total_seconds() == 1
    assert _unpacked(named, error_details_pb2.RetryInfo)[0].retry_delay.ToTimedelta().total_seconds() == 7.5


def test_a_lone_surrogate_does_not_stop_an_error_from_being_sent():
    status = CupEmpty("bad \ud83c text", chat="\udf78").to_status("kitchen.onechat")

    assert status.message == "bad ? text"


def test_the_sentence_of_a_call_not_served_yet_is_its_own():
    assert (
        NotServedYet("Search comes later: zoom meanwhile.").message == "Search comes later: zoom meanwhile."
    )


def test_the_runtimes_reasons_are_those_of_the_common_contract():
    known = {name.removeprefix("ERROR_REASON_") for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name}
    runtime = [one for one in ServiceError.__subclasses__() if one.__module__ == "onechat_runtime.errors"]

    assert len(runtime) >= 9
    assert {one.reason for one in runtime} <= known


@pytest.mark.parametrize(
    "code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED", "ABORTED"]
)
def test_five_codes_are_worth_trying_for_ever(code):
    assert retriable(grpc.StatusCode[code])


@pytest.mark.parametrize(
    "code", ["INVALID_ARGUMENT", "NOT_FOUND", "INTERNAL", "PERMISSION_DENIED", "UNKNOWN"]
)
def test_others_are_not(code):
    assert not retriable(grpc.StatusCode[code])


@pytest.mark.parametrize(
    ("code", "reason", "known"),
    [
        ("INVALID_ARGUMENT", "BAD", True),
        ("PERMISSION_DENIED", "", True),
        ("UNAVAILABLE", "", False),
        ("DEADLINE_EXCEEDED", "", False),
        ("INTERNAL", "BUG", False),
        ("RESOURCE_EXHAUSTED", "", False),
        ("RESOURCE_EXHAUSTED", "STORE_FULL", True),
        ("UNAVAILABLE", "NEIGHBOUR_AWAY", False),
        ("UNAVAILABLE", "SERVICE_ENDING", False),
        ("DEADLINE_EXCEEDED", "CALL_TOO_LONG", False),
    ],
)
def test_the_outcome_is_known_only_when_a_service_refused(code, reason, known):
    """A lost answer may hide a finished call; a send must then not be repeated."""
    assert RemoteError(grpc.StatusCode[code], reason=reason).outcome_known is known
