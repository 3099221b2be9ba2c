"""The benchmarks themselves: that each one still runs against the services as they are. No time is judged."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import group_detectors
from bench.__main__ import BENCHMARKS
from bench.made_group import conversation
from bench.prompt_cache import PromptCache, prompt_of
from bench.scale import SMOKE

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def smoke() -> str:
    """What all of them print at a tiny size."""
    command = [sys.executable, "-m", "bench", "--smoke"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.soak
def test_every_benchmark_runs_at_a_tiny_size(smoke: str) -> None:
    """They use the services' own rooms and contracts, so a change of those could break them unseen."""
    found = re.findall(r"^(\w+): .+\n\n\| what", smoke, re.MULTILINE)

    assert found == list(BENCHMARKS)


@pytest.mark.soak
def test_a_view_that_goes_on_from_its_rows_shares_as_much_as_one_that_stayed_in_memory(smoke: str) -> None:
    """A view made anew would cost every cached prefix at each start."""
    stayed = re.findall(r"^\| shared (at \d+ a turn) +\| ([\d.]+) %", smoke, re.MULTILINE)
    restarted = re.findall(r"^\| the same with restarts, (at \d+ a turn) +\| ([\d.]+) %", smoke, re.MULTILINE)

    assert len(stayed) == 4
    assert restarted == stayed


async def test_hybrid_asks_more_than_never_and_far_less_than_always_and_misses_less_than_rules() -> None:
    """What the figures of a group's detectors are to show; they are the same on every machine."""
    found = {
        one.what: one.median for one in await group_detectors.measure(replace(SMOKE, group_messages=200))
    }

    calls = [found[f"{kind}: model calls a message"] for kind in ("simple", "hybrid", "model")]
    answered = [found[f"{kind}: answered, of those for the bot"] for kind in ("simple", "hybrid", "model")]
    assert calls[0] == 0 < calls[1] < calls[2] / 2
    assert answered[0] < answered[1] < answered[2] == 100
    assert found["simple: answered, of the others"] > 0 == found["hybrid: answered, of the others"]


def test_a_made_groups_conversation_is_the_same_for_its_seed_and_says_nothing_twice() -> None:
    chat = conversation(200, 3)

    assert conversation(200, 3) == chat
    assert conversation(200, 4) != chat
    assert len({one.message.text for one in chat}) == 200
    assert len({one.message.sender for one in chat}) == 5
    assert len({one.message.place.thread for one in chat}) == 3


def test_an_ideal_cache_has_the_longest_beginning_that_any_earlier_prompt_shares() -> None:
    lines = ["0+2|older", "2+1|x", "3+1|y"]
    earlier = [
        prompt_of(lines[:2], first=3, count=1, source="user: y"),
        prompt_of([], first=0, count=1, source="a"),
    ]
    cache = PromptCache()
    cache.send(earlier, one_goes_ahead=True)
    read, sent = cache.view.read, cache.view.sent

    cache.send([prompt_of(lines, first=4, count=1, source="user: z")], one_goes_ahead=True)

    assert read == 0  # nothing came before
    assert cache.view.read - read == len("0+2|older\n2+1|x\n")
    assert cache.view.sent - sent == len("0+2|older\n2+1|x\n3+1|y\n")


@pytest.mark.parametrize("one_goes_ahead", [True, False])
def test_prompts_that_come_together_find_each_other_only_when_one_goes_ahead(one_goes_ahead: bool) -> None:
    lines = ["0+2|older", "2+1|x"]
    prompts = [prompt_of(lines[:seen], first=seen + 1, count=1, source="user: y") for seen in (1, 2)]
    cache = PromptCache()

    cache.send(prompts, one_goes_ahead=one_goes_ahead)

    assert cache.view.read == (len("0+2|older\n") if one_goes_ahead else 0)
