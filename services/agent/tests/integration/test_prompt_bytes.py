"""What a provider's cache can read again: the bytes of requests in a row, of turns and compactions."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2, usage_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_demo.usage import common_prefix

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import always, make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.prompt_bytes import Prompt, begun_anew, marked, prompts
from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, ScriptedModel, call

LINE = Script(answer=Answer(text="w" * 20), purpose=Purpose.COMPACTION, times=FOR_EVER)
LONG = "x" * 2_000  # its line needs a model
TURNS, BETWEEN, SIZE = 8, 34, 500  # messages of so many bytes between turns: past what a view holds


def full_client(model: ScriptedModel) -> ModelClient:
    """A client of a server that has everything, breakpoints too."""
    return ModelClient(Endpoint.of(url=model.base_url, api_key=None, lacking=frozenset()))


def of(found: Sequence[Prompt], key: str, purpose: Purpose | None = None) -> list[Prompt]:
    return [one for one in found if one.key == key and purpose in (None, one.purpose)]


def check_turns(turns: Sequence[Prompt]) -> None:
    """Each turn's request begins with all of the one before it, up to that one's last line."""
    for before, after in pairwise(turns):
        assert before.shared(after) >= len(before.prefix), (before.view[-80:], after.view[-80:])


async def finished(house: House, name: str) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while house.store.read(lambda db: agent_rows.named(db, name)).state is not AgentState.FINISHED:
            await asyncio.sleep(0.01)


async def compacted(house: House, memory: MemoryServer) -> None:
    async with asyncio.timeout(TIMEOUT_S * 4):
        while (await memory.stats(house.seat.id)).ready_nodes:
            await asyncio.sleep(0.02)


async def test_every_agents_turns_and_compactions_begin_with_the_same_bytes_through_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """One prompt and tool list for each agent, its own cache key, and each view whole before what is new."""
    model.script(LINE)
    async with living(tmp_path, memory, model, model_client=full_client(model)) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message=LONG), "told", "noted")
        says(house, "House", "all is well")
        await house.say(LONG)
        await house.seen.until(lambda seen: "noted" in seen.replies())
        says(house, "", call("spawn", tasks=["count"], effort=None), "at work", "noted too")
        says(house, "One-1", call("date", id=0), "it is done")
        await house.say("use one")
        await house.seen.until(lambda seen: "noted too" in seen.replies())
        await finished(house, "One-1")
    async with living(tmp_path, memory, model, model_client=full_client(model)) as house:
        says(
            house, "", call("tell", name="House", message="look"), call("tell", name="One-1", message="more")
        )
        says(house, "House", "")
        says(house, "One-1", "it is done again")
        always(house, "", "fine")
        await house.say(LONG)
        await house.logged("work: [One-1] it is done again")
        await house.logged("user: look", "House")
        await house.say("and now?")
        keys = {name: house.id_of(name) for name in ("", "House", "One-1")}

        found = prompts(model)
        heads = {name: {one.head for one in of(found, key)} for name, key in keys.items()}
        assert {name: len(some) for name, some in heads.items()} == {"": 1, "House": 1, "One-1": 1}
        assert len(set.union(*heads.values())) == 3, "each is another agent"
        assert set(keys.values()) == {one.key for one in found}
        for name, key in keys.items():
            check_turns(of(found, key, Purpose.TURN))
            assert name == "One-1" or of(found, key, Purpose.COMPACTION)
        assert model.refusals() == []


async def test_over_a_long_chat_only_a_batch_of_merges_changes_what_a_view_begins_with(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Between batches each view starts with the whole view before it, and its marked ends stay in place."""
    model.script(LINE)
    async with living(tmp_path, memory, model, model_client=full_client(model)) as house:
        always(house, "", "fine")
        for number in range(TURNS):
            await house.say(f"message {number}")
            await memory.append(*[_line(number, one) for one in range(BETWEEN)], log=house.seat.id)
            await compacted(house, memory)  # far behind, each line would be of another view
        await house.say("and now?")
        stats = await memory.stats(house.seat.id)
        usage = await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)

        found = prompts(model)
        turns = [one.view for one in of(found, house.seat.id, Purpose.TURN)]
        lines = [one.view for one in of(found, house.seat.id, Purpose.COMPACTION)]
        assert max(map(len, turns)) > 100_000
        assert begun_anew(turns) - 1 == stats.batches == 1
        # The compaction view merges whenever it has grown by 16,000 bytes, and with each batch of the chat's.
        assert begun_anew(lines) <= 1 + TURNS * BETWEEN * (SIZE + 10) // 16_000 + stats.batches
        parts = [marked(record.body) for record in model.requests(Purpose.TURN)]
        moved = sum(after[: len(before)] != before for before, after in pairwise(parts))
        assert moved == stats.batches
        (used,) = [one for one in usage.usage if one.purpose == usage_pb2.USAGE_PURPOSE_TURN]
        # The later of the few turns meets the batch, the less of it all is read.
        assert used.cached_input_tokens / used.input_tokens > 0.65


async def test_the_steps_of_a_turn_only_add_to_what_was_sent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, model_client=full_client(model)) as house:
        says(house, "", *[call("date", id=0)] * 4, "done")
        await house.say("which day?")

        wholes = [one.whole for one in of(prompts(model), house.seat.id, Purpose.TURN)]
        assert len(wholes) == 5
        for before, after in pairwise(wholes):
            assert common_prefix(before, after) == len(before)


def _line(turn: int, number: int) -> str:
    """A message that is its own line, like no other."""
    return f"{turn}.{number} ".ljust(SIZE, "abcdefghij "[number % 11])
