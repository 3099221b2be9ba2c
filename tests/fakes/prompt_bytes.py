"""What a provider's cache sees of a request: its bytes from the start, in the order in which they count.

That order is tools, instructions, input. Sizes are bytes. What the requests were: scripted_model.py.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onechat_demo.usage import common_prefix

from tests.fakes.scripted_model import Purpose, Record, ScriptedModel

CLOSING = "\n</chat>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request, laid out."""

    key: str  #: prompt_cache_key
    purpose: Purpose
    head: bytes  #: tools and instructions
    view: str  #: the first item, without its closing line, which moves with each new line
    rest: bytes  #: what follows the view

    @property
    def prefix(self) -> bytes:
        """Head and view."""
        return self.head + self.view.encode()

    @property
    def whole(self) -> bytes:
        """All of it."""
        return self.prefix + CLOSING.encode() + self.rest

    def shared(self, other: "Prompt") -> int:
        """How many bytes the two have in common from the start."""
        return common_prefix(self.whole, other.whole)


def prompts(model: ScriptedModel) -> list[Prompt]:
    """All requests so far that kept the rules, in their order."""
    return [_laid_out(record) for record in model.requests() if record.purpose is not None]


def _laid_out(record: Record) -> Prompt:
    body: Mapping[str, Any] = record.body or {}
    first, *others = body["input"]
    assert record.purpose is not None
    return Prompt(
        key=body["prompt_cache_key"],
        purpose=record.purpose,
        head=_bytes(body["tools"]) + body["instructions"].encode(),
        view=text_of(first).removesuffix(CLOSING),
        rest=b"".join(_bytes(item) for item in others),
    )


def text_of(item: Mapping[str, Any]) -> str:
    """A user item's text, whatever parts it is in."""
    return "".join(part.get("text", "") for part in item["content"])


def marked(body: Mapping[str, Any]) -> list[str]:
    """The parts of a request's view whose ends are breakpoints of the cache."""
    return [part["text"] for part in body["input"][0]["content"] if "prompt_cache_breakpoint" in part]


def begun_anew(views: Sequence[str]) -> int:
    """How many views in a row have no earlier one that they go on from, or are a beginning of.

    Views of less than a thousand characters begin as any other does and count for nothing.
    """
    found = [view for view in views if len(view) >= 1_000]
    return sum(
        not any(view.startswith(earlier) or earlier.startswith(view) for earlier in found[:at])
        for at, view in enumerate(found)
    )


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
