"""AppendMessages: durable, in order, once per key, whole."""

import asyncio
import threading
from datetime import timedelta

import pytest
from grpc import StatusCode
from onechat_memory.adapters import contract_in
from onechat_memory.bells import WORK, Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.pieces import PIECE_MAX
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, MORNING, new_message, timestamp


def ids(answer):
    return [(one.first_id, one.count, one.known) for one in answer.appended]


def texts(messages):
    return [message.text for message in messages]


async def test_messages_get_the_next_ids_in_order(memory):
    first = await memory.append("a", "b")
    second = await memory.append("c")

    assert ids(first) == [(0, 1, False), (1, 1, False)]
    assert ids(second) == [(2, 1, False)]
    assert (first.length, second.length, second.generation) == (2, 3, 1)


async def test_what_was_answered_is_there_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append("a", "b")

    async with open_memory() as memory:
        assert texts(await memory.messages()) == ["a", "b"]
        assert ids(await memory.append("c")) == [(2, 1, False)]


async def test_a_message_keeps_all_that_its_caller_said(memory):
    said = new_message(
        "t:7:1:c",
        'shell {"command": "ls"}',
        kind="MESSAGE_KIND_TOOL",
        time=MORNING + timedelta(microseconds=250),
        zone="Europe/Rome",
        source="whatsapp:3912@s.whatsapp.net",
        turn="7",
        step=1,
        call="c",
        images=["0123456789abcdef.png", "fedcba9876543210.jpeg"],
    )

    await memory.append(said)

    (kept,) = await memory.messages()
    assert (kept.id, kept.part, kept.parts) == (0, 1, 1)
    for field in said.DESCRIPTOR.fields:
        assert getattr(kept, field.name) == getattr(said, field.name), field.name


async def test_a_known_key_answers_its_old_id_and_new_ones_are_appended(memory):
    """A retry after a lost answer, a crash or a restart never logs twice."""
    await memory.append(new_message("a", "one"), new_message("b", "two"))

    again = await memory.append(
        new_message("b", "two"), new_message("c", "three"), new_message("a", "one"), new_message("c", "three")
    )

    assert ids(again) == [(1, 1, True), (2, 1, False), (0, 1, True), (2, 1, True)]
    assert texts(await memory.messages()) == ["one", "two", "three"]


async def test_a_key_is_known_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(new_message("a", "one"))

    async with open_memory() as memory:
        assert ids(await memory.append(new_message("a", "one"))) == [(0, 1, True)]


async def test_a_retry_with_the_clock_read_again_is_the_same_message(memory):
    await memory.append(new_message("a", "one"))

    again = await memory.append(new_message("a", "one", time=MORNING + timedelta(seconds=3)))

    assert ids(again) == [(0, 1, True)]
    assert (await memory.messages())[0].time == timestamp(MORNING)


@pytest.mark.parametrize(
    "other",
    [
        new_message("a", "two"),
        new_message("a", "one", kind="MESSAGE_KIND_NOTE"),
        new_message("a", "one", source="user"),
        new_message("a", "one", images=["0123456789abcdef.png"]),
    ],
)
async def test_a_known_key_with_another_body_is_refused_and_nothing_of_the_call_is_written(memory, other):
    await memory.append(new_message("a", "one"))
    before = await memory.view()

    with pytest.raises(RemoteError) as refused:
        await memory.append(new_message("b", "new"), other, new_message("c", "new"))

    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "KEY_REUSED")
    assert texts(await memory.messages()) == ["one"]
    assert await memory.view() == before
    assert ids(await memory.append(new_message("b", "new"))) == [(1, 1, False)]
    assert (await memory.view()).text == "<chat>\n0+1|user: one\n1+1|user: new\n</chat>"


async def test_the_same_key_belongs_to_each_log_by_itself(memory):
    await memory.create("other")
    await memory.append(new_message("a", "one"))

    answer = await memory.append(new_message("a", "two"), log="other")

    assert ids(answer) == [(0, 1, False)]


async def test_a_clock_that_steps_back_reorders_nothing(memory):
    earlier = MORNING - timedelta(hours=1)
    await memory.append(new_message("a", "one"), new_message("b", "two", time=earlier))

    kept = await memory.messages()

    assert texts(kept) == ["one", "two"]
    assert [message.time for message in kept] == [timestamp(MORNING), timestamp(earlier)]


