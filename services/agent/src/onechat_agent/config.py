"""The agent service's settings, read once."""

from dataclasses import dataclass
from pathlib import Path

from onechat_runtime.settings import Secret, ServiceSettings, address_of, one_of, secret, setting
from onechat_runtime.time_zone import zone_name

from onechat_agent.domain.agent import name_fault
from onechat_agent.domain.consent import Confirm
from onechat_agent.model import endpoint

DEFAULT_MODEL = "gpt-6.1-terra"  # one of the openai package's list; ONECHAT_MODEL names another
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SUBAGENTS_MAX = 100


def _name(text: str) -> str:
    if name_fault(text) is None:
        return text
    raise ValueError("write one word of 2 to 32 letters, a capital first, such as One; not All, not Root")


def _places(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= SUBAGENTS_MAX:
        return int(text)
    raise ValueError(f"write a whole number from 1 to {SUBAGENTS_MAX}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings(ServiceSettings):
    """What the agent service is told."""

    address: str = address_of("agent")
    memory_address: str = address_of("memory")
    scheduler_address: str = address_of("scheduler")
    whatsapp_address: str = address_of("whatsapp")
    name: str = setting("ONECHAT_NAME", parse=_name, default="One", doc="the agent's name")
    zone: str | None = setting(
        "ONECHAT_TIME_ZONE",
        parse=zone_name,
        default=None,
        doc="the user's IANA time zone, such as Europe/Rome; unset: the machine's",
    )
    agents: Path | None = setting(
        "ONECHAT_AGENTS",
        parse=Path,
        default=None,
        doc="folder of the agents' agent.toml and instructions.md; unset: DATA/agent/agents",
    )
    workdir: Path = setting(
        "ONECHAT_WORKDIR",
        parse=Path,
        default=Path("workspace"),
        doc="where the agent's shell starts and relative paths begin; it is no fence",
    )
    api_key: Secret | None = secret("OPENAI_API_KEY", doc="the model's key; unset: the demo model answers")
    base_url: str | None = setting(
        "OPENAI_BASE_URL",
        parse=endpoint.base_url,
        default=None,
        doc="another server with the Responses API; unset: OpenAI's",
    )
    model: str = setting("ONECHAT_MODEL", default=DEFAULT_MODEL, doc="the model of turns")
    compact_model: str | None = setting(
        "ONECHAT_COMPACT_MODEL", default=None, doc="the model of compactions; unset: the same"
    )
    effort: str = setting(
        "ONECHAT_EFFORT",
        parse=one_of(*EFFORTS),
        default="medium",
        doc=f"how hard the model thinks: {', '.join(EFFORTS)}",
    )
    lacks: frozenset[endpoint.Lack] | None = setting(
        "ONECHAT_ENDPOINT_LACKS",
        parse=endpoint.lacks,
        default=None,
        doc="what the model's server cannot do, with commas; unset: by its address",
    )
    confirm: str = setting(
        "ONECHAT_CONFIRM",
        parse=one_of(*Confirm),
        default=Confirm.OUTSIDE.value,
        doc="what needs your yes: outside (acts after outside text came in) or always (every send)",
    )
    subagents: int = setting(
        "ONECHAT_SUBAGENTS",
        parse=_places,
        default=8,
        doc="how many subagents work at once, of all agents together; more wait",
    )
    demo: bool = setting(
        "ONECHAT_DEMO",
        parse=lambda text: one_of("1", "0")(text) == "1",
        default=False,
        doc="1: the demo model answers, whatever key is set",
    )

    @property
    def agents_folder(self) -> Path:
        """Where the agents' folders lie."""
        return self.agents or self.data / "agent" / "agents"

    @property
    def wants_demo(self) -> bool:
        """Whether the demo model is to answer: no key and no other server, or asked for."""
        return self.demo or (self.api_key is None and self.base_url is None)
