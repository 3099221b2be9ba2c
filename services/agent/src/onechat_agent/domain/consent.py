"""Which tool calls run at once and which ones the user must agree to first.

It is decided outside the prompt, so that nothing that a model reads can change it. Backed: the user stands
behind the turn. Tainted: text from outside has entered it, by output of shell or read, a zoomed message from
outside, or a child's report. What a turn is, and what hands backing on: turn.py and queue.py.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Confirm(StrEnum):
    """The setting ONECHAT_CONFIRM: what needs the user's yes."""

    OUTSIDE = "outside"  #: what turns with outside text in them do
    ALWAYS = "always"  #: and every send to a messenger


class Weight(StrEnum):
    """How far the effect of a tool reaches."""

    LIGHT = "light"  #: reads, shows, or speaks inside the house
    HANDS = "hands"  #: works on this machine
    GRAVE = "grave"  #: reaches others, or changes what later turns may do


WEIGHTS: Final[Mapping[str, Weight]] = {
    "zoom": Weight.LIGHT,
    "date": Weight.LIGHT,
    "read": Weight.LIGHT,
    "whatsapp_find": Weight.LIGHT,
    "schedule_list": Weight.LIGHT,
    "routes": Weight.LIGHT,
    "image_show": Weight.LIGHT,
    "tell": Weight.LIGHT,
    "spawn": Weight.LIGHT,
    "schedule_set": Weight.LIGHT,  # what its runs may do is settled by their backing
    "shell": Weight.HANDS,
    "write": Weight.HANDS,
    "edit": Weight.HANDS,
    "whatsapp_send": Weight.GRAVE,
    "route": Weight.GRAVE,
    "unroute": Weight.GRAVE,
    "agent_create": Weight.GRAVE,
    "schedule_remove": Weight.GRAVE,
}

SENDS: Final = frozenset({"whatsapp_send"})
OUTSIDE_MAY: Final = frozenset(name for name, weight in WEIGHTS.items() if weight is Weight.HANDS)
GROUP_MAY: Final = OUTSIDE_MAY | {"read"}  #: what the user can give to the agent of a group


class Why(StrEnum):
    """Why a call needs the user's yes; its value says so to the model."""

    UNBACKED = "the user does not stand behind this turn"
    TAINTED = "text from outside has entered this turn"
    EVERY_SEND = "every send is asked for"


@dataclass(frozen=True, slots=True)
class Runs:
    """The call runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposes:
    """The call needs the user's yes."""

    what: str  #: the tool, and what of it is grave
    why: Why
    could_be_allowed: bool = False  #: agent.toml could let this agent's unbacked turns do it

    def sentence(self, number: int) -> str:
        """For the model: that it did not run, why, and what to do now that it is proposal `number`."""
        said = (
            f"{self.what} was not run: {self.why}, so it needs the user's yes. It is now proposal {number}, "
            "which the user is shown word for word. Say in your reply what awaits their yes, and go on "
            "without it. How it went comes as a message."
        )
        if self.could_be_allowed:
            said += (
                " The user can allow it for turns like this one by adding "
                f'"{self.what}" to `outside` in agent.toml.'
            )
        return said


def decide(
    tool: str,
    *,
    backed: bool,
    tainted: bool,
    confirm: Confirm,
    outside: Collection[str],
    touches_protected: bool,
) -> Runs | Proposes:
    """Whether a call of `tool` runs in such a turn.

    `outside` is the agent's own list of what its unbacked turns may do; only shell, write and edit count in
    it. `touches_protected`: the call would change instructions.md or agent.toml. A tool that the table does
    not know is treated as grave.
    """
    weight = Weight.GRAVE if touches_protected else WEIGHTS.get(tool, Weight.GRAVE)
    match weight:
        case Weight.LIGHT:
            return Runs()
        case Weight.HANDS:
            if backed or (tool in OUTSIDE_MAY and tool in outside):
                return Runs()
            return Proposes(what=tool, why=Why.UNBACKED, could_be_allowed=True)
        case Weight.GRAVE:
            if confirm is Confirm.ALWAYS and tool in SENDS:
                return Proposes(what=tool, why=Why.EVERY_SEND)
            if backed and not tainted:
                return Runs()
            what = f"{tool} on instructions.md or agent.toml" if touches_protected else tool
            return Proposes(what=what, why=Why.TAINTED if backed else Why.UNBACKED)
