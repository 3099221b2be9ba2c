"""What a household leaves behind: in every run the same, whoever was killed.

Ids are random and which delivery got which number is chance, so they are told by what they stand for: an
agent by its name, a delivery by who sent it, a turn by the delivery that began it.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, fields

from onechat.agent.v1 import agent_service_pb2, delivery_pb2, event_pb2
from onechat.memory.v1 import memory_service_pb2, message_pb2

from tests.fakes.five_services_chat import CALL_S, Chat, again
from tests.system.invariants import of_calls, of_events, whole

Logged = tuple[str, str, int, str]  #: whose log, key, kind, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a run leaves behind, in an order of its own."""

    logged: tuple[Logged, ...]
    replies: tuple[tuple[str, str, str], ...]  #: (who, in which turn, text), and the pictures that were shown
    proposals: tuple[tuple[int, str, int], ...]  #: (number, tool, state)
    states: tuple[tuple[str, str], ...]  #: (who, what it does)
    faults: tuple[str, ...]  #: sentences; none in a sound run
    routes: tuple[tuple[str, str], ...]  #: (source, to whom)


async def left_by(chat: Chat) -> Left:
    """What the run leaves behind that `chat` has seen; all is done."""
    names = await names_of(chat)
    told = _Told(names, await chat.deliveries())
    logged: list[Logged] = []
    faults: list[str] = []
    for agent, name in names.items():
        log = whole(await _log(chat, agent))
        faults += of_calls(log)
        logged += [(name, told.key(one.key), one.kind, told.text(one.text)) for one in log]
    kept = await chat.kept_events()
    stub = chat.agent()
    agents = await stub.ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=CALL_S)
    routes = await stub.ListRoutes(agent_service_pb2.ListRoutesRequest(), timeout=CALL_S)
    proposals = await stub.ListProposals(agent_service_pb2.ListProposalsRequest(), timeout=CALL_S)
    return Left(
        logged=tuple(sorted(logged)),
        replies=tuple(sorted(_replies(kept, names, told))),
        proposals=tuple((one.number, one.tool, one.state) for one in proposals.proposals),
        states=tuple((one.name, one.doing) for one in agents.agents),
        routes=tuple((one.source, one.agent) for one in routes.routes),
        faults=(*of_events(chat.events, kept), *faults),
    )


def differences(wanted: Left, found: Left) -> list[str]:
    """What is in one of the two and not in the other."""
    lines = [
        [f"{field.name}: {row}"[:300] for field in fields(Left) for row in getattr(left, field.name)]
        for left in (wanted, found)
    ]
    return [line for line in difflib.ndiff(*lines) if line[0] in "+-"]


async def names_of(chat: Chat) -> dict[str, str]:
    """The name of every agent that has a log, by its id."""
    logs = await again(lambda: chat.memory.ListLogs(memory_service_pb2.ListLogsRequest(), timeout=CALL_S))
    return {log.log_id: log.label for log in logs.logs}


def _replies(
    kept: Sequence[event_pb2.Event], names: dict[str, str], told: "_Told"
) -> list[tuple[str, str, str]]:
    return [
        (names[event.agent_id], told.turn(event.turn), event.reply.text or event.image.image)
        for event in kept
        if event.HasField("reply") or event.HasField("image")
    ]


async def _log(chat: Chat, agent: str) -> list[message_pb2.Message]:
    request = memory_service_pb2.ListMessagesRequest(log_id=agent)
    found: list[message_pb2.Message] = []
    async for answer in chat.memory.ListMessages(request, timeout=CALL_S * 4):
        found += answer.messages
    return found


class _Told:
    """Ids told by what they stand for."""

    def __init__(self, names: dict[str, str], deliveries: Sequence[delivery_pb2.Delivery]) -> None:
        self._names = names
        self._keys = {str(one.delivery_id): one.key for one in deliveries}
        self._first: dict[str, str] = {}
        for one in deliveries:
            if one.turn and one.wakes:
                self._first.setdefault(one.turn, one.key)

    def key(self, key: str) -> str:
        """A message's key, or a delivery's."""
        head, _, rest = key.partition(":")
        if head == "d":
            return f"d:({self.key(self._keys[rest])})"
        if head in ("t", "r", "s"):
            turn, colon, place = rest.partition(":")
            return f"{head}:{self.turn(turn)}{colon}{place}"
        if head == "p":
            number, colon, turn = rest.partition(":")
            return f"p:{number}{colon}{self.turn(turn)}"
        return key

    def turn(self, turn: str) -> str:
        """A turn by the delivery that it began with."""
        return f"turn of ({self.key(self._first[turn])})" if turn in self._first else turn

    def text(self, text: str) -> str:
        """A text without random ids."""
        for agent, name in self._names.items():
            text = text.replace(agent, f"the id of {name}")
        return text
