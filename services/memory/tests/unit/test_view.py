"""Views against stored vectors, against the rollback list, and against a plain model of the rule."""

import hashlib
import json
import random
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.tree import Node, leaf
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


def test_a_leaf_that_is_built_takes_its_own_size():
    view = View(Limits(high=100, low=50))
    view.append(29, lambda node: None)
    view.append(7, lambda node: None)

    view.note_built(Node(0, 0), 400)

    assert view.size == 407
    assert len(view) == 2


def test_a_line_that_is_written_again_has_its_new_size_and_merges_nothing():
    view = View(Limits(high=100, low=50))
    for _ in range(2):
        view.append(40, lambda node: 60)

    view.note_rewritten(Node(0, 1), before=40, size=70)

    assert (view.size, len(view)) == (110, 2)
    assert view.fit(lambda node: 60).merged == (Node(1, 0),)
    assert view.size == 60


def test_a_pair_whose_merged_line_is_written_again_merges_once():
    """It can merge already; noted twice, the second merge would find no halves."""
    view = View(Limits(high=100, low=50))
    for _ in range(4):
        view.append(30, lambda node: 20)

    view.note_rewritten(Node(1, 0), before=20, size=25)

    assert (view.size, len(view)) == (120, 4)
    assert view.fit(lambda node: 25).merged == (Node(1, 0), Node(1, 1))


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


class Growing:
    """A tree of which leaves and merges are built late or never, and written again, as dice say."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.sizes, self.ready = dice, dict[Node, int](), list[Node]()

    def grow(self, message: int) -> int:
        """A message more; what its own line counts."""
        self.ready.append(leaf(message))
        return PLACEHOLDER_SIZE if self.dice.random() < 0.4 else self.build(leaf(message))

    def build(self, node: Node) -> int:
        self.ready.remove(node)
        self.sizes[node] = self.dice.randint(1, 60)
        if node.sibling in self.sizes:
            self.ready.append(node.parent)
        return self.sizes[node]


@pytest.mark.parametrize("seed", range(25))
def test_a_view_that_is_loaded_at_any_moment_goes_on_like_one_that_stayed(seed: int):
    """It knows its bytes and its lines' places alone, and asks for the rest when it wants it."""
    dice = random.Random(seed)
    tree = Growing(dice)
    high = dice.randint(100, 700)
    stayed = View(Limits(high=high, low=dice.randint(20, high)))
    loaded = saved_and_loaded(stayed)

    for message in range(120):
        size = tree.grow(message)
        for view in (stayed, loaded):
            view.append(size, tree.sizes.get)
        for node in dice.sample(tree.ready, dice.randint(0, min(3, len(tree.ready)))):
            size = tree.build(node)
            for view in (stayed, loaded):
                view.note_built(node, size)
        for node in dice.sample([*tree.sizes], dice.randint(0, min(2, len(tree.sizes)))):
            before, tree.sizes[node] = tree.sizes[node], dice.randint(1, 60)
            for view in (stayed, loaded):
                view.note_rewritten(node, before=before, size=tree.sizes[node])
        if dice.random() < 0.3:
            loaded = saved_and_loaded(loaded)
        assert loaded.due or not stayed.due
        forced = dice.random() < 0.2
        assert loaded.fit(tree.sizes.get, forced=forced) == stayed.fit(tree.sizes.get, forced=forced)
        if dice.random() < 0.3:
            loaded = saved_and_loaded(loaded)

        assert list(loaded) == list(stayed)
        assert (loaded.size, loaded.owed, loaded.length) == (stayed.size, stayed.owed, message + 1)
        assert stayed.size == sum(tree.sizes.get(node, PLACEHOLDER_SIZE) for node in stayed)


def test_a_loaded_view_asks_for_no_node_before_a_batch_is_due():
    """Where a log is long, each would be a place of its own on the disk."""
    view = View.restore(Limits(high=60, low=10), {0: 1, 2: 0, 3: 0}, size=30, owed=False)
    asked = list[Node]()

    def size_of(node: Node) -> int:
        asked.append(node)
        return 5

    view.append(20, size_of)
    view.append(10, size_of)
    before, nothing = list(asked), view.fit(size_of)
    view.append(10, size_of)
    fitted = view.fit(size_of)

    assert (before, nothing) == ([], Fitted(merged=(), began=False))
    assert fitted == Fitted(merged=(Node(1, 1), Node(2, 0), Node(1, 2)), began=True)


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
