"""A ModelRequest as the parameters of `responses.create`. Pure; the same request gives the same bytes.

Prompt caching wants exact prefixes. Newer models match them only at marked ends of content parts, so the view
(the first item, `<chat>…`) goes out in parts whose ends stay where they are while lines are added to it.
Sizes of parts are characters. What an endpoint lacks is left out here and nowhere else.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from onechat_agent.domain.text import clean
from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.items import (
    AnswerForm,
    CallItem,
    Item,
    ModelRequest,
    OutputItem,
    Picture,
    ReasoningItem,
    ReplyItem,
    ToolChoice,
    UserItem,
)

VIEW_START: Final = "<chat>\n"
PART_CHARS: Final = 4000  # of the view; 128,000 bytes make at most 33 parts, and 80 marks are looked at
CALL_ID_MAX: Final = 64  # characters; the API's limit
NAME_MAX: Final = 64  # characters of a tool's name; as above
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
CACHE_TTL: Final = "12h"  # the API's longest: people come back to a chat after hours, not within minutes
_BREAKPOINT: Final = {"mode": "explicit"}

Body = dict[str, Any]


def request_body(request: ModelRequest, endpoint: Endpoint) -> Body:
    """The parameters of the call, without `stream`; keys in a fixed order."""
    marks = Lack.CACHE_OPTIONS not in endpoint.lacks
    body: Body = {"model": request.model}
    if request.tools:
        body["tools"] = [_tool(tool, endpoint) for tool in request.tools]
        body["tool_choice"] = str(request.tool_choice)
        if Lack.PARALLEL_CALLS not in endpoint.lacks:
            body["parallel_tool_calls"] = True
    body["instructions"] = clean(request.system)
    body["input"] = input_items(request.items, endpoint)
    if request.answer_form is not None:
        body["text"] = {"format": _form(request.answer_form, endpoint)}
    if request.effort:
        body["reasoning"] = {"effort": request.effort}
    body["max_output_tokens"] = request.max_output_tokens
    body["truncation"] = "disabled"
    body["store"] = False
    if Lack.ENCRYPTED_REASONING not in endpoint.lacks:
        body["include"] = ["reasoning.encrypted_content"]
    if endpoint.takes_cache_key:
        body["prompt_cache_key"] = request.cache_key
    if marks:
        body["prompt_cache_options"] = {"mode": _cache_mode(request), "ttl": CACHE_TTL}
    return body


def input_items(items: Sequence[Item], endpoint: Endpoint) -> list[Body]:
    """`items` in the wire's form: no nulls, no status, reasoning only before what it led to."""
    kept = list(_replayable(items, endpoint))
    found: list[Body] = []
    for is_output, run in groupby(kept, key=lambda item: isinstance(item, OutputItem)):
        if is_output:
            found += _outputs([item for item in run if isinstance(item, OutputItem)], endpoint)
        else:
            found += [_wired(item) for item in run]
    if Lack.CACHE_OPTIONS not in endpoint.lacks and _begins_with_view(kept):
        found[0]["content"][:1] = [
            {
                "type": "input_text",
                "text": text,
                **({"prompt_cache_breakpoint": _BREAKPOINT} if marked else {}),
            }
            for text, marked in view_parts(found[0]["content"][0]["text"])
        ]
    return found


def view_parts(view: str) -> list[tuple[str, bool]]:
    """`view` cut at line ends, each part with whether its end is marked; all but the last are.

    The first part is the opening line alone, so that the tools and the system prompt before it are a prefix
    of their own, shared by turns and compactions.
    """
    parts: list[tuple[str, bool]] = []
    start, end = 0, len(VIEW_START)
    while 0 < end < len(view):
        parts.append((view[start:end], True))
        start, end = end, view.find("\n", end + PART_CHARS) + 1
    return [*parts, (view[start:], False)]


