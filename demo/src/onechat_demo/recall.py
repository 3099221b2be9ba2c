"""Looking something up: which lines of a view to zoom, and when what a zoom gave is enough. Pure.

A line counts by how many of the words it holds; the user's own words go first, newer before older. A
reply, or a question like this one, is looked up only where nothing else has the words, for it repeats them.
"""

from collections.abc import Sequence

from onechat_demo.asks import Command, Recall, asks_in
from onechat_demo.prompt import Called, Line

LINES_MAX = 2  # lines of the view that one question zooms


def first_zooms(view: Sequence[Line], recall: Recall) -> tuple[Command, ...]:
    """A zoom for each of the best lines of the view; empty when no line holds any of the words."""
    return tuple(_zoom(line) for line in _best(view, recall.words)[:LINES_MAX])


def next_zoom(called: Called, lines: Sequence[Line], recall: Recall) -> Command | None:
    """The next zoom down from what `called` gave (`lines`); None when that is as deep as it goes."""
    count = called.arguments.get("n")
    if not isinstance(count, int) or count <= 1:
        return None
    deeper = _best([line for line in lines if line.count < count], recall.words)
    return _zoom(deeper[0]) if deeper else None


def hits(text: str, words: Sequence[str]) -> int:
    """How many of `words` (lower case) stand in `text`."""
    folded = text.casefold()
    return sum(1 for word in words if word in folded)


def _best(lines: Sequence[Line], words: Sequence[str]) -> list[Line]:
    """The lines with the most hits, best first."""
    found = [(hits(line.text, words), line) for line in lines]
    most = max((count for count, _ in found), default=0)
    if most == 0:
        return []
    best = [line for count, line in found if count == most]
    telling = [line for line in best if line.count > 1 or _rank(line) == 0]
    return sorted(telling or best, key=lambda line: (_rank(line), -line.first))


def _rank(line: Line) -> int:
    """0 for the user's words, 1 for others; questions like this one come after, since they answer nothing."""
    asked = any(isinstance(ask, Recall) for ask in asks_in(line.text)) and line.count == 1
    return (0 if line.text.startswith("user: ") else 1) + (2 if asked else 0)


def _zoom(line: Line) -> Command:
    return Command(tool="zoom", arguments={"id": line.first, "n": line.count})
