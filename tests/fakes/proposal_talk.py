"""Short ways to proposals, for tests: have something held back, answer it, see what became of it."""

import asyncio
from typing import Any

from onechat.agent.v1 import agent_service_pb2
from onechat_agent.adapters import delivery_rows

from tests.fakes.agent_house import TIMEOUT_S, House
from tests.fakes.far_tools import send
from tests.fakes.scripted_model import Answer, ScriptedModel, call

BATCH: dict[str, Any] = {  # what others wrote: nothing grave, and no hand, comes of it without a yes
    "caller": "whatsapp",
    "source": "whatsapp:15550002222@s.whatsapp.net",
    "wakes_root": True,
}


async def proposed(house: House, model: ScriptedModel, *calls: Any) -> None:
    """A batch sets the root to work, and the model makes these calls; without any, a send."""
    model.say(Answer(calls=calls or (call("whatsapp_send", **send()),)), "I have asked.")
    await house.ended(await house.deliver("do it", **BATCH))


async def answer(house: House, number: int = 1, *, yes: bool, caller: str = "operator", **more: Any) -> Any:
    """The proposal after an answer."""
    request = agent_service_pb2.AnswerProposalRequest(number=number, yes=yes, **more)
    return (await house.stub(caller).AnswerProposal(request, timeout=TIMEOUT_S)).proposal


def answer_soon(house: House, number: int = 1) -> "asyncio.Future[Any]":
    """A yes that nobody waits for: its run is held, or the service ends."""
    task = asyncio.ensure_future(answer(house, number, yes=True))
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


async def command(house: House, line: str, request_id: str = "") -> str:
    """The answer to a command line."""
    request = agent_service_pb2.RunCommandRequest(line=line, request_id=request_id)
    return str((await house.stub().RunCommand(request, timeout=TIMEOUT_S)).answer)


async def listed(house: House, **fields: Any) -> list[Any]:
    """The proposals, newest first."""
    request = agent_service_pb2.ListProposalsRequest(**fields)
    return list((await house.stub().ListProposals(request, timeout=TIMEOUT_S)).proposals)


def states(house: House, number: int = 1) -> list[int]:
    """The states of a proposal as clients have seen them, in order."""
    changes = [event.proposal.proposal for event in house.seen.events("proposal")]
    return [change.state for change in changes if change.number == number]


async def until_state(house: House, state: int, number: int = 1) -> None:
    """Returns once clients have seen it in that state."""
    await house.seen.until(lambda _: state in states(house, number))


def outcomes(house: House, number: int = 1) -> list[Any]:
    """The messages to the agent that asked on how its proposal went, as they are queued; one, or none."""
    queued = house.store.read(
        lambda db: delivery_rows.newest(db, agent="", state=None, key="", before=None, limit=1_000)
    )
    return [one for one in queued if one.source == f"proposal:{number}"]
