"""Which failure a server's refusal is. Pure: status, code and words in, ModelFailure out.

The words of a refusal are read to find out what it is about and are never passed on: they may quote the
request. Where refusals are caught: call.py; those within a stream: stream.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from onechat_agent import sentences
from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.failures import (
    BadKey,
    BadRequest,
    ContextTooLong,
    Filtered,
    ModelFailure,
    QuotaUsedUp,
    Trouble,
    UnknownModel,
    Unreachable,
)

_QUOTA: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_AGAIN: Final = frozenset({"server_error", "internal_error", "overloaded", "timeout", "vector_store_timeout"})
_BUSY: Final = frozenset({"rate_limit_exceeded", "rate_limit_error", "slow_down", "too_many_requests"})
_KEY: Final = frozenset({"invalid_api_key", "authentication_error", "invalid_authentication"})
_MODEL: Final = frozenset({"model_not_found", "invalid_model"})
_CONTEXT: Final = frozenset({"context_length_exceeded", "request_too_large"})
_FILTER: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "bio_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
    }
)
_CONTEXT_WORDS: Final = re.compile(r"context (length|window|size)|maximum context|too many tokens", re.I)
_MODEL_WORDS: Final = re.compile(
    r"\bmodel\b[^.]{0,80}(not found|does not exist)|(unknown|no such|invalid) model\b", re.I
)
_LACK_WORDS: Final = (
    (Lack.CACHE_OPTIONS, re.compile(r"prompt_cache_|cache_breakpoint")),
    (Lack.PARALLEL_CALLS, re.compile(r"parallel_tool_calls")),
    (Lack.STRICT, re.compile(r"\bstrict\b")),
    (
        Lack.ENCRYPTED_REASONING,
        re.compile(r"encrypted|^include\b|['\"`]include\b|reasoning['\"`]? item", re.I),
    ),
    (Lack.TOOL_IMAGES, re.compile(r"function_call_output|input_image|\boutput\b.{0,40}(string|array)", re.I)),
)
_ITEM: Final = re.compile(r"\binput\[(\d+)\]")
_LABEL: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a server said instead of an answer; `status` None when it said so within a stream."""

    status: int | None = None
    code: str = ""  #: its error's code
    kind: str = ""  #: its error's type
    param: str = ""
    words: str = ""  #: its message, to be searched and never shown
    retry_after_s: float | None = None


def verdict(refusal: Refusal, *, body: Mapping[str, Any], endpoint: Endpoint) -> ModelFailure:
    """The failure that `refusal` of the request `body` is."""
    status, code = refusal.status, refusal.code
    if code in _QUOTA or refusal.kind in _QUOTA or status == 402:
        return QuotaUsedUp()
    if code in _BUSY or status == 429:
        return Unreachable(Trouble.BUSY, retry_after_s=refusal.retry_after_s, code=label(code or "429"))
    if code in _AGAIN or status in (408, 409, 425) or (status is not None and status >= 500):
        trouble = Trouble.SLOW if status == 408 else Trouble.SERVER
        return Unreachable(trouble, retry_after_s=refusal.retry_after_s, code=label(code or str(status)))
    if code in _MODEL or (status in (400, 404, 422) and _MODEL_WORDS.search(refusal.words)):
        return UnknownModel(str(body.get("model", "")))
    if code in _KEY or status in (401, 403):
        return BadKey(code=label(code or str(status)))
    if code in _FILTER:
        return Filtered(code=label(code))
    if code in _CONTEXT or status == 413 or _CONTEXT_WORDS.search(refusal.words):
        return ContextTooLong(code=label(code or "context_too_long"))
    return _bad_request(refusal, body, endpoint)


def failed(code: str, words: str = "", *, body: Mapping[str, Any], endpoint: Endpoint) -> ModelFailure:
    """The failure of a stream that said so itself; without a code it is the server's own fault."""
    if not code:
        return Unreachable(Trouble.SERVER, code="failed")
    return verdict(Refusal(code=code, words=words), body=body, endpoint=endpoint)


def label(code: str) -> str:
    """`code` if it is a short name, as codes are; what a server put there otherwise may quote the request."""
    return code if _LABEL.fullmatch(code) else "other"


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: milliseconds, seconds, or a date, less its own Date."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            return float(value) * unit_s
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        said = parsedate_to_datetime(headers.get("date", ""))
        return max((until - said).total_seconds(), 0.0)
    except (ValueError, TypeError):  # neither is a date, or only one of them has a zone
        return None


def _bad_request(refusal: Refusal, body: Mapping[str, Any], endpoint: Endpoint) -> BadRequest:
    code = label(refusal.code or str(refusal.status or "refused"))
    if refusal.status in (404, 405):
        return BadRequest(sentences.MODEL_NO_RESPONSES, code=code)
    if "image" in refusal.code:
        return BadRequest(sentences.MODEL_PICTURE.format(code=code), code=code)
    lack = missing_switch(refusal, body, endpoint)
    if lack is not None:
        return BadRequest(sentences.MODEL_LACKS.format(switch=lack), code=code, switch=lack)
    return BadRequest(sentences.MODEL_BAD_REQUEST.format(code=code), code=code)


def missing_switch(refusal: Refusal, body: Mapping[str, Any], endpoint: Endpoint) -> Lack | None:
    """What of Lack the refusal names, by its parameter first and else by its words; None when it names none.

    Only what the endpoint is not yet known to lack and what `body` really holds.
    """
    named = [refusal.param, refusal.words]
    for text in (text for text in named if text):
        for lack, words in _LACK_WORDS:
            if lack not in endpoint.lacks and words.search(text) and _holds(body, lack):
                return lack
        for found in _ITEM.finditer(text):
            needed = _item_needs(body, int(found[1]))
            if needed is not None and needed not in endpoint.lacks:
                return needed
    return None


def _holds(body: Mapping[str, Any], lack: Lack) -> bool:
    match lack:
        case Lack.CACHE_OPTIONS:
            return "prompt_cache_options" in body or "prompt_cache_key" in body
        case Lack.PARALLEL_CALLS:
            return "parallel_tool_calls" in body
        case Lack.STRICT:
            return any("strict" in tool for tool in body.get("tools", ()))
        case Lack.ENCRYPTED_REASONING:
            return "include" in body
        case Lack.TOOL_IMAGES:
            return any(_item_needs(body, at) is lack for at in range(len(body.get("input", ()))))


def _item_needs(body: Mapping[str, Any], at: int) -> Lack | None:
    """What a server must have for the item at `at` of the input, beyond the plainest."""
    items = body.get("input", ())
    item = items[at] if at < len(items) else {}
    if item.get("type") == "reasoning":
        return Lack.ENCRYPTED_REASONING
    if isinstance(item.get("output"), list):
        return Lack.TOOL_IMAGES
    parts = item.get("content")
    if isinstance(parts, list) and any("prompt_cache_breakpoint" in part for part in parts):
        return Lack.CACHE_OPTIONS
    return None
