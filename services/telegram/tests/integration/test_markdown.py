"""Any Markdown arrives: the Bot API server takes each piece, and together they are the whole rendering."""

import random
from collections.abc import AsyncIterator, Iterable, Sequence

import pytest
from onechat_runtime.settings import Secret
from onechat_telegram.adapters.bot_api import BotApi as BotApiClient
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain.bot_errors import Refused
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import TEXT_MAX, Piece, pieces_of
from onechat_telegram.domain.utf16 import units

from tests.fakes.bot_api import OWNER, TOKEN, BotApi, listening
from tests.fakes.markdown_texts import NASTY, Sample, random_markdown

SEED = 20261130


class Chat:
    """The owner's chat on a Bot API server, and a bot that writes into it."""

    def __init__(self, api: BotApi, sends: BotSends) -> None:
        self._api = api
        self._sends = sends

    async def faults(self, samples: Iterable[Sample]) -> list[str]:
        """What is wrong with how each sample arrives, a sentence each."""
        return [f"{sample.text[:60]!r}: {fault}" for sample in samples for fault in await self._of(sample)]

    async def _of(self, sample: Sample) -> list[str]:
        whole, pieces = render(sample.text), pieces_of(sample.text, render)
        self._api.sent.clear()
        refusals = [fault for piece in pieces for fault in await self._refusals(piece)]
        if whole is None:
            return ["it was not rendered"]
        texts = self._api.texts()
        found = refusals + [f"a piece of {units(text)} units" for text in texts if units(text) > TEXT_MAX]
        if _letters("".join(texts)) != _letters(whole.text):
            found.append("the pieces' letters are not those of the whole")
        return found + [f"{word!r} is not shown" for word in sorted(sample.shown) if word not in whole.text]

    async def _refusals(self, piece: Piece) -> Sequence[str]:
        """Why the server takes the piece not, with its formatting or without."""
        found = []
        try:
            await self._sends.send(ChatId(OWNER), Message(text=piece.text, entities=piece.entities))
            shown = self._api.sent[-1]
            await self._sends.send(ChatId(OWNER), Message(text=piece.plain, entities=()))
            self._api.sent.pop()
            found = [f"{shown['text'][:40]!r} was shown"] if shown["text"] != piece.text else []
        except Refused as error:
            found = [f"refused, {error}"]
        return found


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    async with (
        listening(BotApi()) as api,
        BotApiClient.connected(Secret(TOKEN), api.address) as client,
    ):
        api.chats.add(OWNER)
        yield Chat(api, BotSends(client))


@pytest.mark.parametrize("sample", NASTY, ids=lambda sample: repr(sample.text[:12]))
async def test_a_nasty_text_arrives_whole(chat: Chat, sample: Sample) -> None:
    assert await chat.faults([sample]) == []


async def test_random_texts_arrive_whole(chat: Chat) -> None:
    rng = random.Random(SEED)

    assert await chat.faults(random_markdown(rng, blocks_max=5) for _ in range(25)) == []


@pytest.mark.soak
async def test_four_thousand_random_texts_arrive_whole(chat: Chat) -> None:
    rng = random.Random(SEED + 1)

    assert await chat.faults(random_markdown(rng, blocks_max=12) for _ in range(4000)) == []


def _letters(text: str) -> str:
    """Its letters and digits."""
    return "".join(letter for letter in text if letter.isalnum())
