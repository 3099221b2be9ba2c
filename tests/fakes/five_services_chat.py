"""A client of the five services that keeps its keys and says all until it was heard, whoever is killed.

It follows the events as clients do, and reads logs, views and deliveries through the contracts. Times are
seconds.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2, event_pb2
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc, message_pb2
from onechat_runtime.channels import NO_DEADLINE
from onechat_runtime.errors import RemoteError, retriable

from tests.fakes.five_services import FiveServices

CALL_S = 5.0
AGAIN_S = 0.05
ENDS = (
    event_pb2.TurnChange.STATE_ENDED,
    event_pb2.TurnChange.STATE_STOPPED,
    event_pb2.TurnChange.STATE_FAILED,
)

T = TypeVar("T")


async def again(call: Callable[[], Awaitable[T]], within_s: float = 90.0) -> T:
    """What `call` answers once the service is there."""
    async with asyncio.timeout(within_s):
        while True:
            try:
                return await call()
            except RemoteError as error:
                if not retriable(error.code):
                    raise
            await asyncio.sleep(AGAIN_S)


class Chat:
    """One user's clients, seen together."""

    def __init__(self, services: FiveServices) -> None:
        self._services = services
        self.stream = ""
        self.numbers: list[int] = []  #: of the kept events, as they came
        self.events: list[event_pb2.Event] = []
        self.came = asyncio.Event()  #: something was seen; whoever waits clears it
        self.passing: list[str] = []  #: what came that is not kept, such as "text"
        self.ready = asyncio.Event()

    def agent(self, caller: str = "operator") -> Any:
        """The agent service as `caller` reaches it."""
        return agent_service_pb2_grpc.AgentServiceStub(self._services.channel(caller))

    @property
    def memory(self) -> Any:
        """The memory service as the operator reaches it."""
        return memory_service_pb2_grpc.MemoryServiceStub(self._services.channel("operator", "memory"))

    # ------------------------------------------------------------ saying

    async def say(self, text: str, *, key: str, caller: str = "operator", **fields: Any) -> None:
        """Hand one message over until it is accepted; backed when the user says it."""
        fields = {"backed": caller == "operator", **fields}
        new = delivery_pb2.NewDelivery(key=key, text=text, **fields)
        request = agent_service_pb2.DeliverRequest(deliveries=[new])
        await again(lambda: self.agent(caller).Deliver(request, timeout=CALL_S))

    async def ask(self, text: str, *, key: str, within_s: float = 60.0) -> str:
        """Say it as the user; the reply of the turn that took it, or the reason why there is none."""
        await self.say(text, key=key)
        await self.until(lambda: self.end_of(key) is not None, within_s)
        replies = [one.reply for one in self.events if one.HasField("reply")]
        for reply in replies:
            if key in [answered.key for answered in reply.answered]:
                return str(reply.text)
        end = self.end_of(key)
        assert end is not None
        return str(end.reason)

    def replies_since(self, place: int) -> Sequence[str]:
        """The replies among the events after the first `place`."""
        return [event.reply.text for event in self.events[place:] if event.HasField("reply")]

    # ------------------------------------------------------------ seeing

    async def follow(self) -> None:
        """Subscribe for ever, each time where it ended."""
        while True:
            request = agent_service_pb2.SubscribeRequest(
                after=self.numbers[-1] if self.numbers else 0, stream=self.stream, audience="*"
            )
            try:
                async for response in self.agent().Subscribe(request, timeout=NO_DEADLINE):
                    self._take(response)
            except RemoteError as error:
                if not retriable(error.code):
                    raise
            await asyncio.sleep(AGAIN_S)

    def _take(self, response: agent_service_pb2.SubscribeResponse) -> None:
        self.stream = response.stream
        match response.WhichOneof("item"):
            case "event":
                self.numbers.append(response.event.number)
                self.events.append(response.event)
            case "ready":
                self.ready.set()
            case other:
                self.passing.append(str(other))
        self.came.set()

    async def until(self, condition: Callable[[], bool], within_s: float = 60.0) -> None:
        """Return once `condition` of what was seen holds."""
        async with asyncio.timeout(within_s):
            while not condition():
                self.came.clear()
                await self.came.wait()

    def end_of(self, key: str) -> event_pb2.TurnChange | None:
        """How the turn ended that took the delivery of this key; None as long as it did not."""
        for event in self.events:
            change = event.turn_change
            if change.state in ENDS and key in [one.key for one in change.answered]:
                return change
        return None

    # ------------------------------------------------------------ reading back

    async def kept_events(self) -> list[event_pb2.Event]:
        """Every event that the service keeps by now, asked for anew; the follower has seen them all, too."""
        kept = await again(self._kept)
        if kept:
            await self.until(lambda: bool(self.numbers) and self.numbers[-1] >= kept[-1].number)
        return kept

    async def _kept(self) -> list[event_pb2.Event]:
        found: list[event_pb2.Event] = []
        newest = await self._newest()
        if newest == 0:
            return found
        request = agent_service_pb2.SubscribeRequest(after=0, stream=self.stream, audience="*")
        async for response in self.agent().Subscribe(request, timeout=CALL_S * 4):
            if response.HasField("event"):
                found.append(response.event)
                if response.event.number >= newest:
                    break
        return found

    async def _newest(self) -> int:
        """The number of the newest event that is kept; 0 for none."""
        request = agent_service_pb2.SubscribeRequest(stream=self.stream, audience="*")
        async for response in self.agent().Subscribe(request, timeout=CALL_S):
            return int(response.number)  # a subscription that asks for nothing earlier begins there
        return 0

    async def deliveries(self) -> list[delivery_pb2.Delivery]:
        """All deliveries, oldest first."""
        found: list[delivery_pb2.Delivery] = []
        token = ""
        while True:
            request = agent_service_pb2.ListDeliveriesRequest(page_size=200, page_token=token)
            answer = await again(lambda: self.agent().ListDeliveries(request, timeout=CALL_S))  # noqa: B023
            found += answer.deliveries
            token = answer.next_page_token
            if not token:
                return found[::-1]

    async def all_done(self, keys: set[str], within_s: float = 120.0) -> None:
        """Return once deliveries of all these keys are there, and no delivery is left that is not done."""
        async with asyncio.timeout(within_s):
            while True:
                found = await self.deliveries()
                done = {one.key for one in found if one.state == delivery_pb2.DELIVERY_STATE_DONE}
                if keys <= done and len(done) == len(found):
                    return
                await asyncio.sleep(AGAIN_S)

    async def log_id(self) -> str:
        """The root's log."""
        answer = await again(
            lambda: self.memory.ListLogs(memory_service_pb2.ListLogsRequest(), timeout=CALL_S)
        )
        (log,) = answer.logs
        return str(log.log_id)

    async def log(self, start: int = 0) -> list[message_pb2.Message]:
        """The root's log."""
        request = memory_service_pb2.ListMessagesRequest(log_id=await self.log_id(), start_id=start)
        found: list[message_pb2.Message] = []
        async for answer in self.memory.ListMessages(request, timeout=CALL_S * 4):
            found += answer.messages
        return found

    async def view(self, wait_s: int = 60) -> memory_service_pb2.GetViewResponse:
        """The root's view, all its lines built."""
        request = memory_service_pb2.GetViewRequest(log_id=await self.log_id(), wait=Duration(seconds=wait_s))
        return await self.memory.GetView(request, timeout=wait_s + CALL_S)

    async def zoom(self, first: int, messages: int) -> memory_service_pb2.ZoomResponse:
        """What stands below a node of the root's tree."""
        request = memory_service_pb2.ZoomRequest(log_id=await self.log_id(), first_id=first, count=messages)
        return await self.memory.Zoom(request, timeout=CALL_S)


@asynccontextmanager
async def chatting(services: FiveServices) -> AsyncIterator[Chat]:
    """A chat whose events are followed; the services need not be there yet."""
    chat = Chat(services)
    following = asyncio.ensure_future(chat.follow())
    try:
        yield chat
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
