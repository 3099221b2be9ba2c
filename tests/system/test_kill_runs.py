"""Services killed again and again in a conversation: nothing is lost or there twice, all is answered.

The seed is fixed, so that what is said and which kill comes when is the same in every run; the moments within
a millisecond are the machine's.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fakes.bot_api import OWNER, TOKEN, BotApi, listening
from tests.fakes.five_services import SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process
from tests.system import invariants
from tests.system.conversation import TELEGRAM, Message, script
from tests.system.kill_run import KillRun
from tests.system.strikes import kills

SEED = 20261130
FIRST = Message(word="m-first", sender=TELEGRAM, text="hello, m-first")


async def complaints_after(
    forks: Forks, folder: Path, said: Sequence[Message], wanted: dict[str, int]
) -> list[str]:
    """What is wrong after that conversation with so many kills of each service."""
    rng = random.Random(SEED)
    async with (
        listening(BotApi()) as api,
        model_process(forks, folder) as model,
        five_services(
            forks,
            folder,
            OPENAI_BASE_URL=model.base_url,
            TELEGRAM_TOKEN=TOKEN,
            TELEGRAM_OWNER_ID=str(OWNER),
            TELEGRAM_BASE_URL=api.address,
        ) as services,
        chatting(services) as chat,
    ):
        await services.start(*SERVICES)
        run = KillRun(services=services, chat=chat, api=api, rng=rng)
        await run.run([FIRST], [])
        await api.until(lambda: bool(api.sent))
        await run.run(said, kills(rng, wanted, len(said)))
        complaints = await all_complaints(chat, api, model, [FIRST, *said])
        assert {name: services.kills[name] for name in wanted} == wanted
        return complaints + secrets_told(services)


async def all_complaints(chat: Chat, api: BotApi, model: ModelProcess, said: Sequence[Message]) -> list[str]:
    """Whatever of invariants.py does not hold."""
    deliveries = await chat.deliveries()
    messages = await chat.log()
    kept = await chat.kept_events()
    complaints = [
        *invariants.of_log(messages, said, deliveries),
        *invariants.of_deliveries(deliveries, said, kept),
        *invariants.of_events(chat.events, kept),
        *await invariants.of_view(chat, messages),
    ]
    with suppress(TimeoutError):  # the last of it may still be on its way
        await api.until(lambda: not list(invariants.of_telegram(api.texts(), kept)), within_s=30)
    complaints += invariants.of_telegram(api.texts(), kept)
    return complaints + [f"the model refused: {refusal}" for refusal in await model.refusals()]


def secrets_told(services: FiveServices) -> list[str]:
    """Logs that hold a token or somebody's words."""
    secrets = [
        path.read_text().strip() for path in (services.data / "tokens").iterdir() if "." not in path.name
    ]
    told = [TOKEN, "nothing special", "see you", *secrets]
    return [
        f"the log of {name} holds {secret[:12]}"
        for name in SERVICES
        for secret in told
        if secret in services.said(name)
    ]


@pytest.mark.soak
async def test_ten_kills_in_forty_messages_lose_nothing_and_repeat_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    said = script(random.Random(SEED), 40)

    complaints = await complaints_after(forks, tmp_path, said, {"agent": 4, "memory": 4, "telegram": 2})

    assert complaints == []


@pytest.mark.soak
async def test_telegrams_updates_are_taken_once_whoever_is_killed(forks: Forks, tmp_path: Path) -> None:
    said = script(random.Random(SEED + 1), 12, senders=(TELEGRAM,))

    complaints = await complaints_after(forks, tmp_path, said, {"telegram": 4, "agent": 2})

    assert complaints == []


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_each_service_killed_twenty_times_in_two_hundred_messages(forks: Forks, tmp_path: Path) -> None:
    said = script(random.Random(SEED + 2), 200)

    complaints = await complaints_after(forks, tmp_path, said, dict.fromkeys(SERVICES, 20))

    assert complaints == []


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_fifty_updates_of_telegram_survive_twenty_kills(forks: Forks, tmp_path: Path) -> None:
    said = script(random.Random(SEED + 3), 50, senders=(TELEGRAM,))

    complaints = await complaints_after(forks, tmp_path, said, {"telegram": 10, "agent": 5, "memory": 5})

    assert complaints == []
