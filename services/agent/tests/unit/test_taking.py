"""Which deliveries a turn takes, which may join one, and which need none."""

from datetime import UTC, datetime, timedelta

from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import Delivery, DeliveryId, DeliveryState, ReplyTo
from onechat_agent.domain.taking import (
    GROUP_WAIT,
    Choice,
    GroupSeen,
    choose,
    choose_one,
    joining,
    whole_ones,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def stored(number: int, **fields: object) -> Delivery:
    """The user's message."""
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
    """A batch of a chat of its own."""
    return stored(number, **{"source": f"whatsapp:{number}@s", "kind": Kind.WORK, "backed": False, **fields})


def told(number: int, **fields: object) -> Delivery:
    """What the parent tells."""
    return stored(number, source="parent", **fields)


def of_group(stored_ones: int) -> dict[str, GroupSeen]:
    return {"g": GroupSeen(stored=stored_ones, first=NOON)}


def ids(deliveries: object) -> list[int]:
    return [delivery.id for delivery in deliveries]  # type: ignore[attr-defined]


def test_nothing_from_outside_joins_a_backed_turn_and_the_user_joins_any() -> None:
    queued = [batch(1), stored(2)]

    assert ids(joining(queued, {}, NOON, turn_backed=True)) == [2]
    assert ids(joining(queued, {}, NOON, turn_backed=False)) == [1, 2]


def test_a_report_enters_a_backed_turn_and_nothing_else_of_an_agent_does() -> None:
    """The turn is tainted by it; an unbacked task would be taken for one that the user stands behind."""
    report = told(1, kind=Kind.WORK, backed=False, tainted=True)
    outcome = stored(2, source="proposal:7", kind=Kind.WORK, backed=False, tainted=True)
    task = stored(3, source="another", backed=False)
    strayed = stored(4, source="third", kind=Kind.WORK, backed=False, tainted=True, meant_for="House")
    run = stored(5, source="schedule:2", kind=Kind.WORK, backed=False, tainted=True)

    assert ids(joining([report, outcome, task, strayed, run], {}, NOON, turn_backed=True)) == [1, 2]


def test_the_users_deliveries_go_first_and_alone() -> None:
    choice = choose([batch(1), stored(2), batch(3), stored(4)], {}, NOON)

    assert ids(choice.turn) == [2, 4]
    assert choice.without_turn == ()


def test_what_wakes_nobody_is_logged_without_a_turn() -> None:
    quiet = batch(1, wakes=False)

    assert choose([quiet], {}, NOON) == Choice(without_turn=(quiet,))


def test_quiet_ones_are_taken_along_by_the_turn_of_a_waking_one() -> None:
    assert ids(choose([batch(1, wakes=False), batch(2)], {}, NOON).turn) == [1, 2]


def test_what_a_parent_tells_in_a_backed_turn_does_not_overtake_what_it_told_before() -> None:
    """The later message may take the earlier one back."""
    queued = [told(1, backed=False), told(2)]

    assert ids(choose(queued, {}, NOON).turn) == [1]
    assert ids(choose(queued[1:], {}, NOON).turn) == [2]
    assert joining(queued, {}, NOON, turn_backed=True) == []


def test_a_quiet_message_is_logged_before_the_turn_of_the_one_that_came_after_it() -> None:
    """From the eighth hop on nothing wakes; it must not hold back its sender for ever."""
    queued = [told(1, backed=False, wakes=False), told(2)]

    assert choose(queued, {}, NOON) == Choice(without_turn=(queued[0],))


def test_the_users_words_do_not_wait_for_what_others_have_sent_before() -> None:
    assert ids(choose([told(1, backed=False), stored(2)], {}, NOON).turn) == [2]


def test_an_incomplete_group_waits_a_minute_after_its_first() -> None:
    one = batch(1, group="g", group_count=2)

    waiting = choose([one], of_group(1), NOON + GROUP_WAIT - timedelta(seconds=1))
    assert waiting == Choice(look_again=NOON + GROUP_WAIT)
    assert choose([one], of_group(1), NOON + GROUP_WAIT).turn == (one,)


def test_no_part_of_an_incomplete_group_joins_a_turn() -> None:
    one, alone = batch(1, group="g", group_count=2), batch(2)

    assert joining([one, alone], of_group(1), NOON, turn_backed=False) == [alone]
    assert joining([one, alone], of_group(1), NOON + GROUP_WAIT, turn_backed=False) == [one, alone]


def test_a_group_is_whole_when_all_of_it_is_stored_whoever_gets_it() -> None:
    """A catch-up goes to root and children alike, and each takes its own as soon as the last is there."""
    own = batch(1, group="g", group_count=3)

    assert choose([own], of_group(2), NOON).turn == ()
    assert choose([own], of_group(3), NOON).turn == (own,)


def test_a_batch_does_not_overtake_its_chats_part_of_a_catch_up() -> None:
    early, late = batch(1, group="g", group_count=2), batch(2, source="whatsapp:1@s")

    assert choose([early, late], of_group(1), NOON) == Choice(look_again=NOON + GROUP_WAIT)
    assert ids(choose([early, late], of_group(2), NOON).turn) == [1, 2]


def test_a_group_of_which_nothing_would_wake_makes_no_turn() -> None:
    group = tuple(batch(number, group="g", group_count=2, wakes=False) for number in (1, 2))

    assert choose(group, of_group(2), NOON) == Choice(without_turn=group)


def test_a_complete_group_is_taken_at_once() -> None:
    group = [batch(1, group="g", group_count=2), batch(2, group="g", group_count=2, wakes=False)]

    assert choose(group, of_group(2), NOON).turn == tuple(group)


def test_a_clock_that_steps_back_holds_no_group_for_ever() -> None:
    one = batch(1, group="g", group_count=2)

    assert choose([one], of_group(1), NOON - timedelta(hours=1)).turn == (one,)


def test_the_newest_deliveries_are_shown_whole_and_the_last_one_up_to_twice_the_room() -> None:
    """One that no call could hold would make its turn roll over at every step, and see none of them."""
    three = [stored(1, text="a" * 60), stored(2, text="b" * 30), stored(3, text="c" * 50)]

    assert [ids(part) for part in whole_ones(three, 100)] == [[1], [2, 3]]
    assert [ids(part) for part in whole_ones(three, 25)] == [[1, 2], [3]]
    assert [ids(part) for part in whole_ones(three, 24)] == [[1, 2, 3], []]
    assert [ids(part) for part in whole_ones(three, 1_000)] == [[], [1, 2, 3]]


def said(number: int, **fields: object) -> Delivery:
    """What a member of a group says, to the group's agent."""
    return batch(number, **{"source": "telegram:-1", **fields})


def test_in_a_group_each_message_for_the_agent_has_a_turn_of_its_own() -> None:
    """Its reply goes to that message, in that topic."""
    assert choose_one([said(1), said(2)], {}, NOON) == Choice(turn=(said(1),))
    assert choose_one([said(1), said(2, source="telegram:71")], {}, NOON) == Choice(turn=(said(1),))


def test_in_a_group_what_came_before_is_logged_first_and_what_came_after_waits() -> None:
    queued = [said(1, wakes=False), said(2, wakes=False), said(3), said(4, wakes=False)]

    assert choose_one(queued, {}, NOON) == Choice(without_turn=tuple(queued[:2]))
    assert choose_one(queued[2:], {}, NOON) == Choice(turn=(queued[2],))
    assert choose_one([], {}, NOON) == Choice()
