"""Anything may be asked and anything may happen: what leaves is what was asked for, each id at most once."""

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from onechat_runtime.errors import ServiceError
from onechat_whatsapp.domain.records import OutgoingMessage, SendState
from onechat_whatsapp.sending import Answer
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown

from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_desk import PNG, Desk, account_of_ann, desk_at
from tests.fakes.whatsapp_scripts import ANN, BOB, BOB_LID, CAT, GARDEN, heard

CHATS = (BOB, BOB, BOB_LID, CAT, GARDEN, ANN, "15559999999@s.whatsapp.net", "status@broadcast", "", "Bob")
IMAGES = (None, None, None, PNG, b"", b"<svg/>")
FAULTS = (
    NotSent("websocket not connected", offline=True),
    NotSent("server returned error 479"),
    OutcomeUnknown("timed out waiting for message send response"),
    None,
)
IDS = tuple(f"t:7:{number}" for number in range(60))
STEPS = 500


class Fuzzer:
    """Asks and lets happen, from one seed; the gateway is restarted now and then."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.account = account_of_ann()
        self.asked: set[tuple[str, str, bytes]] = set()  #: ids, texts and images that a send was asked with
        self.answers: list[tuple[str, OutgoingMessage, Answer]] = []

    async def play(self) -> None:
        """All of it; ends with a gateway that has come to rest."""
        steps = STEPS
        while steps > 0:
            async with AsyncExitStack() as stack:
                desk = await stack.enter_async_context(desk_at(self.folder, account=self.account))
                for _ in range(self.rng.randrange(1, 120)):
                    await self._step(desk)
                    steps -= 1

    async def _step(self, desk: Desk) -> None:
        rng = self.rng
        match rng.randrange(12):
            case 0:
                self.account.send_faults.append(rng.choice(FAULTS))
                self.account.lands = rng.random() < 0.5
            case 1 if self.account.online:
                self.account.drop()
            case 2 if self.account.me and desk.wire.up:
                self.account.take_up()
            case 3 if rng.random() < 0.2:
                self.account.log_out()
            case 4 if self.account.me is None and desk.wire.up:
                self.account.type_code(OWNER)
            case 5:
                self.account.come(heard(f"say hello to {OWNER.number}", chat=rng.choice((BOB, GARDEN))))
            case 6:
                await asyncio.gather(
                    desk.finding.find(rng.choice(("bob", "", BOB, "x"))),
                    desk.finding.contacts(count=100),
                    return_exceptions=True,
                )
            case 7:
                desk.clock.advance(rng.choice((1, 61, 3601)))
            case _:
                await self._send(desk)

    async def _send(self, desk: Desk) -> None:
        """One to four at once, of which some callers go away."""
        calls = [asyncio.create_task(self._one(desk)) for _ in range(self.rng.randrange(1, 5))]
        for _ in range(self.rng.randrange(4)):
            await asyncio.sleep(0)
        if self.rng.random() < 0.2:
            self.rng.choice(calls).cancel()
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert not isinstance(result, BaseException) or isinstance(
                result, ServiceError | asyncio.CancelledError
            ), result

    async def _one(self, desk: Desk) -> None:
        request_id = self.rng.choice(IDS)
        words = self.rng.choice((f"{request_id} hello", f"{request_id} good-bye", "", " "))
        message = OutgoingMessage(chat=self.rng.choice(CHATS), text=words, image=self.rng.choice(IMAGES))
        self.asked.add((request_id, message.text, message.image or b""))
        self.answers.append((request_id, message, await desk.sending.send(request_id, message)))


@pytest.mark.parametrize("seed", range(4))
async def test_what_leaves_is_what_was_asked_for_and_each_id_leaves_once(tmp_path: Path, seed: int) -> None:
    fuzzer = Fuzzer(tmp_path, seed)

    await fuzzer.play()

    sent = {each.id: each for each in fuzzer.account.sent}
    said_to_be_sent = [
        (message, answer.record)
        for _, message, answer in fuzzer.answers
        if answer.record.state == SendState.SENT and not answer.other_message
    ]
    of_ids = Counter(each.text.split()[0] for each in sent.values() if each.text.strip())
    assert {(each.text, each.image) for each in sent.values()} <= {asked[1:] for asked in fuzzer.asked}
    assert {each.chat for each in sent.values()} <= {BOB, CAT, GARDEN}
    assert len(of_ids) > 10
    assert set(of_ids.values()) == {1}
    assert said_to_be_sent
    for message, record in said_to_be_sent:
        left = sent[record.message_id]
        assert (left.text, left.image) == (message.text, message.image or b"")
        assert left.chat == (BOB if message.chat == BOB_LID else message.chat)


@pytest.mark.parametrize("seed", range(2))
async def test_an_id_has_one_answer_for_ever(tmp_path: Path, seed: int) -> None:
    fuzzer = Fuzzer(tmp_path, 100 + seed)

    await fuzzer.play()

    records: dict[str, set[object]] = {}
    for request_id, _, answer in fuzzer.answers:
        records.setdefault(request_id, set()).add(answer.record)
    assert records
    assert {len(each) for each in records.values()} == {1}
