"""What is learned, answered and remembered of groups; nothing is taken twice, whatever dies in between."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from onechat_runtime.clock import micros
from onechat_runtime.store import Store
from onechat_telegram.groups import batch_rows, heard_rows
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.domain.ids import NO_THREAD, ChatId, MessageId, MessageKey
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

from tests.fakes.group_bench import GroupBench, RunningGroups
from tests.fakes.group_platform import Shown

SOURCE = "tavern:garden"


@pytest.fixture
def bench(tmp_path: Path) -> GroupBench:
    bench = GroupBench(tmp_path)
    bench.platform.room("garden", "Garden", "anna", "bob", administrators=("anna",))
    return bench


@pytest.fixture
async def running(bench: GroupBench) -> AsyncIterator[RunningGroups]:
    async with bench.running() as groups:
        await groups.admit("garden")
        yield groups


async def test_what_is_not_addressed_is_learned_in_one_message_after_20_quiet_seconds(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.say("garden", "anna", "the roses bloom")
    bench.platform.say("garden", "bob", "at last\nin May", thread="roses")

    await running.quiet(20)

    (batch,) = bench.agents.log(SOURCE)
    assert not batch.wakes
    assert batch.place is None
    assert batch.text == (
        '[Tavern] "Garden" (garden)\n'
        '2026-01-01 10:00 anna "Anna": the roses bloom\n'
        '2026-01-01 10:00 bob "Bob", in the thread "roses": at last\n'
        "  in May"
    )


async def test_a_batch_that_never_gets_quiet_closes_at_two_minutes(
    bench: GroupBench, running: RunningGroups
) -> None:
    for number in range(8):
        bench.platform.say("garden", "anna", f"line {number}")
        await running.settled()
        await bench.clock.until_sleeping()
        assert bench.agents.log(SOURCE) == []
        bench.clock.advance(15)

    await running.quiet(0)

    (batch,) = bench.agents.log(SOURCE)
    assert batch.text.count("line ") == 8


async def test_the_50th_message_closes_a_batch_at_once(bench: GroupBench, running: RunningGroups) -> None:
    for number in range(51):
        bench.platform.say("garden", "anna", f"line {number}")

    await running.settled()

    assert [each.text.count("line ") for each in bench.agents.log(SOURCE)] == [50]


async def test_what_was_said_before_goes_to_the_agent_before_what_is_addressed(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.say("garden", "bob", "the spade is red", images=("a.png",))

    bench.platform.say("garden", "anna", "@robobot which colour?", images=("b.png",))

    await running.settled()
    learned, asked = bench.agents.log(SOURCE)
    assert (learned.wakes, learned.images, asked.wakes, asked.images) == (False, ("a.png",), True, ("b.png",))
    assert asked.text == '2026-01-01 10:00 anna "Anna": @robobot which colour?'


async def test_an_answer_goes_to_its_message_in_its_thread(bench: GroupBench, running: RunningGroups) -> None:
    message = bench.platform.say("garden", "anna", "@robobot hi", thread="roses")
    await running.settled()
    (asked,) = bench.agents.log(SOURCE)

    for _ in range(2):  # the event that holds it may come again
        await running.chats.replies.say(MessageKey("r1"), asked.place, "Hello.")

    assert bench.platform.shown == [Shown(place=message.place, text="Hello.")]


async def test_an_empty_answer_and_one_for_a_group_that_was_left_are_not_said(
    bench: GroupBench, running: RunningGroups
) -> None:
    place = bench.platform.say("garden", "anna", "@robobot hi").place
    await running.settled()
    await running.chats.replies.say(MessageKey("r1"), place, " \n")
    bench.platform.remove_bot("garden")
    await running.settled()

    await running.chats.replies.say(MessageKey("r2"), place, "Hello.")

    assert bench.platform.shown == []


async def test_a_message_that_comes_again_is_taken_once(bench: GroupBench, running: RunningGroups) -> None:
    """A platform gives again what it was not told of in time, also long after its batch was handed over."""
    messages = [
        bench.platform.say("garden", "bob", "the spade is red"),
        bench.platform.say("garden", "bob", "@robobot hi"),
        bench.platform.say("garden", "anna", "/bot status"),
        bench.platform.say("garden", "bob", "thanks"),
    ]
    await running.quiet()
    before = list(bench.agents.log(SOURCE)), list(bench.platform.shown)

    bench.platform.not_taken += messages
    bench.platform.new.set()
    await running.quiet()

    assert (bench.agents.log(SOURCE), bench.platform.shown) == before


async def test_an_open_batch_outlives_the_process(bench: GroupBench) -> None:
    async with bench.running() as first:
        await first.admit("garden")
        bench.platform.say("garden", "bob", "the spade is red")
        await first.settled()
        assert bench.agents.log(SOURCE) == []
    bench.clock.advance(60)

    async with bench.running() as second:
        await second.quiet(0)

    assert [each.text.count("spade") for each in bench.agents.log(SOURCE)] == [1]


async def test_what_the_agent_service_could_not_take_goes_once_it_can(bench: GroupBench) -> None:
    """Messages are kept while it is away; judging is not needed for what is clear."""
    async with bench.running() as first:
        await first.admit("garden")
        bench.agents.fails = RuntimeError("away")
        bench.platform.say("garden", "bob", "the spade is red")
        bench.platform.say("garden", "anna", "@robobot hi")
        await bench.clock.until_sleeping()
    bench.agents.fails = None

    async with bench.running() as second:
        await second.settled()

    assert [each.wakes for each in bench.agents.log(SOURCE)] == [False, True]


async def test_a_group_with_another_id_keeps_its_agent_and_what_was_asked_under_the_old_one(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.say("garden", "bob", "the spade is red")
    old = bench.platform.say("garden", "anna", "@robobot hi", thread="roses").place
    bench.platform.say("garden", "bob", "still open")
    await running.settled()

    bench.platform.move("garden", "grove")
    late = replace(bench.platform.say("grove", "bob", "late"), key="tavern:late", place=old)
    bench.platform.not_taken.append(replace(late, text="@robobot under the old id"))
    bench.platform.say("grove", "anna", "@robobot under the new id")

    await running.settled()
    await running.chats.replies.say(MessageKey("r1"), old, "Hello.")
    log = bench.agents.log(SOURCE)
    assert [each.source for each in log] == [SOURCE] * len(log)
    assert [each.text.rpartition(": ")[2] for each in log if each.wakes] == [
        "@robobot hi",
        "@robobot under the old id",
        "@robobot under the new id",
    ]
    assert "still open" in log[2].text
    assert bench.platform.shown == [Shown(place=Place(chat="grove", message=""), text="Hello.")]
    assert [(each.chat, each.state) for each in running.chats.admission.groups()] == [
        ("grove", GroupState.ADMITTED)
    ]


async def test_the_old_chat_that_a_platform_closes_after_a_move_ends_nothing(
    bench: GroupBench, running: RunningGroups
) -> None:
    bench.platform.rooms["old"] = bench.platform.rooms["garden"]
    bench.platform.move("garden", "grove")

    bench.platform.remove_bot("old")
    await running.settled()

    group = running.chats.admission.group("garden")
    assert group is not None
    assert (group.chat, group.state) == ("grove", GroupState.ADMITTED)


async def test_a_group_that_moves_twice_gets_what_was_asked_under_its_first_id(
    bench: GroupBench, running: RunningGroups
) -> None:
    asked = bench.platform.say("garden", "anna", "@robobot hi")
    await running.settled()
    grove = bench.platform.move(ChatId("garden"), "grove")
    park = bench.platform.move(grove, "park")
    await running.settled()

    await running.chats.replies.say(MessageKey("a"), asked.place, "Hello.")

    assert bench.platform.shown == [Shown(place=Place(chat=park, message=MessageId("")), text="Hello.")]
    first, now = (running.chats.admission.group(ChatId(chat)) for chat in ("garden", "park"))
    assert first == now is not None


async def test_a_title_that_changes_is_shown_from_then_on(bench: GroupBench, running: RunningGroups) -> None:
    bench.platform.rooms["garden"].title = 'The "Grove"\n[x]'

    bench.platform.say("garden", "anna", "hi")
    bench.platform.say("garden", "anna", "@robobot hi")

    await running.settled()
    assert bench.agents.log(SOURCE)[0].text.startswith("[Tavern] \"The 'Grove' [x]\" (garden)\n")


async def test_the_words_that_detectors_need_are_kept_for_the_last_few_lines_only(
    bench: GroupBench, running: RunningGroups
) -> None:
    for number in range(20):
        bench.platform.say("garden", "anna", f"line {number}")
    await running.settled()

    kept = running.store.read(lambda db: db.execute("SELECT count(*) FROM group_heard WHERE line != ''").get)

    assert kept == 6


async def test_the_last_lines_of_a_thread_are_found_without_reading_all_that_was_heard(
    bench: GroupBench, running: RunningGroups
) -> None:
    """A group of 200,000 messages a day has millions of rows; each message would cost a pass over them."""

    def steps(db: apsw.Connection) -> int:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
            " INSERT INTO group_heard (key, chat, thread, own, line, time)"
            " SELECT 'k' || i, 'garden', '', 0, '', ? FROM n",
            (micros(bench.clock.now()),),
        )
        hundreds: list[None] = []
        db.set_progress_handler(lambda: bool(hundreds.append(None)), 100)
        try:
            heard_rows.note(db, MessageKey("new"), ChatId("garden"), NO_THREAD, "hi", bench.clock.now())
            heard_rows.before(db, ChatId("garden"), NO_THREAD)
            heard_rows.forget_lines(db, ChatId("garden"))
        finally:
            db.set_progress_handler(None)
        return 100 * len(hundreds)

    assert await running.store.write(steps) < 2_000


async def test_what_is_too_much_for_one_delivery_is_learned_in_several(
    bench: GroupBench, running: RunningGroups
) -> None:
    """Long texts of a few members must not have the agent refuse what the others said with them."""
    for number in range(5):
        bench.platform.say("garden", "anna", f"{number}" + "界" * 150_000)

    await running.quiet()

    log = bench.agents.log(SOURCE)
    assert [each.text.count("界") for each in log] == [300_000, 300_000, 150_000]
    assert max(len(each.text.encode()) for each in log) < 2_000_000


async def test_a_text_that_no_call_could_hold_is_cut(bench: GroupBench, running: RunningGroups) -> None:
    """Else the small model's call, or the delivery, would fail again and again, and hold up the group."""
    await running.chats.admission.set("garden", GroupSettings(detector=DetectorKind.MODEL))
    bench.platform.say("garden", "anna", "x" * 5_000_000)

    await running.quiet()

    (asked,), (learned,) = bench.agents.asked, bench.agents.log(SOURCE)
    assert max(len(asked.text), len(learned.text)) < 201_000
    assert learned.text.endswith("x…")


def open_batches(store: Store) -> int:
    return len(store.read(batch_rows.batches))


async def test_two_groups_do_not_share_a_batch(bench: GroupBench, running: RunningGroups) -> None:
    bench.platform.room("cars", "Cars", "anna")
    await running.admit("cars")
    bench.platform.say("garden", "anna", "roses")
    bench.platform.say("cars", "anna", "wheels")
    await running.settled()
    assert open_batches(running.store) == 2

    bench.platform.say("cars", "anna", "@robobot hi")
    await running.settled()

    assert open_batches(running.store) == 1
    assert [each.wakes for each in bench.agents.log("tavern:cars")] == [False, True]
    assert bench.agents.log(SOURCE) == []
