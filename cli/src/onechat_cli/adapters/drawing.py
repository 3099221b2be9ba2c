"""A stored picture as a terminal can show it: coloured cells anywhere, true pixels where a terminal has them.

How it stands among the chat's lines: chat/screen.py. Decoding: drawing_process.py. Sizes are columns and rows
of the terminal; half a cell is about a square.
"""

import base64
from collections.abc import Mapping
from enum import Enum
from itertools import groupby
from typing import Final

from onechat_runtime.confined import confined
from prompt_toolkit.formatted_text import StyleAndTextTuples

ROWS_MAX: Final = 20
COLUMNS_MAX: Final = 72
_CELL_PIXELS: Final = (10, 20)  # a usual cell, where a terminal scales what it gets
_LONGEST_S: Final = 15.0
_PROCESS: Final = "onechat_cli.adapters.drawing_process"
_UPPER_HALF: Final = "▀"
_KITTY_PIECE: Final = 4096  # its protocol's longest payload


class Way(Enum):
    """How a terminal shows pictures."""

    NONE = "none"
    CELLS = "cells"  #: two pixels a cell, by colours
    KITTY = "kitty"  #: kitty's graphics protocol, which others speak too
    ITERM = "iterm"  #: iTerm2's inline images, which others speak too


def way_of(environ: Mapping[str, str], *, colours: bool) -> Way:
    """What the terminal of `environ` can; `colours`: whether it has more than sixteen, and may show them."""
    if not colours:
        return Way.NONE
    program, term = environ.get("TERM_PROGRAM", ""), environ.get("TERM", "")
    if environ.get("TMUX") or term.startswith(("screen", "tmux")):
        return Way.CELLS  # it would not pass pictures on
    if environ.get("KITTY_WINDOW_ID") or "kitty" in term or program == "ghostty":
        return Way.KITTY
    return Way.ITERM if program in ("iTerm.app", "WezTerm") else Way.CELLS


async def drawing(content: bytes, way: Way, *, columns: int, rows: int) -> StyleAndTextTuples:
    """The picture for the scroll-back, ending with a line end; empty where it cannot be shown."""
    columns, rows = min(columns - 1, COLUMNS_MAX), min(rows, ROWS_MAX)
    if way is Way.NONE or columns < 1 or rows < 1:
        return []
    if way is Way.CELLS:
        done = await _done(content, "dots", columns, 2 * rows)
        return _cells(done)
    png = await _done(content, "png", columns * _CELL_PIXELS[0], rows * _CELL_PIXELS[1])
    if not png:
        return []
    sequence = _kitty(png) if way is Way.KITTY else _iterm(png)
    return [("[ZeroWidthEscape]", sequence), ("", "\n")]


async def _done(content: bytes, shape: str, width: int, height: int) -> bytes:
    done = await confined(_PROCESS, content, shape, str(width), str(height), longest_s=_LONGEST_S)
    return done.output if done.status == 0 else b""


def _cells(dots: bytes) -> StyleAndTextTuples:
    """A cell for two pixels that stand one above the other: the sign's colour and the ground's."""
    head, _, pixels = dots.partition(b"\n")
    if not head:
        return []
    width, height = map(int, head.split())
    rows = [
        [pixels[at : at + 3].hex() for at in range(3 * width * row, 3 * width * (row + 1), 3)]
        for row in range(height)
    ]
    fragments: StyleAndTextTuples = []
    for top in range(0, height, 2):
        below = rows[top + 1] if top + 1 < height else [""] * width
        for (upper, lower), run in groupby(zip(rows[top], below, strict=True)):
            style = f"fg:#{upper} bg:#{lower}" if lower else f"fg:#{upper}"
            fragments.append((style, _UPPER_HALF * len(list(run))))
        fragments.append(("", "\n"))
    return fragments


def _kitty(png: bytes) -> str:
    """a=T: send and show; f=100: a PNG; q=2: answer nothing, for it would be read as keys."""
    data = base64.b64encode(png).decode()
    pieces = [data[at : at + _KITTY_PIECE] for at in range(0, len(data), _KITTY_PIECE)]
    made = []
    for place, piece in enumerate(pieces):
        keys = "a=T,f=100,q=2," if place == 0 else ""
        made.append(f"\x1b_G{keys}m={int(place + 1 < len(pieces))};{piece}\x1b\\")
    return "".join(made)


def _iterm(png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return f"\x1b]1337;File=inline=1;size={len(png)};preserveAspectRatio=1:{data}\x07"
