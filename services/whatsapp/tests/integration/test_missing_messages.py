"""Messages that came without a key: counted each once, told once, and forgotten when they come after all."""

from dataclasses import replace

import pytest
from onechat_whatsapp.wire.ports import Me

from tests.fakes.disk import Disk
from tests.fakes.whatsapp_link_bench import LinkBench, linked_account
from tests.fakes.whatsapp_scripts import (
    ANN,
    ANN_LID,
    BOB,
    BOB_LID,
    CAT,
    GARDEN,
    heard,
    own,
    undecryptable,
)

HOUR = 3600.0
DAY = 24 * HOUR
LIST = "1234567@broadcast"


@pytest.fixture
def bench(tmp_path):
    return LinkBench(tmp_path, linked_account())


@pytest.fixture
def disk(bench):
    disk = Disk("of-missing", waits=False)
    bench.vfs = disk.name
    yield disk
    disk.unregister()


def waits(bench) -> set[float]:
    """What sleeps on the clock, in whole seconds."""
    return {round(each) for each in bench.clock.sleepers}


async def test_messages_without_a_key_are_counted_and_told_once_with_chats_and_times(bench):
    async with bench.running() as running:
        await running.settled()
        for at_s in (0, 60, 300):
            bench.account.come(undecryptable(at_s=at_s))
        bench.account.come(undecryptable(chat=GARDEN, at_s=DAY))
        await running.after(HOUR, step_s=300)
        status = await running.status()

        assert bench.user.notices == [
            "WhatsApp messages came that could not be decrypted, so I have not read them; look at the "
            "phone:\n"
            "Bob: 3 messages, 2026-11-30 13:00 to 13:05\n"
            "Garden: 1 message, 2026-12-01 13:00"
        ]
        assert status.undecryptable == 4
        assert "4 messages could not be decrypted" in running.board.remarks()["undecryptable"]


async def test_more_of_them_are_told_a_day_later_and_no_sooner(bench):
    async with bench.running() as running:
        await running.settled()
        for number in range(6):
            bench.account.come(undecryptable(at_s=number))
            await running.after(HOUR, step_s=600)
        before = len(bench.user.notices)
        await running.after(20 * HOUR, step_s=HOUR)

        assert before == 1
        assert [notice.count("\n") for notice in bench.user.notices] == [1, 1]
        assert "5 messages" in bench.user.notices[1]


@pytest.mark.parametrize("retry", [0, 1])
async def test_one_that_comes_after_all_is_not_missing(bench, retry):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(
            undecryptable(at_s=5, message_id="A"), heard("hello", at_s=5, message_id="A", retry=retry)
        )
        await running.after(HOUR, step_s=300)

        assert bench.user.notices == []
        assert (await running.status()).undecryptable == 0
        assert running.board.remarks() == {}


async def test_it_is_waited_for_ten_minutes(bench):
    async with bench.running() as running:
        await running.after(HOUR, step_s=600)
        bench.account.come(undecryptable(message_id="A"))
        await running.after(590, step_s=30)
        bench.account.come(heard("hello", message_id="A", retry=1))
        await running.after(HOUR, step_s=300)

        assert bench.user.notices == []


async def test_one_that_comes_after_all_leaves_the_others_of_its_second(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(
            *(undecryptable(message_id=each) for each in "ABC"),
            undecryptable(chat=GARDEN, message_id="B"),
            heard("hello", message_id="B", retry=1),
        )
        await running.after(HOUR, step_s=300)

        [notice] = bench.user.notices
        assert notice.splitlines()[1:] == [
            "Bob: 2 messages, 2026-11-30 13:00",
            "Garden: 1 message, 2026-11-30 13:00",
        ]
        assert (await running.status()).undecryptable == 3


async def test_a_picture_that_comes_after_all_is_not_missing_though_it_is_not_read(bench):
    async with bench.running() as running:
        await running.settled()
        picture = replace(heard("", message_id="A"), retry=1)
        bench.account.come(undecryptable(message_id="A"), picture)
        await running.after(HOUR, step_s=300)

        assert (bench.user.notices, (await running.status()).undecryptable) == ([], 0)


@pytest.mark.parametrize(
    ("missing", "came"),
    [
        (undecryptable(chat=BOB_LID, message_id="A"), heard("hi", sender_alt=BOB_LID, message_id="A")),
        (
            undecryptable(chat=BOB, message_id="A"),
            heard("hi", chat=BOB_LID, sender_alt=BOB, message_id="A"),
        ),
        (
            undecryptable(chat=BOB_LID, message_id="A"),
            replace(own("hi"), message_id="A", recipient_alt=BOB_LID),
        ),
        (undecryptable(chat=LIST, message_id="A"), heard("hi", chat=LIST, message_id="A")),
        (
            undecryptable(chat=LIST, message_id="A"),
            heard("hi", chat=LIST, sender=BOB_LID, sender_alt=BOB, message_id="A"),
        ),
    ],
)
async def test_it_may_come_after_all_by_the_other_id_of_its_chat(bench, missing, came):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(missing)
        await running.settled()
        before = (await running.status()).undecryptable
        bench.account.come(came)
        await running.settled()

        assert (before, (await running.status()).undecryptable) == (1, 0)


async def test_what_came_for_a_list_is_told_by_who_wrote_it(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(chat=LIST))
        await running.after(HOUR, step_s=300)

        assert bench.user.notices[0].splitlines()[1] == "Bob: 1 message, 2026-11-30 13:00"


@pytest.mark.parametrize("own_chat", [ANN, ANN_LID])
async def test_the_users_own_chat_is_not_read_and_misses_nothing(bench, own_chat):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(chat=own_chat))
        await running.after(HOUR, step_s=300)

        assert (bench.user.notices, (await running.status()).undecryptable) == ([], 0)


