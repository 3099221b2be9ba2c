"""Puts the agent service together: which model answers, which tools the root has, what turns work with."""

import os
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import usage_rows
from onechat_agent.adapters.demo_model import DemoModel, demo_model
from onechat_agent.config import AgentSettings
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint

DEMO_MODEL = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAtHand:
    """The model that answers, and the names that records and nodes carry."""

    client: ModelClient
    model: str
    compact_model: str | None  #: None: the one of turns
    demo: DemoModel | None = None


@asynccontextmanager
async def model_at_hand(
    settings: AgentSettings, store: Store, clock: Clock, board: HealthBoard
) -> AsyncIterator[ModelAtHand]:
    """The model of the settings; without a key or another server the demo model, as a child.

    Raises StartRefused where rules would go on with a memory that a real model has written.
    """
    async with AsyncExitStack() as stack:
        if settings.wants_demo:
            if not settings.demo and store.read(lambda db: usage_rows.other_model_than(db, DEMO_MODEL)):
                raise StartRefused(sentences.DEMO_REFUSED)
            demo = await stack.enter_async_context(demo_model(clock))
            board.remark("demo", sentences.DEMO_ANSWERS)
            client = ModelClient(Endpoint.of(url=demo.address, api_key=None))
            found = ModelAtHand(client=client, model=DEMO_MODEL, compact_model=DEMO_MODEL, demo=demo)
        else:
            try:
                endpoint = Endpoint.of(
                    url=settings.base_url, api_key=settings.api_key, lacking=settings.lacks
                )
            except ValueError as error:
                raise StartRefused(str(error)) from None
            found = ModelAtHand(
                client=ModelClient(endpoint),
                model=settings.model,
                compact_model=settings.compact_model,
            )
        stack.push_async_callback(found.client.close)
        yield found


def chance() -> random.Random:
    """The one source of chance of the running service; tests bring their own."""
    return random.Random(os.urandom(16))  # noqa: S311 - it spreads retries; nothing secret hangs on it
