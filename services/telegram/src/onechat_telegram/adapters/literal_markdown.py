"""Escapes what telegramify-markdown would drop or change, so that it is shown as it was written.

These are: HTML, formulas between dollar signs, links and pictures that Telegram can't make a link of, signs
of formatting in an address, `||` that hides nothing, definitions of link references, cells that a table has
no column for, and numbers of a list that don't follow one another. The parser is pyromark, which that library
uses too; its places are UTF-8 bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pyromark

from onechat_telegram.domain.entities import link_shown

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)  # those of the library, so that both read alike
_ROUNDS_MAX = 50  # an escape may uncover a few things; each round does all that it sees

_SPOILER = re.compile(rb"(?<![|\\])\|\|(?![\s|])[^|\n]*[^\s|]\|\|(?!\|)|(?<![|\\])\|\|[^\s|]\|\|(?!\|)")
_PIPES = re.compile(rb"\|{2,}")
_DEFINITION = re.compile(rb"^[ \t>]*(\[)[^\]\n]{1,200}\]:", re.MULTILINE)
# One that stands for itself, without the signs after it, which may end a formatting that began before it.
_ADDRESS = re.compile(rb"(?<!\]\()https?://[^\s<>\"`]*[^\s<>\"`*_~.,:;!?()\[\]|\\]")
_STYLING = re.compile(rb"(?<!\\)[_*~]")
_ITEM = re.compile(rb"[ \t>]*(\d{1,9})([.)])")

Event = tuple[Any, Mapping[str, int]]  # what pyromark gives: untyped, read in this file alone


def literal(source: str) -> str:
    """`source` with a backslash before whatever would not be shown; code stays as it is."""
    data = source.encode("utf-8", "replace")
    for _ in range(_ROUNDS_MAX):
        events = cast(list[Event], list(pyromark.events_with_range(data.decode("utf-8"), options=_OPTIONS)))
        places = {**_pipes(data, events), **dict.fromkeys(_lost(data, events), b"\\")}
        if not places:
            return data.decode("utf-8")
        data = _inserted(data, places)
    raise ValueError("the text's escapes do not end")


def _inserted(data: bytes, places: Mapping[int, bytes]) -> bytes:
    parts, start = [], 0
    for place in sorted(places):
        parts += [data[start:place], places[place]]
        start = place
    return b"".join([*parts, data[start:]])


def _lost(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    """The places before which a backslash keeps what would be lost."""
    yield from _html_and_formulas(data, events)
    yield from _links(data, events)
    yield from _addresses(data, events)
    yield from _numbers(data, events)
    yield from _cells_too_many(data, events)
    code = _ranges(events, "CodeBlock", "Code")
    for found in _DEFINITION.finditer(data):
        if not _within(found.start(1), code):
            yield found.start(1)


def _html_and_formulas(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    for event, place in events:
        if event == {"Start": "HtmlBlock"} or (isinstance(event, dict) and "InlineHtml" in event):
            yield data.index(b"<", place["start"])
        elif isinstance(event, dict) and "InlineMath" in event:
            yield from (place["start"], place["end"] - 1)
        elif isinstance(event, dict) and "DisplayMath" in event:
            yield from (place["start"], place["start"] + 1, place["end"] - 2, place["end"] - 1)


def _links(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    """Where a link or picture begins whose address Telegram would not show, or with nothing to click on."""
    tables = _ranges(events, "Table")
    for index, (event, place) in enumerate(events):
        tag = event.get("Start") if isinstance(event, dict) else None
        kind = next((name for name in ("Link", "Image") if isinstance(tag, dict) and name in tag), "")
        if not kind or tag is None:
            continue
        shown = link_shown(tag[kind]["dest_url"]) and not _within(place["start"], tables)
        if not (shown and _has_text(events, index, kind)):
            yield place["start"] + (1 if kind == "Image" else 0)


def _addresses(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    """The signs of formatting in addresses that are shown: without them they would be other addresses."""
    links = _ranges(events, "Link", "Image")
    apart = _ranges(events, "CodeBlock", "Code") + [
        span for span in links if data[span[0] : span[0] + 1] == b"<"
    ]
    for address in _ADDRESS.finditer(data):
        if not _within(address.start(), apart):
            yield from (sign.start() for sign in _STYLING.finditer(data, *address.span()))


def _has_text(events: Sequence[Event], index: int, kind: str) -> bool:
    """Whether anything can be seen between the start at `index` and its end."""
    for event, _ in events[index + 1 :]:
        if event == {"End": kind}:
            return False
        if not isinstance(event, dict):
            continue
        picture = kind == "Link" and isinstance(event.get("Start"), dict) and "Image" in event["Start"]
        if picture or str(event.get("Text", event.get("Code", ""))).strip():
            return True
    return False


def _numbers(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    """The dots of a list's numbers that the renderer would count anew, unless all are alike ("1." each)."""
    lists: list[list[re.Match[bytes]]] = []
    for event, place in events:
        tag = event.get("Start") if isinstance(event, dict) else None
        if isinstance(tag, dict) and "List" in tag:
            lists.append([])
        elif tag == "Item" and lists and (found := _ITEM.match(data, place["start"])):
            lists[-1].append(found)
        elif (
            isinstance(event, dict)
            and isinstance(event.get("End"), dict)
            and "List" in event["End"]
            and lists
        ):
            items = lists.pop()
            numbers = [int(item[1]) for item in items]
            if len(set(numbers)) > 1:
                wrong = (i for i, number in enumerate(numbers) if number != numbers[0] + i)
                yield from (items[i].start(2) for i in wrong)


def _cells_too_many(data: bytes, events: Sequence[Event]) -> Iterator[int]:
    """The pipe after a row's last cell that has a column, where more follow: the parser would drop them."""
    last_cell_end = 0
    for event, place in events:
        if event == {"End": "TableCell"}:
            last_cell_end = place["end"]
        elif event == {"End": "TableRow"} and data[last_cell_end : place["end"]].strip(b"| \t\r\n>"):
            yield last_cell_end


def _pipes(data: bytes, events: Sequence[Event]) -> dict[int, bytes]:
    """What to put where `||` would hide a text that was not meant so, or break a table's empty cell."""
    code, tables = _ranges(events, "CodeBlock", "Code"), _ranges(events, "Table")
    spoilers = list(_SPOILER.finditer(data))
    begins, ends = {found.start() for found in spoilers}, {found.end() for found in spoilers}
    places: dict[int, bytes] = {}
    for found in _PIPES.finditer(data):
        start, end = found.span()
        if _within(start, code):
            continue
        if _within(start, tables):
            places.update(dict.fromkeys(range(start + 1, end), b" "))
        elif start not in begins and end not in ends:
            places.update(dict.fromkeys(range(start, end), b"\\"))
    return places


def _ranges(events: Sequence[Event], *kinds: str) -> list[tuple[int, int]]:
    """The byte ranges of the blocks and spans of these kinds."""
    found = []
    for event, place in events:
        if not isinstance(event, dict):
            continue
        tag = event.get("Start")
        if any(kind in event or (isinstance(tag, dict) and kind in tag) for kind in kinds):
            found.append((place["start"], place["end"]))
    return found


def _within(place: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in ranges)
