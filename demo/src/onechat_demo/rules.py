"""Whether a request keeps the API's rules, so that a client's faults show here and not at a real model.

Shapes of parameters: parameters.py; of items: items.py; of tools: schemas.py; of answers: forms.py. What some
servers cannot do is said by `lacks`: lacks.py.
"""

import json
from dataclasses import dataclass

from onechat_demo.forms import check_form, form_of
from onechat_demo.items import check_input
from onechat_demo.lacks import Lack, lacked_parameter
from onechat_demo.parameters import PARAMETERS, check_parameter
from onechat_demo.refusals import (
    JsonObject,
    RequestRefused,
    missing,
    only_known,
    unknown_parameter,
    wrong_type,
    wrong_value,
)
from onechat_demo.schemas import check_tools

TOOL_CHOICES = ("none", "auto", "required")
NOTHING_IS_STORED = {
    "previous_response_id": "previous_response_not_found",
    "conversation": "conversation_not_found",
    "prompt": "prompt_not_found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Which models there are (None: any name goes) and what this server lacks."""

    models: frozenset[str] | None = None
    lacks: frozenset[Lack] = frozenset()

    def check(self, body: JsonObject) -> None:
        """Raise RequestRefused for the first rule that `body` breaks."""
        for name in body:
            if name not in PARAMETERS:
                raise unknown_parameter(name)
        for name in ("model", "input"):
            if name not in body:
                raise missing(name)
        for name, value in body.items():
            check_parameter(name, value)
        self._check_model(str(body["model"]))
        self._check_lacks(body)
        _check_not_stored(body)
        check_input(body["input"])
        names = check_tools(body.get("tools", []), strict=Lack.STRICT not in self.lacks)
        _check_tool_choice(body.get("tool_choice", "auto"), names)
        if (form := form_of(body)) is not None:
            check_form(form)
        if body.get("stream_options") is not None and not body.get("stream"):
            raise RequestRefused(
                "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
                param="stream_options",
            )

    def _check_model(self, model: str) -> None:
        if self.models is not None and model not in self.models:
            raise RequestRefused(
                f"The requested model '{model}' does not exist.", param="model", code="model_not_found"
            )

    def _check_lacks(self, body: JsonObject) -> None:
        for lack in sorted(self.lacks):
            param = lacked_parameter(lack, body)
            if param is not None:
                raise RequestRefused(
                    f"Unsupported parameter: '{param}'.", param=param, code="unsupported_parameter"
                )


def read_body(raw: bytes) -> dict[str, object]:
    """The request's JSON object; refuses anything else, and text that is not Unicode (lone surrogates)."""
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise RequestRefused(
            "We could not parse the JSON body of your request.", code="invalid_json"
        ) from None
    if not isinstance(body, dict):
        raise wrong_type("body", wanted="an object", value=body)
    return body


def _check_not_stored(body: JsonObject) -> None:
    for name, code in NOTHING_IS_STORED.items():
        if body.get(name) is not None:
            raise RequestRefused(
                f"Nothing is stored here, so '{name}' names nothing: send the whole input.",
                param=name,
                code=code,
            )
    if body.get("background"):
        raise RequestRefused(
            "Background responses are not supported here.", param="background", code="unsupported_value"
        )


def _check_tool_choice(choice: object, names: frozenset[str]) -> None:
    if isinstance(choice, str):
        if choice not in TOOL_CHOICES:
            raise wrong_value("tool_choice", value=choice, wanted="'none', 'auto', and 'required'")
        if choice == "required" and not names:
            raise RequestRefused(
                "Tool choice 'required' must be specified with 'tools'.", param="tool_choice"
            )
        return
    chosen = choice if isinstance(choice, dict) else {}
    match chosen.get("type"):
        case "function":
            only_known(chosen, frozenset({"type", "name"}), param="tool_choice")
            named = [chosen.get("name")]
        case "allowed_tools":
            only_known(chosen, frozenset({"type", "mode", "tools"}), param="tool_choice")
            tools = chosen.get("tools")
            listed = tools if isinstance(tools, list) else []
            named = [one.get("name") if isinstance(one, dict) else None for one in listed]
        case other:
            raise wrong_value("tool_choice.type", value=other, wanted="'function' and 'allowed_tools'")
    for name in named:
        if name not in names:
            raise RequestRefused(f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")
