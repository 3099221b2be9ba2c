"""What comes is taken where it belongs: groups and buttons by those who serve them, the rest as before."""

import json
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from onechat_runtime.steps import on_we_go
from onechat_runtime.store import Store, migrations_in
from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.callbacks import Callback
from onechat_telegram.domain.ids import ChatId, MessageId, UserId
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.handover import Handover
from onechat_telegram.images import Images
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies

from tests.fakes.clock import ManualClock

OWNER, MEMBER, STRANGER = 1, 2, 3
GROUP = {"id": -5, "type": "supergroup", "title": "Us"}


@dataclass
class Groups:
    """Serves one group and its member."""

    taken: list[Mapping[str, Any]] = field(default_factory=list)

    async def take(self, key: str, update: Mapping[str, Any]) -> bool:
        whose = update.get("message", {}).get("from", {}).get("id")
        if whose == STRANGER:
            return False
        self.taken.append(update)
        return True


@dataclass
class Buttons:
    pressed: list[Callback] = field(default_factory=list)

    async def answer(self, callback: Callback) -> None:
        self.pressed.append(callback)


@dataclass
class Sends:
    sent: list[tuple[ChatId, str]] = field(default_factory=list)

    async def send(self, chat: ChatId, message: Message) -> MessageId:
        self.sent.append((chat, message.text))
        return MessageId(1)


class NobodyElse:
    """What none of these updates may reach."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


@dataclass
class House:
    handover: Handover
    groups: Groups
    buttons: Buttons
    sends: Sends
    ownership: Ownership

    async def take(self, update: Mapping[str, Any]) -> bytes:
        return await self.handover.hand_over("8:1:1:0", json.dumps(update).encode())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = ManualClock()
    async with Store.open(
        tmp_path / "store.db",
        component="telegram",
        migrations=migrations_in("onechat_telegram.migrations"),
        clock=clock,
    ) as store:
        groups, buttons, sends = Groups(), Buttons(), Sends()
        ownership = Ownership(store, clock, UserId(OWNER), random.Random(1).choice)
        await ownership.open()
        handover = Handover(
            cast(BotSends, sends),
            cast(Agent, NobodyElse()),
            store,
            ownership,
            cast(Replies, NobodyElse()),
            cast(Images, NobodyElse()),
            clock,
            on_we_go,
            buttons=buttons,
            groups=groups,
        )
        yield House(handover, groups, buttons, sends, ownership)


def private(user: int, text: str = "hi") -> dict[str, Any]:
    return {
        "message": {
            "message_id": 1,
            "date": 1_800_000_000,
            "from": {"id": user},
            "chat": {"id": user, "type": "private"},
            "text": text,
        }
    }


@pytest.mark.parametrize(
    "update",
    [
        {"message": {"message_id": 1, "date": 1, "from": {"id": OWNER}, "chat": GROUP, "text": "hi"}},
        {"message": {"message_id": 1, "date": 1, "from": {"id": OWNER}, "chat": GROUP, "text": "/stop"}},
        {"edited_message": {"message_id": 1, "date": 1, "edit_date": 2, "chat": GROUP, "text": "hi"}},
        {"message": {"message_id": 1, "date": 1, "chat": GROUP, "migrate_to_chat_id": -1005}},
        {"my_chat_member": {"chat": GROUP, "from": {"id": OWNER}, "date": 1}},
    ],
)
async def test_what_a_group_brings_goes_to_the_groups_and_not_to_the_agent(
    house: House, update: dict[str, Any]
) -> None:
    """The owner's words in a group are not the owner's words to the root."""
    assert await house.take(update) == b""

    assert house.groups.taken == [update]
    assert house.sends.sent == []


async def test_a_members_private_message_goes_to_the_groups_and_gets_no_refusal(house: House) -> None:
    assert await house.take(private(MEMBER)) == b""

    assert house.groups.taken == [private(MEMBER)]
    assert house.sends.sent == []


async def test_somebody_whom_no_group_knows_is_refused(house: House) -> None:
    assert await house.take(private(STRANGER)) == b""

    assert house.groups.taken == []
    assert house.sends.sent == [(STRANGER, NOT_FOR_YOU)]


async def test_a_press_goes_to_the_buttons_whoever_pressed(house: House) -> None:
    for user in (OWNER, STRANGER):
        await house.take({"callback_query": {"id": str(user), "from": {"id": user}, "data": "yes:1:s"}})

    assert [(press.id, press.user) for press in house.buttons.pressed] == [("1", OWNER), ("3", STRANGER)]
