"""What lesser servers do not know, and which parameter of a request would need it.

A server that is told to lack something refuses such a request and names the parameter, so that a client can
be tested against the many servers that speak only a part of the API.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum

from onechat_demo.forms import form_of
from onechat_demo.items import item_kind
from onechat_demo.refusals import JsonObject


class Lack(StrEnum):
    """What a server can be told not to know, as lesser servers do not."""

    ENCRYPTED_REASONING = "encrypted_reasoning"
    TOOL_IMAGES = "tool_images"
    CACHE_OPTIONS = "cache_options"
    STRICT = "strict"
    PARALLEL_CALLS = "parallel_calls"


def _items(body: JsonObject) -> list[JsonObject]:
    value = body["input"]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _encrypted_reasoning(body: JsonObject) -> str | None:
    include = body.get("include")
    if isinstance(include, list) and "reasoning.encrypted_content" in include:
        return "include"
    for index, item in enumerate(_items(body)):
        if item_kind(item) == "reasoning":
            return f"input[{index}]"
    return None


def _tool_images(body: JsonObject) -> str | None:
    for index, item in enumerate(_items(body)):
        output = item.get("output")
        if isinstance(output, list) and any(
            isinstance(part, dict) and part.get("type") == "input_image" for part in output
        ):
            return f"input[{index}].output"
    return None


def _cache_options(body: JsonObject) -> str | None:
    for name in ("prompt_cache_options", "prompt_cache_key"):
        if name in body:
            return name
    for index, item in enumerate(_items(body)):
        content = item.get("content")
        if isinstance(content, list) and any(
            isinstance(part, dict) and "prompt_cache_breakpoint" in part for part in content
        ):
            return f"input[{index}].content"
    return None


def _strict(body: JsonObject) -> str | None:
    tools = body.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict) and "strict" in tool:
            return f"tools[{index}].strict"
    form = form_of(body)
    return "text.format.strict" if form is not None and "strict" in form else None


def _parallel_calls(body: JsonObject) -> str | None:
    return "parallel_tool_calls" if "parallel_tool_calls" in body else None


_FINDERS: Mapping[Lack, Callable[[JsonObject], str | None]] = {
    Lack.ENCRYPTED_REASONING: _encrypted_reasoning,
    Lack.TOOL_IMAGES: _tool_images,
    Lack.CACHE_OPTIONS: _cache_options,
    Lack.STRICT: _strict,
    Lack.PARALLEL_CALLS: _parallel_calls,
}


def lacked_parameter(lack: Lack, body: JsonObject) -> str | None:
    """The first parameter of `body` that a server with this lack does not know; None when there is none."""
    return _FINDERS[lack](body)
