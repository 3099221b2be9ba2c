"""The keys of an agent's messages, made and read in one place.

A delivery's message is `d:ID`. Step n of a turn is `t:TURN:n` (its text), `t:TURN:n:CALL` (a call, from 1)
and `t:TURN:n:CALL:r` (its result); `t:TURN:end` is what onechat itself says when it ends a turn. A subagent's
log begins with `note`.
"""

from dataclasses import dataclass
from typing import Final

from onechat_agent.domain.delivery import DeliveryId, TurnId

NOTE_KEY: Final = "note"  #: of what a subagent's log begins with


def delivery_key(delivery: DeliveryId) -> str:
    """The key of a delivery's message in its agent's log."""
    return f"d:{delivery}"


def text_key(turn: TurnId, step: int) -> str:
    """The key of what the model said in a step."""
    return f"t:{turn}:{step}"


def call_key(turn: TurnId, step: int, call: int) -> str:
    """The key of a step's call, numbered from 1; the request id of what it asks others to do."""
    return f"t:{turn}:{step}:{call}"


def result_key(turn: TurnId, step: int, call: int) -> str:
    """The key of a call's result."""
    return f"t:{turn}:{step}:{call}:r"


def end_key(turn: TurnId) -> str:
    """The key of the words with which onechat itself ends a turn."""
    return f"t:{turn}:end"


def task_key(call: str, task: int) -> str:
    """The delivery key of the tasks of a spawn, numbered from 1; `call` is the call's key."""
    return f"{call}:{task}"


def is_of_turn(key: str, turn: TurnId) -> bool:
    """Whether a delivery with `key` is what `turn` told or gave an agent to do."""
    return key.startswith(f"t:{turn}:")


def report_key(turn: TurnId) -> str:
    """The delivery key of a turn's final reply on its way to parent or owner."""
    return f"r:{turn}"


def run_key(proposal: int) -> str:
    """The request id of what a proposal of that number does once it has its yes."""
    return f"p:{proposal}"


def is_run_key(key: str) -> bool:
    """Whether a call with `key` runs what the user has said yes to."""
    return key.startswith("p:")


def outcome_key(proposal: int, turn: TurnId) -> str:
    """The delivery key of how a proposal of `turn` went; `p:N` is its run's id.

    With the turn, which is random: else a gateway could foretell it, and have its own words in this place.
    """
    return f"p:{proposal}:{turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a message of a turn is."""

    step: int
    call: int = 0  #: 0: the step's text
    result: bool = False


def place_in_turn(key: str, turn: TurnId) -> Place | None:
    """Which step, call or result of `turn` a message with `key` is; None for a delivery or another turn's."""
    head = f"t:{turn}:"
    if not key.startswith(head):
        return None
    parts = key[len(head) :].split(":")
    if not all(part.isdecimal() for part in parts[:2]):
        return None
    match parts:
        case [step]:
            return Place(step=int(step))
        case [step, call]:
            return Place(step=int(step), call=int(call))
        case [step, call, "r"]:
            return Place(step=int(step), call=int(call), result=True)
        case _:
            return None
