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
    lift_the_days_limit(data)
    return {
        "ONECHAT_AGENTS": str(data / "agents"),
        "ONECHAT_MEMORY_ADDRESS": memory.address,
        "ONECHAT_NAME": LABEL,
        "ONECHAT_TIME_ZONE": "Europe/Rome",
        "ONECHAT_WORKDIR": str(data.with_name("workspace")),
        "OPENAI_BASE_URL": url,
    }


def lift_the_days_limit(data: Path) -> None:
    """So many turns in a minute take a day's tokens; what waited then would wait for tomorrow."""
    for settings in data.glob("agents/*/agent.toml"):
        text = settings.read_text(encoding="utf-8")
        if "\n[limits]\n" not in text:
            settings.write_text(f"{text}\n[limits]\ntokens_per_day = {10**12}\n", encoding="utf-8")
