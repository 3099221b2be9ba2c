"""What a server can do wrong on purpose, before a stream starts or in the middle of one. Values only.

For tests: the demo that a product starts never does any of it. When one happens: scripts.py. How: server.py.
"""

from dataclasses import dataclass
from enum import StrEnum

from onechat_demo.refusals import error_body


class Break(StrEnum):
    """How a stream goes wrong after some of its events."""

    CUT = "cut"  #: the connection closes in the middle
    NO_TERMINAL = "no_terminal"  #: the stream ends as if well, without its terminal event
    BROKEN_JSON = "broken_json"  #: an event whose data is no JSON
    STALL = "stall"  #: nothing more comes until the script's gate opens
    ERROR_EVENT = "error_event"  #: an `error` event ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFault:
    """A stream that goes wrong once `after` of its events are out (None: half of them)."""

    kind: Break
    after: int | None = None
    code: str = "server_error"  #: of an error event
    message: str = "The server had an error while it answered."

    def place(self, events: int) -> int:
        """How many of `events` go out first; never the terminal event."""
        return min(events // 2 if self.after is None else self.after, events - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFault:
    """An error status instead of an answer."""

    status: int
    code: str | None
    message: str
    kind: str = "server_error"  #: the error's `type`
    param: str | None = None
    retry_after_s: float | None = None  #: sent as the Retry-After header

    def body(self) -> dict[str, object]:
        """The error body, as the API has it."""
        return error_body(self.message, kind=self.kind, param=self.param, code=self.code)

    def headers(self) -> dict[str, str]:
        """The headers beside the usual ones."""
        return {} if self.retry_after_s is None else {"retry-after": f"{self.retry_after_s:g}"}


def rate_limited(retry_after_s: float | None = None) -> HttpFault:
    """429: too many requests for now."""
    return HttpFault(
        status=429,
        code="rate_limit_exceeded",
        kind="requests",
        message="Rate limit reached. Please try again later.",
        retry_after_s=retry_after_s,
    )


def quota_used_up() -> HttpFault:
    """429 that waiting does not help: the account has no credit."""
    return HttpFault(
        status=429,
        code="insufficient_quota",
        kind="insufficient_quota",
        message="You exceeded your current quota, please check your plan and billing details.",
    )


def server_error(status: int = 500) -> HttpFault:
    """500, 502, 503 and their like."""
    return HttpFault(
        status=status, code=None, message="The server had an error while processing your request."
    )


def wrong_key() -> HttpFault:
    """401: the key is not known."""
    return HttpFault(
        status=401,
        code="invalid_api_key",
        kind="invalid_request_error",
        message="Incorrect API key provided.",
    )


def unknown_model(model: str = "") -> HttpFault:
    """404: there is no such model for this key."""
    return HttpFault(
        status=404,
        code="model_not_found",
        kind="invalid_request_error",
        param="model",
        message=f"The model '{model}' does not exist or you do not have access to it.",
    )


def bad_request(message: str, *, param: str | None = None, code: str | None = None) -> HttpFault:
    """400 with a text of the test's choice."""
    return HttpFault(status=400, code=code, kind="invalid_request_error", param=param, message=message)
