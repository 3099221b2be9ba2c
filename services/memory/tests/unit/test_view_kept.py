"""A view that is kept and loaded, or whose lines change under it, against one that stayed."""

import random

import pytest
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.tree import Node, leaf
from onechat_memory.domain.view import Fitted, Limits, View


def saved_and_loaded(view: View) -> View:
    levels = {node.first: node.level for node in view}
    return View.restore(view.limits, levels, size=view.size, owed=view.owed)


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