def _begins_with_view(items: Sequence[Item]) -> bool:
    return bool(items) and isinstance(items[0], UserItem) and items[0].text.startswith(VIEW_START)


def _cache_mode(request: ModelRequest) -> str:
    """A compaction's last item is never sent again, so only the view's marked ends are worth writing."""
    alone = request.tool_choice is ToolChoice.NONE and _begins_with_view(request.items)
    return "explicit" if alone else "implicit"


def _tool(tool: Mapping[str, Any], endpoint: Endpoint) -> Body:
    return {key: value for key, value in tool.items() if key != "strict" or Lack.STRICT not in endpoint.lacks}


def _form(form: AnswerForm, endpoint: Endpoint) -> Body:
    strict = {} if Lack.STRICT in endpoint.lacks else {"strict": True}
    return {"type": "json_schema", "name": form.name, "schema": form.schema, **strict}


def _replayable(items: Sequence[Item], endpoint: Endpoint) -> Iterator[Item]:
    """`items` without empty replies, and without reasoning that would be refused.

    Reasoning stands for nothing without the reply or call after it, nor without its encrypted content, since
    the server stores nothing.
    """
    said = [item for item in items if not (isinstance(item, ReplyItem) and not item.text)]
    for at, item in enumerate(said):
        if not isinstance(item, ReasoningItem):
            yield item
        elif Lack.ENCRYPTED_REASONING not in endpoint.lacks and item.raw.get("encrypted_content"):
            after = next((one for one in said[at + 1 :] if not isinstance(one, ReasoningItem)), None)
            if isinstance(after, ReplyItem | CallItem):
                yield item


def _wired(item: Item) -> Body:
    match item:
        case UserItem():
            return _user(item.text, item.pictures)
        case ReplyItem():
            said: Body = {"type": "message", "role": "assistant", "content": clean(item.text)}
            return said | ({"phase": item.phase} if item.phase else {})
        case CallItem():
            return {
                "type": "function_call",
                "call_id": _call_id(item.call_id),
                "name": _tool_name(item.name),
                "arguments": clean(item.arguments),
            }
        case ReasoningItem():
            return {key: value for key, value in item.raw.items() if value is not None and key != "status"}
        case OutputItem():
            return _output(item, item.pictures)


def _outputs(outputs: Sequence[OutputItem], endpoint: Endpoint) -> Iterator[Body]:
    """The results of one step; their pictures after all of them where a result cannot hold any."""
    apart = Lack.TOOL_IMAGES in endpoint.lacks
    for output in outputs:
        yield _output(output, () if apart else output.pictures)
    for output in outputs:
        if apart and output.pictures:
            yield _user(f"The pictures that {_call_id(output.call_id)} gave:", output.pictures)


def _output(output: OutputItem, pictures: Sequence[Picture]) -> Body:
    text = clean(output.text)
    return {
        "type": "function_call_output",
        "call_id": _call_id(output.call_id),
        "output": [_text_part(text), *_images(pictures)] if pictures else text,
    }


def _user(text: str, pictures: Sequence[Picture]) -> Body:
    return {
        "type": "message",
        "role": "user",
        "content": [_text_part(clean(text)), *_images(pictures)],
    }


def _text_part(text: str) -> Body:
    return {"type": "input_text", "text": text}


def _images(pictures: Iterable[Picture]) -> Iterator[Body]:
    for picture in pictures:
        data = base64.b64encode(picture.content).decode()
        url = f"data:{picture.media_type};base64,{data}"
        yield {"type": "input_image", "image_url": url, "detail": "auto"}


def _tool_name(name: str) -> str:
    """`name`, or the nearest that the API takes: it refuses a whole request for one that a model made up."""
    return _NOT_IN_NAMES.sub("_", name)[:NAME_MAX] or "unnamed"


def _call_id(call_id: str) -> str:
    """`call_id`, or a name of its own for one that is longer than the API takes."""
    if len(call_id) <= CALL_ID_MAX:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:40]}"
