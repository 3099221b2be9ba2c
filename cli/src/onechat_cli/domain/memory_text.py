"""What the memory keeps, written out for people: messages, lines, finds, figures. Widths are in characters.

Whatever a terminal obeys is made harmless, also for a pipe. The nouns: remembered.py.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from onechat_cli.domain.remembered import Figures, KeptLine, KeptLog, KeptMessage
from onechat_cli.domain.safe_text import harmless_line, one_line
from onechat_cli.domain.table import fitting, table
from onechat_cli.domain.zones import zone_of

_CELL: Final = 40
_EXCERPT_MIN: Final = 30
_EDGES: Final = re.compile(r"^\W+|\W+$")  # quotes and the "*" of a word's beginning


def line_text(line: KeptLine) -> str:
    """A tree's line: 40+8|text."""
    return f"{line.name}|{harmless_line(line.text)}"


def about_lines(message: KeptMessage) -> list[str]:
    """What is known of a message, a line each."""
    turn = [message.turn, f"step {message.step}" if message.step else ""]
    about = [
        ("message", str(message.id)),
        ("kind", message.kind),
        ("time", local_time(message)),
        ("source", message.source),
        ("turn", " ".join(filter(None, turn))),
        ("call", message.call),
        ("images", ", ".join(message.images)),
        ("part", f"{message.part} of {message.parts}" if message.parts > 1 else ""),
    ]
    return [f"{name + ':':<9}{one_line(value, 400)}" for name, value in about if value]


def head_line(message: KeptMessage) -> str:
    """What a message is, on one line, to stand above its text."""
    images = f" [{', '.join(message.images)}]" if message.images else ""
    return one_line(f"{message.id}|{message.kind} {local_time(message)}{images}", 400)


def find_lines(messages: Sequence[KeptMessage], words: str, width: int) -> list[str]:
    """A line for each message that was found, with the place of its first hit."""
    rows = [(str(one.id), f"{_local(one):%Y-%m-%d %H:%M}", one.kind) for one in messages]
    begins = table(rows, right=frozenset({0}))
    taken = max(map(len, begins), default=0)
    room = max(width - taken - 2, _EXCERPT_MIN)
    return [
        f"{begin:<{taken}}  {fitting(excerpt(one.text, words, room), room)}"
        for begin, one in zip(begins, messages, strict=True)
    ]


def log_lines(logs: Sequence[KeptLog]) -> list[str]:
    """A table of logs."""
    rows = [("LOG", "LABEL", "STATE", "SHAPE", "MESSAGES", "GENERATION", "MADE")]
    rows += [
        (
            one.id,
            one_line(one.label, _CELL) or "-",
            one.state,
            one.shape,
            f"{one.length:,}",
            str(one.generation),
            f"{one.create_time:%Y-%m-%d}",
        )
        for one in logs
    ]
    return table(rows, right=frozenset({4, 5}))


def figure_lines(found: Figures) -> list[str]:
    """A log's figures, a line each."""
    log, calls = found.log, found.calls_per_line
    rows = [
        ("log", f"{log.id}, {log.state}, generation {log.generation}"),
        ("label", one_line(log.label, _CELL) or "-"),
        ("messages", f"{log.length:,}"),
        ("searchable", f"{found.searchable:,}"),
    ]
    if log.shape == "tree":
        rows += [
            ("lines built", f"{found.built:,}"),
            ("ready", f"{found.ready:,}"),
            ("failing", f"{found.failing:,}"),
            ("degraded", f"{found.degraded:,}"),
            ("unbuilt", f"{found.unbuilt:,}"),
            ("chat view", f"{found.view_lines:,} lines, {found.view_bytes:,} bytes"),
            (
                "compaction view",
                f"{found.compaction_view_lines:,} lines, {found.compaction_view_bytes:,} bytes",
            ),
            ("batches", f"{found.batches:,}{', one at work' if found.batch_owed else ''}"),
            ("lines by a model", f"{found.model_lines:,}"),
            ("model calls", f"{found.model_calls:,}"),
            ("calls per line", "-" if calls is None else f"{calls:.2f}"),
            ("over-length answers", f"{found.over_length_answers:,}"),
            ("retries", f"{found.retries:,}"),
        ]
    else:
        rows.append(("shape", f"{log.shape}: messages only"))
    return table(rows)


def excerpt(text: str, words: str, width: int) -> str:
    """About `width` characters of `text` on one line, around the first place where one of `words` stands."""
    flat = harmless_line(text)
    at = _first_hit(flat, words)
    start = at - width // 3
    if start <= 0 or len(flat) <= width:
        return one_line(flat, width)
    space = flat.find(" ", start, at)
    return "…" + one_line(flat[start if space < 0 else space + 1 :], width - 1)


def _first_hit(text: str, words: str) -> int:
    """Where in `text` the first of `words` stands, whatever its case and accents; 0 where none does."""
    folded, places = _folded(text)
    begun: list[int] = []
    within: list[int] = []
    for word in words.split():
        wanted, _ = _folded(_EDGES.sub("", word))
        if not wanted:
            continue
        found = re.search(rf"(?<!\w){re.escape(wanted)}", folded)
        if found is not None:
            begun.append(found.start())
        elif (at := folded.find(wanted)) >= 0:  # scripts without spaces
            within.append(at)
    first = min(begun or within, default=None)
    return 0 if first is None else places[first]


def _folded(text: str) -> tuple[str, list[int]]:
    """`text` without case and accents, and for each of its characters the place that it came from."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(part):
                characters.append(part)
                places.append(place)
    return "".join(characters), places


def local_time(message: KeptMessage) -> str:
    """When a message came, by the clock where it was written: 2026-01-01 10:00:00 +01:00 Europe/Rome."""
    time = _local(message)
    offset = f"{time:%z}"
    return f"{time:%Y-%m-%d %H:%M:%S} {offset[:3]}:{offset[3:5]} {message.zone}"


def _local(message: KeptMessage) -> datetime:
    return message.time.astimezone(zone_of(message.zone))
