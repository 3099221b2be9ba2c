"""What a benchmark found: medians over rounds, their spread, the goal they are held to; and as a table."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_HEADS: Final = ("what", "median", "lowest to highest", "goal", "reached")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row: a value of each round."""

    what: str
    rounds: tuple[float, ...]  #: one value a round, at least one
    unit: str
    at_most: float | None = None  #: the goal, if there is one
    at_least: float | None = None

    @property
    def median(self) -> float:
        """The figure."""
        return statistics.median(self.rounds)

    @property
    def reached(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.at_most is not None:
            return self.median <= self.at_most
        if self.at_least is not None:
            return self.median >= self.at_least
        return None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        goal = ""
        if self.at_most is not None:
            goal = f"≤ {written(self.at_most)} {self.unit}"
        elif self.at_least is not None:
            goal = f"≥ {written(self.at_least)} {self.unit}"
        spread = f"{written(min(self.rounds))} to {written(max(self.rounds))}"
        reached = {None: "", True: "yes", False: "no"}[self.reached]
        return self.what, f"{written(self.median)} {self.unit}", spread, goal, reached


def figure(
    what: str,
    rounds: Sequence[float],
    unit: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Figure:
    """A row of `rounds`, one value each."""
    return Figure(what=what, rounds=tuple(rounds), unit=unit, at_most=at_most, at_least=at_least)


def milliseconds(what: str, rounds_s: Sequence[float], *, at_most_ms: float | None = None) -> Figure:
    """A row of times that were taken in seconds."""
    return figure(what, [seconds * 1000 for seconds in rounds_s], "ms", at_most=at_most_ms)


def ratio(
    what: str,
    tops: Sequence[float],
    bottoms: Sequence[float],
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Figure:
    """A row of what is above, of what is below, round by round."""
    return figure(what, ratios(tops, bottoms), "×", at_most=at_most, at_least=at_least)


def ratios(tops: Sequence[float], bottoms: Sequence[float]) -> list[float]:
    """Round by round, so that what disturbs a round disturbs both."""
    return [top / bottom for top, bottom in zip(tops, bottoms, strict=True)]


def written(value: float) -> str:
    """Three digits that matter, thousands with commas."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    places = 1 if abs(value) >= 10 else 2
    return f"{value:.{places}f}"


def table(figures: Sequence[Figure]) -> str:
    """The rows as a table of Markdown that reads well as it is."""
    rows = [_HEADS, *(one.cells for one in figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