async def test_nobody_is_the_user_while_no_lid_is_known(bench):
    bench.account.me = Me(number=ANN, lid="", push_name="")
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(chat=CAT))
        await running.settled()

        assert (await running.status()).undecryptable == 1


async def test_one_that_comes_while_its_notice_is_worded_is_not_told(bench):
    """The name of a chat may take a question to WhatsApp, and the message may come meanwhile."""
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(message_id="A"), undecryptable(chat=GARDEN, at_s=1))
        await running.settled()
        bench.name_waits.clear()
        bench.clock.advance(660)
        await running.until(lambda: bench.names_asked >= 2)
        bench.account.come(heard("hello", message_id="A", retry=1))
        await running.wire.idle()
        await running.until(lambda: running.rooms.silence.undecryptable() == 1)
        bench.name_waits.set()
        await running.after(120, step_s=60)

        [notice] = bench.user.notices
        assert "Bob" not in notice
        assert "Garden: 1 message" in notice


async def test_what_may_come_once_the_connection_is_back_is_not_told_before(bench):
    """WhatsApp is asked for it once more over the connection; while there is none, nothing can come."""
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(message_id="A"), undecryptable(at_s=1))
        await running.settled()
    bench.clock.advance(2 * HOUR)
    bench.account.dial_faults.append("no route to host")
    async with bench.running() as running:
        await running.after(61, step_s=1)
        bench.account.come(heard("hello", message_id="A", retry=1))
        await running.settled()
        before = list(bench.user.notices)
        await running.after(15 * 60, step_s=60)

        assert before == []
        [notice] = bench.user.notices
        assert "Bob: 1 message" in notice


async def test_a_connection_that_does_not_come_back_holds_the_notice_up_for_a_day_at_most(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable())
        await running.settled()
        bench.account.dial_faults.extend(["no route to host"] * 999)
        bench.account.drop()
        await running.after(23 * HOUR, step_s=HOUR)
        before = [notice for notice in bench.user.notices if "decrypted" in notice]
        await running.after(2 * HOUR, step_s=HOUR)

        assert before == []
        assert "decrypted" in bench.user.notices[-1]


async def test_a_clock_that_was_set_back_holds_no_notice_up(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable())
        await running.after(HOUR, step_s=600)
        bench.account.come(undecryptable(chat=GARDEN))
        await running.settled()
        bench.clock.step_wall_clock(-365 * DAY)
        await running.after(HOUR, step_s=600)

        assert len(bench.user.notices) == 2
        assert "Garden: 1 message" in bench.user.notices[1]


async def test_the_same_one_twice_counts_once(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(message_id="A"), undecryptable(message_id="A", at_s=1))
        await running.settled()

        assert (await running.status()).undecryptable == 1


async def test_two_of_one_sender_and_one_second_count_as_two(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable(), undecryptable())
        await running.settled()

        assert (await running.status()).undecryptable == 2


async def test_a_notice_of_very_many_chats_stays_short(bench):
    async with bench.running() as running:
        await running.settled()
        for number in range(60):
            bench.account.come(undecryptable(chat=f"{number:015d}{'9' * 200}@g.us"))
        await running.after(HOUR, step_s=600)

        [notice] = bench.user.notices
        assert "other chats: 50 messages" in notice


async def test_they_are_forgotten_after_90_days(bench):
    async with bench.running() as running:
        await running.settled()
        bench.account.come(undecryptable())
        await running.after(91 * DAY, step_s=30 * DAY)
        bench.account.come(undecryptable(at_s=91 * DAY))
        await running.settled()

        assert (await running.status()).undecryptable == 1


async def test_what_comes_while_the_disk_is_full_is_counted_once_there_is_room(bench, disk):
    async with bench.running() as running:
        await running.settled()
        disk.full = True
        bench.account.come(undecryptable(), heard("hello", at_s=1))
        await running.until(lambda: 1 in waits(bench))
        disk.full = False
        bench.clock.advance(1)
        await running.settled()

        assert (await running.status()).undecryptable == 1
