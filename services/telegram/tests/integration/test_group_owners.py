"""Who admits a group, who commands in one, and which group a member means in private."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from onechat_runtime.errors import RemoteError
from onechat_telegram.groups.admission import GroupUnknown, SettingInvalid
from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

from tests.fakes.group_bench import GroupBench, RunningGroups

SOURCE = "tavern:garden"
ASKED = "You are in several groups with me. Which one do you mean? Send its number:\n1  Cars\n2  Garden"


@pytest.fixture
def bench(tmp_path: Path) -> GroupBench:
    bench = GroupBench(tmp_path)
    bench.platform.room("garden", "Garden", "anna", "bob", administrators=("anna",))
    bench.platform.room("cars", "Cars", "bob", "cleo", administrators=("cleo",))
    return bench


@pytest.fixture
async def running(bench: GroupBench) -> AsyncIterator[RunningGroups]:
    async with bench.running() as groups:
        yield groups


def answers(bench: GroupBench, source: str = SOURCE) -> list[str]:
    """What members said, each in a turn of its own, to the agent of a group."""
    return [each.text.rpartition(": ")[2] for each in bench.agents.log(source) if each.wakes]


async def test_the_owner_who_adds_the_bot_is_asked_and_until_a_yes_nothing_is_said_or_learned(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.add_bot("garden", "olga", by_owner=True)
    bench.platform.say("garden", "anna", "@robobot hi")
    bench.platform.say("garden", "anna", "/bot status")
    await running.settled()
    assert list(bench.owner.asked.values()) == ["garden"]
    assert bench.platform.rooms["garden"].bot_inside
    assert (bench.platform.shown, bench.agents.agents) == ([], {})

    await running.chats.admission.answer("garden", yes=True)
    bench.platform.say("garden", "anna", "@robobot now?")
    await running.settled()

    assert answers(bench) == ["@robobot now?"]


async def test_a_no_has_the_bot_leave(bench: GroupBench, running: RunningGroups) -> None:
    bench.platform.add_bot("garden", "olga", by_owner=True)
    await running.settled()

    await running.chats.admission.answer("garden", yes=False)

    assert not bench.platform.rooms["garden"].bot_inside
    assert running.chats.admission.groups() == []
    with pytest.raises(GroupUnknown):
        await running.chats.admission.answer("garden", yes=True)


async def test_a_late_no_does_not_end_a_group_that_was_admitted(
    bench: GroupBench, running: RunningGroups
) -> None:
    """The buttons of the question stay in the chat; pressing the other one later must not undo the first."""
    await running.admit("garden")

    group = await running.chats.admission.answer("garden", yes=False)

    assert group.state is GroupState.ADMITTED
    assert bench.platform.rooms["garden"].bot_inside


async def test_a_group_that_somebody_else_added_the_bot_to_is_left_after_telling_the_owner(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.add_bot("garden", "bob", by_owner=False)
    bench.platform.say("garden", "bob", "@robobot hi")

    await running.settled()

    assert list(bench.owner.told.values()) == [
        'I was added to the group "Garden" by Bob and left it. To have me there, add me yourself.'
    ]
    assert not bench.platform.rooms["garden"].bot_inside
    assert (bench.platform.shown, bench.agents.agents) == ([], {})


async def test_a_group_that_nobody_told_of_is_left_and_the_owner_told_once(
    bench: GroupBench, running: RunningGroups
) -> None:
    """The news that the bot was added may have been lost in a long stop."""
    for text in ("hello", "@robobot hi"):
        bench.platform.say("garden", "bob", text)

    await running.settled()

    assert len(bench.owner.told) == 1
    assert not bench.platform.rooms["garden"].bot_inside
    assert bench.platform.shown == []


async def test_the_owner_is_told_of_five_groups_an_hour_that_strangers_add_the_bot_to(
    bench: GroupBench, running: RunningGroups
) -> None:
    """All are left; but the owner's chat is not for strangers to fill."""

    def added(first: int, past: int) -> None:
        for number in range(first, past):
            bench.platform.room(f"r{number}", f"Room {number}", "bob")
            bench.platform.add_bot(f"r{number}", "bob", by_owner=False)

    added(0, 100)
    await running.settled()
    told = list(bench.owner.told.values())
    bench.clock.advance(3600)
    added(100, 101)
    await running.settled()

    assert not any(bench.platform.rooms[f"r{number}"].bot_inside for number in range(101))
    assert [f'"Room {number}"' in line for number, line in enumerate(told[:5])] == [True] * 5
    assert told[5:] == [wording.MORE_LEFT]
    assert '"Room 100"' in list(bench.owner.told.values())[6]


