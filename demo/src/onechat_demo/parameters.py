"""The parameters of POST /v1/responses and the values that each may have.

Names and values are the API's, as the `openai` package's ResponseCreateParams has them; a test compares them.
What the demo cannot serve because it keeps nothing (background, stored conversations) is refused by rules.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from onechat_demo.refusals import RequestRefused, only_known, wrong_type, wrong_value

INCLUDABLE = frozenset(
    {
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
    }
)
EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
REASONING_KEYS = frozenset({"context", "effort", "generate_summary", "mode", "summary"})
CACHE_OPTION_KEYS = frozenset({"comparison_response_id", "mode", "prewarm", "ttl"})
SERVICE_TIERS = frozenset({"auto", "default", "flex", "scale", "priority", "fast", "ultrafast"})
TEXT_KEYS = frozenset({"format", "verbosity"})
TEXT_FORMATS = frozenset({"text", "json_object", "json_schema"})
VERBOSITIES = frozenset({"low", "medium", "high"})
KEY_MAX = 64  # characters of prompt_cache_key and safety_identifier
METADATA_MAX = (16, 64, 512)  # pairs, characters of a key, characters of a value
OUTPUT_TOKENS_MIN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What one parameter may be; null is taken where `nullable`."""

    kinds: tuple[type, ...]
    wanted: str  #: the kinds in words
    nullable: bool = True
    check: Callable[[object], None] | None = None  #: refuses a value of the right kind that is wrong


def _one_of(param: str, values: frozenset[str]) -> Callable[[object], None]:
    def check(value: object) -> None:
        if value not in values:
            raise wrong_value(param, value=value, wanted=", ".join(f"'{one}'" for one in sorted(values)))

    return check


def _between(param: str, low: float, high: float | None) -> Callable[[object], None]:
    def check(value: object) -> None:
        number = value if isinstance(value, int | float) else low
        if number < low:
            raise RequestRefused(
                f"Invalid '{param}': value below minimum. Expected at least {low:g}.",
                param=param,
                code="integer_below_min_value",
            )
        if high is not None and number > high:
            raise RequestRefused(
                f"Invalid '{param}': value above maximum. Expected at most {high:g}.",
                param=param,
                code="integer_above_max_value",
            )

    return check


def _at_most(param: str, length: int) -> Callable[[object], None]:
    def check(value: object) -> None:
        if isinstance(value, str) and len(value) > length:
            raise RequestRefused(
                f"Invalid '{param}': string too long. Expected a string with maximum length {length}.",
                param=param,
                code="string_above_max_length",
            )

    return check


def _check_include(value: object) -> None:
    for index, one in enumerate(value if isinstance(value, list) else []):
        if one not in INCLUDABLE:
            raise wrong_value(
                f"include[{index}]", value=one, wanted=", ".join(f"'{known}'" for known in sorted(INCLUDABLE))
            )


def _check_metadata(value: object) -> None:
    pairs, key_max, value_max = METADATA_MAX
    entries = value if isinstance(value, dict) else {}
    if len(entries) > pairs:
        raise RequestRefused(
            f"Invalid 'metadata': too many properties. Expected at most {pairs}.", param="metadata"
        )
    for key, one in entries.items():
        if not isinstance(one, str):
            raise wrong_type(f"metadata.{key}", wanted="a string", value=one)
        if len(key) > key_max or len(one) > value_max:
            raise RequestRefused(f"Invalid 'metadata.{key}': too long.", param=f"metadata.{key}")


def _check_reasoning(value: object) -> None:
    entries = value if isinstance(value, dict) else {}
    only_known(entries, REASONING_KEYS, param="reasoning")
    if entries.get("effort") is not None:
        _one_of("reasoning.effort", EFFORTS)(entries["effort"])


def _check_cache_options(value: object) -> None:
    entries = value if isinstance(value, dict) else {}
    only_known(entries, CACHE_OPTION_KEYS, param="prompt_cache_options")
    if "mode" in entries:
        _one_of("prompt_cache_options.mode", frozenset({"implicit", "explicit"}))(entries["mode"])
    if "ttl" in entries:
        _one_of("prompt_cache_options.ttl", frozenset({"30m", "12h"}))(entries["ttl"])


