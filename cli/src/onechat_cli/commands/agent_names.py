"""The agents' names, for commands that show what another service keeps by the agents' ids."""

from typing import Final

from onechat_runtime.errors import RemoteError

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.config import CliSettings
from onechat_cli.domain.agent_names import Names

NOT_SAID: Final = "The agent service does not say its agents' names: they stand here by their ids."


async def names_of_agents(settings: CliSettings) -> Names | None:
    """The agents' names by their ids; None where the agent service does not say."""
    async with AgentClient.connect(settings.agent_address, settings.operator_token()) as agent:
        try:
            return dict(await agent.ids())
        except RemoteError:
            return None