async def test_a_group_that_is_left_and_admitted_again_gets_its_agent_back(
    bench: GroupBench, running: RunningGroups
) -> None:
    settings = GroupSettings(detector=DetectorKind.HYBRID, names=("kobold",))
    await running.admit("garden", settings)
    bench.platform.say("garden", "anna", "@robobot one")
    await running.settled()
    await running.chats.admission.remove("garden")
    await running.chats.admission.remove("garden")

    await running.admit("garden")
    bench.platform.say("garden", "anna", "@robobot two")
    await running.settled()

    assert answers(bench) == ["@robobot one", "@robobot two"]
    (group,) = running.chats.admission.groups()
    assert group.settings == settings


async def test_a_setting_that_cannot_be_changes_nothing(bench: GroupBench, running: RunningGroups) -> None:
    await running.admit("garden")
    before = running.chats.admission.groups()

    with pytest.raises(SettingInvalid, match="letter or digit"):
        await running.chats.admission.set("garden", GroupSettings(names=("*",)))
    with pytest.raises(GroupUnknown):
        await running.chats.admission.set("elsewhere", GroupSettings())

    assert running.chats.admission.groups() == before


async def test_status_tells_an_administrator_of_the_agent_without_a_model_call(
    bench: GroupBench, running: RunningGroups
) -> None:
    await running.admit("garden", GroupSettings(detector=DetectorKind.MODEL))
    bench.platform.say("garden", "bob", "@robobot hi")
    await running.settled()
    bench.agents.last_turn = bench.clock.now()

    message = bench.platform.say("garden", "anna", "/bot status", thread="roses")
    bench.platform.say("garden", "the group itself", "/bot@robobot status")
    await running.settled()

    line = "Agent: Group1\nMessages: 1\nDetector: model\nLast turn: 2026-01-01 10:00"
    assert [each.text for each in bench.platform.shown] == [line, line]
    assert bench.platform.shown[0].place == message.place
    assert bench.agents.asked == []
    assert answers(bench) == ["@robobot hi"]


async def test_an_administrator_is_told_when_the_groups_agent_is_gone(
    bench: GroupBench, running: RunningGroups
) -> None:
    """Its folder was taken away, so nothing will ever come of these; silence helps nobody."""
    await running.admit("garden")
    bench.agents.fails = RemoteError(grpc.StatusCode.NOT_FOUND, "no such agent", reason="AGENT_UNKNOWN")

    for command in ("status", "clear-memory", "clear-memory yes"):
        bench.platform.say("garden", "anna", f"/bot {command}")
    await running.settled()

    assert bench.platform.texts("garden") == [wording.NO_AGENT, wording.CONFIRM, wording.NO_AGENT]


@pytest.mark.parametrize("command", ["status", "clear-memory", "clear-memory yes", "nonsense", ""])
async def test_whoever_is_no_administrator_gets_one_line_of_refusal(
    bench: GroupBench, running: RunningGroups, command: str
) -> None:
    await running.admit("garden")
    bench.platform.say("garden", "anna", "/bot clear-memory")

    bench.platform.say("garden", "bob", f"/bot {command}")
    await running.settled()

    assert bench.platform.texts("garden") == [wording.CONFIRM, wording.REFUSED]
    assert (bench.agents.kept, bench.agents.asked) == ({}, [])


async def test_a_cleared_memory_is_kept_aside_with_all_that_was_said_before(
    bench: GroupBench, running: RunningGroups
) -> None:
    """What waits in a batch was said before the clearing: it must not turn up in the fresh memory."""
    await running.admit("garden", GroupSettings(detector=DetectorKind.HYBRID, names=("robo",)))
    bench.platform.say("garden", "bob", "old words")
    bench.platform.say("garden", "anna", "/bot clear-memory")
    bench.platform.say("garden", "anna", "/bot clear-memory yes")
    await running.settled()

    bench.platform.say("garden", "bob", "robo, hi")
    bench.platform.say("garden", "anna", "@robobot new words")
    await running.settled()

    (kept,) = bench.agents.kept.values()
    assert [each.text.rpartition(": ")[2] for each in kept] == ["old words"]
    assert "old words" not in "".join(each.text for each in bench.agents.log(SOURCE))
    assert [question.before for question in bench.agents.asked] == [()]
    done = "The memory of this group was set aside as kept-1, and a fresh one has begun."
    assert bench.platform.texts("garden") == [wording.CONFIRM, done]


