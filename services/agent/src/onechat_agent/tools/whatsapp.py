"""whatsapp_find and whatsapp_send: the root finds chats on WhatsApp and writes to them as the user.

The model's own id of a message is the send's request id, so that a call that is made again sends nothing
twice; a call that has had the user's yes runs under its proposal's instead. Consent stands before a send
(domain/consent.py). How the gateway is reached: adapters/whatsapp.py. Times are the user's.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final, Protocol

import grpc
from onechat_runtime.errors import RemoteError, retriable

from onechat_agent.domain.images import image_name
from onechat_agent.domain.keys import is_run_key
from onechat_agent.domain.text import one_line, plain_line
from onechat_agent.domain.whatsapp import Chat, Found, SendState, Sent, WhatsAppRefused
from onechat_agent.tools.schema import function_schema, optional, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

WHY_SHOWN: Final = 200  # characters of the gateway's reason
NAME_SHOWN: Final = 100  # characters of a chat's name; whoever made the group chose it
_ID: Final = re.compile(r"[ -~]{1,150}")  # with what goes before it, a request id
_OWN: Final = "id:"  # before a model's own id, so that none is a proposal's
_SOURCE: Final = "whatsapp:"  # before a chat's id, where a delivery's source names it
_HIDDEN_NUMBER: Final = "@lid"  # what a person's other id ends with, which holds no phone number
_LOOK: Final = "the user should look at the chat"


class Messenger(Protocol):
    """The user's WhatsApp; its calls raise RemoteError."""

    async def find(self, name: str) -> Found:
        """Chats whose name holds `name`, or the one of that id. Raises WhatsAppRefused."""
        ...

    async def send(self, chat: str, text: str, *, image: bytes | None, request_id: str) -> Sent:
        """Sends a message, once for the same `request_id`, whatever it says. Raises WhatsAppRefused."""
        ...


class StoredImages(Protocol):
    """Pictures by their stored names."""

    async def content(self, name: str) -> bytes:
        """The picture's bytes. Raises RemoteError."""
        ...


