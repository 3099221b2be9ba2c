"""The crash table of docs/design/turns.md, row by row, with real processes: killed there, all ends the same.

Each point ends one run of a service; it is started again and the message is answered as if nothing had been.
"""

import asyncio
import difflib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from onechat.agent.v1 import event_pb2
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_ECHO, MESSAGE_KIND_TOOL

from tests.fakes.five_services import FiveServices, Forks, five_services, until
from tests.fakes.five_services_chat import Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process
from tests.fakes.five_services_points import APPEND, ASK, COMMIT, COMMIT_OF, Point

READING = "zoom 0 1 and zoom 1 1"  # what is run again gives the same again
ROLLING = "read a.txt and read b.txt"  # gives more than a call may hold, where that is little
MEMORY_APPEND = f"{COMMIT_OF}onechat_memory.joined_appends._append_joined"
RUNNING = "run `echo one` and run `echo two`"  # needs no memory while it is at work
UNKNOWN = "interrupted, not known whether it ran"
BEGIN = "onechat_agent.turn_store:TurnStore.begin"
RESULT = "onechat_agent.calls:Calls.log_result"

TABLE = (  # a row or more for each of the table's
    Point(step="onechat_agent.queue:Queue.accept", side="after", nth=1),
    Point(step=BEGIN, side="before", nth=1),
    Point(step=BEGIN, side="after", nth=1),
    Point(step=APPEND, side="after", nth=1),  # the delivery is logged
    Point(step=ASK, side="after", nth=1),  # the model has answered, and nothing of it is logged
    Point(step=APPEND, side="after", nth=2),  # the calls are logged, none has run
    Point(step=RESULT, side="after", nth=1),  # one of two results is there
    Point(step=APPEND, side="after", nth=4),  # both are
    Point(step=APPEND, side="after", nth=5),  # the reply is logged, the turn has no end
    Point(step="onechat_agent.turn_store:TurnStore.end", side="after", nth=1),
)