async def test_a_memory_is_cleared_only_by_who_asked_within_five_minutes_and_once(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.room("garden", "Garden", "anna", "bob", administrators=("anna", "bob"))
    await running.admit("garden")
    say = bench.platform.say

    say("garden", "anna", "/bot clear-memory yes")
    say("garden", "anna", "/bot clear-memory")
    say("garden", "bob", "/bot clear-memory yes")
    await running.settled()
    bench.clock.advance(301)
    say("garden", "anna", "/bot clear-memory yes")
    await running.settled()

    assert bench.agents.kept == {}
    nothing = wording.NOTHING_TO_CONFIRM
    assert bench.platform.texts("garden") == [nothing, wording.CONFIRM, nothing, nothing]

    for text in ("/bot clear-memory", "/bot clear-memory yes", "/bot clear-memory yes"):
        say("garden", "anna", text)
    await running.settled()
    assert len(bench.agents.kept) == 1
    # The clearing is told once it is done, by when the third may have had its answer.
    assert sorted(bench.platform.texts("garden")[-2:]) == sorted(
        [wording.CLEARED.format(kept="kept-1"), nothing]
    )


async def test_a_member_in_private_is_answered_by_the_agent_of_the_only_group(
    bench: GroupBench, running: RunningGroups
) -> None:
    await running.admit("garden")

    message = bench.platform.whisper("anna", "how am I doing")
    await running.settled()

    (delivery,) = bench.agents.log(SOURCE)
    assert (delivery.wakes, delivery.place) == (True, message.place)
    assert delivery.source == "tavern:p-anna"  # not the group's, so the agent service marks it as private
    assert delivery.text == '2026-01-01 10:00 anna "Anna": how am I doing'


async def test_whoever_is_in_no_served_group_is_refused_by_the_gateway(
    bench: GroupBench, running: RunningGroups
) -> None:
    """Also members of a group that is not admitted, that was left, or whose owner has switched it off."""
    await running.admit("garden", GroupSettings(private_chats=False))
    bench.platform.add_bot("cars", "olga", by_owner=True)
    await running.settled()

    for who in ("zoe", "anna", "cleo"):
        bench.platform.whisper(who, "hello")
    await running.settled()

    assert [each.sender.id for each in bench.platform.refused] == ["zoe", "anna", "cleo"]
    assert (bench.agents.log(SOURCE), bench.platform.shown) == ([], [])


async def test_a_member_of_several_groups_is_asked_once_and_nothing_said_meanwhile_is_lost(
    bench: GroupBench, running: RunningGroups
) -> None:
    await running.admit("garden")
    await running.admit("cars")

    for text in ("hello", "are you there", "2", "still me"):
        bench.platform.whisper("bob", text)
    await running.settled()

    chosen = wording.CHOSEN.format(title="Garden")
    assert bench.platform.texts("p-bob") == [ASKED, ASKED, chosen]
    assert answers(bench) == ["hello", "are you there", "still me"]
    assert bench.agents.log("tavern:cars") == []


async def test_a_choice_outlives_the_process_and_can_be_made_anew(bench: GroupBench) -> None:
    async with bench.running() as first:
        await first.admit("garden")
        await first.admit("cars")
        bench.platform.whisper("bob", "hello")
        await first.settled()

    async with bench.running() as second:
        for text in ("2", "more", "/bot group", "1", "wheels"):
            bench.platform.whisper("bob", text)
        await second.settled()

    assert answers(bench) == ["hello", "more"]
    assert answers(bench, "tavern:cars") == ["wheels"]


async def test_who_has_left_the_group_reaches_its_agent_no_more(
    bench: GroupBench, running: RunningGroups
) -> None:
    """A group's memory holds what its members said; one who was put out must not ask it."""
    await running.admit("garden")
    await running.admit("cars")
    for text in ("hello", "2"):
        bench.platform.whisper("bob", text)
    await running.settled()
    del bench.platform.rooms["garden"].members["bob"]

    bench.platform.whisper("bob", "what did they say")
    await running.settled()

    assert answers(bench) == ["hello"]
    assert answers(bench, "tavern:cars") == ["what did they say"]


async def test_a_group_can_be_chosen_by_its_title_as_it_was_offered(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.rooms["garden"].title = 'The  "Garden" (old).'
    await running.admit("garden")
    await running.admit("cars")

    for text in ("hello", "the 'Garden' (old)."):
        bench.platform.whisper("bob", text)
    await running.settled()

    assert answers(bench) == ["hello"]


async def test_commands_in_private_are_for_administrators_of_the_group_that_is_meant(
    bench: GroupBench, running: RunningGroups
) -> None:
    await running.admit("garden")

    bench.platform.whisper("anna", "/bot status")
    bench.platform.whisper("bob", "/bot status")
    bench.platform.whisper("bob", "/bot group")
    await running.settled()

    assert bench.platform.texts("p-anna")[0].startswith("Agent: Group1\n")
    assert bench.platform.texts("p-bob") == [wording.REFUSED, wording.ONLY_ONE.format(title="Garden")]
    assert bench.agents.log(SOURCE) == []


async def test_no_more_than_twenty_messages_wait_for_a_choice(
    bench: GroupBench, running: RunningGroups
) -> None:
    await running.admit("garden")
    await running.admit("cars")

    for number in range(22):
        bench.platform.whisper("bob", f"line {number}")
    bench.platform.whisper("bob", "2")
    await running.settled()

    assert answers(bench) == [f"line {number}" for number in range(20)]
    said = bench.platform.texts("p-bob")
    assert [text.endswith(wording.NOT_KEPT) for text in said] == [False] * 20 + [True] * 2 + [False]
