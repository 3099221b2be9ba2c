"""`onechat usage`: model calls by day, agent, purpose and model."""

import dataclasses
import json

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.commands.send import check_reachable
from onechat_cli.config import CliSettings
from onechat_cli.domain.spent import lines_of
from onechat_cli.outcome import Exit


async def usage(settings: CliSettings, *, since: str, as_json: bool) -> Exit:
    """Print the usage from the day `since`, YYYY-MM-DD, or of thirty days when it is empty."""
    async with AgentClient.connect(settings.agent_address, settings.operator_token()) as agent:
        await check_reachable(agent, settings)
        spent = await agent.usage(since)
    if as_json:
        rows = [{**dataclasses.asdict(one), "cache_read_share": one.cache_read_share} for one in spent]
        print(json.dumps({"usage": rows}, ensure_ascii=False))
    elif spent:
        for line in lines_of(spent):
            print(line)
    else:
        print("no model calls in that time")
    return Exit.OK