Logged = tuple[str, int, str]  #: key, kind and text


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What a message leaves behind, in every run the same."""

    log: tuple[Logged, ...]  #: a turn's own id is TURN in its keys
    replies: tuple[str, ...]
    ends: tuple[int, ...]  #: how its turns ended


class Scene:
    """An agent and a memory with a first exchange, and one message after the other to be asked."""

    def __init__(self, services: FiveServices, chat: Chat, model: ModelProcess) -> None:
        self.services = services
        self.chat = chat
        self.model = model
        self._asked = 0
        self._length = 0

    async def open(self) -> None:
        """The first exchange, which the later ones zoom."""
        await self.services.start("memory", "agent")
        await self.chat.ask("hello", key="hello")
        self._length = len(await self.chat.log())

    async def make_rolling(self) -> None:
        """From now on a call may hold less than what ROLLING gives: its turn goes on from a new view."""
        for name in ("a", "b"):
            lines = "".join(f"{name} {number}\n" for number in range(2_500))
            (self.services.folder / "workspace" / f"{name}.txt").write_text(lines)
        settings = self.services.data / "agent" / "agents" / "One" / "agent.toml"
        settings.write_text(settings.read_text() + "\n[limits]\ncontext_bytes = 10000\n")
        await self.services.stop("agent")
        await self.services.start("agent")

    async def ends_at(self, service: str, point: Point, text: str) -> End | None:
        """What the message leaves behind, `service` killed at `point`; None if that was not reached."""
        await self.services.stop(service)
        await self.services.start(service, point=point)
        rising = asyncio.ensure_future(self._rise(service))
        try:
            end = await self.end_of_asking(text)
            return end if rising.done() or not self.services.running(service) else None
        finally:
            if not self.services.running(service):
                await rising  # it was killed by the last thing that it did
            rising.cancel()
            await asyncio.gather(rising, return_exceptions=True)

    async def _rise(self, service: str) -> None:
        """As a supervisor does: what was killed is started again."""
        await self.services.killed(service, within_s=120)
        await self.services.start(service)

    async def end_of_asking(self, text: str) -> End:
        """Say it and wait until all is done; what it leaves behind."""
        self._asked += 1
        key, place = f"asked:{self._asked}", len(self.chat.events)
        await self.chat.ask(text, key=key)
        await self.chat.all_done({key})
        messages = await self.chat.log(self._length)
        self._length += len(messages)
        turns = {message.turn for message in messages if message.turn}
        end = End(
            log=_in_order((_without(one.key, turns), one.kind, one.text) for one in messages),
            replies=tuple(self.chat.replies_since(place)),
            ends=tuple(
                event.turn_change.state
                for event in self.chat.events[place:]
                if event.HasField("turn_change") and event.turn_change.answered
            ),
        )
        return replace(end, log=(("d:N", *end.log[0][1:]), *end.log[1:]))


def _in_order(log: Iterable[Logged]) -> tuple[Logged, ...]:
    """`log` with the results of one step in the order of their calls: they are logged as they end."""
    found: list[Logged] = []
    results: list[Logged] = []
    for message in log:
        if message[1] == MESSAGE_KIND_ECHO:
            results.append(message)
        else:
            found += [*sorted(results), message]
            results = []
    return (*found, *sorted(results))


def _without(key: str, turns: set[str]) -> str:
    for turn in turns:
        key = key.replace(turn, "TURN")
    return key


@asynccontextmanager
async def scene_in(forks: Forks, folder: Path) -> AsyncIterator[Scene]:
    async with (
        model_process(forks, folder) as model,
        five_services(forks, folder, OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        scene = Scene(services, chat, model)
        await scene.open()
        yield scene


async def differing(scene: Scene, service: str, text: str, points: Sequence[Point]) -> dict[str, object]:
    """The points at which a kill of `service` changes the end of saying `text`, each with what it was."""
    undisturbed = await scene.end_of_asking(text)
    assert len(undisturbed.replies) == 1
    assert undisturbed.ends == (event_pb2.TurnChange.STATE_ENDED,)
    assert len([one for one in undisturbed.log if one[1] == MESSAGE_KIND_TOOL]) == 2
    found: dict[str, object] = {}
    for point in points:
        end = await scene.ends_at(service, point, text)
        if end is None:
            found[point.name] = "was not reached"
        elif end != undisturbed:
            found[point.name] = differences(undisturbed, end)
    if refused := await scene.model.refusals():
        found["refused by the model"] = refused
    return found


@pytest.mark.soak
async def test_killed_right_after_any_row_of_the_table_a_turn_ends_as_if_it_had_not_been(
    forks: Forks, tmp_path: Path
) -> None:
    async with scene_in(forks, tmp_path) as scene:
        assert await differing(scene, "agent", READING, TABLE) == {}


async def test_a_memory_that_is_killed_before_its_answer_is_asked_again_with_the_same_keys(
    forks: Forks, tmp_path: Path
) -> None:
    """Its commit is on disk and the agent does not know it."""
    points = [Point(step=MEMORY_APPEND, side="after", nth=nth) for nth in (1, 2, 4)]

    async with scene_in(forks, tmp_path) as scene:
        assert await differing(scene, "memory", RUNNING, points) == {}


async def test_a_command_that_was_interrupted_is_not_run_again_and_the_model_is_told(
    forks: Forks, tmp_path: Path
) -> None:
    """Nobody knows how far it came, so only the model or the user may decide to repeat it."""
    point = Point(step=RESULT, side="before", nth=1)

    async with scene_in(forks, tmp_path) as scene:
        end = await scene.ends_at("agent", point, "run `echo ran >> ran.txt`")

        assert (tmp_path / "workspace" / "ran.txt").read_text() == "ran\n"
        assert end is not None
        assert [text for _, _, text in end.log[2:]] == [UNKNOWN, *end.replies]
        assert UNKNOWN in end.replies[0]
        assert await scene.model.refusals() == []


async def test_killed_again_and_again_at_the_same_place_a_turn_is_given_up_with_a_line(
    forks: Forks, tmp_path: Path
) -> None:
    """Else what kills the service would kill it for ever."""
    async with scene_in(forks, tmp_path) as scene:
        await scene.model.script({"gate": "held", "purpose": "turn"})
        asking = asyncio.ensure_future(scene.end_of_asking(READING))
        await scene.model.reached("held")
        await scene.services.stop("agent")
        kills = 0
        while not asking.done():
            await scene.services.start("agent", point=Point(step=ASK, side="before", nth=1))
            await until(lambda: asking.done() or not scene.services.running("agent"))
            kills += not scene.services.running("agent")

        end = await asking
        assert kills == 5
        assert "interrupted five times" in end.replies[0]


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("service", "step", "text", "at_least"),
    [
        ("agent", COMMIT, READING, 5),
        ("agent", APPEND, READING, 5),
        ("agent", ASK, READING, 2),
        ("memory", MEMORY_APPEND, RUNNING, 4),
        ("agent", COMMIT, ROLLING, 7),
        ("agent", APPEND, ROLLING, 5),
    ],
)
async def test_killed_around_each_commit_append_and_question_a_turn_ends_the_same(
    forks: Forks, tmp_path: Path, service: str, step: str, text: str, at_least: int
) -> None:
    async with scene_in(forks, tmp_path) as scene:
        if text is ROLLING:
            await scene.make_rolling()
        undisturbed = await scene.end_of_asking(text)
        wrong, nth, reached = {}, 0, True
        while reached:
            nth += 1
            for side in ("before", "after"):
                point = Point(step=step, side=side, nth=nth)
                end = await scene.ends_at(service, point, text)
                reached = end is not None
                if end not in (None, undisturbed):
                    wrong[point.name] = differences(undisturbed, end)

        assert wrong == {}
        assert nth > at_least
        assert await scene.model.refusals() == []
        assert ("turn_rolled_over" in scene.services.said("agent")) is (text is ROLLING)


def differences(wanted: End, found: End) -> list[str]:
    """What is in one of the two and not in the other."""
    lines = [
        [f"{key} {kind} {text[:80]}" for key, kind, text in end.log] + [*end.replies, str(end.ends)]
        for end in (wanted, found)
    ]
    return [line for line in difflib.ndiff(*lines) if line[0] in "+-"]
