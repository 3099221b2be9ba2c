"""The events of a streamed answer, read one by one into a ModelAnswer. Pure: no network, no SDK.

Events may be dicts or the SDK's objects. An answer is finished by a terminal event alone: a stream may end
without one and raise nothing. Its response's status counts, not the event's name. Offsets are characters.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onechat_agent.domain.text import clean
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.failures import Filtered, Refused, TooLong, Trouble, Unreachable
from onechat_agent.model.items import CallItem, ModelAnswer, ReasoningItem, ReplyItem, TokenUsage
from onechat_agent.model.pieces import PiecewiseText
from onechat_agent.model.verdict import failed, label

_TERMINAL: Final = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_TOKENS_MAX: Final = 10**9  # of one call; no model reads as much
ANSWER_MAX: Final = (
    2_000_000  #: characters of an answer's words and calls; a log and an event must carry them
)
_OPEN: Final = frozenset({"in_progress", "queued"})
# The first three come as soon as a request is accepted, before the model has read it; the others need not.
_NO_START: Final = frozenset(
    {
        "response.created",
        "response.in_progress",
        "response.queued",
        "response.failed",
        "response.cancelled",
    }
)

AnswerItem = ReplyItem | CallItem | ReasoningItem

#: Of a message; a server refuses any other, so one that a broken stream has made up is not sent back.
PHASES: Final = ("commentary", "final_answer")


class AnswerReader:
    """One answer as it comes. `body` is the request, which failures may name parts of."""

    def __init__(self, *, body: Mapping[str, Any], endpoint: Endpoint) -> None:
        self._body = body
        self._endpoint = endpoint
        self._text = PiecewiseText()
        self._pieces: list[str] = []
        self._done: dict[int, Mapping[str, Any]] = {}  # finished items by their place in the answer
        self._final: Mapping[str, Any] | None = None
        self._status = ""
        self.streamed = 0  #: characters of text taken so far
        self.started = False  #: whether anything of the answer has come, so that the request has been read

    @property
    def over(self) -> bool:
        """Whether the terminal event has come; what comes after it counts for nothing."""
        return self._final is not None

    def take(self, event: Any) -> str:
        """The text that `event` adds, perhaps none. Raises the ModelFailure that the event is."""
        kind = str(_field(event, "type"))
        if kind == "error":
            self._raise_error(_plain(event))
        self.started = self.started or kind not in _NO_START
        if kind == "response.output_text.delta":
            return self._add(str(_field(event, "delta") or ""))
        if kind == "response.output_item.done":
            self._keep(_plain(_field(event, "item")), _field(event, "output_index"))
        elif kind in _TERMINAL:
            self._finish(_TERMINAL[kind], _plain(_field(event, "response")))
        return ""

    def answer(self) -> ModelAnswer:
        """The finished answer, or the ModelFailure that it ended as; Unreachable without a terminal event."""
        if self._final is None:
            raise Unreachable(Trouble.BROKEN, code="no_terminal_event")
        usage = _usage(self._final.get("usage"))
        match self._status:
            case "completed":
                return self._completed(usage)
            case "incomplete":
                reason = str(_mapping(self._final.get("incomplete_details")).get("reason") or "incomplete")
                if reason == "content_filter":
                    raise Filtered(usage=usage)
                raise TooLong(code=label(reason), usage=usage)
            case "failed":
                error = _mapping(self._final.get("error"))
                failure = failed(
                    str(error.get("code") or ""),
                    str(error.get("message") or ""),
                    body=self._body,
                    endpoint=self._endpoint,
                )
                failure.usage = usage
                raise failure
            case status:
                raise Unreachable(Trouble.BROKEN, code=label(status), usage=usage)

    def _completed(self, usage: TokenUsage) -> ModelAnswer:
        raw = [self._done[place] for place in sorted(self._done)] or _mappings(
            (self._final or {}).get("output")
        )
        refusals = [part for item in raw for part in _parts(item) if part.get("type") == "refusal"]
        if refusals:
            raise Refused(clean(str(refusals[0].get("refusal") or "")), usage=usage)
        items = _told_apart([made for at, item in enumerate(raw) if (made := _item(item, at)) is not None])
        if not items and self._pieces:  # a server that sends text but no finished items
            items = [ReplyItem(text="".join(self._pieces))]
        if sum(map(_length, items)) > ANSWER_MAX:
            raise TooLong(code=TooLong.TOO_LARGE, usage=usage)
        return ModelAnswer(items=tuple(items), usage=usage)

    def _add(self, delta: str) -> str:
        piece = self._text.take(delta)
        if piece:
            self._pieces.append(piece)
            self.streamed += len(piece)
        if self.streamed > ANSWER_MAX:
            raise TooLong(code=TooLong.TOO_LARGE)
        return piece

    def _keep(self, item: Mapping[str, Any], place: object) -> None:
        """Put a finished item in its place; servers that give each item the same place get them in order."""
        at = place if isinstance(place, int) else len(self._done)
        while at in self._done and (item.get("id") is None or self._done[at].get("id") != item["id"]):
            at += 1
        self._done[at] = item

    def _finish(self, named: str, response: Mapping[str, Any]) -> None:
        status = str(response.get("status") or named)
        if status in _OPEN:
            return  # its name says over, itself says not: wait for one that agrees
        self._status = status
        self._final = response

    def _raise_error(self, event: Mapping[str, Any]) -> None:
        error = _mapping(event.get("error")) or event
        code = error.get("code") or error.get("type")
        raise failed(
            "" if code == "error" else str(code or ""),
            str(error.get("message") or ""),
            body=self._body,
            endpoint=self._endpoint,
        )


def _item(raw: Mapping[str, Any], at: int) -> AnswerItem | None:
    match raw.get("type"):
        case "message":
            texts = [str(part.get("text") or "") for part in _parts(raw) if part.get("type") == "output_text"]
            phase = raw.get("phase")
            return ReplyItem(text=clean("".join(texts)), phase=phase if phase in PHASES else None)
        case "function_call":
            return CallItem(
                call_id=str(raw.get("call_id") or raw.get("id") or f"call_{at}"),
                name=clean(str(raw.get("name") or "")),
                arguments=clean(str(raw.get("arguments") or "")),
            )
        case "reasoning" if _is_whole_thought(raw):
            return ReasoningItem(raw={k: v for k, v in raw.items() if v is not None and k != "status"})
        case _:
            return None


def _length(item: AnswerItem) -> int:
    match item:
        case ReplyItem():
            return len(item.text)
        case CallItem():
            return len(item.name) + len(item.arguments)
        case ReasoningItem():
            return 0


def _is_whole_thought(raw: Mapping[str, Any]) -> bool:
    """Whether a reasoning item can be sent back; half of one makes a server refuse all later calls."""
    parts = [raw.get("summary"), raw.get("content") or []]
    names = [raw.get("id"), raw.get("encrypted_content") or "-"]
    return all(isinstance(part, list) and len(part) == len(_mappings(part)) for part in parts) and all(
        isinstance(name, str) and name for name in names
    )


def _told_apart(items: Sequence[AnswerItem]) -> list[AnswerItem]:
    """`items` with an id of its own for each call: a server that gives two the same refuses them later."""
    found: list[AnswerItem] = []
    ids: set[str] = set()
    for item in items:
        if isinstance(item, CallItem):
            while item.call_id in ids:
                item = dataclasses.replace(item, call_id=f"{item.call_id}_")
            ids.add(item.call_id)
        found.append(item)
    return found


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _mappings(item.get("content")) if item.get("type") == "message" else []


def _usage(raw: object) -> TokenUsage:
    usage = _mapping(raw)
    read, written = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    cached = _count(_mapping(usage.get("input_tokens_details")), "cached_tokens")
    reasoning = _count(_mapping(usage.get("output_tokens_details")), "reasoning_tokens")
    return TokenUsage(
        input=read,
        cached_input=min(cached, read),
        output=written,
        reasoning=min(reasoning, written),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    """A count that can be one; what no call could use was not counted."""
    value = usage.get(name)
    return value if type(value) is int and 0 < value < _TOKENS_MAX else 0


def _field(event: Any, name: str) -> Any:
    return event.get(name) if isinstance(event, Mapping) else getattr(event, name, None)


def _plain(value: Any) -> Mapping[str, Any]:
    """A dict of `value`, be it one or an object of the SDK; empty for anything else."""
    if isinstance(value, Mapping):
        return value
    to_dict = getattr(value, "to_dict", None)
    # Its warnings about wrong types would quote the answer on the service's error output.
    return _mapping(to_dict(warnings=False)) if callable(to_dict) else {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [one for one in found if isinstance(one, Mapping)]
