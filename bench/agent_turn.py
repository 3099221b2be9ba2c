"""A whole turn's own time, from Deliver to its end on disk, and what of it goes where.

A turn of two questions to the model and one tool call between them. Agent and memory services are processes
of their own; the agent's notes its waits (timed_agent.py). Before each message all lines that can be built
are built. Times are seconds.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from onechat.agent.v1 import agent_service_pb2_grpc, delivery_pb2
from onechat.agent.v1.agent_service_pb2 import DeliverRequest

from bench.baselines import empty_call, median_time, raw_sync_s
from bench.figures import Figure, milliseconds
from bench.made_log import data_with
from bench.model_server import NotedModel, noted_model
from bench.processes import TIMEOUT_S, ServiceProcess, started
from bench.root_agent import told_with_root
from bench.scale import Scale
from bench.timed_agent import MEMORY, MODEL, STORE, TURN
from bench.turn_own_time import LOOK_AGAIN_S, quiet

TITLE: Final = "A whole turn, and what of it goes where"
ABOUT: Final = (
    "From Deliver until the turn's end is on disk, without the time from the model server's having read a "
    "request to its having sent the answer. The turn asks the model twice and calls `date` in between. "
    "Store, memory and model client are what the turn waited for each (of the model: making and sending the "
    "request, and reading the answer once its last byte was sent); the rest is Deliver's way in and the "
    "agent's own work. p50 and p99 of a round's turns; every line was built before. Baselines: an empty call "
    "(GetInfo) to the agent service, and a raw write of 4,096 bytes with fsync."
)
TEXT: Final = "date 5 and then tell me of number {}"
_NUMBERS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """One turn's own time, and its parts."""

    whole_s: float
    store_s: float
    memory_s: float
    client_s: float

    @property
    def rest_s(self) -> float:
        """What is none of the parts."""
        return self.whole_s - self.store_s - self.memory_s - self.client_s


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    turns: Sequence[_Own]
    empty_s: float
    raw_s: float


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with data_with(scale.huge_log) as data:
        rounds = [await _round(data, scale) for _ in range(scale.rounds)]
    figures = [
        milliseconds("baseline: an empty call", [one.empty_s for one in rounds]),
        milliseconds("baseline: a raw write with fsync", [one.raw_s for one in rounds]),
    ]
    for name, share in (("p50", 50), ("p99", 99)):
        figures.append(
            milliseconds(
                f"own time at {scale.huge_log:,} messages, {name}",
                [_of_100([turn.whole_s for turn in one.turns], share) for one in rounds],
            )
        )
        for part in ("store", "memory", "client", "rest"):
            what = {"client": "the model client", "rest": "the rest"}.get(part, f"the {part}")
            figures.append(
                milliseconds(
                    f"of it {what}, {name}",
                    [_of_100([getattr(turn, f"{part}_s") for turn in one.turns], share) for one in rounds],
                )
            )
    return figures


def _of_100(values: Sequence[float], share: int) -> float:
    """The value below which `share` percent of `values` lie."""
    if len(values) < 2:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


async def _round(data: Path, scale: Scale) -> _Round:
    """Fresh services over the longest log, one turn to warm up and the measured ones."""
    waits = _Waits(data.with_name("waits.jsonl"))
    async with (
        noted_model() as model,
        started("memory", data) as memory,
        started(
            "agent",
            data,
            told_with_root(data, memory, model.url),
            program=["bench.timed_agent", str(waits.path)],
        ) as agent,
    ):
        turns = [await _turn(agent, memory, model, waits) for _ in range(scale.many_turns + 1)]
        empty_s = await median_time(empty_call(agent.channel), scale.calls)
    raw_s = await asyncio.to_thread(raw_sync_s, scale.calls)
    return _Round(turns=turns[1:], empty_s=empty_s, raw_s=raw_s)


class _Waits:
    """What the agent service writes down, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = path.stat().st_size if path.exists() else 0

    def of_a_turn(self) -> list[dict[str, Any]]:
        """The lines since the last time, once a turn is among them; none before."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        lines = [json.loads(line) for line in new.splitlines()]
        if not any(line["what"] == TURN for line in lines):
            return []
        self._read += len(new)
        return lines


async def _turn(agent: ServiceProcess, memory: ServiceProcess, model: NotedModel, waits: _Waits) -> _Own:
    """One turn; returns when all is quiet again."""
    number = next(_NUMBERS)
    stub: Any = agent_service_pb2_grpc.AgentServiceStub(agent.channel)
    delivery = delivery_pb2.NewDelivery(key=f"benchmark:{number}", text=TEXT.format(number), backed=True)
    answered = len(model.answered_s)
    began_s = time.monotonic()
    await stub.Deliver(DeliverRequest(deliveries=[delivery]), timeout=TIMEOUT_S)
    await asyncio.wait_for(quiet(stub, memory, delivery.key), TIMEOUT_S)
    while not (lines := waits.of_a_turn()):  # noqa: ASYNC110 - another process writes them
        await asyncio.sleep(LOOK_AGAIN_S)
    return _own(began_s, lines, model.answered_s[answered:])


def _own(began_s: float, lines: Sequence[dict[str, Any]], served: Sequence[tuple[float, float]]) -> _Own:
    def spans(what: str) -> list[tuple[float, float]]:
        return [(line["began_s"], line["ended_s"]) for line in lines if line["what"] == what]

    (turn,) = spans(TURN)
    served_s = _covered(served)
    return _Own(
        whole_s=turn[1] - began_s - served_s,
        store_s=_covered(spans(STORE)),
        memory_s=_covered(spans(MEMORY)),
        client_s=_covered(spans(MODEL)) - served_s,
    )


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that lie within any of `spans`, which may overlap."""
    covered_s, until_s = 0.0, 0.0
    for began_s, ended_s in sorted(spans):
        covered_s += max(0.0, ended_s - max(began_s, until_s))
        until_s = max(until_s, ended_s)
    return covered_s
