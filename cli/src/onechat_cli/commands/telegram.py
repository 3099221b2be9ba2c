"""`onechat telegram`: the groups that the bot is in; which of them are served, and how each is set."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from onechat_runtime.errors import RemoteError, StartRefused

from onechat_cli.adapters.telegram import TelegramClient
from onechat_cli.commands.agent_names import NOT_SAID, names_of_agents
from onechat_cli.commands.away import failure
from onechat_cli.commands.printed import columns, print_json, print_text, remark
from onechat_cli.commands.send import new_key
from onechat_cli.config import CliSettings
from onechat_cli.domain.agent_names import agent_name
from onechat_cli.domain.groups import (
    NO_GROUP,
    WITHOUT_GROUPS,
    Changes,
    Group,
    NotOneGroup,
    group_lines,
    group_row,
    meant,
    settings_of,
    title_of,
)
from onechat_cli.outcome import CommandFailed, Exit


async def telegram(settings: CliSettings, chosen: argparse.Namespace) -> Exit:
    """Run the part of the command that `chosen.part` names."""
    changes = _changes(chosen) if chosen.part == "set" else Changes()
    async with _calling(settings) as client:
        match chosen.part:
            case "groups":
                return await show(client, settings, as_json=chosen.json)
            case "set":
                return await change(client, settings, chosen.chat, changes, as_json=chosen.json)
            case "admit":
                return await admit(client, settings, chosen.chat, as_json=chosen.json)
            case "remove":
                return await remove(client, settings, chosen.chat, as_json=chosen.json)
            case unknown:
                raise AssertionError(f"no part {unknown}")


async def show(client: TelegramClient, settings: CliSettings, *, as_json: bool) -> Exit:
    """Print every group that the bot is in."""
    found, names = await asyncio.gather(client.groups(), names_of_agents(settings))
    if as_json:
        print_json({"groups": [group_row(one, names or {}) for one in found]})
        return Exit.OK
    if not found:
        remark(await _why_none(client))
        return Exit.OK
    print_text("\n".join(group_lines(found, names or {}, columns())))
    if names is None and any(one.agent for one in found):
        remark(NOT_SAID)
    return Exit.OK


async def change(
    client: TelegramClient, settings: CliSettings, chat: str, changes: Changes, *, as_json: bool
) -> Exit:
    """Set a group anew and print how it is set then."""
    group = await _group(client, chat)
    with _still_there(group):
        group = await client.set(changes.applied(group), request_id=new_key())
    if as_json:
        print_json({"group": group_row(group, await names_of_agents(settings) or {})})
    else:
        print_text(f"{title_of(group)} is set: {settings_of(group)}")
    return Exit.OK


async def admit(client: TelegramClient, settings: CliSettings, chat: str, *, as_json: bool) -> Exit:
    """Have a group served and print which agent serves it."""
    group = await _group(client, chat)
    with _still_there(group):
        group = await client.admit(group.chat, request_id=new_key())
    names = await names_of_agents(settings) or {}
    if as_json:
        print_json({"group": group_row(group, names)})
    else:
        print_text(f"{title_of(group)} is served, by the agent {agent_name(group.agent, names)}")
    return Exit.OK


async def remove(client: TelegramClient, settings: CliSettings, chat: str, *, as_json: bool) -> Exit:
    """Leave a group and print which one it was."""
    group = await _group(client, chat)
    with _still_there(group):
        await client.remove(group.chat, request_id=new_key())
    if as_json:
        print_json({"removed": group_row(group, await names_of_agents(settings) or {})})
    else:
        kept = "; its agent and its log are kept" if group.agent else ""
        print_text(f"The bot has left {title_of(group)}{kept}")
    return Exit.OK


def _changes(chosen: argparse.Namespace) -> Changes:
    """What the flags change. Raises StartRefused where there is none."""
    changes = Changes(
        detector=chosen.detector,
        names=None if chosen.names is None else tuple(chosen.names),
        ask_model=chosen.ask_model,
        learn=chosen.learn,
        private_chats=chosen.private,
    )
    if changes.is_empty:
        raise StartRefused("There is nothing to set: `onechat telegram set --help` shows what can be.")
    return changes


@asynccontextmanager
async def _calling(settings: CliSettings) -> AsyncIterator[TelegramClient]:
    """A client of the telegram service; CommandFailed, with what to do, when the service is not there."""
    async with TelegramClient.connect(settings.telegram_address, settings.operator_token()) as client:
        try:
            yield client
        except RemoteError as error:
            raise (failure(error, settings, "telegram") or error) from None


async def _group(client: TelegramClient, chat: str) -> Group:
    """The group that `chat` names; CommandFailed, with what to do, where that is not one."""
    groups = await client.groups()
    if not groups:
        raise CommandFailed(await _why_none(client))
    try:
        return meant(groups, chat)
    except NotOneGroup as why:
        raise CommandFailed(str(why)) from None


async def _why_none(client: TelegramClient) -> str:
    """Why the bot is in no group, a sentence."""
    return WITHOUT_GROUPS.get(await client.link(), NO_GROUP)


@contextmanager
def _still_there(group: Group) -> Iterator[None]:
    """CommandFailed when the bot is out of `group` by the time of the call."""
    try:
        yield
    except RemoteError as error:
        if error.reason != "GROUP_UNKNOWN":
            raise
        raise CommandFailed(f"The bot is no longer in {title_of(group)}.") from None
