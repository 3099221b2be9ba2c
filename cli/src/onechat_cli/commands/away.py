"""What to say, and what to do, when a service that a command calls is not there or knows no such token."""

from typing import Final

from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.config import CliSettings
from onechat_cli.outcome import CommandFailed

_TOKEN_REASONS: Final = ("TOKEN_UNKNOWN", "TOKEN_MISSING")


def failure(error: RemoteError, settings: CliSettings, service: str) -> CommandFailed | None:
    """The end of a command whose call to `service` gave `error`; None where the service answered itself."""
    if error.reason in _TOKEN_REASONS:
        return CommandFailed(f"The {service} service does not know this token: see ONECHAT_TOKEN_FILE.")
    if error.reason or not retriable(error.code):
        return None
    return CommandFailed(
        f"The {service} service does not answer at {settings.addresses[service]}: "
        f"start it with `onechat up`, or set ONECHAT_{service.upper()}_ADDRESS."
    )
