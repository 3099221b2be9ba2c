"""What subscribers get: every kept event once and in order, and text as it comes while they keep up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from onechat_agent.adapters import event_rows
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.events import Event, NewEvent, Noticed, TextCame, TextVoid
from onechat_agent.events import BATCH, PASSING_MAX, Events, EventsGone, Seen, Subscriber, open_stream
from onechat_runtime.store import Store, migrations_in

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, ScriptedModel

ROOT, TURN = AgentId("root"), TurnId("t")


class Stage:
    """Events over a real store."""

    def __init__(self, store: Store, clock: ManualClock, stream: str) -> None:
        self.store, self.clock = store, clock
        self.events = Events(store, clock, stream)

    async def keep(self, *texts: str, audience: str = "user") -> None:
        """Keeps notices, in one commit."""

        def job(db: object) -> None:
            for text in texts:
                self.events.keep(
                    db,  # type: ignore[arg-type]
                    NewEvent(
                        agent=ROOT,
                        agent_name="One",
                        time=self.clock.now(),
                        body=Noticed(text=text),
                        audience=audience,
                    ),
                )

        await self.store.write(job)

    async def start(self, **fields: object) -> int:
        asked = {"after": None, "stream": "", "audience": "user", "last": 0, **fields}
        return await self.events.start(**asked)  # type: ignore[arg-type]

    def text(self, offset: int, text: str, step: int = 1) -> None:
        self.events.text(ROOT, TURN, step, offset, text, "user")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    clock = ManualClock()
    migrations = migrations_in("onechat_agent.migrations")
    path = tmp_path / "store.db"
    async with Store.open(path, component="agent", migrations=migrations, clock=clock) as store:
        yield Stage(store, clock, await store.write(open_stream))


async def take(stage: Stage, subscriber: Subscriber, start: int, count: int) -> list[Seen]:
    """The next `count` things that the subscriber gets."""
    seen: list[Seen] = []
    async with asyncio.timeout(30), contextlib.aclosing(stage.events.seen_by(subscriber, start)) as stream:
        async for one in stream:
            seen.append(one)
            if len(seen) == count:
                break
    return seen


def shown(seen: list[Seen]) -> list[str]:
    lines = []
    for one in seen:
        match one.item:
            case Event(body=Noticed(text=text)):
                lines.append(text)
            case TextCame(offset=offset, text=text):
                lines.append(f"{offset}:{text}")
            case TextVoid():
                lines.append("void")
    return lines


async def test_kept_events_come_once_and_in_order_however_many_there_are(stage: Stage) -> None:
    texts = [f"n{number}" for number in range(2 * BATCH + 7)]
    await stage.keep(*texts)
    with stage.events.listening("user") as subscriber:
        await stage.keep("later")
        seen = await take(stage, subscriber, 0, len(texts) + 1)

    assert shown(seen) == [*texts, "later"]
    assert [one.number for one in seen] == sorted({one.number for one in seen})


async def test_a_subscription_goes_on_after_its_place(stage: Stage) -> None:
    await stage.keep("a", "b", "c")
    start = await stage.start(after=1, stream=stage.events.stream)
    with stage.events.listening("user") as subscriber:
        assert shown(await take(stage, subscriber, start, 2)) == ["b", "c"]


async def test_without_a_place_it_begins_now_or_with_the_newest(stage: Stage) -> None:
    await stage.keep("a", "b")
    await stage.keep("of a group", audience="telegram:1")
    await stage.keep("c")

    assert await stage.start() == 4
    assert await stage.start(last=2) == 1
    assert await stage.start(last=2, audience="*") == 2
    assert await stage.start(last=99) == 0
    assert await stage.start(last=5, audience="nobody") == 4


async def test_a_place_that_is_not_all_kept_is_refused_with_the_oldest(stage: Stage) -> None:
    """The client says what it missed, and goes on from there."""
    await stage.keep("old", "old too")
    stage.clock.advance(91 * 24 * 3600)
    await stage.keep("new")
    await stage.store.write(lambda db: event_rows.forget_before(db, stage.clock.now() - timedelta(days=90)))

    for asked in ({"after": 0}, {"after": 1}, {"after": 4}, {"after": 3, "stream": "another"}, {"after": -1}):
        with pytest.raises(EventsGone) as gone:
            await stage.start(**asked)
        assert gone.value.metadata == {"oldest": "3", "stream": stage.events.stream}
    assert await stage.start(after=2) == 2


async def test_old_events_go_after_90_days_and_numbers_are_never_used_again(stage: Stage) -> None:
    await stage.keep("old")
    forgetting = asyncio.ensure_future(stage.events.forget_old())
    for _ in range(91):
        await stage.clock.until_sleeping()
        stage.clock.advance(24 * 3600)
    await stage.clock.until_sleeping()
    forgetting.cancel()

    assert stage.store.read(event_rows.bounds) == (1, 1)
    await stage.keep("new")
    assert stage.store.read(event_rows.bounds) == (1, 2)


async def test_each_audience_sees_its_own_and_the_star_sees_all(stage: Stage) -> None:
    await stage.keep("mine")
    await stage.keep(*["the group's"] * (BATCH + 1), audience="telegram:1")
    await stage.keep("mine too")
    with stage.events.listening("user") as user, stage.events.listening("*") as star:
        assert shown(await take(stage, user, 0, 2)) == ["mine", "mine too"]
        assert len(await take(stage, star, 0, BATCH + 3)) == BATCH + 3


async def test_text_is_joined_and_comes_before_the_event_that_ends_it(stage: Stage) -> None:
    with stage.events.listening("user") as subscriber:
        stage.text(0, "Hel")
        stage.text(3, "lo")
        stage.events.finish_text(ROOT)
        await stage.keep("end")

        assert shown(await take(stage, subscriber, 0, 2)) == ["0:Hello", "end"]


async def test_a_new_subscriber_first_gets_the_text_so_far(stage: Stage) -> None:
    await stage.keep("before")
    with stage.events.listening("user") as first:
        stage.text(0, "So fa")
        await take(stage, first, 1, 1)
        stage.text(5, "r")
        with stage.events.listening("user") as second:
            stage.text(6, " so good")
            stage.events.finish_text(ROOT)

            assert shown(await take(stage, second, 0, 3)) == ["before", "0:So fa", "5:r so good"]


async def test_a_step_that_starts_again_voids_its_text(stage: Stage) -> None:
    with stage.events.listening("user") as subscriber:
        stage.text(0, "half")
        await take(stage, subscriber, 0, 1)
        stage.events.void_text(ROOT, TURN, 1, "user")
        stage.text(0, "whole")
        stage.events.finish_text(ROOT)

        assert shown(await take(stage, subscriber, 0, 2)) == ["void", "0:whole"]


async def test_a_slow_subscriber_loses_text_and_no_event_and_holds_little(stage: Stage) -> None:
    with stage.events.listening("user") as slow:
        for number in range(PASSING_MAX + 50):
            await stage.keep(f"n{number}")
            stage.events.pass_by(TextCame(agent=ROOT, turn=TURN, step=1, offset=number, text="x"))
        assert len(slow.queue) <= PASSING_MAX
        texts = [one.offset for one in slow.queue if isinstance(one, TextCame)]
        seen = shown(await take(stage, slow, 0, PASSING_MAX + 50 + len(texts)))

    assert [one for one in seen if one.startswith("n")] == [f"n{n}" for n in range(PASSING_MAX + 50)]
    assert [one for one in seen if ":" in one] == [f"{offset}:x" for offset in texts]
    assert texts == list(range(texts[0], PASSING_MAX + 50)), "the oldest are lost"


async def test_an_event_waits_for_no_later_one_when_text_before_it_is_lost(stage: Stage) -> None:
    with stage.events.listening("user") as slow:
        await stage.keep("kept")
        for number in range(PASSING_MAX + 5):
            stage.events.pass_by(TextCame(agent=ROOT, turn=TURN, step=1, offset=number, text="x"))

        assert shown(await take(stage, slow, 0, 2))[0] == "kept"


async def test_a_subscriber_that_leaves_is_forgotten(stage: Stage) -> None:
    with stage.events.listening("user") as gone:
        pass
    stage.events.pass_by(TextVoid(agent=ROOT, turn=TURN, step=1))

    assert not [one for one in gone.queue if not isinstance(one, int)]


async def test_the_stream_is_the_stores_own(stage: Stage) -> None:
    assert await stage.store.write(open_stream) == stage.events.stream


async def test_a_client_that_comes_back_gets_what_it_missed(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("one", "two", Answer(text="three"))
    async with living(tmp_path, memory, model) as house:
        await house.say("first")
        place = house.seen.responses[-1].number
        await house.say("second")
    async with living(tmp_path, memory, model, after=place) as house:
        await house.say("third")

        assert house.seen.replies() == ["two", "three"]
        numbers = [event.number for event in house.seen.events()]
        assert numbers == list(range(place + 1, place + 1 + len(numbers)))
