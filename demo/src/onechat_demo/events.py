"""The events of a streamed Response, in the API's order and with its sequence numbers. Pure.

What can go wrong with a stream on purpose (cut, stalled, broken): faults.py; sending it: server.py.
"""

import json
from collections.abc import Iterator

from onechat_demo.answers import Answer
from onechat_demo.refusals import JsonObject
from onechat_demo.response import Frame, JsonDict, output_items, response_json
from onechat_demo.usage import Usage

DELTA_CHARACTERS = 24  # of text or arguments in one delta event


def final_response(frame: Frame, answer: Answer, usage: Usage) -> JsonDict:
    """The Response at its end: completed, incomplete or failed."""
    if answer.failure:
        return response_json(frame, status="failed", output=[], usage=None, answer=answer)
    status = "incomplete" if answer.cut else "completed"
    return response_json(frame, status=status, output=output_items(frame, answer), usage=usage, answer=answer)


def events(frame: Frame, answer: Answer, usage: Usage) -> list[JsonDict]:
    """Every event of the stream; the last one is the terminal event."""
    started = response_json(frame, status="in_progress", output=[])
    found: list[JsonDict] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    said_nothing = answer.failure and not (answer.text or answer.calls)
    for index, item in enumerate([] if said_nothing else output_items(frame, answer)):
        found += _item_events(item, index)
    final = final_response(frame, answer, usage)
    found.append({"type": f"response.{final['status']}", "response": final})
    return [{**event, "sequence_number": number} for number, event in enumerate(found)]


def error_event(code: str, message: str, number: int) -> JsonDict:
    """The `error` event, which ends a stream without a Response."""
    return {"type": "error", "code": code, "message": message, "param": None, "sequence_number": number}


def sse(event: JsonObject) -> bytes:
    """One event as it goes over the wire."""
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def _item_events(item: JsonDict, index: int) -> list[JsonDict]:
    begun = _begun(item)
    inner: list[JsonDict] = []
    match item["type"]:
        case "message":
            inner = _message_events(item, index)
        case "function_call":
            inner = _call_events(item, index)
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *inner,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _begun(item: JsonDict) -> JsonDict:
    """`item` as it is when it starts: nothing in it yet."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return {**item}


def _message_events(item: JsonDict, index: int) -> list[JsonDict]:
    content = item["content"]
    assert isinstance(content, list)
    part = content[0]
    extra: JsonDict = {}
    place: JsonDict = {"item_id": item["id"], "output_index": index, "content_index": 0}
    if part["type"] == "refusal":
        key, name = "refusal", "response.refusal"
    else:
        key, name, extra = "text", "response.output_text", {"logprobs": []}
    return [
        {"type": "response.content_part.added", **place, "part": {**part, key: ""}},
        *({"type": f"{name}.delta", **place, "delta": delta, **extra} for delta in _deltas(part[key])),
        {"type": f"{name}.done", **place, key: part[key], **extra},
        {"type": "response.content_part.done", **place, "part": part},
    ]


def _call_events(item: JsonDict, index: int) -> list[JsonDict]:
    place: JsonDict = {"item_id": item["id"], "output_index": index}
    arguments = str(item["arguments"])
    name = "response.function_call_arguments"
    return [
        *({"type": f"{name}.delta", **place, "delta": delta} for delta in _deltas(arguments)),
        {"type": f"{name}.done", **place, "arguments": arguments},
    ]


def _deltas(text: str) -> Iterator[str]:
    for start in range(0, len(text), DELTA_CHARACTERS):
        yield text[start : start + DELTA_CHARACTERS]
