"""What requests say, in our nouns: onechat.memory.v1 in, domain/messages.py out. Back again: contract_out.py.

What can be judged from a request alone is refused here, with the place of what is wrong and never its text.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1 import message_kind_pb2
from onechat.memory.v1 import log_pb2, memory_service_pb2, message_pb2

from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Kind, NewLog, NewMessage, Shape, State
from onechat_memory.domain.text import fit_unicode
from onechat_memory.domain.view import CHAT, COMPACTION, Limits
from onechat_memory.domain.words import Wanted, wanted
from onechat_memory.errors import (
    BadPage,
    BadWait,
    HolderInvalid,
    LogInvalid,
    MessageInvalid,
    TooManyMessages,
    WordsEmpty,
)

MESSAGES_MAX: Final = 256  #: in one append
WAIT_MAX_S: Final = 600.0
NAME_MAX: Final = 200  #: characters of a key, a holder, a label, a source and the like
LIMIT_MAX: Final = 1 << 40  #: bytes; far above any view
UTC_ZONE: Final = "UTC"
UNNAMED: Final = "unnamed"  #: builder of a line that came without one
WORDS_MAX: Final = 1_000  #: characters that are searched for
BEGINNINGS_MAX: Final = 16  #: of words; for each, all that begins so is gathered in memory
LOGS_MAX: Final = 1_000  #: in a page of logs
LOGS_DEFAULT: Final = 100
FOUND_MAX: Final = 100  #: messages in a page of a search
FOUND_DEFAULT: Final = 20

SHAPES: Final = {log_pb2.LOG_SHAPE_TREE: Shape.TREE, log_pb2.LOG_SHAPE_FLAT: Shape.FLAT}
STATES: Final = {
    log_pb2.LOG_STATE_LIVE: State.LIVE,
    log_pb2.LOG_STATE_STAGED: State.STAGED,
    log_pb2.LOG_STATE_KEPT: State.KEPT,
}
KINDS: Final = {
    message_kind_pb2.MESSAGE_KIND_USER: Kind.USER,
    message_kind_pb2.MESSAGE_KIND_REPLY: Kind.REPLY,
    message_kind_pb2.MESSAGE_KIND_TOOL: Kind.TOOL,
    message_kind_pb2.MESSAGE_KIND_ECHO: Kind.ECHO,
    message_kind_pb2.MESSAGE_KIND_WORK: Kind.WORK,
    message_kind_pb2.MESSAGE_KIND_NOTE: Kind.NOTE,
}

_MESSAGE_ID: Final = re.compile(r"[0-9]{1,12}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS: Final = 1_000_000_000
_LOG_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def kept_id(log: str) -> LogId:
    """The id that a log is to be kept under. Raises LogInvalid."""
    if not _LOG_ID.fullmatch(log):
        raise LogInvalid
    return LogId(log)


def new_log(request: memory_service_pb2.CreateLogRequest) -> NewLog:
    """The log that is asked for, defaults filled in. Raises LogInvalid."""
    if not _LOG_ID.fullmatch(request.log_id):
        raise LogInvalid
    if len(request.label) > NAME_MAX:
        raise LogInvalid(f"A label has at most {NAME_MAX} characters.")
    shape = SHAPES.get(request.shape or log_pb2.LOG_SHAPE_TREE)
    state = STATES.get(request.state or log_pb2.LOG_STATE_LIVE)
    if shape is None or state is None or state is State.KEPT:
        raise LogInvalid("A new log is TREE or FLAT, and LIVE or STAGED.")
    return NewLog(
        id=LogId(request.log_id),
        label=fit_unicode(request.label),
        shape=shape,
        state=state,
        chat=_limits(request.chat_view, CHAT, "chat_view"),
        compaction=_limits(request.compaction_view, COMPACTION, "compaction_view"),
    )


def _limits(asked: log_pb2.ViewLimits, default: Limits, field: str) -> Limits:
    limits = Limits(high=asked.high_bytes or default.high, low=asked.low_bytes or default.low)
    if not 0 < limits.low < limits.high <= LIMIT_MAX:
        raise LogInvalid(f"{field}: low_bytes is above 0 and below high_bytes.")
    return limits


def new_messages(messages: Sequence[message_pb2.NewMessage]) -> list[NewMessage]:
    """The messages to append. Raises TooManyMessages, MessageInvalid."""
    if not 1 <= len(messages) <= MESSAGES_MAX:
        raise TooManyMessages
    return [_new_message(message, place) for place, message in enumerate(messages)]


def _new_message(message: message_pb2.NewMessage, place: int) -> NewMessage:
    # Each field is read once: every look at it makes a new string.
    kind, key, text, zone = KINDS.get(message.kind), message.key, message.text, message.zone
    source, turn, call, images, step = (
        message.source,
        message.turn,
        message.call,
        message.images,
        message.step,
    )
    if kind is None or not text or not message.HasField("time"):
        missing = "kind" if kind is None else "time" if text else "text"
        raise MessageInvalid(f"Message {place} has no {missing}: it needs text, kind, key and time.")
    if not 0 < len(key) <= NAME_MAX or not key.isascii():
        raise MessageInvalid(f"Message {place}: a key is 1 to {NAME_MAX} ASCII characters.")
    if max(map(len, (source, turn, call, *images))) > NAME_MAX or not all(images) or step < 0:
        raise MessageInvalid(
            f"Message {place}: source, turn, call and an image's name have at most {NAME_MAX} characters, no"
            " image's name is empty, and the step is not below 0."
        )
    if zone and not _is_zone(zone):
        raise MessageInvalid(f"Message {place}: its zone is not an IANA name, such as Europe/Rome.")
    return NewMessage(
        key=key,
        kind=kind,
        text=fit_unicode(text),
        time=_instant(message.time, place),
        zone=zone or UTC_ZONE,
        source=fit_unicode(source),
        turn=fit_unicode(turn),
        step=step,
        call=fit_unicode(call),
        images=tuple(map(fit_unicode, images)),
    )


@lru_cache(maxsize=1024)
def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such zone, or no name of a zone at all
        return False
    return True


def _instant(time: Timestamp, place: int) -> datetime:
    seconds, nanos = time.seconds, time.nanos
    try:
        if 0 <= nanos < _NANOS:
            # As ToDatetime does, at a quarter of its cost.
            return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        pass
    raise MessageInvalid(f"Message {place}: its time is outside the years 1 to 9999.")


def wait_s(wait: Duration) -> float:
    """How long a caller is ready to wait, in seconds. Raises BadWait."""
    seconds = wait.seconds + wait.nanos / 1e9
    if not 0 <= seconds <= WAIT_MAX_S:
        raise BadWait
    return seconds


def holder_name(holder: str) -> str:
    """Who leases. Raises HolderInvalid."""
    if not 0 < len(holder) <= NAME_MAX or not holder.isascii():
        raise HolderInvalid
    return holder


def logs_token(token: str) -> str:
    """The id that a page of logs follows; empty for the first page. Raises BadPage."""
    if token and not _LOG_ID.fullmatch(token):
        raise BadPage
    return token


def wanted_words(words: str) -> Wanted:
    """What to search for. Raises WordsEmpty."""
    if len(words) > WORDS_MAX:
        raise WordsEmpty(f"Search for at most {WORDS_MAX:,} characters.")
    found = wanted(words)
    if len(found.beginnings) > BEGINNINGS_MAX:
        raise WordsEmpty(f'Search for at most {BEGINNINGS_MAX} words that end with "*".')
    if not found:
        raise WordsEmpty
    return found


def page_size(asked: int, *, default: int, most: int) -> int:
    """How many there are in a page. Raises BadPage."""
    if asked < 0:
        raise BadPage
    return min(asked or default, most)


def search_token(token: str) -> int | None:
    """The message that the page before ended with; None for the first page. Raises BadPage."""
    if token and not _MESSAGE_ID.fullmatch(token):
        raise BadPage
    return int(token) if token else None


def builder_name(builder: str) -> str:
    """What wrote a line: a model's name, or demo."""
    return fit_unicode(builder)[:NAME_MAX] or UNNAMED
