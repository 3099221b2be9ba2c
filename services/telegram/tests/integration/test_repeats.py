"""A piece of which nobody knows whether it is in the chat: in private it comes once more, and says so."""

import asyncio

import pytest
from onechat_telegram.adapters import piece_store
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.outgoing import REPEATS_MAX, PieceState
from onechat_telegram.domain.pieces import plain_pieces_of
from onechat_telegram.domain.wording import REPEAT_MARK

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running


async def test_a_send_without_an_answer_is_repeated_once_and_marked(running: Running) -> None:
    """It is in the chat already, or not: nobody can know."""
    running.api.fail("sendMessage", how="lose")

    await running.agent.reply("hello")
    await running.agent.reply("next")
    await running.api.until(lambda: running.api.texts()[-1:] == ["next"])

    assert running.api.texts() == ["hello", f"hello{REPEAT_MARK}", "next"]


async def test_a_repeat_without_an_answer_is_left_alone(running: Running) -> None:
    running.api.fail("sendMessage", how="lose", times=2)

    await running.agent.reply("hello")
    await running.agent.reply("next")
    await running.api.until(lambda: running.api.texts()[-1:] == ["next"])

    assert running.api.texts() == ["hello", f"hello{REPEAT_MARK}", "next"]


async def test_the_mark_of_a_full_piece_is_a_message_of_its_own(running: Running) -> None:
    running.api.fail("sendMessage", how="drop")

    await running.agent.reply("!" * 4096)
    await running.api.until(lambda: len(running.api.sent) == 2)

    assert running.api.texts() == [REPEAT_MARK.strip(), "!" * 4096]


async def test_a_mark_of_its_own_comes_once_however_often_the_rest_is_tried(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.fail("sendMessage", how="drop")
    bench.api.fail("sendMessage", code=500, skip=1, times=3)

    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("!" * 4096)
        await bench.agent.reply("next")
        await bench.api.until(lambda: bench.api.texts()[-1:] == ["next"])

    assert bench.api.texts() == [REPEAT_MARK.strip(), "!" * 4096, "next"]


async def test_a_mark_without_an_answer_costs_nothing_of_what_it_marks(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.fail("sendMessage", how="drop", times=2)

    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("!" * 4096)
        await bench.agent.reply("next")
        await bench.api.until(lambda: bench.api.texts()[-1:] == ["next"])

    assert bench.api.texts() == [REPEAT_MARK.strip(), "!" * 4096, "next"]


async def test_a_piece_found_sending_at_the_start_is_repeated_and_marked(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    sent = bench.api.fail("sendMessage", how="hang")
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("hello")
        await bench.api.until(lambda: bool(bench.api.sent))
        bench.copy_as_if_killed()
        asyncio.get_running_loop().call_later(0.05, sent.released.set)

    async with bench.running():
        await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert bench.api.texts() == ["hello", f"hello{REPEAT_MARK}"]


async def test_a_send_at_work_when_the_service_ends_is_not_repeated(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    held = bench.api.fail("sendMessage", how="hold")
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("hello")
        await bench.api.until(lambda: bench.api.calls["sendMessage"] == 1)
        asyncio.get_running_loop().call_later(0.05, held.released.set)

    async with bench.running():
        await bench.agent.until(lambda: len(bench.agent.subscribed) == 2)
        await bench.agent.reply("next")
        await bench.api.until(lambda: bench.api.texts()[-1:] == ["next"])

    assert bench.api.texts() == ["hello", "next"]


@pytest.mark.parametrize("chat", [OWNER, -100])
async def test_a_service_that_dies_in_each_send_does_not_repeat_for_ever(bench: Bench, chat: int) -> None:
    """Were a piece what kills it, no other would ever be sent; in a group there is no repeat at all."""
    now, most = bench.clock.now(), REPEATS_MAX if chat == OWNER else 0
    async with bench.running(work=False) as running:
        await running.store.write(
            lambda db: piece_store.add_answer(db, "x", ChatId(chat), plain_pieces_of("x"), now)
        )
        repeats = 0
        while (piece := running.store.read(lambda db: piece_store.next_piece(db, ChatId(chat)))) is not None:
            assert repeats <= most
            repeats += 1
            await running.store.write(
                lambda db, piece=piece: piece_store.set_state(db, piece, PieceState.SENDING, now)
            )
            await running.store.write(
                lambda db, piece=piece: piece_store.repeat(db, piece.number, REPEATS_MAX, now)
            )

    assert repeats == most + 1
