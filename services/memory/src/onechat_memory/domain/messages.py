"""A log and its messages, as they are kept. Pure.

Instants are aware and UTC. Text is valid Unicode from here on (text.py). Proto's side of these nouns:
adapters/contract_in.py and contract_out.py. Their tables: adapters/log_store.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from json.encoder import encode_basestring as _as_json

from onechat_memory.domain.costs import Costs
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.tree import MessageId
from onechat_memory.domain.view import Limits

FIRST_GENERATION = 1  #: of a new log; 0 in a request means that the caller does not say


class Shape(StrEnum):
    """Whether there is a tree above the messages."""

    TREE = "tree"  #: root, children, group agents
    FLAT = "flat"  #: subagents, whose whole chat is given each time


class State(StrEnum):
    """What a log is there for."""

    LIVE = "live"  #: an agent's memory
    STAGED = "staged"  #: being built beside a live one
    KEPT = "kept"  #: set aside


class Kind(StrEnum):
    """What a message is; the word stands in its source and in views."""

    USER = "user"
    REPLY = "reply"
    TOOL = "tool"
    ECHO = "echo"
    WORK = "work"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLog:
    """A log as it is asked for."""

    id: LogId
    label: str  #: for people
    shape: Shape
    state: State
    chat: Limits
    compaction: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log as it stands."""

    asked: NewLog
    generation: int  #: raised when another log takes its place
    length: int  #: messages; the next one's id
    create_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message on its way into a log."""

    key: str  #: the caller's; known for ever
    kind: Kind
    text: str
    time: datetime
    zone: str  #: IANA
    source: str  #: user, whatsapp:ID, telegram:ID, schedule:ID, an agent's id; empty for the agent's own
    turn: str
    step: int
    call: str
    images: tuple[str, ...]  #: stored names


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a log: a whole text, or one piece of it."""

    id: MessageId
    body: NewMessage  #: the text is the piece's own; the images are the first piece's
    part: int  #: from 1
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Where a message went."""

    first: MessageId
    count: int  #: 1, or the pieces of a long text
    known: bool  #: it was there already, and nothing was appended


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How far a log's tree and views are."""

    log: Log
    built: int
    ready: int  #: nodes that could be built now, leased ones and those to be built again among them
    failing: int  #: nodes that failed at least once and have had no line since
    degraded: int
    unbuilt_leaves: int
    chat_bytes: int
    chat_lines: int
    compaction_bytes: int
    compaction_lines: int
    batches: int  #: of the chat's view, begun so far
    batch_owed: bool
    costs: Costs
    searchable: int  #: messages that the search index holds


def body_hash(message: NewMessage) -> bytes:
    """SHA-256 of what the caller says under its key.

    Time and zone are left out: a caller that reads its clock again for a retry says the same.
    """
    # As json.dumps writes it without spaces, at a third of its cost.
    images = ",".join(map(_as_json, message.images))
    said = (
        f"[{_as_json(message.kind)},{_as_json(message.text)},{_as_json(message.source)},"
        f"{_as_json(message.turn)},{message.step},{_as_json(message.call)},[{images}]]"
    )
    return sha256(said.encode()).digest()
