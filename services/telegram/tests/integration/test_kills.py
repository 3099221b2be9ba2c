"""The real process killed between any two steps: each message delivered once, each reply shown once.

Only where it may have been in the chat already does a reply come again, marked.
"""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat.agent.v1 import event_pb2
from onechat_telegram.domain.proposals import YES
from onechat_telegram.domain.wording import REPEAT_MARK

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.pictures import GIF, PNG
from tests.fakes.telegram_scene import Scene, scene_with

MESSAGE_PLACES = (
    *("polled", "kept", "handing_over", "handed_over"),
    *("taking", "taken", "sending", "sent", "recorded"),
)
ALBUM_PLACES = ("polled", "kept", "joined", "stored", "handing_over", "handed_over")
OUT_PLACES = ("taking", "taken", "sending", "sent", "recorded")
PRESS_PLACES = ("kept", "pressed", "taken", "sending", "sent")  # the others are a message's
COMMAND_PLACES = ("polled", "kept", "command_run", "settling", "sending", "sent", "recorded")
LONG = "\n\n".join(letter * 4000 for letter in "xyz")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene[AgentServicer]]:
    agent = AgentServicer(replies=lambda delivery: f"echo of {delivery.text}")
    async with scene_with(agent, tmp_path / "data") as scene:
        yield scene


async def test_a_kill_at_any_place_of_a_messages_way_loses_and_repeats_nothing(
    scene: Scene[AgentServicer],
) -> None:
    for place in MESSAGE_PLACES:
        scene.api.say(f"killed at {place}")
        await scene.start(place).killed()
    scene.api.say("the end")

    async with scene.settled(lambda: "echo of the end" in scene.api.texts()):
        pass

    said = [f"killed at {place}" for place in MESSAGE_PLACES]
    assert scene.agent.texts() == [*said, "the end"]
    _assert_shown(scene.api.texts(), [f"echo of {text}" for text in [*said, "the end"]])


@pytest.mark.soak
async def test_a_kill_at_any_place_of_a_commands_way_runs_it_once(scene: Scene[AgentServicer]) -> None:
    for place in COMMAND_PLACES:
        scene.api.say(f"/usage {place}")
        await scene.start(place).killed()
    scene.api.say("/help")

    async with scene.settled(lambda: "did /help" in scene.api.texts()):
        pass

    lines = [command.line for command in scene.agent.commands.values()]
    assert lines == [*(f"/usage {place}" for place in COMMAND_PLACES), "/help"]
    _assert_shown(scene.api.texts(), [f"did {line}" for line in lines])


@pytest.mark.soak
async def test_a_kill_at_any_place_of_an_albums_way_gives_one_message_with_all_its_pictures(
    scene: Scene[AgentServicer],
) -> None:
    for place in ALBUM_PLACES:
        scene.api.people.show_album([(PNG, f"{place} a"), (GIF, ""), (PNG, f"{place} c")])
        await scene.start(place).killed()
    scene.api.say("the end")

    async with scene.settled(lambda: "echo of the end" in scene.api.texts()):
        pass

    albums = [f"{place} a\n{place} c" for place in ALBUM_PLACES]
    assert scene.agent.texts() == [*albums, "the end"]
    for delivery in list(scene.agent.deliveries.values())[:-1]:
        assert [scene.agent.images[name] for name in delivery.images] == [PNG, GIF, PNG]


async def test_a_kill_at_any_place_of_a_long_texts_way_gives_it_once_and_whole(
    scene: Scene[AgentServicer],
) -> None:
    places = [place for place in ALBUM_PLACES if place != "stored"]
    for place in places:
        scene.api.say(place.ljust(4096, "-"))
        scene.api.say("its rest")
        await scene.start(place).killed()
    scene.api.say("the end")

    async with scene.settled(lambda: "echo of the end" in scene.api.texts()):
        pass

    assert scene.agent.texts() == [*(f"{place.ljust(4096, '-')}its rest" for place in places), "the end"]


