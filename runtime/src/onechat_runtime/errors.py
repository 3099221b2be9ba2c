"""Errors that cross a service's door, and what a caller gets back from another service.

A ServiceError is what a service refuses with; interceptors.py turns it into a google.rpc.Status with one
ErrorInfo, and RemoteError is the same seen from the caller's side. StartRefused never crosses the network:
it ends a start with one line for a person. Delays are in seconds.
"""

import inspect
from typing import ClassVar, Final

import grpc
import grpc.aio
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

RETRY_AFTER_S: Final = 1.0  # what RetryInfo says where the error itself names no delay

_RETRIABLE: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.ABORTED,
    }
)
_NAMES_A_DELAY: Final = frozenset({grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE})
# These can also come after the other side did the work, or from the wire, so they tell nothing by themselves.
_OUTCOME_UNKNOWN: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
# Reasons of the door itself, given when the call was at work already and may have done what it was to do.
_GIVEN_AT_WORK: Final = frozenset({"BUG", "NEIGHBOUR_AWAY", "SERVICE_ENDING", "CALL_TOO_LONG"})


def retriable(code: grpc.StatusCode) -> bool:
    """Whether the same call may work later without anybody changing it; a hand-over then tries for ever."""
    return code in _RETRIABLE


class StartRefused(Exception):
    """A start that cannot work. Its text is one line for a person: what is wrong and what to do."""


class ServiceError(Exception):
    """A refusal with a code, a reason of the contract's ErrorReason enum, and a sentence for the reader.

    The sentence is the class's docstring unless `message` is given. `metadata` goes into ErrorInfo;
    `retry_after_s` into RetryInfo. Neither may hold a message's text, a key or a phone number.
    """

    code: ClassVar[grpc.StatusCode]
    reason: ClassVar[str]

    def __init__(
        self, message: str | None = None, *, retry_after_s: float | None = None, **metadata: str
    ) -> None:
        self.message = (
            message if message is not None else " ".join(inspect.cleandoc(self.__doc__ or "").split())
        )
        self.retry_after_s = retry_after_s
        self.metadata = metadata
        super().__init__(self.message)

    def to_status(self, domain: str) -> status_pb2.Status:
        """The google.rpc.Status of this error; `domain` is "<service>.onechat"."""
        metadata = {key: sendable(value) for key, value in self.metadata.items()}
        status = status_pb2.Status(code=self.code.value[0], message=sendable(self.message))
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=domain, metadata=metadata)
        status.details.add().Pack(info)
        if self.retry_after_s is not None or self.code in _NAMES_A_DELAY:
            delay = duration_pb2.Duration()
            delay.FromNanoseconds(
                int((RETRY_AFTER_S if self.retry_after_s is None else self.retry_after_s) * 1e9)
            )
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        return status


def sendable(text: str) -> str:
    """`text` with lone surrogates replaced: a status with one could not be sent."""
    return text.encode("utf-8", "replace").decode()


class StoreFull(ServiceError):
    """The disk that holds the store is full: nothing was written. Free some space, then try again."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL"


class KeyReused(ServiceError):
    """This request_id was used before with another body. Send a new request_id with a new request."""

    code, reason = grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED"


class BadRequestId(ServiceError):
    """A request_id is up to 200 printable ASCII characters."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "BAD_REQUEST_ID"


class BadPage(ServiceError):
    """page_size must not be negative, and page_token must be one that this call gave."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "BAD_PAGE"


class NotServedYet(ServiceError):
    """A call of the contract that this version does not answer."""

    code, reason = grpc.StatusCode.UNIMPLEMENTED, "NOT_SERVED_YET"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class TokenMissing(ServiceError):
    """This call needs a token: send the metadata "authorization: Bearer TOKEN"."""

    code, reason = grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING"


class TokenUnknown(ServiceError):
    """No caller has this token. The tokens of this deployment lie in its data folder, under tokens/."""

    code, reason = grpc.StatusCode.UNAUTHENTICATED, "TOKEN_UNKNOWN"


class CallerNotAllowed(ServiceError):
    """This caller may not make this call."""

    code, reason = grpc.StatusCode.PERMISSION_DENIED, "CALLER_NOT_ALLOWED"


class Bug(ServiceError):
    """Something went wrong inside the service; its log says what."""

    code, reason = grpc.StatusCode.INTERNAL, "BUG"


class NeighbourAway(ServiceError):
    """Another service that this call needs does not answer now. Try again later."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "NEIGHBOUR_AWAY"


class ServiceEnding(ServiceError):
    """The service is ending: call again."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "SERVICE_ENDING"


class CallTooLong(ServiceError):
    """The call had no deadline and took too long: pass one that is longer."""

    code, reason = grpc.StatusCode.DEADLINE_EXCEEDED, "CALL_TOO_LONG"


class RemoteError(Exception):
    """What another service answered instead of a response, or that it did not answer.

    `reason` is "" where the answer held no ErrorInfo: then it came from gRPC itself. `outcome_known` is true
    when the call certainly had no effect.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str = "",
        *,
        reason: str = "",
        metadata: dict[str, str] | None = None,
        retry_after_s: float | None = None,
        outcome_known: bool | None = None,
    ) -> None:
        super().__init__(f"{code.name}{' ' + reason if reason else ''}: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata = metadata or {}
        self.retry_after_s = retry_after_s
        refused = bool(reason) and reason not in _GIVEN_AT_WORK
        self.outcome_known = (
            refused or code not in _OUTCOME_UNKNOWN if outcome_known is None else outcome_known
        )

    @classmethod
    def of(cls, error: grpc.aio.AioRpcError) -> "RemoteError":
        """The error that `error` carries, with the details of its google.rpc.Status where it has one."""
        reason, metadata, retry_after_s = "", dict[str, str](), None
        for detail in _details(error):
            if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
                info = error_details_pb2.ErrorInfo()
                detail.Unpack(info)
                reason, metadata = info.reason, dict(info.metadata)
            elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
                again = error_details_pb2.RetryInfo()
                detail.Unpack(again)
                retry_after_s = again.retry_delay.ToNanoseconds() / 1e9
        code = error.code()
        if code is grpc.StatusCode.CANCELLED:
            # Nobody here cancelled, for that is a CancelledError: the server was ending and dropped the call.
            code = grpc.StatusCode.UNAVAILABLE
        message, known = error.details() or "", None
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED and not reason and _TOO_LARGE in message:
            # gRPC's own refusal, the same for ever: trying again would hold up whatever comes behind it.
            known = False if _ANSWER in message else None
            code, message = grpc.StatusCode.INVALID_ARGUMENT, "The message is larger than a call may be."
        return cls(
            code,
            message,
            reason=reason,
            metadata=metadata,
            retry_after_s=retry_after_s,
            outcome_known=known,
        )


_ANSWER = "CLIENT: Received"  # then the call was done
_TOO_LARGE = "message larger than max"  # in the details of either side's refusal; grpc 1.x


def _details(error: grpc.aio.AioRpcError) -> list["rpc_status.any_pb2.Any"]:
    """The packed details of `error`'s status; none when it has no status or one that cannot be read."""
    for key, value in error.trailing_metadata() or ():
        if key == rpc_status.GRPC_DETAILS_METADATA_KEY and isinstance(value, bytes):
            try:
                return list(status_pb2.Status.FromString(value).details)
            except ValueError:  # DecodeError: written by something that is none of ours
                return []
    return []
