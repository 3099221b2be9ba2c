"""Token counts: four UTF-8 bytes are a token. Deterministic for a process's requests in their order.

What a request sends is laid out as providers cache it: tools, instructions, input. Cached is what it shares
from the start with an earlier request of the same cache key. Nothing here is a price.
"""

import hashlib
import json
from bisect import bisect_left
from dataclasses import dataclass

from onechat_demo.answers import Answer
from onechat_demo.refusals import JsonObject

TOKEN_BYTES = 4
IMAGE_BYTES = 1024  # a picture counts as this many bytes, whatever its size
KEPT_BYTES_MAX = 32 * 1024 * 1024  # of earlier requests; the oldest go first


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call."""

    input: int
    cached: int  #: of `input`, read from the cache
    output: int
    reasoning: int  #: of `output`


class PrefixCache:
    """The requests that later ones can share a start with.

    They lie sorted: whatever shares most with a request stands right before or after its place among them.
    """

    def __init__(self, kept_bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._kept_bytes_max = kept_bytes_max
        self._kept: dict[str | None, list[bytes]] = {}
        self._ages: dict[tuple[str | None, bytes], None] = {}  # the oldest first
        self._kept_bytes = 0

    def cached_bytes(self, key: str | None, request: bytes) -> int:
        """How many bytes of `request` an earlier one of `key` (None: any) began with; then keeps it too."""
        keys = list(self._kept) if key is None else [key]
        shared = max((_most_shared(self._kept.get(one, []), request) for one in keys), default=0)
        mine = self._kept.setdefault(key, [])
        place = bisect_left(mine, request)
        while place and request.startswith(mine[place - 1]):
            place -= 1
            self._forget(key, mine[place])  # the new one holds all of it
        if place == len(mine) or mine[place] != request:
            mine.insert(place, request)
            self._ages[key, request] = None
            self._kept_bytes += len(request)
        while self._kept_bytes > self._kept_bytes_max and len(self._ages) > 1:
            self._forget(*next(iter(self._ages)))
        return shared

    def _forget(self, key: str | None, request: bytes) -> None:
        del self._ages[key, request]
        del self._kept[key][bisect_left(self._kept[key], request)]
        self._kept_bytes -= len(request)


def _most_shared(kept: list[bytes], request: bytes) -> int:
    place = bisect_left(kept, request)
    return max((common_prefix(one, request) for one in kept[max(place - 1, 0) : place + 1]), default=0)


def serialized(body: JsonObject) -> bytes:
    """What of a request counts as input, in the order of its prefix; pictures by their hash."""
    parts = [body.get("tools") or [], body.get("instructions") or "", body.get("input") or []]
    model = str(body.get("model", ""))
    text = "\n".join(json.dumps(part, ensure_ascii=False, sort_keys=True) for part in _flat(parts))
    return f"{model}\n{text}".encode()


def usage_of(body: JsonObject, answer: Answer, cache: PrefixCache) -> Usage:
    """Counts one call and remembers it in `cache`."""
    request = serialized(body)
    key = body.get("prompt_cache_key")
    shared = cache.cached_bytes(key if isinstance(key, str) else None, request)
    reasoning = tokens(answer.reasoning)
    said = answer.refusal or answer.text
    output = tokens(said) + sum(tokens(call.name + call.arguments) for call in answer.calls) + reasoning
    return Usage(
        input=-(-len(request) // TOKEN_BYTES),
        cached=shared // TOKEN_BYTES,
        output=output,
        reasoning=reasoning,
    )


def tokens(text: str) -> int:
    """Tokens of `text`, rounded up."""
    return -(-len(text.encode()) // TOKEN_BYTES)


def common_prefix(one: bytes, other: bytes) -> int:
    """Length of the common start; O(n) compares of memory, not of Python bytes."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _flat(parts: list[object]) -> list[object]:
    tools, instructions, items = parts
    return [
        *(tools if isinstance(tools, list) else []),
        instructions,
        *([_small(item) for item in items] if isinstance(items, list) else [items]),
    ]


def _small(value: object) -> object:
    """`value` with each picture's data replaced by its hash, blown up to IMAGE_BYTES."""
    if isinstance(value, dict):
        return {key: _small(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_small(inner) for inner in value]
    if isinstance(value, str) and value.startswith("data:image/"):
        digest = hashlib.sha256(value.encode()).hexdigest()
        return digest * (IMAGE_BYTES // len(digest))
    return value
