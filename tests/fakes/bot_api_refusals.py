"""How the stand-in Bot API server says no: the error, and the words that Telegram uses for each code."""

OTHER_POLLER = (
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
)
HAS_WEBHOOK = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)
BLOCKED = "Forbidden: bot was blocked by the user"
CHAT_NOT_FOUND = "Bad Request: chat not found"
THREAD_NOT_FOUND = "Bad Request: message thread not found"
TOO_LARGE = "Request Entity Too Large"

USUAL = {
    400: "Bad Request: can't parse entities",
    401: "Unauthorized",
    403: BLOCKED,
    404: "Not Found",
    409: OTHER_POLLER,
    413: TOO_LARGE,
    429: "Too Many Requests: retry later",
    500: "Internal Server Error",
    502: "Bad Gateway",
}


class RefusedByBotApi(Exception):
    """An answer that is not ok; `parameters` are ResponseParameters, such as retry_after."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def refused(reason: str) -> RefusedByBotApi:
    """A call that can't be right, however often it is sent."""
    return RefusedByBotApi(400, f"Bad Request: {reason}")


def too_many(retry_after: int) -> RefusedByBotApi:
    """Calls of this bot are refused for `retry_after` seconds."""
    return RefusedByBotApi(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)


def usual(code: int, description: str = "", retry_after: int = 0) -> RefusedByBotApi:
    """The refusal that Telegram gives most often with `code`."""
    if code == 429 and retry_after and not description:
        return too_many(retry_after)
    more = {"retry_after": retry_after} if retry_after else {}
    return RefusedByBotApi(code, description or USUAL.get(code, "Error"), **more)
