"""The error that a broken request gets, in the API's own shape. Which rules there are: rules.py."""

from collections.abc import Mapping

JsonObject = Mapping[str, object]


class RequestRefused(Exception):
    """The request breaks a rule of the API. `status` is the HTTP status; the rest is the error body."""

    def __init__(
        self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.status = status

    def body(self) -> dict[str, object]:
        """The JSON that goes out: `{"error": {message, type, param, code}}`."""
        return error_body(self.message, kind="invalid_request_error", param=self.param, code=self.code)


def error_body(message: str, *, kind: str, param: str | None, code: str | None) -> dict[str, object]:
    """An error as the API words it; `kind` is its `type`."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def unknown_parameter(param: str) -> RequestRefused:
    return RequestRefused(f"Unknown parameter: '{param}'.", param=param, code="unknown_parameter")


def missing(param: str) -> RequestRefused:
    return RequestRefused(
        f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter"
    )


def wrong_type(param: str, *, wanted: str, value: object) -> RequestRefused:
    return RequestRefused(
        f"Invalid type for '{param}': expected {wanted}, but got {type_name(value)} instead.",
        param=param,
        code="invalid_type",
    )


def wrong_value(param: str, *, value: object, wanted: str) -> RequestRefused:
    return RequestRefused(
        f"Invalid value: '{value}'. Supported values are: {wanted}.", param=param, code="invalid_value"
    )


def only_known(value: JsonObject, known: frozenset[str], *, param: str) -> None:
    """Refuse the first key of `value` that the API does not have."""
    for key in value:
        if key not in known:
            raise unknown_parameter(f"{param}.{key}" if param else key)


def text_at(value: JsonObject, key: str, *, param: str, empty: bool = True) -> str:
    """The string at `key`, which must be there; `empty` says whether it may be empty."""
    if key not in value:
        raise missing(f"{param}.{key}")
    text = value[key]
    if not isinstance(text, str):
        raise wrong_type(f"{param}.{key}", wanted="a string", value=text)
    if not text and not empty:
        raise RequestRefused(
            f"Invalid '{param}.{key}': empty string. Expected a string with minimum length 1.",
            param=f"{param}.{key}",
            code="empty_string",
        )
    return text


def type_name(value: object) -> str:
    """How the API calls the JSON type of `value`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
