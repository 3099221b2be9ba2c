"""What another service refuses for a reason that its own sentence explains, to be passed on as it is.

Such reasons are those of its contract, and a full disk; any other failure stays the runtime's RemoteError.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from onechat_runtime.errors import RemoteError


def refusals_of(reasons: Any, refused: type[Exception]) -> Callable[[], AbstractContextManager[None]]:
    """What calls are made within: for a reason of `reasons`, a contract's ErrorReason, raises `refused`.

    Its text is the service's sentence.
    """
    names = reasons.keys()  # protobuf's enumeration is no mapping
    known = frozenset({"STORE_FULL", *(name.removeprefix("ERROR_REASON_") for name in names)})
    return lambda: _passed_on(known, refused)


@contextmanager
def _passed_on(known: frozenset[str], refused: type[Exception]) -> Iterator[None]:
    try:
        yield
    except RemoteError as error:
        if error.reason in known and error.message:
            raise refused(error.message) from None
        raise
