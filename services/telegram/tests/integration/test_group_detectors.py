"""Who is answered in a group of five members and three threads: exactly who should be, for each detector."""

import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_telegram.groups.domain.ids import MessageKey
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

from tests.fakes.group_bench import GroupBench, RunningGroups

MEMBERS = ("anna", "bob", "cleo", "dan", "eva")
THREADS = ("", "roses", "tools")
SOURCE = "tavern:garden"
NAMES = ("@robobot", "Robo", "hey gard*")

# s: simple, m: model, h: hybrid, o: hybrid that may not ask the model.
SETTINGS = {
    "s": GroupSettings(detector=DetectorKind.SIMPLE, names=NAMES),
    "m": GroupSettings(detector=DetectorKind.MODEL, names=NAMES),
    "h": GroupSettings(detector=DetectorKind.HYBRID, names=NAMES),
    "o": GroupSettings(detector=DetectorKind.HYBRID, names=NAMES, ask_model=False),
}
# What is written; whom it replies to; what the model would say; which detectors answer; which ask the model.
TABLE = [
    ("good morning all", None, False, "", "m"),
    ("@robobot when do roses bloom", None, True, "smho", ""),
    ("and in May, @ROBOBOT?", None, True, "smho", ""),
    ("@robobot is a program, Anna", None, False, "smho", ""),
    ("look, @robobott is another bot", None, False, "", "m"),
    ("thanks", "robobot", False, "smho", ""),
    ("thanks", "anna", False, "", "m"),
    ("/water the roses", None, True, "smho", ""),
    ("/water@robobot the roses", None, True, "smho", ""),
    ("/water@otherbot the roses", None, False, "", "m"),
    ("robo, what is the weather", None, True, "smho", "mh"),
    ("I like how robo writes", None, False, "so", "mh"),
    ("robots are loud", None, False, "", "m"),
    ("which of you machines knows this", None, True, "m", "m"),
    ("hey gardeners, help", None, True, "smho", "m"),
    ("write to x@robobot or robo@example.org", None, False, "", "m"),
    ("is it raining?", None, False, "", "m"),
]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[RunningGroups]:
    bench = GroupBench(tmp_path)
    bench.platform.room("garden", "Garden", *MEMBERS)
    said_of = {text: meant for text, _, meant, _, _ in TABLE}
    bench.agents.meant = lambda text: said_of.get(text.partition(" #")[0], False)
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
        text, answers, _, answered_by, asked_by = rng.choice(TABLE)
        who, thread = rng.choice(MEMBERS), rng.choice(THREADS)
        message = bench.platform.say("garden", who, f"{text} #{number}", thread=thread, answers=answers)
        if which in answered_by:
            places[message.key] = message.place
        else:
            unanswered.append(number)
        calls += which in asked_by

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
