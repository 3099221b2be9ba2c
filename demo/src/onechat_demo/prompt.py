"""What a request holds, as the brain reads it: the view, the state block, and the turn so far. Pure.

The order of a turn's input: a user text with `<chat>` … `</chat>`, the state block, a subagent's own chat in
`<log>` … `</log>`, the turn's messages (`user: …`, `work: …`), then calls, their outputs, more messages, and
remarks of onechat in brackets. A
compaction's task begins with `Compaction:` and holds `<input>`. Whether a request is well formed: rules.py.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from onechat_demo.items import item_kind
from onechat_demo.outside import of_group, words_of_member
from onechat_demo.refusals import JsonObject

VIEW_LINE = re.compile(r"^(\d+)\+(\d+)\|(.*)$", re.MULTILINE)
TASK_START = "Compaction:"
KIND = re.compile(r"(user|work|note): ?")
ROLLED_OVER = re.compile(r"\bsteps\b")  # in a remark: the turn goes on, and what was done stands in the view
OWN_CHAT = "<log>\n"  # what a subagent did before: nothing to do again


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a view: it stands for `count` messages from `first` on."""

    first: int
    count: int
    text: str


class Voice(StrEnum):
    """Whose words a message holds."""

    MODEL = "model"
    USER = "user"
    WORK = "work"  #: a report, an event, a schedule
    MEMBER = "member"  #: of a group, who speaks to its agent
    REMARK = "remark"  #: onechat's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, without the kind in front of its text."""

    text: str
    voice: Voice
    images: int = 0  #: pictures that came with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call that the model made earlier in this turn."""

    call_id: str
    name: str
    arguments: Mapping[str, object]  #: empty when they were malformed


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a call gave."""

    call_id: str
    text: str
    images: int


Entry = Said | Called | Returned


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request, read."""

    view: tuple[Line, ...]
    state: str  #: the block with the time and so on; empty when there is none
    turn: tuple[Entry, ...]  #: what came after view and state, oldest first


def read_prompt(body: JsonObject) -> Prompt:
    """The parts of a request's input; system and developer items are left out."""
    view: tuple[Line, ...] = ()
    state, seen_view = "", False
    turn: list[Entry] = []
    for entry in _entries(body.get("input")):
        if not seen_view and isinstance(entry, Said) and entry.text.lstrip().startswith("<chat>"):
            seen_view = True
            inside, _, rest = entry.text.partition("\n</chat>")
            view = lines_of(inside)
            state = rest.strip()
            turn = []
        else:
            turn.append(entry)
    if seen_view and not state:
        state, turn = _split_state(turn)
    voiced = _voiced(turn)
    return Prompt(view=view, state=state, turn=_members_heard(voiced) if of_group(state) else voiced)


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines `id+n|…` in a view or in what a zoom gave."""
    return tuple(
        Line(first=int(found[1]), count=int(found[2]), text=found[3]) for found in VIEW_LINE.finditer(text)
    )


def compaction_talk(body: JsonObject) -> tuple[str, tuple[str, ...]] | None:
    """A compaction's task and the model's earlier tries at it, oldest first; None when this is a turn."""
    task: str | None = None
    tries: list[str] = []
    for entry in _entries(body.get("input")):
        if not isinstance(entry, Said):
            continue
        by_model = entry.voice is Voice.MODEL
        if not by_model and entry.text.startswith(TASK_START) and "<input>" in entry.text:
            task, tries = entry.text, []
        elif by_model:
            tries.append(entry.text)
    return None if task is None else (task, tuple(tries))


def _split_state(turn: list[Entry]) -> tuple[str, list[Entry]]:
    """The state block is the first text after the view, if another message follows it."""
    texts = [entry for entry in turn if isinstance(entry, Said) and entry.voice is Voice.USER]
    if len(texts) < 2 or turn[0] is not texts[0]:
        return "", turn
    return texts[0].text, turn[1:]


def _voiced(turn: list[Entry]) -> tuple[Entry, ...]:
    """`turn` with kinds read; where kinds are written, words in brackets without one are remarks, and so is
    an own chat.
    """
    users = [entry for entry in turn if isinstance(entry, Said) and entry.voice is Voice.USER]
    kinds_written = any(KIND.match(entry.text) for entry in users)
    voiced: list[Entry] = []
    for entry in turn:
        if isinstance(entry, Said) and entry.voice is Voice.USER:
            found = KIND.match(entry.text)
            if found:
                voice = Voice.USER if found[1] == "user" else Voice.WORK
                voiced.append(replace(entry, text=entry.text[found.end() :], voice=voice))
                continue
            in_brackets = entry.text.startswith("(") and entry.text.endswith(")")
            if kinds_written and (in_brackets or entry.text.startswith(OWN_CHAT)):
                voiced.append(replace(entry, voice=Voice.REMARK))
                continue
        voiced.append(entry)
    return tuple(voiced)


def _members_heard(turn: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """`turn` of a group's agent with its members' words as theirs, without marks and heads."""
    heard: list[Entry] = []
    for entry in turn:
        words = words_of_member(entry.text) if isinstance(entry, Said) and entry.voice is Voice.WORK else None
        if isinstance(entry, Said) and words is not None:
            entry = replace(entry, text=words, voice=Voice.MEMBER)
        heard.append(entry)
    return tuple(heard)


def _entries(value: object) -> Iterator[Entry]:
    if isinstance(value, str):
        yield Said(text=value, voice=Voice.USER)
        return
    for item in value if isinstance(value, list) else []:
        match item_kind(item):
            case "message" if item["role"] in ("user", "assistant"):
                yield from _said(item)
            case "function_call":
                yield Called(
                    call_id=item["call_id"], name=item["name"], arguments=_arguments(item["arguments"])
                )
            case "function_call_output":
                text, images = _joined(item["output"], "\n")
                yield Returned(call_id=item["call_id"], text=text, images=images)


def _said(item: JsonObject) -> Iterator[Said]:
    """A message's text, its parts joined: a long view comes in parts, so that their ends can be cached."""
    text, images = _joined(item["content"], "")
    if text or images:
        voice = Voice.MODEL if item["role"] == "assistant" else Voice.USER
        yield Said(text=text, voice=voice, images=images)


def _joined(content: object, between: str) -> tuple[str, int]:
    """The text of a content or an output, and how many pictures there are in it."""
    if isinstance(content, str):
        return content, 0
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if "text" in part]
    images = sum(part["type"] == "input_image" for part in parts)
    return between.join(texts), images


def _arguments(text: str) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
