"""A basic group that becomes a supergroup, which is another chat of Telegram's: it stays the same group."""

import pytest
from onechat_telegram.groups.domain.ids import ChatId, MemberId

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_house import House

BEN, EVE = 5550002, 5550003
BOT = "@onechat_test_bot"


@pytest.mark.parametrize("join_first", [True, False])
async def test_a_group_that_becomes_a_supergroup_keeps_its_agent_and_is_not_asked_about(
    house: House, join_first: bool
) -> None:
    """Nobody promises whether Telegram tells of the bot's joining before the move or after it."""
    house.agent.answer_all = "Yes?"
    old = await house.served("Garden", [BEN], kind="group")
    house.api.say(f"{BOT} before", user=BEN, chat=old)
    await house.until_said(old)

    new = house.api.groups.migrate(old, join_first=join_first)
    house.api.say(f"{BOT} after", user=BEN, chat=new)
    await house.until_said(new)
    await house.taken()

    assert [one.to for one in house.delivered("Garden")] == ["group-1", "group-1"]
    assert [one.source for one in house.delivered("Garden")] == [f"telegram:{old}"] * 2
    assert (house.state_of(new), len(house.agent.groups)) == ("admitted", 1)
    assert len([text for text in house.api.texts(OWNER) if "Garden" in text]) == 1


async def test_an_answer_to_what_was_asked_before_the_move_is_said_after_it(house: House) -> None:
    old = await house.served("Garden", [BEN], kind="group")
    house.api.say(f"{BOT} when?", user=BEN, chat=old)
    [asked] = await house.until_delivered("Garden", 1)
    new = house.api.groups.migrate(old)
    await house.taken()

    await house.agent.answer(asked, "In May.")
    [said] = await house.until_said(new)

    assert (said["text"], "reply_to_message" in said) == ("In May.", False)


async def test_a_move_that_a_send_finds_out_first_is_known_everywhere(house: House) -> None:
    """Telegram refuses the send with the new number; the update that tells of it comes later."""
    old = await house.served("Garden", [BEN], kind="group")
    house.api.say(f"{BOT} when?", user=BEN, chat=old)
    [asked] = await house.until_delivered("Garden", 1)
    held = house.api.fail("getUpdates", how="hold")
    new = house.api.groups.migrate(old)

    await house.agent.answer(asked, "In May.")
    await house.until_said(new)
    found_by_the_send = house.state_of(new)
    house.api.faults.heal()
    held.released.set()
    await house.taken()
    house.api.say(f"{BOT} why?", user=BEN, chat=new)
    delivered = await house.until_delivered("Garden", 2)

    assert found_by_the_send == "admitted"
    assert [one.source for one in delivered] == [f"telegram:{old}"] * 2
    assert len(house.agent.groups) == 1


async def test_a_group_that_was_asked_about_is_still_asked_about_under_its_new_number(house: House) -> None:
    old = house.api.groups.found("Garden", [BEN], kind="group")
    await house.asked_of("Garden")
    new = house.api.groups.migrate(old)
    await house.taken()
    between = house.state_of(new)

    house.press("Garden", "✓ Yes, serve it")
    await house.until(lambda: house.state_of(new) == "admitted")

    assert between == "asked"
    assert list(house.agent.groups) == [f"telegram:{old}"]


@pytest.mark.parametrize("join_first", [True, False])
async def test_a_supergroup_that_the_bot_was_put_out_of_and_comes_back_to_is_asked_about_again(
    house: House, join_first: bool
) -> None:
    """Its joining is news then, though it once was none."""
    old = await house.served("Garden", [BEN], kind="group")
    new = house.api.groups.migrate(old, join_first=join_first)
    await house.taken()
    house.api.groups.remove_bot(new)
    await house.until(lambda: house.state_of(new) == "left")

    house.api.groups.add_bot(new)
    await house.until(lambda: house.state_of(new) == "asked")

    assert len(house.agent.groups) == 1


async def test_a_group_of_the_same_people_that_is_new_is_asked_about(house: House) -> None:
    """Only what Telegram itself calls the same is taken for the same."""
    old = await house.served("Garden", [BEN], kind="group")
    new = house.api.groups.found("Garden", [BEN])

    async with house.bench.time_flies():
        await house.until(lambda: house.state_of(new) == "asked")

    assert house.state_of(old) == "admitted"


@pytest.mark.parametrize("told_by", ["Telegram", "the chat itself"])
async def test_a_join_that_comes_long_before_the_word_of_the_move_is_known_as_one(
    house: House, told_by: str
) -> None:
    """Somebody else may have moved the group: taken for a new one of theirs, it would be left."""
    old = await house.served("Garden", [BEN], kind="group")
    await house.taken()
    new = house.api.groups.migrate(old, by=BEN)
    join, *words = house.api.updates
    house.api.updates[:] = [join]
    if told_by == "Telegram":
        await house.until(lambda: house.state_of(new) == "admitted")
    else:
        house.api.fail("deleteMessage", code=400, times=9)
        await house.until(lambda: house.api.calls["deleteMessage"] > 0)
    for update in words:
        house.api.update(update)
    await house.until(lambda: not house.api.updates)
    async with house.bench.time_flies():
        await house.until(lambda: house.state_of(new) == "admitted")
        await house.taken()

    assert house.api.directory.groups[new].member(house.api.bot_id).inside
    assert len(house.api.texts(OWNER)) == 1


async def test_a_move_while_telegram_cannot_be_asked_waits(house: House) -> None:
    old = await house.served("Garden", [BEN], kind="group")
    await house.taken()
    house.api.fail("deleteMessage", code=502, times=2)
    new = house.api.groups.migrate(old)
    house.api.updates[1:] = []

    async with house.bench.time_flies():
        await house.until(lambda: house.state_of(new) == "admitted")
        await house.taken()

    assert len([text for text in house.api.texts(OWNER) if "Garden" in text]) == 1


async def test_what_is_asked_of_a_group_under_its_old_number_is_answered_of_the_new_one(house: House) -> None:
    """What was written before the move may be taken after it."""
    old = await house.served("Garden", [BEN], kind="group")
    new = house.api.groups.migrate(old)
    await house.taken()
    adapter, earlier, now = house.running.gateway.adapter, ChatId(str(old)), ChatId(str(new))

    members = [await adapter.is_member(earlier, MemberId(str(who))) for who in (BEN, EVE)]
    administrators = [
        await adapter.is_administrator(chat, MemberId(str(who)))
        for chat, who in ((earlier, OWNER), (earlier, BEN), (now, old), (now, new))
    ]
    await adapter.leave(earlier)

    assert (members, administrators) == ([True, False], [True, False, True, True])
    assert not house.api.directory.groups[new].member(house.api.bot_id).inside
