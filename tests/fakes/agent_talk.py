"""Scripts for agents that talk to each other: what whose model says, and children made by a real call.

The scripted model serves all agents of a house at once; a request is an agent's by the name that its prompt
begins with.
"""

from collections.abc import Callable
from typing import Any

from tests.fakes.agent_house import House
from tests.fakes.scripted_model import FOR_EVER, Answer, Call, Gate, Purpose, Script, call

__all__ = ["always", "holds", "make_child", "of", "says", "user_texts"]


def of(house: House, name: str) -> Callable[[Any], bool]:
    """Whether a request is of the agent of that name; empty is the root."""
    beginning = f"You are {name or house.seat.name},"
    return lambda body: str(body["instructions"]).startswith(beginning)


def says(house: House, name: str, *answers: Answer | Call | str) -> None:
    """The next answers of that agent's model; a call is one that makes this call alone."""
    house.model.script(
        *(Script(answer=_answer(one), purpose=Purpose.TURN, match=of(house, name)) for one in answers)
    )


def always(house: House, name: str, answer: Answer | Call | str) -> None:
    """What that agent's model says for good, once what was scripted before is used up."""
    script = Script(answer=_answer(answer), purpose=Purpose.TURN, match=of(house, name), times=FOR_EVER)
    house.model.script(script)


def holds(house: House, name: str, answer: Answer | Call | str) -> Gate:
    """The agent's next request waits at the gate that this gives; then comes the answer."""
    gate = Gate()
    script = Script(answer=_answer(answer), gate=gate, purpose=Purpose.TURN, match=of(house, name))
    house.model.script(script)
    return gate


async def make_child(house: House, name: str, area: str = "What concerns it") -> str:
    """A child made by the root on the user's word; its id."""
    says(house, "", call("agent_create", name=name, responsibility=area), f"{name} is there")
    await house.say(f"make {name}")
    return house.id_of(name)


def user_texts(body: Any) -> list[str]:
    """The texts of a request's user items, oldest first."""
    return [
        "".join(part.get("text", "") for part in item["content"])
        for item in body["input"]
        if item.get("role") == "user"
    ]


def _answer(said: Answer | Call | str) -> Answer:
    match said:
        case str():
            return Answer(text=said)
        case Answer():
            return said
        case _:
            return Answer(calls=(said,))
