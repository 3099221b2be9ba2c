"""The plain lists that the service is compared with are themselves held to the stored vectors.

So what the vectors say of the rule holds of the service with its store, its restarts and its failures too.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import plain_memory as plain

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "view.json").read_text())["cases"]


class Grown(plain.PlainLog):
    """A log whose lines have the sizes of a vector, its merges built `delay` messages late."""

    def __init__(self, case: dict[str, Any]) -> None:
        limits = case["high"], case["low"]
        super().__init__(chat=limits, compaction=limits)
        self.case = case
        self.sizes: dict[plain.Node, int] = {}
        self.built: Any = self

    def __contains__(self, node: plain.Node) -> bool:
        return not node[0] or len(self.messages) >= plain.last(node) + 1 + self.case["delay"]

    def size(self, node: plain.Node) -> int:
        if not node[0]:
            return self.case["sizes"][node[1]]
        if node not in self.sizes:
            joined = sum(self.size(half) for half in plain.halves(node)) + 1
            formula = 300 + (7 * node[1] + 13 * node[0]) % 200
            self.sizes[node] = joined if joined <= plain.LINE_MAX else formula
        return self.sizes[node]

    def bytes_of(self, view: plain.PlainView) -> int:
        return sum(self.size(node) for node in view.lines)

    def grow(self) -> None:
        said = plain.Said(key="", kind="", text="")
        self.messages.append(plain.Kept(said=said, text="", part=1, parts=1))
        self.chat.lines.append((0, len(self.messages) - 1))
        self.fit()


def of(case: dict[str, Any]) -> Any:
    """A parameter; those that take seconds are for the long runs."""
    return pytest.param(case, id=case["name"], marks=[pytest.mark.soak] if len(case["sizes"]) > 1_000 else [])


@pytest.mark.parametrize("case", [of(case) for case in VECTORS])
def test_the_plain_lists_reproduce_the_views_of_every_vector(case: dict[str, Any]):
    log = Grown(case)
    checkpoints = {point["messages"]: point for point in case["checkpoints"]}

    for _ in case["sizes"]:
        log.grow()
        if point := checkpoints.get(len(log.messages)):
            names = " ".join(plain.name(node) for node in log.chat.lines)
            seen = (len(log.chat.lines), log.bytes_of(log.chat), log.chat.owed)
            assert seen == (point["lines"], point["bytes"], point["batch"])
            assert hashlib.sha256(names.encode()).hexdigest() == point["sha256"]

    assert " ".join(plain.name(node) for node in log.chat.lines) == case["final"]
