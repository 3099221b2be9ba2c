"""A chat that was known by LID and is by number: one for good, whatever the session knows after a restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_whatsapp.domain.chat_ids import ChatId

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_batches import BOB, Bench, said, texts_in

LID = ChatId("111222333444@lid")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        yield Bench(tmp_path / "whatsapp", agent, loopback.address)


async def test_what_comes_again_by_lid_is_not_taken_twice_and_what_is_new_is_of_the_same_chat(
    bench: Bench,
) -> None:
    """As after a new link, whose session knows nobody; such a batch had an old one's key and was lost."""
    async with bench.running() as running:
        await running.live()
        await running.take(said("hello", chat=LID, message_id="1"))
        await running.batching.merge(LID, BOB)
        await running.quiet()
        await running.until_delivered(1)
    async with bench.running() as running:
        await running.live()
        await running.take(
            said("hello", chat=LID, message_id="1"), said("and more", chat=LID, message_id="2")
        )
        await running.quiet()
        deliveries = await running.until_delivered(2)

    assert texts_in(deliveries) == ["hello", "and more"]
    assert {one.source for one in deliveries} == {f"whatsapp:{BOB}"}
