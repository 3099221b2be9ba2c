"""Whom a delivery wakes, and which turn may take it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import (
    GROUP_WAIT,
    HOPS_MAX,
    Delivery,
    DeliveryId,
    DeliveryState,
    NewDelivery,
    ReplyTo,
    choose,
    fault,
    may_join,
    wakes,
    whole_ones,
    without_held_groups,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def new(**fields: object) -> NewDelivery:
    said = {"key": "k", "to": "", "source": "user", "kind": Kind.USER, "text": "hello", **fields}
    return NewDelivery(**said)  # type: ignore[arg-type]


def stored(number: int, **fields: object) -> Delivery:
    values = {
        "id": DeliveryId(number),
        "key": f"k{number}",
        "agent": AgentId("root"),
        "source": "user",
        "kind": Kind.USER,
        "text": "hello",
        "images": (),
        "time": NOON,
        "wakes": True,
        "reply_to": ReplyTo(),
        "backed": True,
        "tainted": False,
        "hops": 0,
        "group": "",
        "group_count": 0,
        "state": DeliveryState.QUEUED,
        "turn": None,
        "accept_time": NOON,
        **fields,
    }
    return Delivery(**values)  # type: ignore[arg-type]


def batch(number: int, **fields: object) -> Delivery:
    said = {"source": "whatsapp:1@s", "kind": Kind.WORK, "backed": False, **fields}
    return stored(number, **said)


@pytest.mark.parametrize(
    "fields",
    [
        {"key": ""},
        {"key": "é"},
        {"key": "k" * 201},
        {"text": " \n"},
        {"kind": Kind.TOOL},
        {"source": "somebody"},
        {"group": "g"},
        {"group_count": 2},
    ],
)
def test_a_delivery_that_cannot_be_taken_says_why(fields: dict[str, object]) -> None:
    assert fault(new(**fields))


def test_an_image_alone_is_a_delivery() -> None:
    assert fault(new(text="", images=("0123456789abcdef.png",))) is None


def test_the_users_words_wake_and_a_batch_wakes_the_root_only_if_its_gateway_says_so() -> None:
    quiet = new(source="whatsapp:1@s", kind=Kind.WORK)

    assert wakes(new(), to_root=True, routed=False)
    assert not wakes(quiet, to_root=True, routed=False)
    assert wakes(replace(quiet, wakes_root=True), to_root=True, routed=False)


def test_what_is_routed_wakes_its_agent_in_every_case() -> None:
    assert wakes(new(source="whatsapp:1@s", kind=Kind.WORK), to_root=False, routed=True)


def test_messages_that_agents_have_passed_on_too_long_wake_nobody() -> None:
    assert wakes(new(hops=HOPS_MAX - 1), to_root=True, routed=False)
    assert not wakes(new(hops=HOPS_MAX), to_root=True, routed=False)


def test_nothing_from_outside_joins_a_backed_turn_and_the_user_joins_any() -> None:
    assert not may_join(batch(1), turn_backed=True)
    assert may_join(batch(1), turn_backed=False)
    assert may_join(stored(1), turn_backed=True)
    assert may_join(stored(1), turn_backed=False)


def test_the_users_deliveries_go_first_and_alone() -> None:
    choice = choose([batch(1), stored(2), batch(3), stored(4)], NOON)

    assert [delivery.id for delivery in choice.turn] == [2, 4]
    assert choice.without_turn == ()


def test_what_wakes_nobody_is_logged_without_a_turn() -> None:
    quiet = batch(1, wakes=False)

    assert choose([quiet], NOON).without_turn == (quiet,)


def test_quiet_ones_are_taken_along_by_the_turn_of_a_waking_one() -> None:
    assert [d.id for d in choose([batch(1, wakes=False), batch(2)], NOON).turn] == [1, 2]


def test_an_incomplete_group_waits_a_minute_after_its_first() -> None:
    one = batch(1, group="g", group_count=2)

    waiting = choose([one], NOON + GROUP_WAIT - timedelta(seconds=1))
    assert (waiting.turn, waiting.look_again) == ((), NOON + GROUP_WAIT)
    assert choose([one], NOON + GROUP_WAIT).turn == (one,)


def test_no_part_of_an_incomplete_group_joins_a_turn() -> None:
    one, alone = batch(1, group="g", group_count=2), batch(2)

    assert without_held_groups([one, alone], NOON) == [alone]
    assert without_held_groups([one, alone], NOON + GROUP_WAIT) == [one, alone]


def test_a_complete_group_is_taken_at_once() -> None:
    group = [batch(1, group="g", group_count=2), batch(2, group="g", group_count=2, wakes=False)]

    assert choose(group, NOON).turn == tuple(group)


def test_a_clock_that_steps_back_holds_no_group_for_ever() -> None:
    one = batch(1, group="g", group_count=2)

    assert choose([one], NOON - timedelta(hours=1)).turn == (one,)


def test_the_newest_deliveries_are_shown_whole_and_the_last_one_up_to_twice_the_room() -> None:
    """One that no call could hold would make its turn roll over at every step, and see none of them."""
    three = [stored(1, text="a" * 60), stored(2, text="b" * 30), stored(3, text="c" * 50)]

    assert [[d.id for d in part] for part in whole_ones(three, 100)] == [[1], [2, 3]]
    assert [[d.id for d in part] for part in whole_ones(three, 25)] == [[1, 2], [3]]
    assert [[d.id for d in part] for part in whole_ones(three, 24)] == [[1, 2, 3], []]
    assert [[d.id for d in part] for part in whole_ones(three, 1_000)] == [[], [1, 2, 3]]
