"""An interrupted turn, read back from the log: what the model has seen since T0, and what is left to do.

No logged answer is asked for again. What the log holds of a turn: domain/turn_log.py.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from onechat_agent.calls import UNKNOWN_RESULT, Call, Calls
from onechat_agent.domain.keys import result_key
from onechat_agent.domain.limits import Circles, Repeat
from onechat_agent.domain.turn import Turn
from onechat_agent.domain.turn_log import LoggedCall, LoggedStep, Said, TurnLog, read_turn
from onechat_agent.means import Means
from onechat_agent.model.items import CallItem, Item, OutputItem, ReplyItem
from onechat_agent.pictures import TurnPictures, Worded
from onechat_agent.prompts import rendering
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import Resumption, ToolResult

POINTERS = {"zoom": "zoomed ", "date": "dated "}  #: how results begin that the log holds as pointers, by tool
#: After a restart any result of these may hold outside text.
TAINTING = frozenset({"shell", "read", "zoom", "schedule_list"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Where an interrupted turn stands."""

    entries: Sequence[Said | LoggedStep]  #: what the model has seen, for `items_again`
    open_calls: list[Call]  #: still to be run
    step: int  #: the last step's number; 0 before the first
    length: int  #: the log's length
    final_text: str | None  #: the reply, when only the turn's end is missing
    delivery_keys: set[str]  #: deliveries logged since T0
    tainted: bool  #: whether a result may have brought text from outside
    tainted_before: bool  #: the same before the last step, by which consent to its calls was settled


async def read_back(means: Means, seat: Seat, turn: Turn, *, again: bool = True) -> Resumed:
    """The turn as its log shows it. With `again`, interrupted calls that must not run twice get their result;
    without it, nothing is written. Nothing runs.
    """
    turn_log = await means.patience.get("turn", lambda: _read(means, seat, turn))
    calls = Calls(means, seat, turn.id, backed=turn.backed)
    open_calls = []
    for logged in turn_log.open_calls:
        call = _call(turn, logged)
        if again and calls.resumption(call, tainted=turn.tainted) is Resumption.UNKNOWN:
            await calls.log_result(call, UNKNOWN_RESULT)
            logged.result = UNKNOWN_RESULT
        else:
            open_calls.append(call)
    return Resumed(
        entries=turn_log.entries,
        open_calls=open_calls,
        step=turn_log.last_step.step if turn_log.last_step else 0,
        length=turn_log.length,
        final_text=turn_log.final_text,
        delivery_keys=turn_log.keys,
        tainted=_taint(turn_log.entries),
        tainted_before=_taint(entry for entry in turn_log.entries if entry is not turn_log.last_step),
    )


def _taint(entries: Iterable[Said | LoggedStep]) -> bool:
    return any(
        call.name in TAINTING and call.result is not None
        for entry in entries
        if isinstance(entry, LoggedStep)
        for call in entry.calls
    )


async def items_again(
    means: Means,
    seat: Seat,
    turn: Turn,
    entries: Sequence[Said | LoggedStep],
    pictures: TurnPictures,
    circles: Circles,
) -> list[Item]:
    """`entries` as the model saw them, without reasoning; open calls without their outputs.

    Pointers are followed by running their calls again, and pictures come back, in the order of then. What
    repeats itself is counted in `circles`, and told to the model where it was told then.
    """
    calls = Calls(means, seat, turn.id, backed=turn.backed)
    items: list[Item] = []
    for is_said, run in groupby(entries, key=lambda entry: isinstance(entry, Said)):
        if is_said:  # what came together then, so that the same pictures are the newest
            items += await pictures.messages([_worded(entry) for entry in run if isinstance(entry, Said)])
            continue
        for step in run:
            if isinstance(step, LoggedStep):
                items += await _step_items(calls, turn, step, pictures, circles)
    return items


async def message_places(means: Means, seat: Seat, turn: Turn) -> Mapping[str, int]:
    """The ids of the messages that the log has had since T0, by their keys; of pieces the first one's."""

    async def read() -> dict[str, int]:
        there = means.memory.messages(seat.id, turn.log_start)
        return {message.key: message.id async for message in there if message.part == 1}

    return await means.patience.get("turn", read)


def _worded(said: Said) -> Worded:
    return Worded(key=said.key, text=rendering.message_text(said.kind, said.text), images=said.images)


async def _read(means: Means, seat: Seat, turn: Turn) -> TurnLog:
    messages = [message async for message in means.memory.messages(seat.id, turn.log_start)]
    length = messages[-1].id + 1 if messages else turn.log_start
    return dataclasses.replace(read_turn(messages, turn.id), length=length)


async def _step_items(
    calls: Calls, turn: Turn, step: LoggedStep, pictures: TurnPictures, circles: Circles
) -> list[Item]:
    items: list[Item] = [ReplyItem(text=step.text)] if step.text else []
    items += [
        CallItem(call_id=_call_id(turn, call), name=call.name, arguments=call.arguments)
        for call in step.calls
    ]
    for call in step.calls:
        if call.result is None:
            continue
        result = ToolResult(text=call.result)
        if _is_pointer(call.name, call.result):
            result = await calls.again(_call(turn, call), tainted=True)
        malformed = not calls.fits(_call(turn, call))
        repeat = circles.after(call.name, call.arguments, result.text, malformed=malformed)
        shown, lines = await pictures.of_result(result.images)
        lines += [rendering.REPEATED] if repeat is Repeat.TELL else []
        text = "\n".join([result.text, *lines])
        key = result_key(turn.id, call.step, call.call)
        items.append(OutputItem(call_id=_call_id(turn, call), text=text, pictures=shown, key=key))
    return items


def _is_pointer(tool: str, result: str) -> bool:
    """Whether a logged result stands for what running its call again shows; others' output may read alike."""
    return tool in POINTERS and result.startswith(POINTERS[tool])


def _call_id(turn: Turn, call: LoggedCall) -> str:
    """A call id for the endpoint, made from the call's key; the endpoint's own is not kept."""
    return f"call_{turn.id}_{call.step}_{call.call}"


def _call(turn: Turn, call: LoggedCall) -> Call:
    return Call(
        step=call.step,
        number=call.call,
        call_id=_call_id(turn, call),
        name=call.name,
        arguments=call.arguments,
    )
