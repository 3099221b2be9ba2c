"""How many messages a second the memory service takes through gRPC, by callers and by messages in a call.

A call has answered when its messages are on disk. Callers are tasks of one process on one channel, each
asking again at once, so the empty call's rate is the limit of what they can ask. Times are seconds.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, cycle
from typing import Any, Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_USER
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc, message_pb2

from bench.baselines import Call, empty_call, rate, raw_sync_rate
from bench.figures import Figure, figure, ratio
from bench.made_log import LOG, data_with
from bench.made_texts import texts_of
from bench.processes import TIMEOUT_S, started
from bench.scale import Scale

TITLE: Final = "Appending to a log"
ABOUT: Final = (
    "Messages of 40 to 400 bytes to the large log. Each call answers when its messages are on "
    "disk. Baselines: an empty call (GetInfo) to the same process by as many callers, and raw writes of "
    "4,096 bytes with fsync, one after the other."
)
CALLERS: Final = (1, 8, 32)
IN_CALL: Final = 32
TEXT_BYTES: Final = (40, 400)
TEXTS: Final = 5_000  # of them, used again and again
OF_CALLS_AT_LEAST: Final = 0.4  # × what the baselines allow
IN_CALL_AT_LEAST: Final = 2.0  # × the raw writes
_KEYS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    raw: float  #: writes a second
    empty: dict[int, float]  #: calls a second, by callers
    appends: dict[int, float]  #: messages a second, one in a call, by callers
    in_calls: float  #: messages a second, IN_CALL in a call, one caller


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with data_with(scale.large_log) as data:
        async with started("memory", data) as memory:
            rounds = [await _round(memory.channel, scale) for _ in range(scale.rounds)]
    return _figures(rounds)


async def _round(channel: grpc.aio.Channel, scale: Scale) -> _Round:
    raw = await asyncio.to_thread(raw_sync_rate, scale.rate_s)
    empty, appends = {}, {}
    for callers in CALLERS:
        empty[callers] = await rate(empty_call(channel), callers=callers, seconds=scale.rate_s)
        appends[callers] = await rate(append_call(channel, 1), callers=callers, seconds=scale.rate_s)
    in_calls = IN_CALL * await rate(append_call(channel, IN_CALL), callers=1, seconds=scale.rate_s)
    return _Round(raw=raw, empty=empty, appends=appends, in_calls=in_calls)


def _figures(rounds: Sequence[_Round]) -> list[Figure]:
    raw = [one.raw for one in rounds]
    figures = [figure("baseline: raw writes with fsync", raw, "a second")]
    for callers in CALLERS:
        empty = [one.empty[callers] for one in rounds]
        appended = [one.appends[callers] for one in rounds]
        figures += [
            figure(f"baseline: empty calls, {callers_named(callers)}", empty, "a second"),
            figure(f"messages, one in a call, {callers_named(callers)}", appended, "a second"),
            _against(callers, appended, empty, raw),
        ]
    in_calls = [one.in_calls for one in rounds]
    return [
        *figures,
        figure(f"messages, {IN_CALL} in a call, 1 caller", in_calls, "a second"),
        ratio("the same, of the raw writes", in_calls, raw, at_least=IN_CALL_AT_LEAST),
    ]


def _against(callers: int, appended: list[float], empty: list[float], raw: list[float]) -> Figure:
    if callers > 1:
        return ratio("the same, of the empty calls", appended, empty, at_least=OF_CALLS_AT_LEAST)
    in_turn = [1 / (1 / call + 1 / write) for call, write in zip(empty, raw, strict=True)]
    what = "the same, of an empty call and a raw write in turn"
    return ratio(what, appended, in_turn, at_least=OF_CALLS_AT_LEAST)


def callers_named(callers: int) -> str:
    """In words."""
    return "1 caller" if callers == 1 else f"{callers} callers"


def append_call(channel: grpc.aio.Channel, messages: int) -> Call:
    """A call that appends `messages` new ones, others at each call."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(channel)
    texts = cycle(texts_of(TEXT_BYTES, TEXTS))
    now = Timestamp()
    now.GetCurrentTime()

    def message() -> message_pb2.NewMessage:
        return message_pb2.NewMessage(
            key=f"append:{next(_KEYS)}",
            kind=MESSAGE_KIND_USER,
            text=next(texts),
            time=now,
            source="user",
        )

    def append() -> Any:
        request = memory_service_pb2.AppendMessagesRequest(
            log_id=LOG, messages=[message() for _ in range(messages)]
        )
        return stub.AppendMessages(request, timeout=TIMEOUT_S)

    return append
