"""The real process killed between any two steps of a group message's way.

Each message reaches the group's agent once; each answer is shown once, or, where it may have been in the
group already, not again, and is recorded as unknown.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from onechat.agent.v1.delivery_pb2 import NewDelivery
from onechat_telegram.domain.admissions import YES

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.bot_api import OWNER
from tests.fakes.pictures import GIF, PNG
from tests.fakes.telegram_scene import Scene, scene_with

BEN = 5550002
BOT = "@onechat_test_bot"
PLACES = (
    *("polled", "kept", "hearing", "heard", "group_handing_over", "group_handed_over"),
    *("taking", "taken", "sending", "sent", "recorded"),
)
PRIVATE_PLACES = ("heard", "group_handed_over")  # the others are a group's
ALBUM_PLACES = ("joined", "heard")
ADMISSION_PLACES = ("hearing", "heard", "sending", "sent")


class Echo(GroupsAgentServicer):
    """Each agent of a group answers with what was asked."""

    async def answer(self, delivery: NewDelivery, text: str) -> None:
        await super().answer(delivery, f"echo of {asked(delivery)}")


def asked(delivery: NewDelivery) -> str:
    """The words of a delivery, without who wrote them, to whom and when."""
    return delivery.text.partition('": ')[2].removeprefix(f"{BOT} ")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene[Echo]]:
    async with scene_with(Echo(answer_all="as above"), tmp_path / "data", privacy=False) as scene:
        yield scene


async def served(scene: Scene[Echo], title: str, **how: Any) -> int:
    """A group that the owner has said yes to."""
    chat = scene.api.groups.found(title, [BEN], **how)
    async with scene.settled(lambda: bool(questions(scene, title))):
        scene.api.callbacks.press(questions(scene, title)[-1]["message_id"], YES, chat=OWNER)
        await scene.api.until(lambda: any("I serve" in edit["text"] for edit in scene.api.edits))
    return chat


def questions(scene: Scene[Echo], title: str) -> list[dict[str, Any]]:
    return [one for one in scene.api.sent if f'"{title}"' in one["text"] and "reply_markup" in one]


def pieces(scene: Scene[Echo], column: str, chat: int) -> list[str]:
    """What each piece for `chat` has in `column`; read while nothing runs."""
    db = apsw.Connection(str(scene.data / "telegram" / "store.db"))
    found = db.execute(f"SELECT {column} FROM pieces WHERE chat = ? ORDER BY number", (chat,))
    return [str(row[0]) for row in found]


async def test_a_kill_at_any_place_of_a_group_messages_way_takes_it_once_and_answers_it_once(
    scene: Scene[Echo],
) -> None:
    chat = await served(scene, "Garden")
    for place in PLACES:
        scene.api.say(f"{BOT} killed at {place}", user=BEN, chat=chat)
        await scene.start(place).killed()
    scene.api.say(f"{BOT} the end", user=BEN, chat=chat)

    async with scene.settled(lambda: "echo of the end" in scene.api.texts(chat)):
        pass

    said = [*(f"killed at {place}" for place in PLACES), "the end"]
    assert [asked(delivery) for delivery in scene.agent.deliveries.values()] == said
    shown = scene.api.texts(chat)
    [not_known] = [f"echo of {text}" for text in said if f"echo of {text}" not in shown]
    assert shown == [f"echo of {text}" for text in said if f"echo of {text}" != not_known]
    states = pieces(scene, "state", chat)
    assert (states.count("unknown"), states.count("sent"), len(states)) == (2, len(said) - 2, len(said))


@pytest.mark.soak
async def test_a_kill_at_any_place_of_an_albums_way_in_a_group_gives_it_whole_and_once(
    scene: Scene[Echo],
) -> None:
    chat = await served(scene, "Garden")
    for place in ALBUM_PLACES:
        scene.api.people.show_album([(PNG, f"{BOT} {place} a"), (GIF, "c")], user=BEN, chat=chat)
        await scene.start(place).killed()
    scene.api.say(f"{BOT} the end", user=BEN, chat=chat)

    async with scene.settled(lambda: "echo of the end" in scene.api.texts(chat)):
        pass

    *albums, _ = scene.agent.deliveries.values()
    assert [asked(delivery) for delivery in albums] == [f"{place} a\n  c" for place in ALBUM_PLACES]
    for delivery in albums:
        assert [scene.agent.images[name] for name in delivery.images] == [PNG, GIF]


@pytest.mark.soak
async def test_a_kill_at_any_place_of_a_members_private_message_answers_it_there(
    scene: Scene[Echo],
) -> None:
    chat = await served(scene, "Garden")
    for place in PRIVATE_PLACES:
        scene.api.say(f"killed at {place}", user=BEN)
        await scene.start(place).killed()
    said = [f"killed at {place}" for place in PRIVATE_PLACES]

    async with scene.settled(lambda: len(scene.api.texts(BEN)) == len(said)):
        pass

    assert [asked(delivery) for delivery in scene.agent.deliveries.values()] == said
    assert scene.api.texts(BEN) == [f"echo of {text}" for text in said]
    assert scene.api.texts(chat) == []


async def test_a_kill_at_any_place_of_an_admissions_way_asks_the_owner_about_each_group(
    scene: Scene[Echo],
) -> None:
    for place in ADMISSION_PLACES:
        scene.api.groups.found(f"killed at {place}", [BEN])
        await scene.start(place).killed()
    titles = [f"killed at {place}" for place in ADMISSION_PLACES]

    async with scene.settled(lambda: all(questions(scene, title) for title in titles)):
        for title in titles:
            scene.api.callbacks.press(questions(scene, title)[-1]["message_id"], YES, chat=OWNER)
        await scene.agent.until(lambda: len(scene.agent.groups) == len(titles), within_s=30)

    assert sorted(agent.area for agent in scene.agent.groups.values()) == sorted(titles)
    assert pieces(scene, "kind", OWNER).count("question") == len(titles)


async def test_a_kill_at_any_place_of_a_moves_way_keeps_the_group(scene: Scene[Echo]) -> None:
    places = ("hearing", "heard")
    chats = [await served(scene, f"Group {place}", kind="group") for place in places]
    moved = []
    for place, chat in zip(places, chats, strict=True):
        moved.append(scene.api.groups.migrate(chat))
        await scene.start(place).killed()
    for place, chat in zip(places, moved, strict=True):
        scene.api.say(f"{BOT} killed at {place}", user=BEN, chat=chat)

    async with scene.settled(lambda: all(scene.api.texts(chat) for chat in moved)):
        pass

    assert len(scene.agent.groups) == len(places)
    assert sorted(delivery.source for delivery in scene.agent.deliveries.values()) == sorted(
        f"telegram:{chat}" for chat in chats
    )
