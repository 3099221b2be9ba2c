"""How long the memory service takes to find messages by words, through gRPC, on the longest log.

What is searched for are words of the made texts by how often they come, and pairs of characters of the texts
that have no spaces. Each search asks for its first page, after one that is not counted. Times are seconds.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
from onechat.memory.v1 import memory_service_pb2_grpc, search_pb2

from bench.baselines import Call, empty_call, median_time, time_of
from bench.figures import Figure, figure, milliseconds
from bench.made_log import LOG, data_with
from bench.made_texts import han, latin
from bench.processes import TIMEOUT_S, ServiceProcess, started
from bench.scale import Scale

TITLE: Final = "Searching a log"
ABOUT: Final = (
    "Each of 160 searches gives the 20 newest messages that hold one word, whole: 40 words of the most "
    "common, 40 of middling, 40 of rare ones, and 40 pairs of Han characters, common and rare. A round makes "
    "all of them, one after the other. The baseline is an empty call (GetInfo) to the same process. Beside "
    "them stand searches that are hard on an index: two common words at once, beginnings of words, a single "
    "character, a run of characters. All messages were in the index before; the store's file is in the "
    "system's cache."
)
OF_EACH: Final = 40
P50_AT_MOST_MS: Final = 20.0
P99_AT_MOST_MS: Final = 200.0
RSS_AT_MOST_MB: Final = 120.0
MB: Final = 1_000_000
_RANKS: Final = {"common": 0, "middling": 2_000, "rare": 30_000}  # of the first word of each kind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    kinds: Mapping[str, Sequence[float]]  #: the times of each kind's searches
    hard: Mapping[str, float]
    empty_s: float
    rss_mb: float  #: of the process, after its searches

    @property
    def all_s(self) -> list[float]:
        """The times of the 160."""
        return sorted(seconds for times in self.kinds.values() for seconds in times)


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with data_with(scale.huge_log) as data:
        async with started("memory", data) as memory:
            for words in (words for kind in searched().values() for words in kind):
                await _search(memory, words)()
            rounds = [await _round(memory, scale) for _ in range(scale.rounds)]
    return _figures(scale, rounds)


def searched() -> dict[str, list[str]]:
    """The words of the 160 searches by their kinds."""
    words, pairs = latin().words, [word for word in han().words if len(word) == 2]
    kinds = {kind: list(words[rank : rank + OF_EACH]) for kind, rank in _RANKS.items()}
    step = len(pairs) // OF_EACH
    return {**kinds, "pairs of characters": pairs[: OF_EACH * step : step]}


def hard() -> dict[str, str]:
    """Searches for which an index is no direct way."""
    first, second, third = latin().words[:3]
    sign = han().words[0][0]
    run = next(word for word in han().words if len(word) == 3)
    return {
        "two common words": f"{first} {second}",
        "a common and a rare word": f"{third} {latin().words[_RANKS['rare']]}",
        "what begins with a letter": f"{first[0]}*",
        "what begins with three letters": f"{max(latin().words[:200], key=len)[:3]}*",
        "a common single character": sign,
        "a run of three characters": run,
    }


async def _round(memory: ServiceProcess, scale: Scale) -> _Round:
    return _Round(
        empty_s=await median_time(empty_call(memory.channel), scale.calls),
        kinds={
            kind: [await time_of(_search(memory, one)) for one in words] for kind, words in searched().items()
        },
        hard={what: await median_time(_search(memory, words), 3) for what, words in hard().items()},
        rss_mb=psutil.Process(memory.pid).memory_info().rss / MB,
    )


def _search(memory: ServiceProcess, words: str) -> Call:
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(memory.channel)
    request = search_pb2.SearchMessagesRequest(log_id=LOG, words=words)
    return lambda: stub.SearchMessages(request, timeout=TIMEOUT_S)


def _figures(scale: Scale, rounds: Sequence[_Round]) -> list[Figure]:
    many = f"{scale.huge_log:,} messages"
    p50_s = [statistics.median(one.all_s) for one in rounds]
    p99_s = [one.all_s[round(0.99 * (len(one.all_s) - 1))] for one in rounds]
    return [
        milliseconds("baseline: an empty call", [one.empty_s for one in rounds]),
        milliseconds(f"search at {many}, median of all", p50_s, at_most_ms=P50_AT_MOST_MS),
        milliseconds("the 99th of a hundred", p99_s, at_most_ms=P99_AT_MOST_MS),
        *(
            milliseconds(f"median: {kind}", [statistics.median(one.kinds[kind]) for one in rounds])
            for kind in rounds[0].kinds
        ),
        *(milliseconds(what, [one.hard[what] for one in rounds]) for what in rounds[0].hard),
        figure("RSS after them", [one.rss_mb for one in rounds], "MB", at_most=RSS_AT_MOST_MB),
    ]
