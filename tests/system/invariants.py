"""What holds after any number of kills: each complaint is a sentence, and a sound system has none.

Read through the contracts alone, as any client could.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from onechat.agent.v1 import delivery_pb2, event_pb2
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_ECHO, MESSAGE_KIND_TOOL
from onechat.memory.v1 import memory_service_pb2, message_pb2
from onechat_agent.prompts.remarks import MAY_BE_EMPTY
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain.pieces import pieces_of
from onechat_telegram.domain.wording import REPEAT_MARK

from tests.fakes.five_services_chat import CALL_S, ENDS, Chat, again
from tests.system.conversation import WHATSAPP, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A message of the log with its parts joined."""

    key: str
    kind: int
    text: str
    turn: str


def whole(messages: Sequence[message_pb2.Message]) -> list[Whole]:
    """The log's messages, the pieces of long ones joined."""
    found: list[Whole] = []
    for message in messages:
        text = message.text
        if message.part > 1:
            text = found.pop().text + text
        found.append(Whole(key=message.key, kind=message.kind, text=text, turn=message.turn))
    return found


async def logs_of(chat: Chat) -> dict[str, list[Whole]]:
    """All logs, by the names of their agents."""
    answer = await again(lambda: chat.memory.ListLogs(memory_service_pb2.ListLogsRequest(), timeout=CALL_S))
    found = {}
    for log in answer.logs:
        messages: list[message_pb2.Message] = []
        request = memory_service_pb2.ListMessagesRequest(log_id=log.log_id)
        async for part in chat.memory.ListMessages(request, timeout=CALL_S * 4):
            messages += part.messages
        found[log.label] = whole(messages)
    return found


def of_log(
    messages: Sequence[message_pb2.Message],
    said: Sequence[Message],
    deliveries: Sequence[delivery_pb2.Delivery],
) -> Iterator[str]:
    """Each message in it exactly once and in its sender's order, each call with its result."""
    if [message.id for message in messages] != list(range(len(messages))):
        yield "the ids of the log do not rise by one"
    log = whole(messages)
    yield from (f"{key} is {times} times in the log" for key, times in _repeated(one.key for one in log))
    place = {one.key: number for number, one in enumerate(log)}
    heard = [one for one in log if one.key.startswith("d:")]
    if len(heard) != len(said):
        yield f"{len(heard)} messages are in the log of {len(said)} that were said"
    if len(deliveries) != len(said):
        yield f"there are {len(deliveries)} deliveries of {len(said)} messages"
    last: dict[str, int] = defaultdict(int)
    for message in said:
        found = [one for one in heard if _logged(message) == one.text or _is_marked(message, one.text)]
        if len(found) != 1:
            yield f"{message.word} is {len(found)} times in the log"
            continue
        here = place[found[0].key]
        if here < last[message.speaker]:
            yield f"{message.word} is before what {message.speaker} said earlier"
        last[message.speaker] = here
    yield from of_calls(log)


def _logged(message: Message) -> str:
    return "" if message.sender == WHATSAPP else message.text


def _is_marked(message: Message, text: str) -> bool:
    """Whether `text` is an outside message, marked on every line after its heading; a remark may follow."""
    marked = [f"| {line}" for line in message.text.splitlines()]
    return message.sender == WHATSAPP and text.splitlines()[1:] in (marked, [*marked, MAY_BE_EMPTY])


def of_calls(log: Sequence[Whole]) -> Iterator[str]:
    """Each call has its result, and nothing stands between the two."""
    calls = [one.key for one in log if one.kind == MESSAGE_KIND_TOOL]
    results = [one.key for one in log if one.kind == MESSAGE_KIND_ECHO]
    for key in set(calls) ^ {key.removesuffix(":r") for key in results}:
        yield f"{key} is a call without a result, or a result without its call"
    open_calls: set[str] = set()
    for one in log:
        if one.kind == MESSAGE_KIND_TOOL:
            open_calls.add(f"{one.key}:r")
        elif one.kind == MESSAGE_KIND_ECHO:
            open_calls.discard(one.key)
        elif open_calls:
            yield f"{one.key} is between calls and their results"


