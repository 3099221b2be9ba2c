"""What the telegram service refuses with, each with the reason that its contract names.

The sentence of each helps whoever reads it at a terminal.
"""

from grpc import StatusCode
from onechat_runtime.errors import BadPage, ServiceError

__all__ = ["BadPage"]


class GroupUnknown(ServiceError):
    """The bot is in no such group. List the groups to see those that it is in."""

    code, reason = StatusCode.NOT_FOUND, "GROUP_UNKNOWN"


class SettingInvalid(ServiceError):
    """A group's detector is DETECTOR_SIMPLE, DETECTOR_MODEL or DETECTOR_HYBRID."""

    code, reason = StatusCode.INVALID_ARGUMENT, "SETTING_INVALID"


class NoToken(ServiceError):
    """There is no bot: set TELEGRAM_TOKEN to a token from @BotFather, then start the service again."""

    code, reason = StatusCode.FAILED_PRECONDITION, "NO_TOKEN"


class NotConnected(ServiceError):
    """Telegram cannot be asked now, and nothing was changed. Try again; `onechat status` shows the link."""

    code, reason = StatusCode.UNAVAILABLE, "NOT_CONNECTED"
