"""A swap while others are at work: who waits, who leases, who appends, who reads."""

import asyncio

import pytest
from grpc import StatusCode
from onechat.memory.v1.memory_service_pb2 import ListMessagesRequest
from onechat_memory.errors import LogUnknown
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_server import LOG, new_message

LONG = "x" * 600


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


@pytest.fixture
async def staged(memory):
    """A live log of two messages, and a staged one of three beside it."""
    await memory.append("old 0", "old 1")
    await memory.create("staged", state="LOG_STATE_STAGED", label="import")
    await memory.append("new 0", "new 1", "new 2", log="staged")
    return memory


async def test_who_waits_for_the_view_gets_the_new_logs(staged, clock):
    await staged.append(LONG)
    waiting = asyncio.create_task(staged.view(wait_s=300))
    await clock.until_sleeping()

    await staged.swap()

    view = await waiting
    assert (view.generation, view.whole, view.length) == (2, True, 3)


async def test_who_waits_for_the_view_goes_on_with_what_the_new_log_lacks(staged, clock):
    await staged.append(LONG)
    await staged.append(LONG, log="staged")
    waiting = asyncio.create_task(staged.view(wait_s=300))
    await clock.until_sleeping()
    await staged.swap()
    await clock.until_sleeping()
    assert not waiting.done()

    await staged.complete("3+1", "new 3", generation=2)

    assert (await waiting).text.endswith("3+1|new 3\n</chat>")


async def test_who_waits_for_the_staged_logs_view_hears_at_once_that_it_is_gone(staged, clock):
    await staged.append(LONG, log="staged")
    waiting = asyncio.create_task(staged.view("staged", wait_s=300))
    await clock.until_sleeping()

    await staged.swap()

    with pytest.raises(RemoteError, match="LOG_UNKNOWN"):
        await waiting


async def test_a_line_for_a_piece_of_the_old_log_does_not_land_in_the_new_one(staged):
    await staged.append(LONG)
    await staged.append(LONG, log="staged")
    leased = await staged.lease()
    assert (leased.log_id, leased.generation, names(leased)) == (LOG, 1, ["2+1"])
    await staged.swap()

    for name in ("2+1", "3+1"):
        with pytest.raises(RemoteError) as refused:
            await staged.complete(name, "of the old log", generation=1)
        assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "NODE_UNKNOWN")

    assert not (await staged.view()).whole
    await staged.complete("3+1", "of the new log", generation=2)


async def test_a_failure_from_before_the_swap_counts_nothing_in_either_log(staged, clock):
    await staged.append(LONG)
    (old,) = (await staged.lease(most=1)).pieces
    await staged.create("other", state="LOG_STATE_STAGED")
    await staged.append("0", "1", LONG, log="other")

    await staged.swap("other")

    assert not await staged.fail(old, "CAUSE_CONTENT")
    assert not await staged.fail(old, "CAUSE_CONTENT", log="kept")
    assert (await staged.stats()).failing_nodes == (await staged.stats("kept")).failing_nodes == 0
    (new,) = (await staged.lease()).pieces
    assert (new.first_id, new.failures) == (2, 0)


async def test_what_was_out_of_either_log_is_free_after_the_swap_at_once(staged, clock):
    """Eight pieces of the old log are out, and eight of the staged one: neither may hold up the new one."""
    await staged.append(*[LONG] * 9)
    await staged.append(*[LONG] * 9, log="staged")
    assert {(await staged.lease()).log_id for _ in range(2)} == {LOG, "staged"}
    waiting = asyncio.create_task(staged.lease(wait_s=300))
    await clock.until_sleeping()

    await staged.swap()

    leased = await waiting
    assert (leased.log_id, leased.generation) == (LOG, 2)
    assert names(leased) == [f"{number}+1" for number in range(3, 11)]


async def test_a_piece_that_rests_in_the_old_log_does_not_rest_in_the_new_one(staged):
    await staged.append(LONG)
    (piece,) = (await staged.lease()).pieces
    await staged.fail(piece, "CAUSE_CONTENT")
    await staged.create("other", state="LOG_STATE_STAGED")
    await staged.append("0", "1", LONG, log="other")

    await staged.swap("other")

    assert names(await staged.lease()) == ["2+1"]


async def test_a_staged_logs_lines_are_built_before_and_after_the_swap(staged):
    await staged.append(*[LONG] * 3, log="staged")
    leased = await staged.lease()
    await staged.complete("3+1", "three", log=leased.log_id, generation=leased.generation)

    await staged.swap()
    built = await staged.build_all()

    assert built > 1
    assert (await staged.view()).whole
    assert "3+1|three" in (await staged.view()).text


async def test_eight_who_append_during_swaps_lose_nothing_and_write_nothing_twice(staged):
    """Each message is in the log that had the id when it was written, and in no other."""
    generations = {}

    async def write(writer):
        for number in range(20):
            key = f"w{writer}:{number}"
            answer = await staged.append(new_message(key, key))
            generations[key] = answer.generation

    writers = [asyncio.create_task(write(number)) for number in range(8)]
    for number in range(5):
        await staged.create(f"staged {number}".replace(" ", "-"), state="LOG_STATE_STAGED")
        await staged.swap(f"staged-{number}", f"kept-{number + 1}")
    await asyncio.gather(*writers)

    found = {}
    for log_id, log in (await staged.logs()).items():
        for message in await staged.messages(log=log_id):
            if message.key.startswith("w"):
                assert message.key not in found
                found[message.key] = log.generation
    assert found == generations
    assert len(found) == 160


async def test_a_range_that_is_being_read_goes_on_with_the_log_that_it_began_with(staged):
    """Else a client would get the beginning of one chat and the end of another."""
    await staged.append(*["o" * 20_000] * 200)
    stream = staged.stub.ListMessages(ListMessagesRequest(log_id=LOG), timeout=20)
    first = await anext(aiter(stream))

    await staged.swap()
    rest = [message async for answer in stream for message in answer.messages]

    assert [message.id for message in (*first.messages, *rest)] == list(range(202))
    assert {message.text[0] for message in rest} == {"o"}


async def test_a_range_of_a_log_that_is_deleted_meanwhile_ends_with_a_reason(tmp_path, clock):
    """Without a network between: it would take the whole range at once, or not, before the log is gone."""
    async with at_hand(tmp_path, clock) as memory:
        await memory.create()
        await memory.append(*["o" * 20_000] * 20)
        await memory.create("staged", state="LOG_STATE_STAGED")
        await memory.swap()
        stream = memory.stub.ListMessages(ListMessagesRequest(log_id="kept"), timeout=20)
        first = await anext(stream)

        await memory.delete()

        with pytest.raises(LogUnknown):
            await anext(stream)
        assert 0 < len(first.messages) < 20


async def test_a_key_is_known_in_the_log_that_has_it_and_new_in_the_other(staged):
    """The two logs are two chats: an import brings the keys along that it keeps."""
    await staged.append(new_message("k", "once"))
    await staged.swap()

    (appended,) = (await staged.append(new_message("k", "once"))).appended

    assert (appended.first_id, appended.known) == (3, False)
