"""A whole agent service inside the test's own loop: real files, a real memory service, a scripted model.

It is not a double: `living` builds what runs. Ending the block is a restart's first half: what was not on
disk is gone, and a second `living` over the same folder takes up what was left. Times are seconds.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2, event_pb2
from onechat.memory.v1 import message_pb2
from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.adapters.scheduler import SchedulerClient
from onechat_agent.adapters.whatsapp import WhatsAppClient
from onechat_agent.assembly import assemble
from onechat_agent.config import AgentSettings
from onechat_agent.domain.limits import Limits
from onechat_agent.fences import make_workdir
from onechat_agent.given import Given
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.root_folder import open_root
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import Tool
from onechat_agent.wiring import DEMO_MODEL, ModelAtHand
from onechat_runtime.channels import new_channel
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.errors import RemoteError
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store, migrations_in

from tests.fakes.loopback import Loopback, serving
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stores import store_at

TIMEOUT_S = 20.0
NOWHERE = "127.0.0.1:9"  # nobody listens there
_KEYS = count(1)


@dataclass(slots=True)
class Seen:
    """What one subscriber got."""

    responses: list[agent_service_pb2.SubscribeResponse] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def events(self, body: str = "") -> list[event_pb2.Event]:
        """The kept events, all or those with this body."""
        kept = [one.event for one in self.responses if one.HasField("event")]
        return [event for event in kept if not body or event.HasField(body)]  # type: ignore[arg-type]

    def replies(self) -> list[str]:
        """The texts of all replies, empty ones among them."""
        return [event.reply.text for event in self.events("reply")]

    def notices(self) -> list[str]:
        """What onechat itself said."""
        return [event.notice.text for event in self.events("notice")]

    def ends(self) -> list[event_pb2.TurnChange]:
        """How turns ended."""
        over = (
            event_pb2.TurnChange.STATE_ENDED,
            event_pb2.TurnChange.STATE_STOPPED,
            event_pb2.TurnChange.STATE_FAILED,
        )
        changes = [event.turn_change for event in self.events("turn_change")]
        return [change for change in changes if change.state in over]

    async def until(self, condition: Callable[["Seen"], bool], within_s: float = TIMEOUT_S) -> None:
        """Returns once `condition` holds; TimeoutError after `within_s`."""
        async with asyncio.timeout(within_s):
            while not condition(self):
                self.came.clear()
                await self.came.wait()


class House:
    """A running agent service with its root, and short ways to use it."""

    def __init__(
        self,
        loopback: Loopback,
        memory: MemoryServer,
        model: ScriptedModel,
        seat: Seat,
        store: Store,
        board: HealthBoard,
    ) -> None:
        self.loopback = loopback
        self.memory = memory
        self.model = model
        self.seat = seat
        self.store = store  #: for looking at the rows, never for changing them
        self.board = board
        self.seen = Seen()
        self.started = datetime.now(UTC)

    def stub(self, caller: str = "operator") -> Any:
        """The service as `caller` reaches it."""
        return agent_service_pb2_grpc.AgentServiceStub(self.loopback.channel(caller))

    async def deliver(self, text: str, *, caller: str = "operator", **fields: Any) -> str:
        """Hands over one message, backed unless said otherwise; its key."""
        fields = {"key": f"k:{next(_KEYS)}", "backed": caller == "operator", **fields}
        delivery = delivery_pb2.NewDelivery(text=text, **fields)
        await self.stub(caller).Deliver(
            agent_service_pb2.DeliverRequest(deliveries=[delivery]), timeout=TIMEOUT_S
        )
        return str(delivery.key)

    async def say(self, text: str, **fields: Any) -> event_pb2.TurnChange:
        """A message of the user, and how the turn that took it ended."""
        key = await self.deliver(text, **fields)
        return await self.ended(key)

    async def ended(self, key: str) -> event_pb2.TurnChange:
        """How the turn ended that took the delivery of this key."""

        def found(seen: Seen) -> list[event_pb2.TurnChange]:
            return [end for end in seen.ends() if key in [one.key for one in end.answered]]

        await self.seen.until(lambda seen: bool(found(seen)))
        return found(self.seen)[0]

    async def memory_holds(self, messages: int) -> None:
        """Returns once the root's log, which may have to be made first, has at least so many messages."""
        async with asyncio.timeout(TIMEOUT_S):
            while await self._length() < messages:
                await asyncio.sleep(0.01)

    async def _length(self) -> int:
        try:
            return int((await self.memory.stats(self.seat.id)).log.length)
        except RemoteError as error:
            if error.reason != "LOG_UNKNOWN":
                raise
            return 0

    async def logged(self, line: str, of: str = "") -> None:
        """Returns once that agent's log has `line`, as `lines` shows it."""
        async with asyncio.timeout(TIMEOUT_S):
            while line not in await self.lines(of):
                await asyncio.sleep(0.01)

    def id_of(self, name: str) -> str:
        """The id of the agent of that name, one that is done too; empty is the root."""
        if not name:
            return self.seat.id
        found = self.store.read(lambda db: agent_rows.named(db, name))
        assert found is not None, f"nobody is called {name}"
        return found.id

    async def log(self, of: str = "") -> list[message_pb2.Message]:
        """The log of the agent of that name; empty is the root."""
        return await self.memory.messages(log=self.id_of(of))

    async def lines(self, of: str = "") -> list[str]:
        """The same as `kind: text` lines."""
        kinds = {1: "user", 2: "reply", 3: "tool", 4: "echo", 5: "work", 6: "note"}
        return [f"{kinds[message.kind]}: {message.text}" for message in await self.log(of)]


