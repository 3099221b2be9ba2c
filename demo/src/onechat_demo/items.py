"""Whether the input items of a request are whole: their shapes, and that calls and outputs pair up.

The server stores nothing, so an item is only what the request says of it. Parts of content: parts.py.
The parameters around them: rules.py. Tools: schemas.py.
"""

from onechat_demo.parts import MODEL_PARTS, USER_PARTS, check_part
from onechat_demo.refusals import (
    JsonObject,
    RequestRefused,
    missing,
    only_known,
    text_at,
    wrong_type,
    wrong_value,
)

STATUSES = frozenset({"in_progress", "completed", "incomplete"})
ROLES = frozenset({"user", "assistant", "system", "developer"})
CALL_ID_MAX = 64  # characters
ID_STARTS = {"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}
ITEM_KEYS = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "function_call": frozenset(
        {"type", "call_id", "name", "arguments", "id", "status", "namespace", "caller", "async"}
    ),
    "function_call_output": frozenset(
        {"type", "call_id", "output", "id", "status", "name", "namespace", "caller"}
    ),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content"}),
}


def check_input(value: object) -> None:
    """Refuse an `input` that is empty, of a wrong shape, or whose calls and outputs do not pair up."""
    if isinstance(value, str):
        if not value:
            raise RequestRefused("Invalid 'input': empty string.", param="input", code="empty_string")
        return
    if not isinstance(value, list):
        raise wrong_type("input", wanted="a string or an array of items", value=value)
    if not value:
        raise RequestRefused("Invalid 'input': empty array.", param="input", code="empty_array")
    items = [_check_item(item, f"input[{index}]") for index, item in enumerate(value)]
    _check_pairs(items)
    _check_reasoning(items)


def item_kind(item: JsonObject) -> str:
    """The type of an item; a message may leave its type out."""
    kind = item.get("type", "message" if "role" in item else "")
    return kind if isinstance(kind, str) else ""


def _check_item(item: object, param: str) -> JsonObject:
    if not isinstance(item, dict):
        raise wrong_type(param, wanted="an object", value=item)
    kind = item_kind(item)
    if kind not in ITEM_KEYS:
        if "type" not in item:
            raise missing(f"{param}.type")
        raise wrong_value(
            f"{param}.type", value=item["type"], wanted=", ".join(f"'{one}'" for one in ITEM_KEYS)
        )
    only_known(item, ITEM_KEYS[kind], param=param)
    for key, value in item.items():
        if value is None:
            raise wrong_type(f"{param}.{key}", wanted="a value", value=None)
    if "id" in item:
        _check_id(item, kind, param)
    if item.get("status", "completed") not in STATUSES:
        raise wrong_value(
            f"{param}.status", value=item["status"], wanted="in_progress, completed, incomplete"
        )
    match kind:
        case "message":
            _check_message(item, param)
        case "function_call":
            _check_call_id(item, param)
            text_at(item, "name", param=param, empty=False)
            text_at(item, "arguments", param=param)
        case "function_call_output":
            _check_call_id(item, param)
            _check_output(item, param)
        case _:
            _check_reasoning_item(item, param)
    return item


def _check_id(item: JsonObject, kind: str, param: str) -> None:
    known_start = ID_STARTS[kind]
    if not text_at(item, "id", param=param).startswith(known_start):
        raise RequestRefused(
            f"Invalid '{param}.id': '{item['id']}'. Expected an ID that begins with '{known_start}'.",
            param=f"{param}.id",
            code="invalid_value",
        )


def _check_call_id(item: JsonObject, param: str) -> None:
    call_id = text_at(item, "call_id", param=param, empty=False)
    if len(call_id) > CALL_ID_MAX:
        raise RequestRefused(
            f"Invalid '{param}.call_id': string too long. Expected at most {CALL_ID_MAX} characters.",
            param=f"{param}.call_id",
            code="string_above_max_length",
        )


def _check_message(item: JsonObject, param: str) -> None:
    role = text_at(item, "role", param=param)
    if role not in ROLES:
        raise wrong_value(f"{param}.role", value=role, wanted="assistant, system, developer, user")
    if item.get("phase", "commentary") not in ("commentary", "final_answer"):
        raise wrong_value(f"{param}.phase", value=item["phase"], wanted="commentary, final_answer")
    if "content" not in item:
        raise missing(f"{param}.content")
    content = item["content"]
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong_type(f"{param}.content", wanted="a string or an array of parts", value=content)
    allowed = MODEL_PARTS if role == "assistant" else USER_PARTS
    for index, part in enumerate(content):
        check_part(part, allowed, f"{param}.content[{index}]")


def _check_output(item: JsonObject, param: str) -> None:
    if "output" not in item:
        raise missing(f"{param}.output")
    output = item["output"]
    if isinstance(output, str):
        return
    if not isinstance(output, list):
        raise wrong_type(f"{param}.output", wanted="a string or an array of parts", value=output)
    for index, part in enumerate(output):
        check_part(part, USER_PARTS, f"{param}.output[{index}]")


def _check_reasoning_item(item: JsonObject, param: str) -> None:
    text_at(item, "id", param=param, empty=False)
    if "summary" not in item:
        raise missing(f"{param}.summary")
    if not isinstance(item["summary"], list):
        raise wrong_type(f"{param}.summary", wanted="an array", value=item["summary"])
    if "encrypted_content" in item:
        text_at(item, "encrypted_content", param=param)


def _check_pairs(items: list[JsonObject]) -> None:
    """Each call has exactly one output, after it; no call id comes twice."""
    called: set[str] = set()
    answered: set[str] = set()
    for index, item in enumerate(items):
        kind, call_id = item_kind(item), str(item.get("call_id", ""))
        if kind == "function_call":
            if call_id in called:
                raise RequestRefused(
                    f"Duplicate function call id: '{call_id}'.", param=f"input[{index}].call_id"
                )
            called.add(call_id)
        elif kind == "function_call_output":
            if call_id not in called:
                raise RequestRefused(
                    f"No tool call found for function call output with call_id {call_id}.", param="input"
                )
            if call_id in answered:
                raise RequestRefused(
                    f"Duplicate function call output: '{call_id}'.", param=f"input[{index}].call_id"
                )
            answered.add(call_id)
    for call_id in sorted(called - answered):
        raise RequestRefused(f"No tool output found for function call {call_id}.", param="input")


def _check_reasoning(items: list[JsonObject]) -> None:
    """A reasoning item stands before the item that it led to: a call, or a message of the model."""
    for index, item in enumerate(items):
        if item_kind(item) != "reasoning":
            continue
        after = items[index + 1] if index + 1 < len(items) else {}
        if item_kind(after) in ("reasoning", "function_call") or after.get("role") == "assistant":
            continue
        raise RequestRefused(
            f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
            param=f"input[{index}]",
        )
