"""What agents say to each other: what one tells another, and what its turn ends with. Pure.

Their keys are made from their place, so that a restart sends nothing twice: a tell's is its call's, a
report's its turn's. Who gets a report is settled by whose the agent is. How they are queued: queue.py.
"""

from dataclasses import dataclass
from typing import Final

from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import IMAGES_MAX, NewDelivery, TurnId
from onechat_agent.domain.images import image_name
from onechat_agent.domain.keys import report_key

SUBAGENT_TOLD_MAX: Final = 100_000  #: UTF-8 bytes at once; each call of a subagent shows all it was ever told


class TellRefused(Exception):
    """Nobody was told anything; its text is a clause that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Who has what was told."""

    name: str
    wakes: bool  #: whether that one goes to work on it
    hops: int


def report(turn: TurnId, *, sender: AgentId, name: str, to: AgentId, text: str, hops: int) -> NewDelivery:
    """What an agent's turn ended with, on its way to whose it is; `hops` of the turn.

    The user does not stand behind it, and what is in it may come from anywhere.
    """
    return NewDelivery(
        key=report_key(turn),
        to=to,
        source=sender,
        kind=Kind.WORK,
        text=f"[{name}] {text.strip()}",
        wakes_root=True,
        tainted=True,
        hops=hops + 1,
    )


def told(
    *,
    key: str,
    sender: AgentId,
    to: AgentId,
    text: str,
    images: tuple[str, ...] = (),
    backed: bool,
    tainted: bool,
    hops: int,
) -> NewDelivery:
    """What an agent tells another in a call with `key`; `backed`, `tainted` and `hops` are its turn's."""
    return NewDelivery(
        key=key,
        to=to,
        source=sender,
        kind=Kind.USER,
        text=text,
        images=images,
        wakes_root=True,
        backed=backed,
        tainted=tainted,
        hops=hops + 1,
    )


def pictures(text: str) -> tuple[str, ...]:
    """The stored names on the `[image FILE]` lines of `text`, each once, in order; of very many the last."""
    lines = (line.strip() for line in text.splitlines())
    named = (line[7:-1] for line in lines if line.startswith("[image ") and line.endswith("]"))
    names = dict.fromkeys(name for name in named if image_name(name))
    return tuple(names)[-IMAGES_MAX:]
