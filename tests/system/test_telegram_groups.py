"""Groups over Telegram with the real services: who is answered, and what no group's agent is ever sent."""

import random
from pathlib import Path

import pytest

from tests.fakes.bot_api import OWNER
from tests.fakes.five_services import Forks
from tests.fakes.group_table import SETTINGS
from tests.fakes.scripted_model import Record
from tests.system.group_talk import MEMBERS, GroupTalk, is_judgement, judge, numbers
from tests.system.over_telegram import RUNNING, WITHIN_S, OverTelegram, over_telegram

SEED = 20261130
BOT = "robobot"
INSTRUCTED = "plumtree"  #: in the root's instructions.md
TOLD = "quincetree"  #: what the owner says to the root
WHISPERED = "medlartree"  #: what a member writes in private
SAID = "rosebush"  #: what a member says in a group
ANNA, BOB, CLEO, *_ = MEMBERS


async def open_house(over: OverTelegram) -> None:
    """Services whose root has a memory and instructions of its own."""
    over.model.script(*judge())
    await over.services.start(*RUNNING)
    instructions = over.services.data / "agent" / "agents" / "One" / "instructions.md"
    instructions.write_text(f"Each answer ends with the name of a {INSTRUCTED}.\n")
    for user, name in MEMBERS.items():
        over.api.directory.introduce(user, name)
    over.api.privacy = False
    await say_to_root(over, 1)  # a bot can write to nobody who has not written first


async def say_to_root(over: OverTelegram, messages: int) -> None:
    """The owner says so many things, each answered."""
    before = len(over.api.texts())
    for number in range(messages):
        over.api.say(f"Where the key lies: below the {TOLD} number {number}.")
    await over.api.until(lambda: len(over.api.texts()) > before, WITHIN_S)
    await over.chat.all_done(set())


async def all_talk(over: OverTelegram, messages: int) -> list[str]:
    """What is wrong after so many messages in a group of each detector, while the owner talks to the root."""
    rng, counted = random.Random(SEED), numbers()
    talks = [GroupTalk(over=over, which=which, rng=rng, numbers=counted) for which in SETTINGS]
    for talk in talks:
        await talk.open()
    await let_agents_talk_all_day(over)
    for talk in talks:
        await talk.talk(messages)
        await say_to_root(over, 2)
    return [complaint for talk in talks for complaint in await talk.complaints()]


async def let_agents_talk_all_day(over: OverTelegram) -> None:
    """Put their limit of a day far off."""
    for settings in (over.services.data / "agent" / "agents").glob("*/agent.toml"):
        settings.write_text(f"{settings.read_text()}\n[limits]\ntokens_per_day = 1000000000\n")
    await over.services.stop("agent")
    await over.services.start("agent")


async def test_in_each_topic_those_who_mean_the_bot_are_answered_and_nobody_else(
    forks: Forks, tmp_path: Path
) -> None:
    async with over_telegram(forks, tmp_path, bot=BOT) as over:
        await open_house(over)

        assert await all_talk(over, 15) == []
        assert over.model.refusals() == []


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_of_five_hundred_messages_those_that_mean_the_bot_are_answered_and_no_others(
    forks: Forks, tmp_path: Path
) -> None:
    async with over_telegram(forks, tmp_path, bot=BOT) as over:
        await open_house(over)

        assert await all_talk(over, 500) == []
        assert over.model.refusals() == []


async def test_no_byte_of_the_roots_memory_and_instructions_is_sent_for_a_group_nor_of_a_group_for_the_root(
    forks: Forks, tmp_path: Path
) -> None:
    async with over_telegram(forks, tmp_path, bot=BOT) as over:
        await open_house(over)
        await say_to_root(over, 12)
        talk = GroupTalk(over=over, which="m", rng=random.Random(SEED), numbers=numbers())
        await talk.open()
        for number in range(12):
            over.api.say(f"@{BOT} where is the {SAID} number {number}?", user=ANNA, chat=talk.chat)
            over.api.say(f"I like the {SAID} number {number}", user=BOB, chat=talk.chat)
        over.api.say(f"Between us: I cut the {WHISPERED}.", user=CLEO)
        over.api.say(f"To all: I am the owner of the {SAID}", user=OWNER, chat=talk.chat)
        over.api.say(f"@{BOT} and now?", user=ANNA, chat=talk.chat)
        await over.api.until(lambda: len(over.api.texts(CLEO)) == 1, WITHIN_S)
        await over.api.until(lambda: not over.api.updates, WITHIN_S)
        await over.chat.all_done(set())
        await say_to_root(over, 3)

        groups = [record for record in over.model.requests() if _is_of_a_group(record)]
        roots = [record for record in over.model.requests() if not _is_of_a_group(record)]
        assert _told(groups, INSTRUCTED, TOLD) == {}
        assert _told(roots, SAID, WHISPERED) == {}
        assert all(_told(groups, word)[word] for word in (SAID, WHISPERED))
        assert all(_told(roots, word)[word] for word in (INSTRUCTED, TOLD))
        assert any(is_judgement(record.body) for record in groups if record.body)
        assert any("Compaction:" in str(record.body) for record in groups)


def _is_of_a_group(record: Record) -> bool:
    """Whether a group's agent, or a detector for it, has sent it."""
    assert record.body is not None
    return is_judgement(record.body) or "members of one group chat share" in str(record.body["instructions"])


def _told(records: list[Record], *words: str) -> dict[str, int]:
    """In how many requests, byte by byte, each word stands; only those that do."""
    found = {word: sum(word.encode() in record.raw for record in records) for word in words}
    return {word: times for word, times in found.items() if times}
