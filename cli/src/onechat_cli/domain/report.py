"""What `onechat status` found, and what of it is wrong. Instants are aware and UTC, sizes bytes."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    """Whether a service answers."""

    SERVING = "serving"
    ENDING = "ending"  #: it answers that it does not serve
    AWAY = "away"
    REFUSING = "refusing"  #: it answers, and not this caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReport:
    """One service."""

    name: str
    address: str
    state: State
    version: str = ""
    schema: int = 0
    start_time: datetime | None = None
    missing: tuple[str, ...] = ()  #: neighbours that it does not reach
    troubles: tuple[str, ...] = ()  #: sentences
    remarks: tuple[str, ...] = ()
    fault: str = ""  #: why it is refusing


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """A messenger's link."""

    name: str
    state: str  #: as the contract names it, "not linked"
    lost: bool  #: it was set up and does not work
    said: tuple[str, ...] = ()  #: what else is worth knowing
    set_aside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """One agent."""

    name: str
    role: str
    doing: str
    waiting: int  #: deliveries that are not done
    model: str
    effort: str
    last_turn_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """The root's log."""

    messages: int
    view_lines: int
    view_bytes: int
    unbuilt_leaves: int
    failing_nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of it."""

    services: tuple[ServiceReport, ...] = ()
    links: tuple[LinkReport, ...] = ()
    agents: tuple[AgentReport, ...] = ()
    memory: MemoryReport | None = None
    hint: str = ""  #: what to do first
    faults: tuple[str, ...] = field(default=())  #: calls that did not work

    def wrong(self) -> list[str]:
        """A sentence for each thing that a person should look at; empty when all is well."""
        found = [self.hint] if self.hint else []
        for service in self.services:
            if service.state is State.AWAY:
                found.append(f"{service.name} does not answer at {service.address}.")
            elif service.state is State.ENDING:
                found.append(f"{service.name} is ending.")
            elif service.state is State.REFUSING:
                found.append(f"{service.name}: {service.fault}")
            found += [f"{service.name}: {sentence}" for sentence in service.troubles]
        explained = {service.name for service in self.services if service.troubles}
        for link in self.links:
            if link.lost and link.name not in explained:
                found.append(f"{link.name}: the link is lost: {link.state}.")
            if link.set_aside:
                found.append(f"{link.name}: {link.set_aside} set aside; its log says why.")
        return [*found, *self.faults]
