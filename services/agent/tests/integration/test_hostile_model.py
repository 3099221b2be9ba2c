"""A model that answers anything at all: no exception leaves a call or a turn, none hangs, nothing is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import event_pb2
from onechat_agent import sentences
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.failures import ModelFailure
from onechat_agent.model.items import ModelAnswer, OutputItem
from onechat_agent.model.wire import request_body
from onechat_demo.rules import Rules

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.hostile_model import HostileModel, hostile_model
from tests.fakes.memory_server import remembering
from tests.fakes.model_requests import REQUEST, after, ignore

CALL_S = 10.0  # until a call that has not ended counts as one that hangs
PAUSE_MAX_S = 3_700.0  # the longest pause between tries; what sleeps longer does housekeeping


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("streams", [80, pytest.param(1_000, marks=pytest.mark.soak)])
async def test_hostile_streams_end_in_an_answer_or_in_a_failure_with_a_sentence(streams: int) -> None:
    """And each answer can be sent back: what a server garbled must not make every later call fail.

    Nothing warns either: a warning of the library would quote the answer in the service's log.
    """
    async with hostile_model(1) as model:
        client = client_of(model)
        answers, sentences_told = 0, []
        for number in range(streams):
            try:
                async with asyncio.timeout(CALL_S):
                    answer = await client.respond(REQUEST, ignore)
            except ModelFailure as failure:
                sentences_told.append(failure.sentence)
            else:
                answers += 1
                check_replay(answer, client.endpoint, number)
        await client.close()

        assert model.streams == streams
        assert all(sentence.strip() for sentence in sentences_told)
        assert 0.2 * streams < answers < 0.8 * streams, (
            "they are no test if nearly all or nearly none are answers"
        )


async def test_turns_over_hostile_streams_end_and_lose_nothing(tmp_path: Path) -> None:
    """A short taste of the long run below."""
    await _converse(tmp_path, seed=2, streams=50)


@pytest.mark.soak
async def test_turns_over_a_thousand_hostile_streams_end_and_lose_nothing(tmp_path: Path) -> None:
    await _converse(tmp_path, seed=200, streams=1_000)


def client_of(model: HostileModel) -> ModelClient:
    """A client that takes the server for one that has everything, so that thoughts come back too."""
    endpoint = Endpoint.of(url=model.base_url, api_key=None, lacking=frozenset())
    return ModelClient(endpoint, read_timeout_s=5, call_timeout_s=8)


def check_replay(answer: ModelAnswer, endpoint: Endpoint, number: int) -> None:
    """A real server takes `answer` back with results for its calls, and its counts fit a store."""
    results = [OutputItem(call_id=call.call_id, text="done") for call in answer.calls]
    body: dict[str, Any] = request_body(after(REQUEST, *answer.items, *results), endpoint)
    Rules().check(body)
    used = (answer.usage.input, answer.usage.cached_input, answer.usage.output, answer.usage.reasoning)
    assert all(0 <= count < 2**40 for count in used), (number, used)
    assert answer.usage.cached_input <= answer.usage.input, number


async def _converse(folder: Path, seed: int, streams: int) -> None:
    clock = ManualClock()
    async with (
        hostile_model(seed) as model,
        remembering(folder / "memory", clock) as memory,
        living(folder, memory, model, clock=clock, model_client=client_of(model)) as house,  # type: ignore[arg-type]
    ):
        (house.seat.workdir / "notes.txt").write_text("some notes\n")
        said = 0
        while model.streams < streams:
            await _ended(clock, house, await house.deliver(f"message {said}"))
            said += 1
        model.soundly()
        end = await _ended(clock, house, await house.deliver("are you well?"))

        told = [change.reason for change in house.seen.ends()] + house.seen.notices()
        assert sentences.OWN_FAULT not in told, f"seed {seed}"
        assert (end.state, house.seen.replies()[-1]) == (event_pb2.TurnChange.STATE_ENDED, "fine")
        lines = await house.lines()
        wanted = [f"user: message {number}" for number in range(said)] + ["user: are you well?"]
        assert [line for line in lines if line.startswith("user:")] == wanted
        assert model.refusals == [], f"seed {seed}"
        kinds = [line.partition(":")[0] for line in lines]
        assert kinds.count("tool") == kinds.count("echo")


async def _ended(clock: ManualClock, house: House, key: str) -> event_pb2.TurnChange:
    """How the turn of `key` ended; each pause ends at once, and while nobody pauses no time passes."""
    ended = asyncio.ensure_future(house.ended(key))
    while not ended.done():
        if clock.sleepers and clock.sleepers[0] <= PAUSE_MAX_S:
            clock.advance(clock.sleepers[0])
        await asyncio.wait({ended}, timeout=0.01)
    return ended.result()
