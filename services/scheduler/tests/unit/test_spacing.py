"""The five-minute rule and "never comes", against a walk through every day of the calendar's 400 years."""

import random
from datetime import date
from itertools import pairwise

import pytest
from onechat_scheduler.domain.cron import CronRefused, parse
from onechat_scheduler.domain.days import DayRule

# Month, day of the month and day of the week (Sunday 0) of the days of 400 years and of the day after them.
CALENDAR = [
    (day.month, day.day, day.isoweekday() % 7)
    for day in map(date.fromordinal, range(date(2000, 1, 1).toordinal(), date(2400, 1, 1).toordinal() + 1))
]


def refusal(text: str) -> str:
    """What is said about an expression that is not taken; "" when it is."""
    try:
        parse(text)
    except CronRefused as refused:
        return str(refused)
    return ""


def walked(rule: DayRule) -> tuple[bool, bool]:
    """Whether any day of the calendar matches, and any two in a row, day by day."""
    days, weekdays = set(rule.days), set(rule.weekdays)
    found = [
        month in rule.months
        and ((day in days and weekday in weekdays) if rule.both else (day in days or weekday in weekdays))
        for month, day, weekday in CALENDAR
    ]
    return any(found), any(one and other for one, other in pairwise(found))


def some_rule(rng: random.Random) -> DayRule:
    """Days of few months, at the ends of months more than elsewhere, since there they go wrong."""
    near_the_ends = [1, 1, 2, 28, 29, 30, 31, 31, rng.randint(1, 31)]
    return DayRule(
        days=tuple(sorted({rng.choice(near_the_ends) for _ in range(rng.randint(1, 3))})),
        months=tuple(sorted({rng.choice([1, 2, 2, 3, 4, 11, 12]) for _ in range(rng.randint(1, 3))})),
        weekdays=frozenset(rng.choices(range(7), k=rng.choice([1, 1, 2, 7]))),
        both=rng.random() < 0.7,
    )


def test_which_days_come_and_which_come_in_a_row_is_what_a_walk_through_400_years_finds():
    rng = random.Random(5)
    rules = [some_rule(rng) for _ in range(60)]

    said = [(rule.comes(), rule.neighbours()) for rule in rules]

    assert said == [walked(rule) for rule in rules]
    assert {*said} == {(False, False), (True, False), (True, True)}, "rules of every kind are among them"


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("*/5 * * * *", True),
        ("2-59/5 * * * *", True),
        ("0,4 9 * * *", False),
        ("0,5 9 * * *", True),
        ("0,56 * * * *", False),
        ("0,55 * * * *", True),
        ("56 9 * * *", True),
        ("0,56 9 * * *", True),
        ("0,56 9,10 * * *", False),
        ("0,56 9,11 * * *", True),
        # 23:56 and 00:00 meet only where a day that matches follows another.
        ("0,56 0,23 * * *", False),
        ("0,56 0,23 * * 1", True),
        ("0,56 0,23 * * 1,3,5", True),
        ("0,56 0,23 * * 0,6", False),
        ("0,56 0,23 1 * *", True),
        ("0,56 0,23 1,31 * *", False),
        ("0,56 0,23 1,31 1 *", True),
        ("0,56 0,23 1,31 1,12 *", False),
        ("0,56 0,23 1,30 4 *", True),
        ("0,56 0,23 1,30 4,5 *", False),
        ("0,56 0,23 1,28 2,3 *", False),  # in common years
        ("0,56 0,23 1,29 2,3 *", False),  # in leap years
        ("0,56 0,23 1,30 2,3 *", True),
        ("0,56 0,23 1-31/2 * 1", False),  # either field, and a Monday is beside an odd day at some time
        ("0,56 0,23 */2 * 1", True),  # both fields: Mondays alone
        ("0,56 0,23 */2 1-6 *", False),  # 31 January is odd, and so is 1 February
        ("0,56 0,23 */2 2,4 *", True),
        ("0,55 0,23 * * *", True),
    ],
)
def test_runs_are_five_minutes_apart_on_every_day_that_can_be(text, taken):
    assert (refusal(text) == "") is taken


@pytest.mark.parametrize(
    ("text", "comes"),
    [
        ("0 9 29 2 *", True),
        ("0 9 29 2 */7", True),
        ("0 9 30 2 *", False),
        ("0 9 30,31 2 *", False),
        ("0 9 29,30 2 *", True),
        ("0 9 31 2,4,6,9,11 *", False),
        ("0 9 31 2,4,6,9,12 *", True),
        ("0 9 30 2 1", True),  # either field: Mondays in February
        ("0 9 30 2 */2", False),
        ("0 9 */31 2 *", True),  # the first
    ],
)
def test_what_never_comes_is_refused_and_what_comes_seldom_is_not(text, comes):
    assert ("never comes" in refusal(text)) is not comes


def test_the_refusal_names_the_two_runs_that_are_too_close():
    assert "23:57 and 00:01 of the next day are 4 minutes apart" in refusal("57,1 23,0 * * *")
    assert "09:58 and 10:00 are 2 minutes apart" in refusal("0,58 9,10 * * *")
    assert "09:00 and 09:01 are 1 minute apart" in refusal("* 9 * * *")


def test_a_clock_change_may_bring_runs_closer():
    """The rule is of the wall clock: in Rome these run at 01:58 and 03:00 in one night."""
    assert refusal("30,58 1,2 * * *") == ""