def _check_text(value: object) -> None:
    entries = value if isinstance(value, dict) else {}
    only_known(entries, TEXT_KEYS, param="text")
    if entries.get("verbosity") is not None:
        _one_of("text.verbosity", VERBOSITIES)(entries["verbosity"])
    form = entries.get("format")
    if form is not None:
        if not isinstance(form, dict):
            raise wrong_type("text.format", wanted="an object", value=form)
        _one_of("text.format.type", TEXT_FORMATS)(form.get("type"))


def _object(check: Callable[[object], None] | None = None, *, nullable: bool = False) -> Parameter:
    return Parameter(kinds=(dict,), wanted="an object", nullable=nullable, check=check)


def _string(check: Callable[[object], None] | None = None, *, nullable: bool = True) -> Parameter:
    return Parameter(kinds=(str,), wanted="a string", nullable=nullable, check=check)


def _integer(check: Callable[[object], None] | None = None) -> Parameter:
    return Parameter(kinds=(int,), wanted="an integer", check=check)


def _number(check: Callable[[object], None]) -> Parameter:
    return Parameter(kinds=(int, float), wanted="a number", check=check)


def _array(check: Callable[[object], None] | None = None, *, nullable: bool = True) -> Parameter:
    return Parameter(kinds=(list,), wanted="an array", nullable=nullable, check=check)


_BOOLEAN = Parameter(kinds=(bool,), wanted="a boolean")

PARAMETERS: Mapping[str, Parameter] = {
    "access_programs": _object(),
    "background": _BOOLEAN,
    "background_options": _object(),
    "context_management": _array(),
    "conversation": Parameter(kinds=(str, dict), wanted="a string or an object"),
    "image": _object(),
    "include": _array(_check_include),
    "input": Parameter(kinds=(str, list), wanted="a string or an array of items", nullable=False),
    "instructions": _string(),
    "max_output_tokens": _integer(_between("max_output_tokens", OUTPUT_TOKENS_MIN, None)),
    "max_tool_calls": _integer(_between("max_tool_calls", 1, None)),
    "metadata": _object(_check_metadata, nullable=True),
    "model": _string(nullable=False),
    "moderation": _object(nullable=True),
    "parallel_tool_calls": _BOOLEAN,
    "previous_response_id": _string(),
    "prompt": _object(nullable=True),
    "prompt_cache_key": _string(_at_most("prompt_cache_key", KEY_MAX)),
    "prompt_cache_options": _object(_check_cache_options),
    "prompt_cache_retention": _string(_one_of("prompt_cache_retention", frozenset({"in_memory", "24h"}))),
    "reasoning": _object(_check_reasoning, nullable=True),
    "safety_identifier": _string(_at_most("safety_identifier", KEY_MAX)),
    "service_tier": _string(_one_of("service_tier", SERVICE_TIERS)),
    "store": _BOOLEAN,
    "stream": _BOOLEAN,
    "stream_options": _object(
        lambda value: only_known(
            value if isinstance(value, dict) else {},
            frozenset({"include_obfuscation"}),
            param="stream_options",
        ),
        nullable=True,
    ),
    "temperature": _number(_between("temperature", 0, 2)),
    "text": _object(_check_text),
    "tool_choice": Parameter(kinds=(str, dict), wanted="a string or an object", nullable=False),
    "tools": _array(nullable=False),
    "top_logprobs": _integer(_between("top_logprobs", 0, 20)),
    "top_p": _number(_between("top_p", 0, 1)),
    "truncation": _string(_one_of("truncation", frozenset({"auto", "disabled"}))),
    "user": _string(nullable=False),
}


def check_parameter(name: str, value: object) -> None:
    """Refuse a parameter that the API has but not with this value; `name` must be one of PARAMETERS."""
    parameter = PARAMETERS[name]
    if value is None:
        if not parameter.nullable:
            raise wrong_type(name, wanted=parameter.wanted, value=None)
        return
    is_flag = isinstance(value, bool) and bool not in parameter.kinds  # in Python a bool is an int
    if is_flag or not isinstance(value, parameter.kinds):
        raise wrong_type(name, wanted=parameter.wanted, value=value)
    if parameter.check is not None:
        parameter.check(value)
