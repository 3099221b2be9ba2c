"""How much of the compactions' prompts was sent before, in chats that grow from nothing.

The memory service is a process of its own and hands out the work, so the prompts' order and the views in them
are the real ones; no model is asked, and nothing is timed. What the cache is: prompt_cache.py.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc, message_pb2
from onechat_memory.domain.messages import Kind

from bench.building import Builder
from bench.figures import Figure, figure
from bench.made_texts import SEED, text_of
from bench.processes import TIMEOUT_S, started
from bench.prompt_cache import Prompt, PromptCache, head, prompt_of
from bench.scale import Scale

TITLE: Final = "What compactions read from a prefix cache"
ABOUT: Final = (
    "A chat grows turn by turn: a message of the user's, up to six tool calls with their results, a reply. "
    "After each step all that is ready, at most eight pieces, is leased, and answered before the next step; "
    "between turns all is built. The cache is ideal: it has every earlier prompt and gives the longest "
    "beginning that any of them shares, by whole lines. Of pieces leased together the one that sees most is "
    "sent first, and the others find it; the baseline sends them all at the same moment. A whole prompt is "
    "the tools and instructions, the view and the task, one call a line. A round is a chat of its own."
)
VIEW_AT_LEAST: Final = 97.5  # percent
STEPS_MAX: Final = 6  # tool calls in a turn


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    """What one chat's prompts found."""

    messages: int
    ahead: PromptCache  #: one goes ahead
    together: PromptCache  #: all that are leased together are sent at the same moment


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        async with started("memory", data) as memory:
            chats = [
                await _chat(memory.channel, number, scale.chat_messages) for number in range(scale.rounds)
            ]
    return _figures(chats)


def _figures(chats: Sequence[_Chat]) -> list[Figure]:
    ahead, together = [one.ahead for one in chats], [one.together for one in chats]
    return [
        figure("prompts a message", [one.ahead.prompts / one.messages for one in chats], ""),
        figure("a prompt's tools and instructions", [len(head().encode())] * len(chats), "bytes"),
        figure("a prompt's view, on average", [one.view.sent / one.prompts for one in ahead], "bytes"),
        figure("a whole prompt, on average", [one.whole.sent / one.prompts for one in ahead], "bytes"),
        figure("baseline: views read from the cache, sent together", _percents(together, "view"), "%"),
        figure("views read from the cache", _percents(ahead, "view"), "%", at_least=VIEW_AT_LEAST),
        figure("baseline: whole prompts, sent together", _percents(together, "whole"), "%"),
        figure("whole prompts read from the cache", _percents(ahead, "whole"), "%"),
    ]


def _percents(caches: Sequence[PromptCache], which: str) -> list[float]:
    return [getattr(cache, which).percent for cache in caches]


async def _chat(channel: grpc.aio.Channel, number: int, messages: int) -> _Chat:
    """Grow the chat `number` to `messages`, or a few more: a turn is never cut short."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(channel)
    builder = Builder(channel, str(number))
    log, rng = f"prefixes-{number}", random.Random(f"{SEED} {number}")
    await stub.CreateLog(memory_service_pb2.CreateLogRequest(log_id=log, label=log), timeout=TIMEOUT_S)
    chat = _Chat(messages=0, ahead=PromptCache(), together=PromptCache())
    length, keys = 0, count(1)
    while length < messages:
        for step in _turn(rng):
            new = [_message(kind, f"{log}:{next(keys)}", rng) for kind in step]
            request = memory_service_pb2.AppendMessagesRequest(log_id=log, messages=new)
            length = (await stub.AppendMessages(request, timeout=TIMEOUT_S)).length
            await _build_some(builder, chat)
        while await _build_some(builder, chat):
            pass
    return _Chat(messages=length, ahead=chat.ahead, together=chat.together)


def _turn(rng: random.Random) -> Iterator[tuple[Kind, ...]]:
    """The kinds of the messages of each step."""
    yield (Kind.USER,)
    for _ in range(rng.randint(0, STEPS_MAX)):
        yield (Kind.TOOL, Kind.ECHO)
    yield (Kind.REPLY,)


def _message(kind: Kind, key: str, rng: random.Random) -> message_pb2.NewMessage:
    now = Timestamp()
    now.GetCurrentTime()
    return message_pb2.NewMessage(
        key=key, kind=f"MESSAGE_KIND_{kind.name}", text=text_of(kind, rng), time=now
    )


async def _build_some(builder: Builder, chat: _Chat) -> bool:
    """Build some of what is ready, and count the prompts that it takes; whether there was anything."""
    leased = await builder.build_some()
    prompts = [_prompt(leased.view_lines, piece) for piece in leased.pieces]
    chat.ahead.send(prompts, one_goes_ahead=True)
    chat.together.send(prompts, one_goes_ahead=False)
    return bool(prompts)


def _prompt(lines: Sequence[str], piece: memory_service_pb2.CompactionPiece) -> Prompt:
    seen = lines[: piece.view_lines_seen]
    return prompt_of(seen, first=piece.first_id, count=piece.count, source=piece.source)
