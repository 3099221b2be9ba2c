"""An agent service whose root is the agent of a made log: what it is told to be that."""

from pathlib import Path

from onechat_agent.adapters import agent_folder
from onechat_agent.domain.chat import AgentId

from bench.made_log import LABEL, LOG
from bench.processes import ServiceProcess


def told_with_root(data: Path, memory: ServiceProcess, url: str) -> dict[str, str]:
    """Make the root's folder in `data`, with the id of the made log; the service's settings.

    `url` is the base URL of its model's server.
    """
    agent_folder.make_root(data / "agents")
    agent_folder.make(data / "agents", LABEL, AgentId(LOG))
    return {
        "ONECHAT_AGENTS": str(data / "agents"),
        "ONECHAT_MEMORY_ADDRESS": memory.address,
        "ONECHAT_NAME": LABEL,
        "ONECHAT_TIME_ZONE": "Europe/Rome",
        "ONECHAT_WORKDIR": str(data.with_name("workspace")),
        "OPENAI_BASE_URL": url,
    }