def of_deliveries(
    deliveries: Sequence[delivery_pb2.Delivery], said: Sequence[Message], events: Sequence[event_pb2.Event]
) -> Iterator[str]:
    """Each is done, in a turn that has a reply or says why not."""
    ends = [event for event in events if event.turn_change.state in ENDS]
    replies = {event.turn: event.reply for event in events if event.HasField("reply")}
    yield from (f"turn {turn} ended {times} times" for turn, times in _repeated(one.turn for one in ends))
    yield from (
        f"turn {turn} has {times} replies"
        for turn, times in _repeated(event.turn for event in events if event.HasField("reply"))
    )
    in_turns = Counter(one.key for end in ends for one in end.turn_change.answered)
    for delivery in deliveries:
        if delivery.state != delivery_pb2.DELIVERY_STATE_DONE:
            yield f"{delivery.key} is not done"
        if in_turns[delivery.key] != (1 if delivery.turn or delivery.wakes else 0):
            yield f"{delivery.key} ended with {in_turns[delivery.key]} turns"
    for end in ends:
        answered = [one.key for one in end.turn_change.answered]
        if end.turn_change.state != event_pb2.TurnChange.STATE_ENDED:
            if not end.turn_change.reason:
                yield f"turn {end.turn} failed and does not say why"
        elif end.turn not in replies:
            yield f"turn {end.turn} ended without a reply"
        elif [one.key for one in replies[end.turn].answered] != answered:
            yield f"the reply of turn {end.turn} answers other messages"
    groups = defaultdict(set)
    turn_of = {delivery.key: delivery.turn for delivery in deliveries}
    for message in said:
        if message.group and message.wakes:
            groups[message.group].add(turn_of.get(message.key))
    yield from (f"{group} came apart" for group, turns in groups.items() if len(turns) > 1)


def of_events(seen: Sequence[event_pb2.Event], kept: Sequence[event_pb2.Event]) -> Iterator[str]:
    """A client that follows through all kills sees each kept event once, in order.

    `kept` were read while it followed: what it has seen beyond them came later.
    """
    newest = kept[-1].number if kept else 0
    numbers = [event.number for event in seen if event.number <= newest]
    if any(later.number <= earlier.number for earlier, later in pairwise(seen)):
        yield "event numbers do not rise"
    if numbers != [event.number for event in kept]:
        yield "what was seen is not what is kept"
    said = [body.key for event in kept for body in (event.user_message, event.outside_message) if body.key]
    yield from (f"{key} was shown {times} times" for key, times in _repeated(said))


async def of_view(chat: Chat, messages: Sequence[message_pb2.Message]) -> list[str]:
    """The view tiles the log, and so does whatever stands below each of its lines."""
    view = await chat.view()
    complaints = [] if view.whole else ["the view has lines that were not built"]
    lines = [line.split("|")[0].split("+") for line in view.text.splitlines()[1:-1]]
    nodes = [(int(first), int(count)) for first, count in lines]
    place = 0
    for first, count in nodes:
        if first != place or first % count:
            complaints.append(f"the line {first}+{count} does not follow message {place}")
        place = first + count
    if (place, view.length) != (len(messages), len(messages)):
        complaints.append(f"the view tiles {place} of {len(messages)} messages")
    while nodes:
        first, count = nodes.pop()
        found = await chat.zoom(first, count)
        if count == 1:
            if [(one.id, one.key, one.text) for one in found.messages] != [
                (first, messages[first].key, messages[first].text)
            ]:
                complaints.append(f"the zoom of {first}+1 is not its message")
            continue
        halves = [(line.first_id, line.count) for line in found.lines]
        if halves != [(first, count // 2), (first + count // 2, count // 2)]:
            complaints.append(f"below {first}+{count} is {halves}")
        nodes += halves
    return complaints


def of_telegram(shown: Sequence[str], events: Sequence[event_pb2.Event]) -> Iterator[str]:
    """What was said is in the chat once and in order; only what may have been there came again, marked."""
    wanted = [piece.text for text in _told(events) for piece in pieces_of(text, render)]
    place = 0
    for text in shown:
        plain = text.removesuffix(REPEAT_MARK)
        if plain != text and place and plain == wanted[place - 1]:
            continue
        if place < len(wanted) and plain == wanted[place]:
            place += 1
            continue
        yield f"Telegram shows {text[:60]!r} where {wanted[place : place + 1]} belongs"
        return
    if place < len(wanted):
        yield f"Telegram does not show {wanted[place][:60]!r} and {len(wanted) - place - 1} more"


def _told(events: Sequence[event_pb2.Event]) -> Iterator[str]:
    for event in events:
        if event.HasField("reply"):
            yield event.reply.text
        elif event.HasField("notice"):
            yield event.notice.text


def _repeated(keys: Iterator[str] | Sequence[str]) -> list[tuple[str, int]]:
    return [(key, times) for key, times in Counter(keys).items() if times > 1]
