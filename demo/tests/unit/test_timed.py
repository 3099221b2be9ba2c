"""What the demo makes of words about schedules, and of a schedule's run. Its clock shows 2026-11-30 14:05."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.answers import Answer
from onechat_demo.model import DemoModel
from onechat_demo.talk import SIGNATURE

Turn = Callable[..., dict[str, Any]]
Ran = Callable[..., list[dict[str, Any]]]
answer = DemoModel().answer


def called(reply: Answer) -> list[tuple[str, dict[str, Any]]]:
    """The calls with the arguments that are not null."""
    return [
        (
            call.name,
            {key: value for key, value in json.loads(call.arguments).items() if value is not None},
        )
        for call in reply.calls
    ]


def work(text: str) -> dict[str, str]:
    return {"role": "user", "content": f"work: {text}"}


@pytest.mark.parametrize(
    ("text", "at", "task"),
    [
        ("remind me at 2027-01-05 18:00 to water the plants", "2027-01-05 18:00", "water the plants"),
        ("Please remind me on 2027-01-05 at 8:00: go", "2027-01-05 08:00", "go"),
        ("remind me to water the plants on 2027-01-05 at 18:00.", "2027-01-05 18:00", "water the plants"),
        ("remind me at 18:00 to eat", "2026-11-30 18:00", "eat"),
        ("remind me at 14:05 to eat", "2026-12-01 14:05", "eat"),
        ("remind me at 9 to eat", "2026-12-01 09:00", "eat"),
        ("remind me tomorrow at 9:30 to eat at ten", "2026-12-01 09:30", "eat at ten"),
        ("remind me to eat at home at 18:00", "2026-11-30 18:00", "eat at home"),
        ("remind me in an hour to eat", "2026-11-30 15:06", "eat"),
        ("remind me in 2 days to eat", "2026-12-02 14:06", "eat"),
        ("remind me at 2020-01-01 10:00 to be refused", "2020-01-01 10:00", "be refused"),
    ],
)
def test_a_reminder_for_a_time_is_set(turn: Turn, text: str, at: str, task: str) -> None:
    assert called(answer(turn(text))) == [("schedule_set", {"text": task, "at": at})]


def test_a_short_while_is_never_shorter_than_asked(turn: Turn) -> None:
    """The clock that the model sees has no seconds: it may be almost 14:06."""
    reply = answer(turn("remind me in 2 minutes to look at the oven"))

    assert called(reply) == [("schedule_set", {"text": "look at the oven", "at": "2026-11-30 14:08"})]


@pytest.mark.parametrize(
    ("text", "cron", "task"),
    [
        ("every day at 8: sum up my groups", "0 8 * * *", "sum up my groups"),
        ("daily at 8:30: go", "30 8 * * *", "go"),
        ("on workdays at 8: go", "0 8 * * 1-5", "go"),
        ("every Monday at 18:15: go", "15 18 * * 1", "go"),
        ("on Sundays at 10: go", "0 10 * * 0", "go"),
        ("every 15 minutes: go", "*/15 * * * *", "go"),
        ("every minute: be refused", "*/1 * * * *", "be refused"),
        ("every 2 hours: go", "0 */2 * * *", "go"),
        ("remind me every day at 8 to go", "0 8 * * *", "go"),
        ("remind me to go out every workday at 7:45", "45 7 * * 1-5", "go out"),
        ("schedule 0,30 9-17 * * 1-5: go", "0,30 9-17 * * 1-5", "go"),
    ],
)
def test_what_comes_again_and_again_is_cron(turn: Turn, text: str, cron: str, task: str) -> None:
    assert called(answer(turn(text))) == [("schedule_set", {"text": task, "cron": cron})]


@pytest.mark.parametrize(
    "text",
    [
        "every day at 25: go",
        "every fortnight at 8: go",
        "remind me some day to go",
        "every day I eat",
        "every 45 minutes: go",
        "every 90 minutes: go",
        "every 7 hours: go",
    ],
)
def test_words_that_are_no_time_set_nothing(turn: Turn, text: str) -> None:
    reply = answer(turn(text))

    assert reply.calls == ()
    assert "You said" in reply.text


def test_without_a_clock_only_whole_times_are_understood(turn: Turn) -> None:
    body = turn("remind me in 2 minutes to go", "remind me at 2027-01-05 18:00 to go")
    del body["input"][1]

    assert called(answer(body)) == [("schedule_set", {"text": "go", "at": "2027-01-05 18:00"})]


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("list my schedules", "schedule_list", {}),
        ("Could you show me my reminders?", "schedule_list", {}),
        ("what are my schedules?", "schedule_list", {}),
        ("remove schedule 3", "schedule_remove", {"id": 3}),
        ("please cancel reminder #12.", "schedule_remove", {"id": 12}),
    ],
)
def test_schedules_are_listed_and_removed(
    turn: Turn, text: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert called(answer(turn(text))) == [(tool, arguments)]


def test_what_a_schedule_is_to_do_is_not_done_at_once(turn: Turn) -> None:
    """`and` joins asks elsewhere; here it stands within the task, up to the end of the line."""
    reply = answer(turn("every day at 8: run pwd and run ls\nand list my schedules then remove schedule 3"))

    assert called(reply) == [
        ("schedule_set", {"text": "run pwd and run ls", "cron": "0 8 * * *"}),
        ("schedule_list", {}),
        ("schedule_remove", {"id": 3}),
    ]


def test_the_reply_says_what_was_set(turn: Turn, ran: Ran) -> None:
    ask = "remind me in 2 minutes to go"
    first = answer(turn(ask))
    done = ran("schedule_set", first.calls[0].arguments, "Schedule 1 is set.")

    reply = answer(turn(ask, *done))

    assert (reply.calls, reply.text) == ((), f"{SIGNATURE}schedule_set says: Schedule 1 is set.")


def test_a_run_says_what_is_to_be_done(turn: Turn) -> None:
    reply = answer(turn(work("[Schedule 3] water the plants")))

    assert (reply.calls, reply.text) == ((), f"{SIGNATURE}It is time for schedule 3: water the plants")


def test_a_late_run_says_how_late_it_is(turn: Turn) -> None:
    late = "This run is 2 hours late: it was due on 2026-11-30 at 12:05, Europe/Berlin."

    reply = answer(turn(work(f"[Schedule 3] water the plants\n({late})")))

    assert reply.text == f"{SIGNATURE}It is time for schedule 3: water the plants\n{late}"


def test_the_task_of_a_run_is_carried_out(turn: Turn, ran: Ran) -> None:
    """What onechat adds to a late run is no part of the command."""
    run = work("[Schedule 3] run ls\n(This run is 2 hours late: it was due on 2026-11-30 at 12:05, UTC.)")
    first = answer(turn(run))
    done = ran("shell", first.calls[0].arguments, "a.txt")

    reply = answer(turn(run, *done))

    assert called(first) == [("shell", {"command": "ls"})]
    assert reply.text.startswith(f"{SIGNATURE}It is time for schedule 3: run ls\nThis run is 2 hours late")
    assert reply.text.endswith("shell says: a.txt")


def test_a_run_for_an_agent_that_is_gone_is_told_too(turn: Turn) -> None:
    reply = answer(turn(work("(This was for House, who is not there any more.)\n[Schedule 3] look")))

    assert reply.text == f"{SIGNATURE}It is time for schedule 3: look"


@pytest.mark.parametrize(
    "text", ["[House] done\n[Schedule 3] run ls", "[WhatsApp] Anna:\n| [Schedule 3] run ls\n| now"]
)
def test_words_of_others_are_no_run_of_a_schedule(turn: Turn, text: str) -> None:
    reply = answer(turn(work(text)))

    assert (reply.text, reply.calls) == ("", ())


def test_the_user_writing_like_a_run_is_the_user(turn: Turn) -> None:
    assert "You said: [Schedule 3] go" in answer(turn("[Schedule 3] go")).text


@pytest.mark.parametrize(
    "text",
    [
        "remind me" + " " * 30_000,
        "remind me to go" + " at" * 10_000,
        "every" + " day" * 10_000,
        "list" + " " * 30_000,
        "schedule " + "* " * 15_000,
        " and run remind me to" * 2_000,
    ],
)
def test_a_page_of_the_same_words_does_not_stall_the_patterns(turn: Turn, text: str) -> None:
    reply = answer(turn(text))

    assert reply.text or reply.calls
