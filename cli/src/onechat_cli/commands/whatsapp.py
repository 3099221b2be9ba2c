"""`onechat whatsapp`: how the link to WhatsApp is, and which of its chats are routed to a child."""

import argparse
import asyncio
from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

from onechat_runtime.errors import RemoteError
from onechat_runtime.time_zone import machine_zone

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.adapters.whatsapp import WhatsAppClient
from onechat_cli.commands.away import failure
from onechat_cli.commands.printed import print_json, print_text, remark
from onechat_cli.config import CliSettings, environment
from onechat_cli.domain.whatsapp import Link, Route, link_lines, link_row
from onechat_cli.domain.zones import zone_of
from onechat_cli.outcome import Exit

_ROUTES_NOT_SAID: Final = "The agent service does not say which chats are routed."


async def whatsapp(settings: CliSettings, chosen: argparse.Namespace, zone: tzinfo | None = None) -> Exit:
    """Run the part of the command that `chosen.part` names; times in `zone`, the user's unless given."""
    match chosen.part:
        case "status":
            return await status(settings, zone or zone_told(environment()), as_json=chosen.json)
        case unknown:
            raise AssertionError(f"no part {unknown}")


async def status(settings: CliSettings, zone: tzinfo, *, as_json: bool) -> Exit:
    """Print how the link is, and the routes; Exit.WRONG for a link that is lost."""
    link, routes = await asyncio.gather(_link(settings), _routes(settings))
    if as_json:
        print_json(link_row(link, routes))
    else:
        print_text("\n".join(link_lines(link, routes, zone)))
        if routes is None:
            remark(_ROUTES_NOT_SAID)
    return Exit.WRONG if link.lost else Exit.OK


async def _link(settings: CliSettings) -> Link:
    """How the link is; CommandFailed, with what to do, when the gateway is not there."""
    async with WhatsAppClient.connect(settings.whatsapp_address, settings.operator_token()) as client:
        try:
            return await client.link()
        except RemoteError as error:
            raise (failure(error, settings, "whatsapp") or error) from None


async def _routes(settings: CliSettings) -> list[Route] | None:
    """The routes; None where the agent service does not say."""
    async with AgentClient.connect(settings.agent_address, settings.operator_token()) as agent:
        try:
            return [Route(source=source, agent=name) for source, name in await agent.routes()]
        except RemoteError:
            return None


def zone_told(variables: Mapping[str, str]) -> tzinfo:
    """The zone in which the services tell times: the one that is set, else the machine's."""
    return zone_of(variables.get("ONECHAT_TIME_ZONE") or machine_zone(variables))
