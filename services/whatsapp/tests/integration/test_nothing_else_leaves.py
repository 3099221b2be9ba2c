"""The whole gateway, whatever comes: what leaves is what was asked for, and nothing answers by itself.

Reading, reconnects, links that end and begin, restarts and silence go on meanwhile.
"""

import random
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from onechat_runtime.errors import ServiceError
from onechat_whatsapp.domain.records import OutgoingMessage, SendState
from onechat_whatsapp.wire.events import GroupRenamed
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.clock import ManualClock
from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_desk import PNG, account_of_ann
from tests.fakes.whatsapp_house import House, house_at
from tests.fakes.whatsapp_scripts import (
    ANN,
    BOB,
    BOB_LID,
    CAT,
    GARDEN,
    NOON,
    heard,
    mention,
    own,
    replayed,
    undecryptable,
)

STEPS = 250
FAULTS = (
    NotSent("websocket not connected", offline=True),
    NotSent("server returned error 479"),
    OutcomeUnknown("timed out waiting for message send response"),
    None,
)


class World:
    """What happens to one account and what is asked of its gateway, from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ids = random.Random(seed + 1_000)  #: the gateway's, which draws from it in its own time
        self.account = account_of_ann()
        self.clock = ManualClock(NOON)
        self.asked: dict[str, OutgoingMessage] = {}  #: by id; each id is one message's
        self.sent: set[str] = set()  #: ids that were answered as sent

    async def step(self, house: House) -> None:
        """One thing that is done or asked, or that comes."""
        account, rng = self.account, self.rng
        match rng.randrange(20):
            case 0 | 1 | 2 | 3 | 4:
                self._come()
            case 5 if account.online:
                account.drop()
            case 6 if account.me and account.dialled:
                account.take_up()
            case 7:
                account.send_faults.append(rng.choice(FAULTS))
                account.lands = rng.random() < 0.5
            case 8:
                await house.after(rng.choice((5, 25, 130, 700)))
            case 9 if rng.random() < 0.3:
                await house.after(10 * 86_400, step_s=6 * 3_600)  # silence
            case 10 if rng.random() < 0.3:
                rng.choice((account.replace, account.ban, account.outdate, account.log_out))()
            case 11 if rng.random() < 0.3:
                await house.unlink()
            case 12 | 13 if account.me is None:
                await self._pair(house)
            case 14 if house.wire.up and rng.random() < 0.5:
                house.wire.crash()
            case 15 | 16:
                await self._find(house)
            case _:
                await self._send(house)
        await house.settled()

    def _come(self) -> None:
        """Messages of every kind, most of which call for an answer."""
        rng = self.rng
        at_s = (self.clock.now() - NOON).total_seconds()
        event = rng.choice(
            (
                heard("are you there? please answer", at_s=at_s),
                heard("by LID", chat=BOB_LID, sender_alt=BOB, at_s=at_s),
                mention(at_s=at_s),
                heard("re", chat=GARDEN, quoted_author=ANN, at_s=at_s),
                own("my own words", at_s=at_s),
                heard("to many", chat="1234567@broadcast", at_s=at_s),
                undecryptable(at_s=at_s),
                GroupRenamed(chat=GARDEN, name=f"Garden {rng.randrange(9)}"),
            )
        )
        self.account.come(event)
        if rng.random() < 0.2:
            self.account.come(*replayed(heard("again", at_s=at_s)))

    async def _pair(self, house: House) -> None:
        self.account.pairing_fault = self.rng.choice(("", "", "phone number too short"))
        try:
            await house.pair("+1 555 000 1111")
        except ServiceError:
            return
        match self.rng.randrange(4):
            case 0:
                self.account.end_pairing(
                    self.rng.choice(("timeout", "passkey-request", "err-client-outdated"))
                )
            case 1:
                await house.after(200)
            case _:
                known = account_of_ann()
                self.account.contacts, self.account.lids = known.contacts, known.lids
                self.account.type_code(OWNER)

    async def _find(self, house: House) -> None:
        finding = house.gateway.chats.finding
        for call in (finding.find(self.rng.choice(("bob", "", GARDEN, "x"))), finding.contacts(count=100)):
            with suppress(ServiceError):
                await call

    async def _send(self, house: House) -> None:
        request_id = f"id-{self.rng.randrange(60)}"
        message = self.asked.setdefault(
            request_id,
            OutgoingMessage(
                chat=self.rng.choice((BOB, BOB_LID, CAT, GARDEN)),
                text=f"sent as {request_id}",
                image=self.rng.choice((None, None, PNG)),
            ),
        )
        try:
            answer = await house.send(request_id, message)
        except ServiceError:
            return
        assert not answer.other_message
        if answer.record.state is SendState.SENT:
            self.sent.add(request_id)


@pytest.mark.parametrize("seed", range(3))
async def test_what_leaves_is_exactly_what_was_asked_for(tmp_path: Path, seed: int) -> None:
    world, agent = World(seed), AgentServicer()
    async with agent_serving(agent) as loopback:
        left = STEPS
        while left > 0:
            async with AsyncExitStack() as stack:
                house = await stack.enter_async_context(
                    house_at(tmp_path, loopback.address, world.account, world.clock, world.ids)
                )
                for _ in range(min(left, world.rng.randrange(20, 90))):
                    await world.step(house)
                    left -= 1

    texts = [each.text for each in world.account.sent]
    assert len(texts) == len(set(texts)) > 5
    for each in world.account.sent:
        asked = world.asked[each.text.removeprefix("sent as ")]
        assert (each.text, each.image) == (asked.text, asked.image or b"")
        assert each.chat == (BOB if asked.chat == BOB_LID else asked.chat)
    assert {f"sent as {request_id}" for request_id in world.sent} <= set(texts)
    assert len(agent.deliveries) > 5, "messages were read meanwhile"