async def test_a_long_text_becomes_several_messages_that_know_that_they_continue(memory):
    text = "".join(f"line {number} of a text that is too long for one message\n" for number in range(2_000))
    long = new_message("a", text, images=["0123456789abcdef.png"])

    answer = await memory.append("before", long, "behind")

    kept = (await memory.messages())[1:-1]
    assert ids(answer) == [(0, 1, False), (1, len(kept), False), (1 + len(kept), 1, False)]
    assert "".join(texts(kept)) == text
    assert all(len(piece.text) <= PIECE_MAX for piece in kept)
    assert [(piece.part, piece.parts) for piece in kept] == [(n, len(kept)) for n in range(1, len(kept) + 1)]
    assert {piece.key for piece in kept} == {"a"}
    assert [list(piece.images) for piece in kept] == [["0123456789abcdef.png"]] + [[]] * (len(kept) - 1)
    assert ids(await memory.append(long)) == [(1, len(kept), True)]


async def test_nul_is_replaced_at_the_door_and_the_retry_is_known(memory):
    """One such message would otherwise fail its compaction for ever and hold every later turn."""
    await memory.append(new_message("a", "nul\x00here"))

    assert texts(await memory.messages()) == ["nul\ufffdhere"]
    assert (await memory.view()).text == "<chat>\n0+1|user: nul\ufffdhere\n</chat>"
    assert ids(await memory.append(new_message("a", "nul\x00here"))) == [(0, 1, True)]


def without(message, field):
    message.ClearField(field)
    return message


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (new_message("a", ""), "has no text"),
        (new_message("a", "one", kind=0), "has no kind"),
        (new_message("a", "one", kind=99), "has no kind"),
        (without(new_message("a", "one"), "time"), "has no time"),
        (new_message("", "one"), "a key is 1 to 200 ASCII characters"),
        (new_message("k" * 201, "one"), "a key is 1 to 200 ASCII characters"),
        (new_message("chiavè", "one"), "a key is 1 to 200 ASCII characters"),
        (new_message("a", "one", zone="Rome"), "not an IANA name"),
        (new_message("a", "one", zone="../etc/passwd"), "not an IANA name"),
        (new_message("a", "one", step=-1), "the step is not below 0"),
        (new_message("a", "one", source="s" * 201), "at most 200 characters"),
        (new_message("a", "one", images=[""]), "no image's name is empty"),
    ],
)
async def test_a_message_that_cannot_be_kept_is_refused_with_its_place(memory, message, says):
    with pytest.raises(RemoteError) as refused:
        await memory.append(new_message("fine", "fine"), message)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "MESSAGE_INVALID")
    assert refused.value.message.startswith("Message 1")
    assert says in refused.value.message
    assert await memory.messages() == []


async def test_a_time_that_is_none_is_refused(memory):
    message = new_message("a", "one")
    message.time.seconds = 1 << 60

    with pytest.raises(RemoteError, match="outside the years 1 to 9999"):
        await memory.append(message)


@pytest.mark.parametrize("count", [0, 257])
async def test_a_call_holds_1_to_256_messages(memory, count):
    with pytest.raises(RemoteError) as refused:
        await memory.append(*["x"] * count)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "TOO_MANY_MESSAGES")
    assert len((await memory.append(*["x"] * 256)).appended) == 256


async def test_many_callers_at_once_lose_nothing_and_mix_nothing(memory):
    """Their jobs share commits; each sees what the one before it did."""
    await memory.create("other")

    answers = await asyncio.gather(
        *(memory.append(*[new_message(f"{n}:{m}", f"{n}:{m}") for m in range(5)]) for n in range(40)),
        *(memory.append(new_message(f"{n}", f"{n}"), log="other") for n in range(40)),
        *(memory.append(new_message("0:0", "0:0")) for n in range(5)),
    )

    kept = await memory.messages()
    assert len(kept) == 200
    for answer in answers[:40]:
        first = answer.appended[0].first_id
        key = kept[first].key.split(":")[0]
        expected = [f"{key}:{m}" for m in range(5)]
        assert [kept[one.first_id].text for one in answer.appended] == expected
    assert len(await memory.messages(log="other")) == 40
    assert (await memory.view()).lines == 200


async def test_an_append_whose_caller_is_gone_is_kept_and_rings(memory, clock):
    """The caller sends it again with its key; what waits for the log must not wait for that."""
    bells = Bells(clock)
    logs = ChatLogs(memory.store, clock, bells)
    message = contract_in.new_messages([new_message("a", "x" * 600)])
    held = threading.Event()
    holder = asyncio.create_task(memory.store.write(lambda db: held.wait(10)))
    with bells.listening(WORK) as bell:
        appending = asyncio.create_task(logs.append(LOG, message))
        await asyncio.sleep(0)
        appending.cancel()
        held.set()
        await holder

        assert await bell.rung(60)

    assert appending.cancelled()
    assert texts(await memory.messages()) == ["x" * 600]
