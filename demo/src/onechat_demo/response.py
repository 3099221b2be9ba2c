"""The Response object and its output items, as JSON. Who decides what is in them: brain.py, scripts.py.

Ids come from the request's own bytes, so that the same request always gets the same call ids, and two
requests of one chat never share one.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from onechat_demo.answers import Answer
from onechat_demo.refusals import JsonObject
from onechat_demo.usage import Usage

JsonDict = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every Response of one call has in common."""

    body: JsonObject  #: the request
    token: str  #: what the ids of this call are made of
    number: int  #: of the call in this process, from 1
    created_at: float  #: seconds since 1970, UTC


def token_of(raw: bytes) -> str:
    """The part of the ids that the request's bytes decide."""
    return hashlib.sha256(raw).hexdigest()[:24]


def response_json(
    frame: Frame,
    *,
    status: str,
    output: Sequence[JsonDict],
    usage: Usage | None = None,
    answer: Answer | None = None,
) -> JsonDict:
    """A Response; `usage` only once it has ended, `answer` for why it ended otherwise than well."""
    body = frame.body
    cut = answer.cut if answer is not None else None
    failure = answer.failure if answer is not None else None
    return {
        "id": f"resp_{frame.number:06d}{frame.token}",
        "object": "response",
        "created_at": frame.created_at,
        "completed_at": frame.created_at if status == "completed" else None,
        "status": status,
        "background": False,
        "error": {"code": failure[0], "message": failure[1]} if failure and status == "failed" else None,
        "incomplete_details": {"reason": cut.value} if cut and status == "incomplete" else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "max_tool_calls": body.get("max_tool_calls"),
        "metadata": body.get("metadata") or {},
        "model": body["model"],
        "output": list(output),
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "previous_response_id": None,
        "prompt_cache_key": body.get("prompt_cache_key"),
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "safety_identifier": body.get("safety_identifier"),
        "service_tier": "default",
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_logprobs": body.get("top_logprobs") or 0,
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation") or "disabled",
        "usage": usage_json(usage) if usage is not None else None,
        "user": body.get("user"),
    }


def usage_json(usage: Usage) -> JsonDict:
    """The usage block of a Response that has ended."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.input - usage.cached,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def output_items(frame: Frame, answer: Answer) -> list[JsonDict]:
    """The finished items of `answer`, in their order: reasoning, a message, the calls.

    An empty reply without calls is a message with an empty text, as real models give it.
    """
    items: list[JsonDict] = []
    status = "incomplete" if answer.cut else "completed"
    if answer.reasoning:
        items.append(_reasoning(frame, answer.reasoning))
    if answer.refusal or answer.text or not answer.calls:
        content: JsonDict = (
            {"type": "refusal", "refusal": answer.refusal}
            if answer.refusal
            else {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        )
        items.append(
            {
                "id": f"msg_{frame.token}{len(items)}",
                "type": "message",
                "status": status,
                "role": "assistant",
                "phase": "commentary" if answer.calls else "final_answer",
                "content": [content],
            }
        )
    for call in answer.calls:
        index = len(items)
        items.append(
            {
                "id": f"fc_{frame.token}{index}",
                "type": "function_call",
                "status": status,
                "call_id": f"call_{frame.token}{index}",
                "name": call.name,
                "arguments": call.arguments,
            }
        )
    return items


def _reasoning(frame: Frame, thought: str) -> JsonDict:
    """A reasoning item; what it holds is for this server alone, so a client can only send it back."""
    item: JsonDict = {"id": f"rs_{frame.token}0", "type": "reasoning", "summary": []}
    include = frame.body.get("include")
    if isinstance(include, list) and "reasoning.encrypted_content" in include:
        item["encrypted_content"] = "demo:" + hashlib.sha256(thought.encode()).hexdigest()
    return item
