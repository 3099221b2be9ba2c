"""Views against stored vectors, against the rollback list, and against a plain model of the rule."""

import hashlib
import json
import random
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from onechat_memory.domain.tree import Node
from onechat_memory.domain.view import Fitted, Limits, View

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "view.json").read_text())["cases"]
STEPS = 20_001


class GrownTree:
    """The tree of the vectors: sizes by their formula, merges built `delay` messages late."""

    def __init__(self, sizes: list[int], delay: int) -> None:
        self.sizes, self.delay, self.length = sizes, delay, 0
        self._known: dict[Node, int] = {}

    def size(self, node: Node) -> int:
        if not node.level:
            return self.sizes[node.index]
        if node not in self._known:
            both = sum(self.size(half) for half in node.halves) + 1
            self._known[node] = both if both <= 512 else 300 + (7 * node.index + 13 * node.level) % 200
        return self._known[node]

    def size_of(self, node: Node) -> int | None:
        return self.size(node) if not node.level or self.length > node.last + self.delay else None

    def grow(self) -> list[Node]:
        """One message more; the merges that are built from now on, lowest first."""
        self.length += 1
        last = self.length - 1 - self.delay
        level, built = 1, []
        while last >= 0 and (last + 1) % (1 << level) == 0:
            built.append(Node(level, last >> level))
            level += 1
        return built


def names(view: View) -> str:
    return " ".join(node.name for node in view)


def saved_and_loaded(view: View) -> View:
    levels = {node.first: node.level for node in view}
    return View.restore(view.limits, levels, size=view.size, owed=view.owed)


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_every_right_implementation_reproduces_these_views(case: dict[str, Any]):
    tree = GrownTree(case["sizes"], case["delay"])
    view = View(Limits(high=case["high"], low=case["low"]))
    checkpoints = {point["messages"]: point for point in case["checkpoints"]}

    for size in case["sizes"]:
        for node in tree.grow():
            view.note_built(node, tree.size(node))
        view.append(size, tree.size_of)
        view.fit(tree.size_of)
        if point := checkpoints.get(tree.length):
            assert (len(view), view.size, view.owed) == (point["lines"], point["bytes"], point["batch"])
            assert hashlib.sha256(names(view).encode()).hexdigest() == point["sha256"]

    assert names(view) == case["final"]


def push(rollback: list[tuple[int, int]], state: int) -> None:
    """Push `state` onto a rollback list, newest first, of (bit, state)."""
    for place, (bit, kept) in enumerate(rollback):
        if bit == 0:
            # The newest of the rest takes the bit, and what was to be pushed here is dropped.
            rollback[place] = (1, kept)
            return
        rollback[place], state = (0, state), kept
    rollback.append((0, state))


def test_the_rule_gives_the_lines_of_the_rollback_list_at_every_step():
    rollback: list[tuple[int, int]] = []
    view = View(Limits(high=1, low=0))

    for step in range(STEPS):
        push(rollback, step)
        view.append(1, lambda node: 1)
        while len(view) > len(rollback):
            assert view.merge_most_due(lambda node: 1) is not None

        assert [node.first for node in view] == [state for _, state in reversed(rollback)], step


