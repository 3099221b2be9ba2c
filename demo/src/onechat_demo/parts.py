"""Whether the parts of a message's content, or of a call's output, are whole: texts, pictures, refusals."""

import base64
import binascii
import re

from onechat_demo.refusals import JsonObject, RequestRefused, only_known, text_at, wrong_type, wrong_value

DATA_URL = re.compile(r"data:image/(png|jpeg|webp|gif);base64,(.*)", re.DOTALL)
BREAKPOINT_KEYS = frozenset({"mode", "ttl"})
DETAILS = frozenset({"low", "high", "auto", "original"})
PART_KEYS = {
    "input_text": frozenset({"type", "text", "prompt_cache_breakpoint"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"}),
    "output_text": frozenset({"type", "text", "annotations", "logprobs"}),
    "refusal": frozenset({"type", "refusal"}),
}
USER_PARTS = ("input_text", "input_image")
MODEL_PARTS = ("output_text", "refusal")


def check_part(part: object, allowed: tuple[str, ...], param: str) -> None:
    """Refuse a part of another kind than `allowed`, with unknown fields, or with a broken picture."""
    if not isinstance(part, dict):
        raise wrong_type(param, wanted="an object", value=part)
    kind = text_at(part, "type", param=param)
    if kind not in allowed:
        raise wrong_value(f"{param}.type", value=kind, wanted=" and ".join(f"'{one}'" for one in allowed))
    only_known(part, PART_KEYS[kind], param=param)
    if kind == "input_image":
        _check_image(part, param)
    else:
        text_at(part, "refusal" if kind == "refusal" else "text", param=param)
    if "prompt_cache_breakpoint" in part:
        _check_breakpoint(part["prompt_cache_breakpoint"], f"{param}.prompt_cache_breakpoint")


def _check_breakpoint(value: object, param: str) -> None:
    if not isinstance(value, dict):
        raise wrong_type(param, wanted="an object", value=value)
    only_known(value, BREAKPOINT_KEYS, param=param)
    if value.get("mode") != "explicit":
        raise wrong_value(f"{param}.mode", value=value.get("mode"), wanted="'explicit'")
    if value.get("ttl", "30m") not in ("30m", "12h"):
        raise wrong_value(f"{param}.ttl", value=value["ttl"], wanted="'30m' and '12h'")


def _check_image(part: JsonObject, param: str) -> None:
    if "detail" in part and part["detail"] not in DETAILS:
        raise wrong_value(f"{param}.detail", value=part["detail"], wanted=", ".join(sorted(DETAILS)))
    url = text_at(part, "image_url", param=param, empty=False)
    if url.startswith("https://"):
        return
    found = DATA_URL.fullmatch(url)
    if found is None:
        raise RequestRefused(
            f"Invalid '{param}.image_url'. Expected a valid URL, or a base64-encoded data URL of an image "
            "(image/png, image/jpeg, image/webp or image/gif).",
            param=f"{param}.image_url",
            code="invalid_value",
        )
    try:
        whole = base64.b64decode(found[2], validate=True)
    except binascii.Error:
        whole = b""
    if not whole:
        raise RequestRefused(
            f"Invalid '{param}.image_url': not valid base64.",
            param=f"{param}.image_url",
            code="invalid_base64_image",
        )
