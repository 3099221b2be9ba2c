"""Plain words that ask for something: which tool with which arguments, or what to look up. Pure.

Several asks in one message are joined by "and", "then" or a new line before the next verb. Backticks keep a
command together. No pattern can share out the same blanks in many ways: a page of them must not stall it.
Words about schedules: timed.py; about WhatsApp: writing.py. What is done about what was asked: brain.py.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from onechat_demo.timed import set_in, wanted_in
from onechat_demo.writing import FIND, SEND, Write, chat_sought, is_chat_id, write_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A tool to run; arguments that are not named are null."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Something to look up in the chat, by its words, lower case."""

    words: tuple[str, ...]


Ask = Command | Recall | Write

_POLITE = r"(?:(?:please|now|can you|could you|would you|and|then)[\s,]+)*"
_COURTESY = re.compile(rf"\A{_POLITE}", re.IGNORECASE)
_VERB = (
    r"(?:(?:run|zoom|date|read|write|edit|call|remind\s{1,3}me)\s|\$\s"
    r"|(?:list|show)\s{1,3}(?:my\s{1,3})?(?:schedules|reminders)\b"
    r"|(?:remove|delete|cancel)\s{1,3}(?:schedule|reminder)\s"
    r"|find\s[^\n]{1,60}\s(?:on|in)\swhatsapp|send\s[^\n]{1,300}\sto\s)"
)
_SEPARATOR = re.compile(rf"(?:\s(?:and then|and|then)\s|\n)(?=[ \t]*{_POLITE}(?:{_VERB}))", re.IGNORECASE)
_FLAGS = re.IGNORECASE | re.DOTALL
_RUN = re.compile(rf"{_POLITE}(?:run\s+(?:the command\s+)?|\$\s+)(.+)", _FLAGS)
_ZOOM = re.compile(rf"{_POLITE}zoom\s+(?:into\s+|in\s+on\s+)?(\d+)[\s+,]{{1,3}}(\d+)\W*", _FLAGS)
_ZOOM_NAME = re.compile(rf"{_POLITE}zoom\s+([A-Z][A-Za-z0-9-]*)\W*", re.DOTALL)
_DATE = re.compile(rf"{_POLITE}date\s+(?:of\s+)?(\d+)\W*", _FLAGS)
_READ = re.compile(rf"{_POLITE}read\s+(?:the file\s+)?(\S+?)[?!]?\s*", _FLAGS)
_WRITE = re.compile(rf"{_POLITE}write\s+([^\s:]+):[ \t]?\n?(.*)", _FLAGS)
_EDIT = re.compile(rf"{_POLITE}edit\s+([^\s:]+):(.+?)->(.*)", _FLAGS)
_CALL = re.compile(rf"{_POLITE}call\s+([a-z_]+)\s+(\{{.*\}})\s*", _FLAGS)
_RECALL = re.compile(
    r"(?:what (?:did|have|do) (?:i|we|you) (?:ever )?"
    r"(?:say|said|tell you|told you|write|mention|know|remember)"
    r"|when did (?:i|we|you) (?:say|mention|talk)|do you remember|have i (?:told you|said))"
    r"(?: to you)?(?: anything)?(?: about)?\s+(.+)",
    _FLAGS,
)
_NO_CONTENT = frozenset(
    re.findall(
        r"\w+",
        """a an and are at be did do for from had has have he her his i in is it its me my of on or our she
        that the their them they this to us was we were what when where which who with you your about""",
    )
)


def asks_in(text: str, now: datetime | None = None) -> tuple[Ask, ...]:
    """What `text` asks for, in its order; empty when it is talk. `now`: the local time, where it is known."""
    found = [_ask(clause.strip(), now) for clause in _clauses(text, now)]
    return tuple(ask for ask in found if ask is not None)


def content_words(text: str) -> tuple[str, ...]:
    """The words of `text` that can be looked up, lower case, each once."""
    words = re.findall(r"\w+", text.casefold())
    return tuple(dict.fromkeys(word for word in words if word not in _NO_CONTENT))


def _clauses(text: str, now: datetime | None) -> list[str]:
    """`text` cut at its separators, but never within backticks, nor within what a schedule is to do."""
    clauses, start, held = [], 0, _held(text, 0, now)
    for found in _SEPARATOR.finditer(text):
        if found.start() >= held and text.count("`", start, found.start()) % 2 == 0:
            clauses.append(text[start : found.start()])
            start = found.end()
            held = _held(text, start, now)
    return [*clauses, text[start:]]


def _held(text: str, start: int, now: datetime | None) -> int:
    """Where the line from `start` on ends if it sets a schedule, whose text holds the rest; else `start`."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return end if set_in(_without_courtesy(text[start:end].strip()), now) else start


def _without_courtesy(clause: str) -> str:
    return _COURTESY.sub("", clause, count=1)


def _ask(clause: str, now: datetime | None) -> Ask | None:
    if wanted := wanted_in(_without_courtesy(clause), now):
        return Command(tool=wanted[0], arguments=wanted[1])
    if name := chat_sought(_without_courtesy(clause)):
        return Command(tool=FIND, arguments={"name": name})
    if write := write_in(_without_courtesy(clause)):
        return Command(tool=SEND, arguments=write.to(write.name)) if is_chat_id(write.name) else write
    if found := _RECALL.search(clause):
        words = content_words(found[1])
        return Recall(words=words) if words else None
    if found := _ZOOM.fullmatch(clause):
        return Command(tool="zoom", arguments={"id": int(found[1]), "n": int(found[2])})
    if found := _ZOOM_NAME.fullmatch(clause):
        return Command(tool="zoom", arguments={"name": found[1]})
    if found := _DATE.fullmatch(clause):
        return Command(tool="date", arguments={"id": int(found[1])})
    if found := _CALL.fullmatch(clause):
        return _free_call(found[1], found[2])
    if found := _WRITE.fullmatch(clause):
        return Command(tool="write", arguments={"path": found[1], "text": found[2]})
    if found := _EDIT.fullmatch(clause):
        return Command(
            tool="edit", arguments={"path": found[1], "old": found[2].strip(), "new": found[3].strip()}
        )
    if found := _READ.fullmatch(clause):
        return Command(tool="read", arguments={"path": found[1].strip("`\"'")})
    if found := _RUN.fullmatch(clause):
        return Command(tool="shell", arguments={"command": found[1].strip().strip("`")})
    return None


def _free_call(tool: str, arguments: str) -> Command | None:
    try:
        value = json.loads(arguments)
    except ValueError:
        return None
    return Command(tool=tool, arguments=value)
