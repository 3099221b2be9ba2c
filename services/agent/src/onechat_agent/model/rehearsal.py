"""A streamed call that never leaves the process, so that the first real one is not late.

The `openai` package loads some of itself at its first call. Imported by call.py in its loading thread only.
"""

import asyncio
import json
from functools import cache
from typing import Any, Final

import httpx2
import openai

from onechat_agent.model.call import opened

_RESPONSE: Final[dict[str, Any]] = {
    "id": "resp_0",
    "object": "response",
    "created_at": 0,
    "status": "completed",
    "model": "none",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
_PLACE: Final[dict[str, Any]] = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
_ITEMS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": ""},
    {"type": "function_call", "id": "fc_0", "call_id": "call_0", "name": "none", "arguments": "{}"},
    {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": []},
)
_EVENTS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "response.created", "response": _RESPONSE},
    {"type": "response.output_text.delta", "delta": "a", "logprobs": [], **_PLACE},
    *({"type": "response.output_item.done", "output_index": 0, "item": item} for item in _ITEMS),
    {"type": "response.completed", "response": _RESPONSE},
)


class _Stage(httpx2.AsyncBaseTransport):
    """Answers every request with the same short stream."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        events = ({**event, "sequence_number": number} for number, event in enumerate(_EVENTS))
        content = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, content=content.encode(), request=request
        )


@cache
def rehearse() -> None:
    """Make the call, once in a process; it blocks, so not for the event loop's thread."""
    asyncio.run(_call())


async def _call() -> None:
    async with openai.AsyncOpenAI(
        api_key="none",
        base_url="http://localhost/v1",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=_Stage(), trust_env=False),  # a proxy would be called
    ) as client:
        said = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}]
        async for _ in await opened(client, {"model": "none", "input": said}):
            pass