class WhatsAppFindTool:
    """Finds contacts and groups."""

    name = "whatsapp_find"
    resumption = Resumption.AGAIN
    schema = function_schema(
        "whatsapp_find",
        "Find the user's contacts and groups on WhatsApp by a part of their name, whatever its case and "
        "accents; at most 20: ID | name | contact or group.",
        name=text("A part of the name, such as `anna`."),
    )

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """A line each."""
        name = arguments["name"].strip()
        if not name:
            return _failed("Nothing was looked for: give a part of the name.")
        try:
            found = await self._messenger.find(name)
        except WhatsAppRefused as refused:
            return _failed(str(refused))
        except RemoteError as error:
            return _failed(f"{_away(error)}: nothing was looked for.")
        if not found.chats:
            whose = "No contact" if found.groups_missing else "No contact and no group"
            none = f"{whose} has `{one_line(name, 60)}` in its name. {found.groups_missing}"
            return ToolResult(text=none.rstrip())
        lines = [f"{chat.id} | {_shown(chat)} | {chat.kind}" for chat in found.chats]
        lines += ["There are more: give more of the name."] if found.more else []
        lines += [found.groups_missing] if found.groups_missing else []
        return ToolResult(text="\n".join(lines))

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `whatsapp_find: anna`."""
        return f"whatsapp_find: {arguments['name']}"


class WhatsAppSendTool:
    """Sends a message as the user."""

    name = "whatsapp_send"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "whatsapp_send",
        "Send a message on WhatsApp from the user's own account. Only what the user asked for, and only to "
        "the chat that the user named: if several fit the name, ask which one. It cannot be taken back.",
        id=text(
            "Your own id for this one message, never used before: a word of it with the date and time, such "
            "as dentist-2027-01-05-1405. The same id again sends nothing and gives the first answer."
        ),
        chat=text("The chat's id, as whatsapp_find or the first line of its messages gives it."),
        text=text("The message, word for word as the other side gets it. With an image, its caption."),
        image=optional(
            text("The stored name of a picture, as an `[image FILE]` line has it: FILE. Null for none.")
        ),
    )

    def __init__(self, messenger: Messenger, images: StoredImages, zone: tzinfo) -> None:
        """`zone`: the user's."""
        self._messenger = messenger
        self._images = images
        self._zone = zone

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """That it was sent; else what became of it."""
        own_id = arguments["id"].strip()
        if not _ID.fullmatch(own_id):
            return _failed("Nothing was sent: id is 1 to 150 letters, digits and signs of ASCII.")
        name = (arguments["image"] or "").strip()
        if not name and not arguments["text"].strip():
            return _failed("Nothing was sent: the message is empty.")
        picture = await self._picture(name) if name else None
        if isinstance(picture, str):
            return _failed(f"Nothing was sent: {picture}.")
        try:
            sent = await self._messenger.send(
                _chat_id(arguments["chat"]),
                arguments["text"],
                image=picture,
                request_id=context.call_key if is_run_key(context.call_key) else _OWN + own_id,
            )
        except WhatsAppRefused as refused:
            return _failed(_unsent(str(refused)))
        except RemoteError as error:
            return _not_answered(error)
        return self._other(sent, own_id) if sent.other_message else self._told(sent)

    async def beside(self, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """Whom the chat's id stands for, by the name that the user knows; never raises."""
        chat = _chat_id(arguments["chat"])
        try:
            found = await self._messenger.find(chat)
        except (WhatsAppRefused, RemoteError):
            return {"chat": "its name is not known"}
        meant = [one for one in found.chats if one.id == chat]
        if chat.endswith(_HIDDEN_NUMBER) and len(found.chats) == 1:
            meant = list(found.chats)  # one person has two ids, and is shown by the number
        return {"chat": f'the {meant[0].kind} "{_shown(meant[0])}"' if meant else "its name is not known"}

    def pictures(self, arguments: Mapping[str, Any]) -> Sequence[str]:
        """The picture that would be sent."""
        name = image_name((arguments["image"] or "").strip())
        return () if name is None else (name,)

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `whatsapp_send: to 15550002222@s.whatsapp.net, I am late`."""
        return f"whatsapp_send: to {one_line(arguments['chat'], 60)}, {arguments['text'] or 'a picture'}"

    async def _picture(self, name: str) -> bytes | str:
        """The picture of that name, or a clause that says why it cannot be had."""
        if image_name(name) is None:
            return "image is a stored name such as 0123456789abcdef.png, as an `[image FILE]` line has it"
        try:
            return await self._images.content(name)
        except RemoteError as error:
            if retriable(error.code):
                return "the memory service, which has the picture, could not be reached"
            return f"no picture {name} is stored, or its file is damaged"

    def _other(self, sent: Sent, own_id: str) -> ToolResult:
        """The id was another message's."""
        when = f" on {self._moment(sent.time)}" if sent.time else ""
        became = {
            SendState.SENT: "that one was sent",
            SendState.FAILED: "that one was not sent",
            SendState.UNKNOWN: f"it is not known whether that one was sent, and {_LOOK}",
        }[sent.state]
        return _failed(
            f"The id {own_id} was used{when} for another message, to {sent.chat}: {became}. This message was "
            "NOT sent. Take a new id and call again."
        )

    def _told(self, sent: Sent) -> ToolResult:
        match sent.state:
            case SendState.SENT:
                when = f", {self._moment(sent.time)}" if sent.time else ""
                return ToolResult(text=f"Sent to {sent.chat}{when}.")
            case SendState.FAILED:
                why = one_line(plain_line(sent.failure), WHY_SHOWN) or "WhatsApp did not take it."
                return _failed(f"It was not sent to {sent.chat}. {why}")
            case SendState.UNKNOWN:
                said = (
                    f"It is not known whether it was sent to {sent.chat}: the sending was interrupted, and "
                    f"it is not tried again by itself. Say so: {_LOOK}."
                )
                return ToolResult(text=said, failed=True, outcome_known=False)

    def _moment(self, time: datetime) -> str:
        return f"{time.astimezone(self._zone):%Y-%m-%d %H:%M}"


def _chat_id(chat: str) -> str:
    """A chat's id, also where it was given as a source."""
    return chat.strip().removeprefix(_SOURCE)


def _shown(chat: Chat) -> str:
    """The chat's name in a line of ours."""
    return one_line(plain_line(chat.name).replace("|", "/").replace('"', "'"), NAME_SHOWN)


def _unsent(refusal: str) -> str:
    """That nothing was sent and why; the gateway says the first itself of some refusals."""
    return refusal if "nothing was sent" in refusal.lower() else f"Nothing was sent. {refusal}"


def _away(error: RemoteError) -> str:
    away = retriable(error.code) or error.code is grpc.StatusCode.CANCELLED
    return f"The WhatsApp service {'could not be reached' if away else 'failed at this'}"


def _not_answered(error: RemoteError) -> ToolResult:
    if error.outcome_known:
        return _failed(f"{_away(error)}: nothing was sent.")
    said = (
        f"{_away(error)}: it is not known whether the message was sent. The same call with the same id says "
        "so, and sends nothing twice."
    )
    return ToolResult(text=said, failed=True, outcome_known=False)


def _failed(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, failed=True)