def settings_in(folder: Path, **fields: Any) -> AgentSettings:
    """Settings with all files below `folder`."""
    return AgentSettings(
        data=folder / "data",
        address="127.0.0.1:0",
        workdir=folder / "workspace",
        **{"zone": "Europe/Rome", **fields},
    )


@asynccontextmanager
async def living(
    folder: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    *,
    clock: Clock | None = None,
    limits: Limits | None = None,
    model_client: ModelClient | None = None,
    change: Callable[[Seat], Seat] = lambda seat: seat,
    far_tools: Sequence[Tool] = (),
    settings: Mapping[str, Any] = MappingProxyType({}),
    through: Callable[[MemoryClient], MemoryClient] = lambda client: client,
    images_through: Callable[[MemoryImages], MemoryImages] = lambda images: images,
    scheduler: Loopback | None = None,
    whatsapp: Loopback | None = None,
    after: int | None = None,
) -> AsyncIterator[House]:
    """An agent service over what `folder` holds, which reaches the memory `through` a client, and its images
    through another; without a `scheduler` or a `whatsapp` that one is away.

    `after`: the events that `seen` begins with. `far_tools`: what the root has from other services.
    `settings`: those that differ.
    """
    chosen, board, clock = settings_in(folder, **settings), HealthBoard(), clock or SystemClock()
    path = chosen.data / NAME / "store.db"
    async with store_at(
        path, component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock, board=board
    ) as store:
        root = await open_root(store, clock, chosen.agents_folder, chosen.name)
        make_workdir(chosen, root)
        client = model_client or ModelClient(Endpoint.of(url=model.base_url, api_key=None))
        at_hand = ModelAtHand(client=client, model=DEMO_MODEL, compact_model=DEMO_MODEL)
        plain = MemoryClient(memory.loopback.channel("agent"), "Europe/Rome")
        to_scheduler, to_whatsapp = (
            loopback.channel("agent") if loopback else new_channel(NOWHERE, token="none")
            for loopback in (scheduler, whatsapp)
        )

        def changed(seat: Seat) -> Seat:
            return replace(change(seat), limits=limits) if limits else change(seat)

        service = await assemble(
            Given(
                settings=chosen,
                store=store,
                memory=through(plain),
                images=images_through(plain.images),
                scheduler=SchedulerClient(to_scheduler),
                whatsapp=WhatsAppClient(to_whatsapp),
                model=at_hand,
                root=root,
                zone="Europe/Rome",
                prices={},
                clock=clock,
                rng=random.Random(7),
                board=board,
                far_tools=far_tools,
                change=changed,
            )
        )
        async with serving(service.served, name=NAME, schema=store.schema, board=board) as loopback:
            house = House(loopback, memory, model, service.root, store, board)
            tasks = [asyncio.ensure_future(run()) for run in service.background]
            watching = asyncio.ensure_future(_watch(house, after))
            try:
                await house.seen.until(lambda seen: bool(seen.responses))
                yield house
            finally:
                await _end([*tasks, watching])
                await client.close()
                await to_scheduler.close()
                await to_whatsapp.close()


async def _watch(house: House, after: int | None) -> None:
    request = agent_service_pb2.SubscribeRequest(after=after)
    async for response in house.stub().Subscribe(request, timeout=600):
        house.seen.responses.append(response)
        house.seen.came.set()


async def _end(tasks: Sequence["asyncio.Future[None]"]) -> None:
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    broken = [one for one in results if isinstance(one, Exception)]
    if broken:
        raise _innermost(broken[0])


def _innermost(error: Exception) -> Exception:
    """What went wrong, without the groups around it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
