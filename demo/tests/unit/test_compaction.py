"""How the demo compresses a source into lines."""

from collections.abc import Callable
from typing import Any

from onechat_demo.model import DemoModel, Purpose, purpose_of

Compaction = Callable[..., dict[str, Any]]
LONG = "user: " + "wörter und Wege " * 200


def lines(text: str) -> list[str]:
    return text.split("\n")


def sizes(text: str) -> list[int]:
    return [len(line.encode()) for line in lines(text)]


def test_a_compaction_is_told_from_a_turn(
    compaction: Compaction, turn: Callable[..., dict[str, Any]]
) -> None:
    assert purpose_of(compaction(LONG)) is Purpose.COMPACTION
    assert purpose_of(turn("Compaction: what is that?")) is Purpose.TURN


def test_the_answer_is_three_cuts_of_the_source_longest_first(compaction: Compaction) -> None:
    reply = DemoModel().answer(compaction(LONG))

    assert all(LONG.startswith(line) for line in lines(reply.text))
    first, second, third = sizes(reply.text)
    assert 505 <= first <= 512
    assert 440 <= second <= 450
    assert 290 <= third <= 300


def test_newlines_become_spaces(compaction: Compaction) -> None:
    reply = DemoModel().answer(compaction("user: one\r\ntwo\u2028" + "x" * 600))

    assert lines(reply.text)[0].startswith("user: one two xxx")


def test_a_cut_never_splits_a_character(compaction: Compaction) -> None:
    reply = DemoModel().answer(compaction("user: " + "😀" * 300))

    assert "\ufffd" not in reply.text
    assert sizes(reply.text)[0] == 510


def test_a_merge_keeps_both_lines(compaction: Compaction) -> None:
    """A cut of the first line alone would lose the second for ever."""
    reply = DemoModel().answer(compaction(f"0+4|{'first ' * 80}\n4+4|{'second ' * 70}"))

    for line in lines(reply.text):
        assert line.startswith("first first")
        assert "second second" in line
        assert "0+4|" not in line
        assert len(line.encode()) <= 512


def test_a_short_half_leaves_its_room_to_the_other(compaction: Compaction) -> None:
    reply = DemoModel().answer(compaction(f"0+1|user: yes\n1+1|{'reply ' * 200}"))

    assert lines(reply.text)[0].startswith("user: yes reply reply")
    assert sizes(reply.text)[0] >= 505


def test_the_limit_comes_from_the_task(compaction: Compaction) -> None:
    reply = DemoModel().answer(compaction(LONG, limit=256))

    assert 250 <= sizes(reply.text)[0] <= 256


def test_over_length_mode_misses_the_asked_lengths_by_its_factors(compaction: Compaction) -> None:
    for seed in range(20):
        reply = DemoModel(over_length=seed).answer(compaction(LONG))
        for size, asked in zip(sizes(reply.text), (512, 450, 300), strict=True):
            assert asked * 0.8 - 4 <= size <= asked * 1.35


def test_over_length_mode_is_seeded(compaction: Compaction) -> None:
    one, same, other = (DemoModel(over_length=seed).answer(compaction(LONG)) for seed in (1, 1, 2))

    assert one == same
    assert one != other


def test_over_length_mode_also_fills_lines_from_a_short_source(compaction: Compaction) -> None:
    reply = DemoModel(over_length=3).answer(compaction("user: " + "short " * 20))

    assert all(size >= 0.8 * 300 - 4 for size in sizes(reply.text))


def test_a_line_told_to_be_over_the_limit_gets_shorter(compaction: Compaction) -> None:
    for seed in (None, 5):
        model = DemoModel(over_length=seed)
        tries = ["w" * 690]
        for _ in range(4):
            tries.append(model.answer(compaction(LONG, *tries)).text)

        assert [len(text.encode()) for text in tries] == sorted(
            (len(text.encode()) for text in tries), reverse=True
        )
        assert len(set(tries)) == 5
        assert len(tries[-1].encode()) <= 512
