"""What group chats count on of a platform's adapter: each one passes this, the made-up one too.

A second platform brings an adapter and a stage (tests/fakes/group_stage.py), adds it here, and is done when
this passes.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta

import pytest
from onechat_telegram.groups.domain.addressing import by_platform
from onechat_telegram.groups.domain.commands import AdminCommand, admin_command
from onechat_telegram.groups.domain.ids import KEY_MAX, MessageKey
from onechat_telegram.groups.domain.messages import Added, Heard, Message, Moved, Removed

from tests.fakes.group_stage import Stage, heard, made_up
from tests.fakes.telegram_stage import on_telegram

# Each platform's name, and what sets its stage up.
STAGES: dict[str, Callable[[], AbstractAsyncContextManager[Stage]]] = {
    "made-up": made_up,
    "telegram": on_telegram,
}


@pytest.fixture(params=STAGES)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with STAGES[request.param]() as one:
        yield one


async def messages(stage: Stage, count: int) -> list[Message]:
    return [one for one in await heard(stage, count) if isinstance(one, Message)]


async def test_a_platform_says_what_it_is_called_and_who_the_bot_is(stage: Stage) -> None:
    channel = stage.adapter.channel

    assert channel.isascii()
    assert channel.isalpha()
    assert channel == channel.lower()
    assert stage.adapter.bot.id
    assert stage.adapter.bot.handle == "robobot"


async def test_a_message_shows_who_wrote_what_where_and_when(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", "bob")
    await stage.says(garden, "ann", "The roses 🌹 bloom.")

    (message,) = await messages(stage, 1)

    assert (message.place.chat, message.place.thread, message.title) == (garden, "", "Garden")
    assert (message.sender.id, message.sender.name) == (stage.member("ann"), "Kim")
    assert (message.text, message.private, message.edited, message.sender.is_bot) == (
        "The roses 🌹 bloom.",
        False,
        False,
        False,
    )
    assert message.time.utcoffset() == timedelta(0)


async def test_each_message_has_a_key_of_its_own_that_deliveries_can_carry(stage: Stage) -> None:
    garden, cars = await stage.group("Garden", "ann"), await stage.group("Cars", "ann")
    for chat in (garden, cars, garden):
        await stage.says(chat, "ann", "the same")

    keys = [message.key for message in await messages(stage, 3)]

    assert len(set(keys)) == 3
    assert all(key.isascii() and key.isprintable() and 0 < len(key) <= KEY_MAX for key in keys)


async def test_members_of_the_same_name_are_told_apart(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", "bob")
    for who in ("ann", "bob", "ann"):
        await stage.says(garden, who, "hello")

    first, second, third = await messages(stage, 3)

    assert (first.sender.name, first.sender.id) == (second.sender.name, third.sender.id)
    assert first.sender.id != second.sender.id


async def test_what_could_not_be_taken_comes_again_with_its_key_and_before_what_follows(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann")
    for text in ("one", "two", "three"):
        await stage.says(garden, "ann", text)
    seen: list[Message] = []

    async def fail_once(one: Heard) -> bool:
        assert isinstance(one, Message)
        seen.append(one)
        if len(seen) == 1:
            raise RuntimeError("the store is full")
        return True

    with suppress(RuntimeError):  # an adapter may end, or try again by itself
        await heard(stage, 3, take=fail_once)
    if len(seen) < 4:
        await stage.starts_again()
        await heard(stage, 4 - len(seen), take=fail_once)

    assert [message.text for message in seen] == ["one", "one", "two", "three"]
    assert seen[0].key == seen[1].key


@pytest.mark.parametrize(
    ("text", "addressed"),
    [
        ("hello @robobot", True),
        ("👋 @robobot hi", True),
        ("hello @robobott", False),
        ("hello robobot", False),
        ("/weather today", True),
        ("/weather@robobot today", True),
        ("/weather@otherbot today", False),
    ],
)
async def test_what_is_addressed_to_the_bot_is_marked_so(stage: Stage, text: str, addressed: bool) -> None:
    garden = await stage.group("Garden", "ann")
    await stage.says(garden, "ann", text)

    (message,) = await messages(stage, 1)

    assert by_platform(message, stage.adapter.bot).answered is addressed


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("/bot status", AdminCommand.STATUS),
        ("/bot@robobot clear-memory yes", AdminCommand.CONFIRM),
        ("please /bot status", None),
    ],
)
async def test_a_command_comes_with_what_follows_it(
    stage: Stage, text: str, asked: AdminCommand | None
) -> None:
    garden = await stage.group("Garden", "ann")
    await stage.says(garden, "ann", text)

    (message,) = await messages(stage, 1)

    assert message.text == text
    assert admin_command(message.command) is asked


async def test_an_answer_replies_to_its_message_and_a_reply_to_it_is_known_as_one(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", "bob")
    await stage.says(garden, "ann", "@robobot when?")
    await stage.says(garden, "bob", "never mind")
    question, _ = await messages(stage, 2)

    await stage.adapter.reply(MessageKey("r1"), question.place, "In May.")

    assert await stage.shown(garden, 1) == [("In May.", "@robobot when?")]
    await stage.says(garden, "bob", "why then?", to_bot=True)
    (reply,) = await messages(stage, 1)
    assert reply.answers is not None
    assert reply.answers.author.id == stage.adapter.bot.id


async def test_an_answer_stays_in_its_thread(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann")
    roses, tools = await stage.thread(garden, "Roses"), await stage.thread(garden, "Tools")
    await stage.says(garden, "ann", "@robobot when?", thread=roses)
    await stage.says(garden, "ann", "@robobot where?", thread=tools)
    first, second = await messages(stage, 2)
    assert first.place.thread != second.place.thread

    await stage.adapter.reply(MessageKey("r1"), second.place, "Here.")
    await stage.shown(garden, 1)
    assert await stage.thread_of_last(garden) == tools
    await stage.adapter.reply(MessageKey("r2"), first.place, "In May.")
    await stage.shown(garden, 2)
    assert await stage.thread_of_last(garden) == roses


async def test_a_reply_is_said_once_for_its_key_also_after_a_restart_and_in_order(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann")
    await stage.says(garden, "ann", "@robobot count")
    (question,) = await messages(stage, 1)

    for key, text in [("r1", "one"), ("r2", "two"), ("r1", "one again")]:
        await stage.adapter.reply(MessageKey(key), question.place, text)
    await stage.shown(garden, 2)
    await stage.starts_again()
    for key, text in [("r2", "two again"), ("r3", "three")]:
        await stage.adapter.reply(MessageKey(key), question.place, text)

    assert [text for text, _ in await stage.shown(garden, 3)] == ["one", "two", "three"]


async def test_a_private_message_is_known_as_one_and_answered_there(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann")
    chat = await stage.whispers("ann", "between us")
    (message,) = await messages(stage, 1)
    assert (message.private, message.place.chat, message.title) == (True, chat, "")
    assert message.sender.id == stage.member("ann")
    assert chat != garden

    await stage.adapter.reply(MessageKey("r1"), message.place, "Yes.")

    assert [text for text, _ in await stage.shown(chat, 1)] == ["Yes."]
    assert await stage.shown(garden, 0) == []


async def test_who_administers_and_who_is_in_a_group_is_as_the_platform_has_it_now(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", "bob", administrators=["ann"])
    cars = await stage.group("Cars", "bob", administrators=["bob"])
    ann, bob, adapter = stage.member("ann"), stage.member("bob"), stage.adapter

    assert [await adapter.is_administrator(garden, who) for who in (ann, bob)] == [True, False]
    assert await adapter.is_administrator(cars, bob)
    assert [await adapter.is_member(cars, who) for who in (ann, bob)] == [False, True]

    await stage.leaves(garden, "ann")
    assert not await adapter.is_member(garden, ann)
    assert not await adapter.is_administrator(garden, ann)


async def test_an_administrator_who_writes_as_the_group_itself_administers_it(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", administrators=["ann"])
    await stage.says(garden, "", "/bot status")

    (message,) = await messages(stage, 1)

    assert not message.sender.is_bot
    assert await stage.adapter.is_administrator(garden, message.sender.id)


async def test_the_bot_leaves_and_leaving_again_is_no_error(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann")

    await stage.adapter.leave(garden)
    await stage.adapter.leave(garden)

    assert not await stage.bot_inside(garden)


async def test_it_is_told_when_the_bot_is_added_by_whom_and_when_it_is_removed(stage: Stage) -> None:
    garden = await stage.group("Garden", "ann", stage.owner)
    await stage.removes_bot(garden)
    await stage.adds_bot(garden, "ann")
    await stage.removes_bot(garden)
    await stage.adds_bot(garden, stage.owner)

    events = [one for one in await heard(stage, 4) if not isinstance(one, Message)]

    added = [one for one in events if isinstance(one, Added)]
    assert [type(one) for one in events] == [Removed, Added, Removed, Added]
    assert [(one.chat, one.title, one.by_owner) for one in added] == [
        (garden, "Garden", False),
        (garden, "Garden", True),
    ]
    assert added[0].key != added[1].key


async def test_a_group_that_gets_another_id_is_told_before_anything_else_of_the_new_one(
    stage: Stage,
) -> None:
    garden = await stage.group("Garden", "ann")
    try:
        grove = await stage.moves(garden)
    except NotImplementedError:
        pytest.skip("this platform keeps its ids")
    await stage.says(grove, "ann", "hello")

    moved, *others = await heard(stage, 2)

    assert moved == Moved(old=garden, new=grove)
    assert [one.place.chat for one in others if isinstance(one, Message)] == [grove]
