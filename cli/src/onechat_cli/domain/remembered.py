"""What the memory service keeps, as commands show and export it. Instants are aware and UTC, sizes bytes.

How it is written out for people: memory_text.py. Where it comes from: adapters/memory.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

ID_MAX: Final = (1 << 63) - 1
_NAME: Final = re.compile(r"([0-9]+)(?:\+([0-9]+))?", re.ASCII)
_VIEW_LINE: Final = re.compile(r"([0-9]+)\+([0-9]+)\|(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineName:
    """`first+count`: the line for `count` messages from `first` on; with count 0 a whole flat log or view."""

    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.first}+{self.count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLog:
    """A log."""

    id: str
    label: str
    shape: str  #: tree or flat
    state: str  #: live, staged or kept
    generation: int
    length: int  #: messages
    create_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMessage:
    """A message of a log."""

    id: int
    key: str
    kind: str
    text: str
    time: datetime
    zone: str  #: IANA
    source: str
    turn: str
    step: int
    call: str
    images: tuple[str, ...]
    part: int  #: from 1
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLine:
    """A line of a tree."""

    name: LineName
    text: str
    built: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A chat's view."""

    text: str  #: as a model reads it
    length: int  #: messages that it stands for
    generation: int
    lines: int
    unbuilt: int  #: lines that are not written yet
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Zoomed:
    """What stands below a line, or a page of a whole log: lines or messages."""

    lines: tuple[KeptLine, ...] = ()
    messages: tuple[KeptMessage, ...] = ()
    next_page: int | None = None  #: where more follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How far a log's tree, views and search index are, and what its lines have cost."""

    log: KeptLog
    built: int
    ready: int
    failing: int
    degraded: int
    unbuilt: int
    view_bytes: int
    view_lines: int
    compaction_view_bytes: int
    compaction_view_lines: int
    batches: int
    batch_owed: bool
    model_lines: int
    model_calls: int
    over_length_answers: int
    retries: int
    searchable: int

    @property
    def calls_per_line(self) -> float | None:
        """Model calls for each line that a model wrote; None before the first one."""
        return self.model_calls / self.model_lines if self.model_lines else None


def line_name(text: str) -> LineName:
    """`text` as the name of a line: 40+8, or 40 for one message. ValueError for anything else."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no name of a line")
    name = LineName(first=int(found[1]), count=1 if found[2] is None else int(found[2]))
    if max(name.first, name.count) > ID_MAX or (name.count == 0 and name.first != 0):
        raise ValueError(f"{text!r} is no name of a line")
    return name


def view_lines(text: str) -> list[tuple[LineName, str]]:
    """The lines of a view's `text`, without the tags around them."""
    found = (_VIEW_LINE.fullmatch(line) for line in text.split("\n"))
    return [(LineName(first=int(one[1]), count=int(one[2])), one[3]) for one in found if one is not None]


def message_row(message: KeptMessage) -> Mapping[str, object]:
    """`message` with all its fields, as JSON has them; its time in UTC."""
    return {
        "id": message.id,
        "key": message.key,
        "kind": message.kind,
        "text": message.text,
        "time": iso_utc(message.time),
        "zone": message.zone,
        "source": message.source,
        "turn": message.turn,
        "step": message.step,
        "call": message.call,
        "images": list(message.images),
        "part": message.part,
        "parts": message.parts,
    }


def iso_utc(time: datetime) -> str:
    """`time` as 2026-01-01T09:00:00Z."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
