"""`onechat send`: one message, its reply on stdout, what went wrong on stderr."""

import asyncio
import json
import secrets
import sys
from collections.abc import Sequence

from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import RemoteError

from onechat_cli.adapters import picture_file
from onechat_cli.adapters.agent import AgentClient
from onechat_cli.chat.asking import Answer, Asking
from onechat_cli.commands.away import failure
from onechat_cli.config import CliSettings
from onechat_cli.domain.safe_text import harmless, sendable
from onechat_cli.domain.typed import Typed
from onechat_cli.outcome import CommandFailed, Exit


async def send(
    settings: CliSettings, text: str, *, images: Sequence[str] = (), as_json: bool, timeout_s: float
) -> Exit:
    """Send `text`, or what the input holds when it is "-", with the pictures in the files `images`, and print
    the reply.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace").strip("\n")
    if not text.strip() and not images:
        raise CommandFailed("There is nothing to send: the message is empty.")
    clock = SystemClock()
    async with AgentClient.connect(settings.agent_address, settings.operator_token()) as agent:
        await check_reachable(agent, settings)
        names = [await _stored(agent, image) for image in images]
        typed = Typed(key=new_key(), text=text, time=clock.now(), images=tuple(names))
        asking = Asking(agent, typed, clock)
        try:
            async with asyncio.timeout(timeout_s):
                answer = await asking.answer()
        except TimeoutError:
            if not asking.delivered:
                raise CommandFailed(
                    f"The message was not taken within {timeout_s:g} s, as far as is known. {asking.held} "
                    "`onechat status` shows what is wrong; then send it again."
                ) from None
            raise CommandFailed(
                f"No reply within {timeout_s:g} s. The message is kept, and `onechat chat` shows the reply."
            ) from None
    return _print(answer, typed, as_json=as_json)


async def _stored(agent: AgentClient, path: str) -> str:
    """The name under which the picture in the file `path` is stored now. Raises CommandFailed."""
    try:
        async with picture_file.opened(path) as pieces:
            return await agent.put_image(pieces)
    except picture_file.NoPicture as why:
        raise CommandFailed(str(why)) from None
    except RemoteError as error:
        raise CommandFailed(f"{path} was not accepted: {error.message}") from None


def new_key() -> str:
    """A key that no other message has."""
    return f"cli:{secrets.token_hex(12)}"


async def check_reachable(agent: AgentClient, settings: CliSettings) -> None:
    """CommandFailed, with what to do, when the agent service does not answer."""
    try:
        await agent.root()
    except RemoteError as error:
        raise (failure(error, settings, "agent") or error) from None


def _print(answer: Answer, typed: Typed, *, as_json: bool) -> Exit:
    if as_json:
        found = {
            "reply": answer.reply,
            "notice": answer.notice or None,
            "key": typed.key,
            "agent": answer.agent,
            "turn": answer.turn,
        }
        print(json.dumps(found, ensure_ascii=False))
    elif answer.reply:
        print(shown(answer.reply))
    if answer.reply is None:
        print(f"onechat: {harmless(answer.notice)}", file=sys.stderr)
        return Exit.WRONG
    return Exit.OK


def shown(text: str) -> str:
    """`text` as it is printed: harmless on a terminal, with nothing changed but lone surrogates elsewhere."""
    if sys.stdout.isatty():
        return harmless(text)
    return sendable(text)
