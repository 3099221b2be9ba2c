"""Keyboards under a message and the command menu, as the Bot API checks them. Data of a button is UTF-8
bytes.

Only inline keyboards are known here.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.bot_api_fields import structured
from tests.fakes.bot_api_refusals import refused

BUTTON_DATA_MAX = 64
BUTTONS_MAX = 100  # in one keyboard
COMMANDS_MAX = 100
DESCRIPTION_MAX = 256

_ACTIONS = {
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
}
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


def inline_keyboard(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The reply_markup of a call as a message shows it; nothing where there is none."""
    markup = structured(fields, "reply_markup")
    if markup is None:
        return {}
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise refused("object expected as reply markup")
    buttons = [button for row in rows for button in row]
    if len(buttons) > BUTTONS_MAX:
        raise refused("reply markup is too long")
    for button in buttons:
        _check_button(button)
    shown = [row for row in rows if row]
    return {"reply_markup": {"inline_keyboard": shown}} if shown else {}


def _check_button(button: Any) -> None:
    if not isinstance(button, dict) or not isinstance(button.get("text"), str) or not button["text"].strip():
        raise refused("can't parse inline keyboard button: field text must be a non-empty String")
    actions = _ACTIONS & set(button)
    if not actions:
        raise refused("can't parse inline keyboard button: text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        raise refused("can't parse inline keyboard button: it can do one thing alone")
    if "url" in button and urlsplit(str(button["url"])).scheme not in {"http", "https", "tg"}:
        raise refused("BUTTON_URL_INVALID")
    if "callback_data" in button:
        data = button["callback_data"]
        if not isinstance(data, str) or not 1 <= len(data.encode()) <= BUTTON_DATA_MAX:
            raise refused("BUTTON_DATA_INVALID")


def checked_commands(commands: Any) -> list[dict[str, str]]:
    """A menu of BotCommand."""
    if not isinstance(commands, list):
        raise refused("commands must be an Array of BotCommand")
    if len(commands) > COMMANDS_MAX:
        raise refused("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not isinstance(command, dict) or not _COMMAND.fullmatch(str(command.get("command", ""))):
            raise refused("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= DESCRIPTION_MAX:
            raise refused("BOT_COMMAND_DESCRIPTION_INVALID")
    return commands
