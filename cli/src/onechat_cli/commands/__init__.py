"""Runs the command that the command line chose: each in a room of its own."""

import argparse
import asyncio
import os

from onechat_runtime.errors import StartRefused

from onechat_cli.config import environment, settings_from


def run(chosen: argparse.Namespace) -> int:
    """Run `chosen.command`; its exit code. Raises StartRefused, CommandFailed, RemoteError."""
    if chosen.command == "tokens":
        from onechat_cli.commands.tokens import make_tokens

        return make_tokens(chosen.folder, chosen.owner)
    variables = environment()
    settings = settings_from(variables)
    match chosen.command:
        case "up":
            from onechat_cli.commands.up import up

            return asyncio.run(up(settings, variables, os.environ, demo=chosen.demo))
        case "chat":
            if chosen.demo and not chosen.up:
                raise StartRefused("--demo goes with --up: the services that run already have their model.")
            from onechat_cli.commands.chat import chat

            return asyncio.run(chat(settings, variables, start=chosen.up, demo=chosen.demo))
        case "send":
            from onechat_cli.commands.send import send

            return asyncio.run(
                send(
                    settings,
                    chosen.text,
                    images=chosen.image,
                    as_json=chosen.json,
                    timeout_s=chosen.timeout,
                )
            )
        case "status":
            from onechat_cli.commands.status import status

            return asyncio.run(status(settings, as_json=chosen.json))
        case "usage":
            from onechat_cli.commands.usage import usage

            return asyncio.run(usage(settings, since=chosen.since or "", as_json=chosen.json))
        case "memory":
            from onechat_cli.commands.memory import memory

            return asyncio.run(memory(settings, chosen))
        case "schedules":
            from onechat_cli.commands.schedules import schedules

            return asyncio.run(schedules(settings, chosen))
        case "telegram":
            from onechat_cli.commands.telegram import telegram

            return asyncio.run(telegram(settings, chosen))
        case "whatsapp":
            from onechat_cli.commands.whatsapp import whatsapp

            return asyncio.run(whatsapp(settings, chosen))
        case unknown:
            raise AssertionError(f"no command {unknown}")
