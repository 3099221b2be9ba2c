"""Model calls for the lines of a chat, with a model that cannot count bytes.

Agent and memory services are processes of their own; the model's server is the demo's in over-length mode,
in this process. A chat is put into the root's log, and its lines are built until none is left to build.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, usage_pb2
from onechat.common.v1 import message_kind_pb2
from onechat.memory.v1 import log_pb2, memory_service_pb2, memory_service_pb2_grpc, message_pb2, stats_pb2
from onechat_agent.prompts.compaction import LINE_MAX
from onechat_demo.answers import Answer
from onechat_demo.model import DemoModel, Purpose, purpose_of
from onechat_demo.refusals import JsonObject
from onechat_demo.rules import Rules
from onechat_demo.server import ResponsesServer, serving
from onechat_memory.domain.messages import Kind

from bench.figures import Figure, figure
from bench.made_log import LABEL, LOG
from bench.made_texts import text_of
from bench.processes import TIMEOUT_S, ServiceProcess, started
from bench.root_agent import told_with_root
from bench.scale import Scale

TITLE: Final = "Model calls for lines"
ABOUT: Final = (
    "A chat with tools is put into an empty log, and all its lines are built, leaves and merges, by the "
    "agent service and the demo model in its over-length mode: each line of an answer is 0.8 to 1.35 times "
    "as long as it should be, from a seed of each round. The counts are the memory service's own "
    "(GetLogStats). Baseline: the answers whose first line is over the limit, each of which would cost "
    "another call if an answer were one line. The cache is the demo's, which forgets nothing."
)
CALLS_AT_MOST: Final = 1.1  # a line
APPENDED: Final = 64  # messages in a call
LOOK_AGAIN_S: Final = 0.05
BUILT_WITHIN_S: Final = 300.0
_SPEAKERS: Final = (Kind.USER, Kind.TOOL, Kind.ECHO, Kind.TOOL, Kind.ECHO, Kind.REPLY)
_KINDS: Final = {
    Kind.USER: message_kind_pb2.MESSAGE_KIND_USER,
    Kind.TOOL: message_kind_pb2.MESSAGE_KIND_TOOL,
    Kind.ECHO: message_kind_pb2.MESSAGE_KIND_ECHO,
    Kind.REPLY: message_kind_pb2.MESSAGE_KIND_REPLY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _WatchedModel(DemoModel):
    """The demo model, which notes the bytes of each compaction's first line."""

    first_lines: list[int] = field(default_factory=list)

    def answer(self, body: JsonObject) -> Answer:
        """As the demo does."""
        answer = DemoModel.answer(self, body)
        if purpose_of(body) is Purpose.COMPACTION:
            self.first_lines.append(len(answer.text.partition("\n")[0].encode()))
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    lines: int
    calls: int
    over_length: int
    retries: int
    first_over: float  #: share of the answers
    cached: float  #: share of the tokens sent
    took_s: float


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    return _figures([await _round(number, scale.calls) for number in range(scale.rounds)], scale.calls)


def _figures(rounds: Sequence[_Round], messages: int) -> list[Figure]:
    return [
        figure(
            "baseline: answers with a first line over the limit",
            [100 * one.first_over for one in rounds],
            "%",
        ),
        figure(f"lines that a model wrote, of {messages} messages", [one.lines for one in rounds], ""),
        figure("model calls a line", [one.calls / one.lines for one in rounds], "", at_most=CALLS_AT_MOST),
        figure("answers of which no line fits", [one.over_length for one in rounds], ""),
        figure("calls that asked again", [one.retries for one in rounds], ""),
        figure("of the tokens sent, read from a cache", [100 * one.cached for one in rounds], "%"),
        figure("lines a second", [one.lines / one.took_s for one in rounds], "/s"),
    ]


async def _round(seed: int, messages: int) -> _Round:
    """A fresh log, filled and built."""
    model = _WatchedModel(over_length=seed)
    with TemporaryDirectory(prefix="onechat-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        async with (
            _served(model) as url,
            started("memory", data) as memory,
            started("agent", data, told_with_root(data, memory, url)) as agent,
        ):
            began = time.monotonic()
            await _fill(memory, seed, messages)
            stats = await asyncio.wait_for(_built(memory), BUILT_WITHIN_S)
            took_s = time.monotonic() - began
            cached = await _cached(agent)
    over = sum(size > LINE_MAX for size in model.first_lines)
    return _Round(
        lines=stats.model_lines,
        calls=stats.model_calls,
        over_length=stats.over_length_answers,
        retries=stats.retries,
        first_over=over / len(model.first_lines),
        cached=cached,
        took_s=took_s,
    )


@asynccontextmanager
async def _served(model: DemoModel) -> AsyncIterator[str]:
    rules = Rules(models=None, lacks=frozenset())
    async with serving(ResponsesServer(rules=rules, model=model, now=time.time).application(), 0) as url:
        yield url


async def _fill(memory: ServiceProcess, seed: int, messages: int) -> None:
    """Append a chat of so many messages, the same for the same seed."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(memory.channel)
    log = memory_service_pb2.CreateLogRequest(
        log_id=LOG, label=LABEL, shape=log_pb2.LOG_SHAPE_TREE, state=log_pb2.LOG_STATE_LIVE
    )
    await stub.CreateLog(log, timeout=TIMEOUT_S)
    rng = random.Random(seed)
    made = [_message(number, rng) for number in range(messages)]
    for start in range(0, messages, APPENDED):
        request = memory_service_pb2.AppendMessagesRequest(
            log_id=LOG, messages=made[start : start + APPENDED]
        )
        await stub.AppendMessages(request, timeout=TIMEOUT_S)


def _message(number: int, rng: random.Random) -> message_pb2.NewMessage:
    kind = _SPEAKERS[number % len(_SPEAKERS)]
    made = message_pb2.NewMessage(key=f"m:{number}", kind=_KINDS[kind], text=text_of(kind, rng))
    made.time.FromSeconds(1_767_258_000 + 60 * number)
    return made


async def _built(memory: ServiceProcess) -> stats_pb2.GetLogStatsResponse:
    """The log's figures once nothing is left to build."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(memory.channel)
    request = stats_pb2.GetLogStatsRequest(log_id=LOG)
    while True:
        found: stats_pb2.GetLogStatsResponse = await stub.GetLogStats(request, timeout=TIMEOUT_S)
        if not found.ready_nodes and not found.unbuilt_leaves:
            return found
        await asyncio.sleep(LOOK_AGAIN_S)


async def _cached(agent: ServiceProcess) -> float:
    """Which share of the compactions' tokens came from the cache."""
    stub: Any = agent_service_pb2_grpc.AgentServiceStub(agent.channel)
    answer = await stub.GetUsage(agent_service_pb2.GetUsageRequest(), timeout=TIMEOUT_S)
    used = [one for one in answer.usage if one.purpose == usage_pb2.USAGE_PURPOSE_COMPACTION]
    return float(sum(one.cached_input_tokens for one in used) / sum(one.input_tokens for one in used))
