"""The household at work over five processes: its user, the parts of its model, and when one thing is done.

What it leaves behind: household_left.py. Killing its services: household_strikes.py. Times are seconds.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2, delivery_pb2, event_pb2, image_pb2
from onechat.common.v1 import chunk_pb2

from tests.fakes.five_services import LOOK_S, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, again, chatting
from tests.fakes.pictures import PNG
from tests.fakes.scripted_model import Gate, ScriptedModel
from tests.system import household
from tests.system.household import BOILER, GARDEN, STARS
from tests.system.household_left import names_of

WITHIN_S = 60.0
LOOK_AGAIN_S = 0.25


class Household:
    """Five services, their user, and a model that knows its parts."""

    def __init__(self, services: FiveServices, chat: Chat, model: ScriptedModel) -> None:
        self.services = services
        self.chat = chat
        self.model = model
        self.gates: dict[str, Gate] = {}
        model.script(*household.scripts(self.gates))
        for name, text in household.FILES.items():
            (services.folder / "workspace").mkdir(exist_ok=True)
            (services.folder / "workspace" / name).write_text(text)

    async def live(self) -> None:
        """All that is said, one thing after the other; each once the one before is done."""
        await self._say("make", household.MAKE)
        await self._say("look", household.LOOK, held=(BOILER, GARDEN))
        await self._at_gates("boiler", "garden")
        await self.chat.say(
            household.PLUMBER_WRITES, key="said:plumber", caller="whatsapp", source=household.PLUMBER
        )
        await self._done("said:plumber", held=(BOILER, GARDEN))
        await self._agree(1)
        await self._done(held=(BOILER, GARDEN))
        await self._say("roses", household.ROSES, held=(BOILER, GARDEN))
        self.gates["garden"].open()
        await self._done(held=(BOILER,))
        self.gates["boiler"].open()
        await self._done()
        await self._say("price", household.PRICE)
        await self._show()
        await self.chat.say(household.CLUB_WRITES, key="said:club", caller="whatsapp", source=household.CLUB)
        await self._done("said:club")
        await self._say("enough", household.ENOUGH)
        await self._say("count", household.COUNT, held=(STARS,))
        await self._at_gates("stars")
        await self._stop(STARS)
        await self._done()
        await self._gone()

    async def _say(self, word: str, text: str, *, held: Sequence[str] = ()) -> None:
        await self.chat.say(text, key=f"said:{word}")
        await self._done(f"said:{word}", held=held)

    async def _show(self) -> None:
        """Hand in a picture, and say what to do with it."""
        digest = hashlib.sha256(PNG).digest()
        chunks = [chunk_pb2.Chunk(content=PNG), chunk_pb2.Chunk(sha256=digest)]
        pieces = [image_pb2.PutImageRequest(chunk=chunk) for chunk in chunks]
        put = await again(lambda: self.chat.agent().PutImage(iter(pieces), timeout=CALL_S))
        assert put.name == household.PLATE
        await self.chat.say(household.SHOWN, key="said:shown", images=[put.name])
        await self._done("said:shown")

    async def _stop(self, name: str) -> None:
        """Give the command."""
        stop = agent_service_pb2.RunCommandRequest(line=f"/stop {name}", request_id=f"said:stop:{name}")
        await again(lambda: self.chat.agent().RunCommand(stop, timeout=CALL_S))

    async def _agree(self, number: int) -> None:
        """Say yes to the proposal of this number, until it has run."""
        wanted = {"number": number, "yes": True, "request_id": f"said:yes:{number}"}
        yes = agent_service_pb2.AnswerProposalRequest(**wanted)
        async with asyncio.timeout(WITHIN_S):
            while True:
                answer = await again(lambda: self.chat.agent().AnswerProposal(yes, timeout=CALL_S))
                if answer.proposal.state == event_pb2.PROPOSAL_STATE_DONE:
                    return

    async def _at_gates(self, *names: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            for name in names:
                await self.gates[name].reached()

    async def _done(self, *keys: str, held: Sequence[str] = ()) -> None:
        """Return once these and all others are done, but for agents whose model is `held`."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                self.chat.came.clear()
                found = await self.chat.deliveries()
                busy = {one.agent_id for one in found if one.state != delivery_pb2.DELIVERY_STATE_DONE}
                names = await names_of(self.chat) if busy and held else {}
                known, at_work = {one.key for one in found}, {names.get(one) for one in busy}
                if known.issuperset(keys) and at_work.issubset(held):
                    return
                with suppress(TimeoutError):  # most of what is done is seen; nothing tells of the rest
                    await asyncio.wait_for(self.chat.came.wait(), LOOK_AGAIN_S)

    async def _gone(self) -> None:
        """Return once no subagent is there any more; one that is done or stopped leaves a moment later."""
        everybody = agent_service_pb2.ListAgentsRequest()
        async with asyncio.timeout(WITHIN_S):
            while True:
                there = await again(lambda: self.chat.agent().ListAgents(everybody, timeout=CALL_S))
                if agent_service_pb2.AGENT_ROLE_SUBAGENT not in [one.role for one in there.agents]:
                    return
                await asyncio.sleep(LOOK_S)


@asynccontextmanager
async def household_in(forks: Forks, folder: Path) -> AsyncIterator[Household]:
    """A household whose five services are not started yet."""
    async with (
        ScriptedModel.serving() as model,
        five_services(forks, folder, OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        yield Household(services, chat, model)
