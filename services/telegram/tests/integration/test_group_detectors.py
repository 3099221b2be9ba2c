"""Who is answered in a group of five members and three threads: exactly who should be, for each detector."""

import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_telegram.groups.domain.ids import MessageKey

from tests.fakes.group_bench import GroupBench, RunningGroups
from tests.fakes.group_table import NAMES, SETTINGS, TABLE, THREADS, is_meant

MEMBERS = ("anna", "bob", "cleo", "dan", "eva")
SOURCE = "tavern:garden"


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[RunningGroups]:
    bench = GroupBench(tmp_path)
    bench.platform.room("garden", "Garden", *MEMBERS)
    bench.agents.meant = is_meant
    async with bench.running() as groups:
        yield groups


@pytest.mark.parametrize("which", "smho")
async def test_of_500_messages_exactly_those_meant_for_the_bot_are_answered(
    running: RunningGroups, which: str
) -> None:
    """Each is a turn of its own that answers in its thread, or is learned silently; and each is it once."""
    await running.admit("garden", SETTINGS[which])
    bench, rng = running.bench, random.Random(5)
    places, unanswered, calls = {}, [], 0
    for number in range(500):
        row, who, thread = rng.choice(TABLE), rng.choice(MEMBERS), rng.choice(THREADS)
        text = f"{row.text} #{number}"
        message = bench.platform.say("garden", who, text, thread=thread, answers=row.answers or None)
        if which in row.answered:
            places[message.key] = message.place
        else:
            unanswered.append(number)
        calls += which in row.asked

    await running.quiet()

    log = bench.agents.log(SOURCE)
    assert {each.key: each.place for each in log if each.wakes} == places
    learned = "\n".join(each.text for each in log if not each.wakes)
    assert [int(number) for number in re.findall(r" #(\d+)$", learned, re.MULTILINE)] == unanswered
    assert len(bench.agents.asked) == calls


@pytest.mark.parametrize(("which", "answered"), [("s", False), ("m", True), ("h", True), ("o", False)])
async def test_a_question_right_after_the_bots_answer_is_put_to_the_model(
    running: RunningGroups, which: str, answered: bool
) -> None:
    await running.admit("garden", SETTINGS[which])
    running.bench.agents.meant = lambda text: text == "and in autumn?"
    first = running.bench.platform.say("garden", "anna", "@robobot when do roses bloom", thread="roses")
    await running.settled()
    await running.chats.replies.say(MessageKey("r1"), first.place, "In May.")

    question = running.bench.platform.say("garden", "anna", "and in autumn?", thread="roses")

    await running.quiet()
    assert (question.key in {each.key for each in running.bench.agents.log(SOURCE) if each.wakes}) is answered


async def test_a_question_in_another_thread_or_after_somebody_elses_words_costs_hybrid_no_call(
    running: RunningGroups,
) -> None:
    await running.admit("garden", SETTINGS["h"])
    say = running.bench.platform.say
    first = say("garden", "anna", "@robobot when do roses bloom", thread="roses")
    await running.settled()
    await running.chats.replies.say(MessageKey("r1"), first.place, "In May.")

    say("garden", "bob", "where is the spade?", thread="tools")
    say("garden", "bob", "in May, fine", thread="roses")
    say("garden", "cleo", "who waters?", thread="roses")

    await running.quiet()
    assert running.bench.agents.asked == []


async def test_the_model_is_told_the_names_and_the_last_lines_of_the_thread(running: RunningGroups) -> None:
    await running.admit("garden", SETTINGS["h"])
    say = running.bench.platform.say
    for number in range(9):
        say("garden", "bob", f"line {number}", thread="roses")
    say("garden", "bob", "elsewhere", thread="tools")

    say("garden", "anna", "robo, go on", thread="roses")

    await running.settled()
    (question,) = running.bench.agents.asked
    assert question.text == "robo, go on"
    assert question.names == (*NAMES, "Robo")
    assert question.before == tuple(f"Bob: line {number}" for number in range(3, 9))


@pytest.mark.parametrize(("which", "answered"), [("m", False), ("h", True)])
async def test_without_the_model_names_decide(running: RunningGroups, which: str, answered: bool) -> None:
    """A model that is away must not hold the group; what `simple` would answer is answered."""
    await running.admit("garden", SETTINGS[which])
    running.bench.agents.model_away = True
    text = "robo, go on" if answered else "which of you machines knows this"

    message = running.bench.platform.say("garden", "anna", text)

    await running.quiet()
    assert (message.key in {each.key for each in running.bench.agents.log(SOURCE) if each.wakes}) is answered


async def test_what_is_not_addressed_is_dropped_where_the_group_is_so_set(running: RunningGroups) -> None:
    """Nor do its words reach the model when the next message is judged."""
    await running.admit("garden", replace(SETTINGS["h"], learn=False))
    say = running.bench.platform.say
    say("garden", "bob", "my secret")
    say("garden", "anna", "robo, go on")

    say("garden", "eva", "@robobot hello")

    await running.settled()
    log = running.bench.agents.log(SOURCE)
    assert [each.text.rpartition(": ")[2] for each in log] == ["@robobot hello"]
    assert [question.before for question in running.bench.agents.asked] == [()]


async def test_another_program_is_never_answered(running: RunningGroups) -> None:
    """Two that answer each other would never end."""
    await running.admit("garden", SETTINGS["m"])
    running.bench.agents.meant = lambda text: True
    room = running.bench.platform.rooms["garden"]
    room.members["clock"] = replace(room.members["bob"], id="clock", name="Clock", is_bot=True)

    running.bench.platform.say("garden", "clock", "@robobot robo, /now")

    await running.quiet()
    assert [each.wakes for each in running.bench.agents.log(SOURCE)] == [False]