@pytest.mark.soak
async def test_a_kill_at_any_place_of_a_pictures_way_shows_it_once(scene: Scene[AgentServicer]) -> None:
    scene.agent.images["0123456789abcdef.png"] = PNG
    for place in OUT_PLACES:
        shown = event_pb2.ShownImage(image="0123456789abcdef.png", caption=f"killed at {place}")
        await scene.agent.tell(image=shown)
        await scene.start(place).killed()
    await scene.agent.reply("the end")

    async with scene.settled(lambda: "the end" in scene.api.texts()):
        pass

    assert all("photo" in message for message in scene.api.sent[:-1])
    _assert_shown(scene.api.texts()[:-1], [f"killed at {place}" for place in OUT_PLACES])


async def test_a_kill_at_any_place_of_a_presss_way_gives_one_answer_that_is_shown(
    scene: Scene[AgentServicer],
) -> None:
    for number, place in enumerate(PRESS_PLACES):
        await scene.agent.propose(number + 1, f"killed at {place}")
    async with scene.settled(lambda: len(scene.api.sent) == len(PRESS_PLACES)):
        pass

    for number, place in enumerate(PRESS_PLACES):
        scene.api.callbacks.press(scene.api.sent[number]["message_id"], YES)
        await scene.start(place).killed()
    async with scene.settled(lambda: all(text.endswith("is done.") for text in scene.api.texts())):
        pass

    assert len(scene.agent.answers) == len(scene.api.sent) == len(PRESS_PLACES)
    assert not any("reply_markup" in message for message in scene.api.sent)


async def test_killed_three_times_after_the_hand_over_there_is_one_answer(
    scene: Scene[AgentServicer],
) -> None:
    scene.api.say("hello")
    for _ in range(3):
        await scene.start("handed_over").killed()

    async with scene.settled(lambda: bool(scene.api.sent)):
        pass

    assert scene.agent.texts() == ["hello"]
    assert scene.api.texts() == ["echo of hello"]


async def test_killed_between_two_pieces_the_next_run_goes_on_with_the_second(
    scene: Scene[AgentServicer],
) -> None:
    scene.api.say(LONG)
    await scene.start("recorded").killed()

    async with scene.settled(lambda: len(scene.api.sent) == 3):
        pass

    assert "".join(scene.api.texts()) == f"echo of {LONG}".replace("\n", "")


@pytest.mark.soak
async def test_sixty_kills_in_two_hundred_messages(scene: Scene[AgentServicer]) -> None:
    rng = random.Random(20261130)
    said = [f"message {number}" for number in range(200)]
    unsaid = list(reversed(said))
    for _ in range(60):
        for _ in range(rng.randrange(2, 4)):
            scene.api.say(unsaid.pop())
        place = rng.choice(MESSAGE_PLACES)
        # One poll may take all that waits.
        await scene.start(place, 1 if place in {"polled", "kept"} else rng.randrange(1, 3)).killed()
    while unsaid:
        scene.api.say(unsaid.pop())
    scene.api.say("the end")

    async with scene.settled(lambda: "echo of the end" in scene.api.texts()):
        pass

    assert scene.agent.texts() == [*said, "the end"]
    for text in said:
        plain, marked = _times(scene.api.texts(), f"echo of {text}")
        assert plain <= 1
        assert plain + marked >= 1


def _assert_shown(shown: list[str], texts: list[str]) -> None:
    """Each of `texts` is there; of two kills around a send, one left no unmarked copy and both a marked one.

    Both may have met the same piece.
    """
    counts = [_times(shown, text) for text in texts]
    assert all(plain <= 1 and plain + marked >= 1 for plain, marked in counts)
    assert [plain for plain, _ in counts].count(0) == 1
    assert sum(marked for _, marked in counts) == 2
    assert len(shown) == len(texts) + 1


def _times(shown: list[str], text: str) -> tuple[int, int]:
    """How often `text` came unmarked, and marked."""
    return shown.count(text), shown.count(f"{text}{REPEAT_MARK}")