class PlainView:
    """The rule word for word, with a look at every line for every merge."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.lines, self.sizes, self.owed = limits, list[Node](), dict[Node, int](), False

    @property
    def size(self) -> int:
        return sum(self.sizes[node] for node in self.lines)

    def fit(self, forced: bool) -> None:
        length = self.lines[-1].last + 1
        self.owed |= self.size > (self.limits.low if forced else self.limits.high)
        while self.owed and self.size > self.limits.low:
            due = [
                (Fraction(length - younger.last, older.count), -younger.last, place)
                for place, (older, younger) in enumerate(zip(self.lines, self.lines[1:], strict=False))
                if older.parent == younger.parent and older.parent in self.sizes
            ]
            if not due:
                return
            place = max(due)[2]
            self.lines[place : place + 2] = [self.lines[place].parent]
        self.owed = False


@pytest.mark.parametrize("seed", range(25))
def test_heaps_choose_the_pairs_that_the_plain_rule_chooses(seed: int):
    """Nodes are built in any order that a tree allows, some much later, some never."""
    dice = random.Random(seed)
    limits = Limits(high=dice.randint(5, 60), low=dice.randint(0, 4))
    view, plain = View(limits), PlainView(limits)
    sizes = plain.sizes
    ready: list[Node] = []

    for message in range(70):
        sizes[Node(0, message)] = 2
        view.append(2, sizes.get)
        plain.lines.append(Node(0, message))
        if message & 1:
            ready.append(Node(1, message >> 1))
        for _ in range(dice.randint(0, 3)):
            if ready:
                node = ready.pop(dice.randrange(len(ready)))
                sizes[node] = dice.randint(1, 4)
                view.note_built(node, sizes[node])
                if node.sibling in sizes:
                    ready.append(node.parent)
        forced = dice.random() < 0.3
        view.fit(sizes.get, forced=forced)
        plain.fit(forced)

        assert list(view) == plain.lines
        assert (view.size, view.owed, view.length) == (plain.size, plain.owed, message + 1)


def test_a_batch_begins_past_the_high_limit_and_ends_at_the_low_one():
    view = View(Limits(high=10, low=4))
    for _ in range(10):
        view.append(1, lambda node: 1)
    assert view.fit(lambda node: 1) == Fitted(merged=(), began=False)

    view.append(1, lambda node: 1)
    fitted = view.fit(lambda node: 1)

    assert fitted.began
    assert len(fitted.merged) == 7
    assert view.size == 4
    assert not view.owed


def test_a_batch_that_cannot_get_there_is_owed_and_goes_on_when_parents_are_built():
    view = View(Limits(high=3, low=2))
    for _ in range(4):
        view.append(1, lambda node: None)
    assert view.fit(lambda node: None) == Fitted(merged=(), began=True)
    assert view.owed

    view.note_built(Node(1, 0), 1)
    assert len(view) == 4, "a line that is built merges nothing"
    view.note_built(Node(1, 1), 1)
    fitted = view.fit(lambda node: 1 if node.level == 1 else None)

    assert fitted == Fitted(merged=(Node(1, 0), Node(1, 1)), began=False)
    assert not view.owed


def test_a_forced_fit_merges_below_the_high_limit():
    view = View(Limits(high=100, low=2))
    for _ in range(4):
        view.append(1, lambda node: 1)

    assert view.fit(lambda node: 1, forced=True).merged == (Node(1, 0), Node(1, 1))
    assert view.fit(lambda node: 1, forced=True) == Fitted(merged=(), began=False)


def test_a_restored_view_goes_on_like_the_live_one():
    case = VECTORS[1]
    tree = GrownTree(case["sizes"], case["delay"])
    live = View(Limits(high=case["high"], low=case["low"]))
    for message, size in enumerate(case["sizes"]):
        for node in tree.grow():
            live.note_built(node, tree.size(node))
        live.append(size, tree.size_of)
        live.fit(tree.size_of)
        if message == 400:
            assert live.owed
            live = saved_and_loaded(live)

    assert names(live) == case["final"]


def test_a_message_rewrites_few_lines_and_a_batch_keeps_the_view_a_sawtooth():
    """Merging a little at every message would rewrite about 78 lines a message."""
    view, merges, sizes = View(Limits(high=128_000, low=64_000)), 0, []

    for _ in range(8_000):
        view.append(290, lambda node: 290)
        merges += len(view.fit(lambda node: 290).merged)
        sizes.append(view.size)

    later = sizes[2_000:]
    assert merges / 8_000 < 2
    assert max(accumulate(later, max)) <= 128_000 + 290
    assert 90_000 < sum(later) / len(later) < 102_000
