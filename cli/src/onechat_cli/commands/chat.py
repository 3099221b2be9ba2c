"""`onechat chat`: opens the chat on a terminal or without one, and the services below it when asked."""

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack

from onechat_runtime.clock import Clock, SystemClock

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.chat.kept import Kept
from onechat_cli.commands.send import check_reachable, new_key, shown
from onechat_cli.config import CliSettings
from onechat_cli.outcome import Exit


async def chat(settings: CliSettings, variables: Mapping[str, str], *, start: bool, demo: bool) -> Exit:
    """The chat until the user leaves, or the input ends."""
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        if start:
            await _start_services(stack, settings, variables, clock, demo=demo)
        token = settings.operator_token()
        agent = await stack.enter_async_context(AgentClient.connect(settings.agent_address, token))
        if _on_terminal():
            await _on_screen(agent, Kept(settings.data), clock)
        else:
            await _without_screen(agent, settings, clock)
    return Exit.OK


async def _on_screen(agent: AgentClient, kept: Kept, clock: Clock) -> None:
    from onechat_cli.chat.conversation import Conversation
    from onechat_cli.chat.screen import Screen

    screen = Screen(str(kept.history))
    conversation = Conversation(agent, kept, screen, clock=clock, new_key=new_key)
    screen.attach(conversation)
    talking = asyncio.create_task(conversation.run())
    showing = asyncio.create_task(screen.run())
    try:
        done, _ = await asyncio.wait({talking, showing}, return_when=asyncio.FIRST_COMPLETED)
        screen.leave()
        await showing
        if talking in done:
            talking.result()  # it ends by itself only when something broke
    finally:
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
    if conversation.unsent:
        print(f"{conversation.unsent} not accepted yet; kept, and sent at the next chat", file=sys.stderr)


async def _without_screen(agent: AgentClient, settings: CliSettings, clock: Clock) -> None:
    from onechat_cli.chat.plain import Talk, input_lines, to_stderr

    await check_reachable(agent, settings)
    talk = Talk(
        agent=agent,
        clock=clock,
        new_key=new_key,
        answer=lambda text: print(shown(text), flush=True),
        aside=to_stderr,
    )
    await talk.take(input_lines(sys.stdin.fileno()))


async def _start_services(
    stack: AsyncExitStack, settings: CliSettings, variables: Mapping[str, str], clock: Clock, *, demo: bool
) -> None:
    from onechat_cli.up.remarks import remarks
    from onechat_cli.up.started import services

    live = sys.stderr.isatty()

    def progress(awaited: list[str]) -> None:
        if live:
            text = f"Starting {', '.join(awaited)} …" if awaited else ""
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def waiting() -> None:
        if live:
            text = "Waiting for services that are just starting or ending …"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def starting() -> None:
        progress([])
        for remark in remarks(variables, data=settings.data, demo=demo):
            print(remark, file=sys.stderr)
        if not live:
            print("Starting the services …", file=sys.stderr, flush=True)

    def ending() -> None:
        if live:
            print("Ending the services that were started here …", end="", file=sys.stderr, flush=True)

    await stack.enter_async_context(
        services(
            settings,
            os.environ,
            demo=demo,
            clock=clock,
            progress=progress,
            waiting=waiting,
            starting=starting,
            ending=ending,
        )
    )


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
