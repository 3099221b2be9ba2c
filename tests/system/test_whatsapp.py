"""WhatsApp with all five services and a linked account: undisturbed, and killed everywhere.

The wire's child process is the real one, with a stub in the library's place; the account is in the test's
process, and says what it gave and what left it. A message is in one log, once. Only what a killed child had
got, and the gateway had not stored, may be lost, where WhatsApp does not send it again. A send has left at
most once, and has if its answer says so.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

import pytest

from tests.fakes.commit_points import commit_sites
from tests.fakes.five_services import REPOSITORY, Forks
from tests.system.invariants import logs_of
from tests.system.whatsapp_left import SENT, UNKNOWN, complaints, outcomes
from tests.system.whatsapp_points import COMMITS, OTHERS, PLACES, QUICK, points
from tests.system.whatsapp_run import WITHIN_S, WhatsAppRun, rise, whatsapp_in, while_rising
from tests.system.whatsapp_script import ROOT, ROUTED, SENDS, WORD, Kind, Words

PACKAGE = REPOSITORY / "services" / "whatsapp" / "src" / "onechat_whatsapp"
SEED = 20261130
KILLS = 20
AROUND = (Kind.ROUTED, Kind.ASIDE, Kind.OWN, Kind.STRANGER, Kind.NAMED_STRANGER)
MISSED = tuple(kind for kind in Kind if kind not in SENDS)


def living(run: WhatsAppRun, words: Words) -> Callable[[], Awaitable[None]]:
    """A little of everything: it is written and handed over, and a send is asked for."""

    async def live() -> None:
        (first,) = words.of(Kind.PRIVATE, times=3)
        run.cannot_read(first)
        run.write([first, *words.of(Kind.BY_LID, *AROUND)])
        await run.done()
        await run.online()
        (send,) = words.of(Kind.SEND)
        await run.ask(send)

    return live


async def test_what_is_written_read_asked_for_and_sent_goes_its_way_once(
    forks: Forks, tmp_path: Path
) -> None:
    words = Words()
    async with whatsapp_in(forks, tmp_path) as run:
        await run.open()
        await living(run, words)()
        run.write(words.of(Kind.MENTION, Kind.REPORTED))
        await run.done()
        (send,) = words.of(Kind.SEND_TO_GROUP)
        await run.ask(send)
        run.write(words.of(Kind.ASKS))
        await run.done()
        await run.services.stop("whatsapp")
        missed = words.of(*MISSED * 4)
        run.write(missed)
        await run.services.start("whatsapp")
        await run.done()

        assert await complaints(run) == []
        told = outcomes(run, (await logs_of(run.chat))[ROOT])
        assert all(SENT in text for texts in told.values() for text in texts)
        assert {each.text for each in run.account.sent} == {
            thing.sent for thing in run.said if thing.word in told
        }
        assert await turns_of(run, {thing.word for thing in missed if thing.kind not in ROUTED}) == 1
        assert run.lost == set()


async def turns_of(run: WhatsAppRun, words: set[str]) -> int:
    """How many turns have taken what these words are in."""
    keys = {
        event.outside_message.key
        for event in run.chat.events
        if words & set(WORD.findall(event.outside_message.text))
    }
    return len({one.turn for one in await run.chat.deliveries() if one.key in keys})


async def test_killed_at_six_points_it_repeats_nothing_and_loses_only_what_nobody_could_keep(
    forks: Forks, tmp_path: Path
) -> None:
    """WhatsApp takes for arrived what the first of them got, and sends again what all later ones did."""
    words, ends = Words(), count(1)
    async with whatsapp_in(forks, tmp_path) as run:
        run.sends_again = lambda: next(ends) > 2
        await run.open()
        await run.services.stop("whatsapp")
        await while_rising(rise(run, QUICK), living(run, words))
        await run.done()

        assert await complaints(run) == []
        assert run.services.kills["whatsapp"] == len(QUICK)
        assert run.lost


async def test_a_child_killed_in_a_send_leaves_an_answer_that_is_not_known(
    forks: Forks, tmp_path: Path
) -> None:
    words = Words()
    async with whatsapp_in(forks, tmp_path) as run:
        await run.open()
        (send,) = words.of(Kind.SEND)
        run.account.stall = asyncio.Event()
        asking = asyncio.ensure_future(run.ask(send))
        await asyncio.wait_for(run.account.stalled.wait(), WITHIN_S)
        run.kill_child()
        await asking
        run.account.stall.set()
        await living(run, words)()
        await run.done()

        assert await complaints(run) == []
        (told,) = outcomes(run, (await logs_of(run.chat))[ROOT])[send.word]
        assert UNKNOWN in told
        assert [each.text for each in run.account.sent].count(send.sent) == 1


def test_every_place_and_every_commit_is_struck_or_has_a_reason_why_not() -> None:
    there = {name.removeprefix("onechat_whatsapp.") for name in commit_sites(PACKAGE)}
    assert there - set(COMMITS) == set(OTHERS)
    assert set(COMMITS) <= there
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert set(re.findall(r'_reached\("(\w+)"\)', source)) == set(PLACES)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_killed_at_every_place_and_around_every_commit_it_loses_and_repeats_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    words, struck = Words(), points()
    async with whatsapp_in(forks, tmp_path) as run:
        await run.open()
        await run.let_them_talk_all_day()
        await run.services.stop("whatsapp")
        await while_rising(rise(run, struck), living(run, words))
        await run.done()

        assert await complaints(run) == []
        assert run.lost == set()
        assert run.services.kills["whatsapp"] == len(struck)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_killed_twenty_times_wherever_they_are_they_lose_only_what_nobody_could_keep(
    forks: Forks, tmp_path: Path
) -> None:
    words, rng = Words(), random.Random(SEED)
    async with whatsapp_in(forks, tmp_path) as run:
        run.sends_again = lambda: rng.random() < 0.5
        await run.open()
        await run.let_them_talk_all_day()
        await while_rising(kills(run, rng), living(run, words))
        await run.done()

        assert await complaints(run) == []
        assert run.services.kills["whatsapp"] > 0


async def kills(run: WhatsAppRun, rng: random.Random) -> None:
    """SIGKILLs of the gateway, its child or the agent service, each started again, at moments of chance."""
    for _ in range(KILLS):
        await asyncio.sleep(rng.uniform(0.1, 0.9))  # chance itself: nothing is waited for
        name = rng.choice(("whatsapp", "whatsapp", "child", "agent"))
        if name == "child":
            run.kill_child()
        else:
            await run.services.kill(name)
            await asyncio.sleep(rng.choice((0.0, rng.uniform(0, 0.4))))  # how long it is away
            await run.services.start(name)
