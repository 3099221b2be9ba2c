"""The administrators' commands: /bot status, /bot clear-memory and its confirmation. No model is asked."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from onechat_telegram.groups.domain.messages import Command

NAME: Final = "bot"
CONFIRM_WITHIN: Final = timedelta(minutes=5)


class AdminCommand(StrEnum):
    """What an administrator may ask of the gateway itself."""

    STATUS = "status"
    CLEAR = "clear-memory"
    CONFIRM = "clear-memory yes"
    CHOOSE = "group"  #: in private: of which group we speak; anybody may
    USAGE = "usage"  #: anything else that begins with /bot


def admin_command(command: Command | None) -> AdminCommand | None:
    """Which of them `command` is; None for a command of another name."""
    if command is None or command.name.casefold() != NAME:
        return None
    asked = " ".join(command.rest.split()).casefold()
    known = (AdminCommand.STATUS, AdminCommand.CLEAR, AdminCommand.CONFIRM, AdminCommand.CHOOSE)
    return next((each for each in known if asked == each), AdminCommand.USAGE)


def confirms(asked: datetime | None, now: datetime) -> bool:
    """Whether a confirmation at `now` still answers what was asked at `asked`; a clock may have stepped."""
    return asked is not None and abs(now - asked) <= CONFIRM_WITHIN
