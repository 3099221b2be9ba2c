"""What the memory service refuses, each with the reason that its contract names.

The sentence of each helps whoever reads it: a person at grpcurl, or the model through the agent.
"""

from grpc import StatusCode
from onechat_runtime.errors import BadPage, KeyReused, NotServedYet, ServiceError

__all__ = ["BadPage", "KeyReused", "NotServedYet"]


class LogUnknown(ServiceError):
    """There is no log of this id. ListLogs shows those that are there."""

    code, reason = StatusCode.NOT_FOUND, "LOG_UNKNOWN"


class LogExists(ServiceError):
    """A log of this id is there already, with another label, shape, state or limits."""

    code, reason = StatusCode.ALREADY_EXISTS, "LOG_EXISTS"


class LogInvalid(ServiceError):
    """A log's id is 1 to 64 of a-z, A-Z, 0-9, "-" and "_"."""

    code, reason = StatusCode.INVALID_ARGUMENT, "LOG_INVALID"


class LogIsFlat(ServiceError):
    """This log is flat: it has messages only, no tree and no view. Read it by ListMessages."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LOG_IS_FLAT"


class MessageInvalid(ServiceError):
    """A message needs text, kind, key and time."""

    code, reason = StatusCode.INVALID_ARGUMENT, "MESSAGE_INVALID"


class TooManyMessages(ServiceError):
    """Append 1 to 256 messages in one call."""

    code, reason = StatusCode.INVALID_ARGUMENT, "TOO_MANY_MESSAGES"


class LineUnknown(ServiceError):
    """There is no such line."""

    code, reason = StatusCode.NOT_FOUND, "LINE_UNKNOWN"


class MessageUnknown(ServiceError):
    """There is no message of this id."""

    code, reason = StatusCode.NOT_FOUND, "MESSAGE_UNKNOWN"


class RangeInvalid(ServiceError):
    """The range begins or ends outside the log."""

    code, reason = StatusCode.OUT_OF_RANGE, "RANGE_INVALID"


class BadWait(ServiceError):
    """A wait is from 0 to 10 minutes."""

    code, reason = StatusCode.INVALID_ARGUMENT, "BAD_WAIT"


class HolderInvalid(ServiceError):
    """A holder is 1 to 200 ASCII characters, made at random when its process starts."""

    code, reason = StatusCode.INVALID_ARGUMENT, "HOLDER_INVALID"


class NodeUnknown(ServiceError):
    """The log's tree has no such node yet."""

    code, reason = StatusCode.NOT_FOUND, "NODE_UNKNOWN"


class NodeBuilt(ServiceError):
    """The node has its line already; the first one stays."""

    code, reason = StatusCode.ALREADY_EXISTS, "NODE_BUILT"


class LineEmpty(ServiceError):
    """Nothing is left of the line once it is trimmed."""

    code, reason = StatusCode.INVALID_ARGUMENT, "LINE_EMPTY"


class CauseMissing(ServiceError):
    """Say why the piece comes back: CAUSE_UNAVAILABLE or CAUSE_CONTENT."""

    code, reason = StatusCode.INVALID_ARGUMENT, "CAUSE_MISSING"


class WordsEmpty(ServiceError):
    """There is nothing to search for: name words, or signs of a script that has no spaces."""

    code, reason = StatusCode.INVALID_ARGUMENT, "WORDS_EMPTY"


class IndexBehind(ServiceError):
    """The search index is not there yet. Search again: it goes on where it stopped."""

    code, reason = StatusCode.UNAVAILABLE, "INDEX_BEHIND"


class ImageInvalid(ServiceError):
    """This is no image that can be stored: send a PNG, JPEG, WebP or GIF of at most 20 MB."""

    code, reason = StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID"


class ImageUnknown(ServiceError):
    """There is no image of this name. A name is as PutImage gave it, such as 0123456789abcdef.png."""

    code, reason = StatusCode.NOT_FOUND, "IMAGE_UNKNOWN"


class ImageDamaged(ServiceError):
    """The stored image is damaged: send the same picture again, or restore a backup."""

    code, reason = StatusCode.DATA_LOSS, "IMAGE_DAMAGED"


class LogNotStaged(ServiceError):
    """Only a staged log or a kept one can be put in a live one's place, and only one of the same shape."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LOG_NOT_STAGED"


class LogNotLive(ServiceError):
    """This log was set aside: it can be read and takes nothing. SwapLog brings it back."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LOG_NOT_LIVE"


class LogNotKept(ServiceError):
    """Only a kept log can be deleted: SwapLog sets one aside."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LOG_NOT_KEPT"
