"""What the agent may see of a message: who wrote it, in which chat, and whether it calls the user."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from onechat_whatsapp.domain.batch_wording import TEXT_MAX
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.domain.name_search import ChatKind, NamedChat
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.domain.own_number import READ_MAX
from onechat_whatsapp.errors import NotConnected
from onechat_whatsapp.reading import GROUPS_AGAIN_S, IDS_AGAIN_S, NAMES_KEPT_S, Reading
from onechat_whatsapp.wire.events import Connected, GroupRenamed, Heard, WireEvent
from onechat_whatsapp.wire.ports import Me

from tests.fakes.clock import ManualClock
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, CARS, CAT, CAT_LID, GARDEN, heard, own
from tests.fakes.whatsapp_wire import FakeWire

LIST = "1234567@broadcast"
FOUNDED = "15550001111-1500000000@g.us"


class KnownGroups:
    """Names of groups; asked for them, it may have no connection."""

    def __init__(self) -> None:
        self.names = {GARDEN: "Garden"}
        self.connected = True
        self.asked = 0

    async def groups(self) -> list[NamedChat]:
        self.asked += 1
        if not self.connected:
            raise NotConnected
        return [
            NamedChat(id=group, names=(name,) if name else (), kind=ChatKind.GROUP)
            for group, name in self.names.items()
        ]


class Taken:
    """Where messages go: they are kept, and which chats were made one."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.merged: list[tuple[str, str]] = []

    async def take(self, messages: Sequence[Message]) -> None:
        self.messages += messages

    async def merge(self, old: ChatId, new: ChatId) -> None:
        self.merged.append((old, new))


class Desk:
    """A reading with all that it reads from."""

    def __init__(self) -> None:
        self.account = WhatsAppAccount(OWNER)
        self.account.contacts = [named(BOB, "Bob Builder")]
        self.groups = KnownGroups()
        self.taken = Taken()
        self.clock = ManualClock()
        self.reading = Reading(FakeWire(self.account), self.groups, self.taken, self.clock)

    async def hear(self, *events: WireEvent) -> list[Message]:
        """What is taken of `events`."""
        before = len(self.taken.messages)
        for event in events:
            await self.reading.hear(event)
        return self.taken.messages[before:]

    async def message(self, event: Heard) -> Message:
        (message,) = await self.hear(event)
        return message


def named(id: str, full: str = "", *, push: str = "", business: str = "", first: str = "") -> Contact:  # noqa: A002
    return Contact(id=id, full_name=full, first_name=first, push_name=push, business_name=business)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_private_message_is_named_as_the_user_names_its_writer(desk: Desk) -> None:
    event = heard("hi\nthere", message_id="M", at_s=5)

    assert await desk.message(event) == Message(
        chat=ChatId(BOB),
        id=event.message_id,  # type: ignore[arg-type]
        chat_name="Bob Builder",
        is_group=False,
        sender="Bob Builder",
        from_me=False,
        calls_user=False,
        text="hi\nthere",
        time=event.time,
    )


async def test_a_groups_message_has_the_groups_name_and_its_writers(desk: Desk) -> None:
    message = await desk.message(heard("hi", chat=GARDEN, sender=CAT_LID, sender_alt=CAT, push_name="Cat"))

    assert (message.chat, message.chat_name, message.sender) == (GARDEN, "Garden", "Cat")


async def test_who_has_no_name_is_known_by_number_and_without_that_by_id(desk: Desk) -> None:
    by_number = heard("hi", chat=GARDEN, sender=CAT, push_name="")
    by_lid = heard("hi", chat=GARDEN, sender=CAT_LID, push_name=" ")

    assert [each.sender for each in await desk.hear(by_number, by_lid)] == ["+15550003333", CAT_LID]


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        (named(CAT, "Catherine", push="Kitty", first="Cath", business="Cats Ltd"), "Catherine"),
        (named(CAT, push="Kitty", first="Cath", business="Cats Ltd"), "Cath"),
        (named(CAT, push="Kitty", business="Cats Ltd"), "Cats Ltd"),
        (named(CAT, push="Kitty"), "Cat now"),
        (named(CAT_LID, "Catherine"), "Catherine"),
        (named("15550003333:4@s.whatsapp.net", "Catherine"), "Catherine"),
    ],
)
async def test_the_users_own_name_for_somebody_comes_first(desk: Desk, contact: Contact, name: str) -> None:
    desk.account.contacts = [contact]

    message = await desk.message(heard("hi", chat=CAT, sender_alt=CAT_LID, push_name="Cat now"))

    assert (message.sender, message.chat_name) == (name, name)


async def test_what_the_user_writes_is_theirs_whichever_id_it_comes_by(desk: Desk) -> None:
    by_flag = own("hi")
    by_number = heard("hi", chat=GARDEN, sender=ANN)
    by_lid = heard("hi", chat=GARDEN, sender=ANN_LID)
    by_the_other = heard("hi", chat=GARDEN, sender="1@lid", sender_alt=ANN)

    messages = await desk.hear(by_flag, by_number, by_lid, by_the_other)

    assert [message.from_me for message in messages] == [True] * 4
    assert messages[0].chat_name == "Bob Builder"  # not what the user calls themselves


async def test_a_contact_by_number_and_by_lid_is_one_chat_under_the_number(desk: Desk) -> None:
    told = heard("one", chat=BOB_LID, sender_alt=BOB)
    after = heard("two", chat=BOB_LID)
    mine = replace(own("three", chat=CAT_LID), recipient_alt=CAT)

    messages = await desk.hear(told, after, mine)

    assert [message.chat for message in messages] == [BOB, BOB, CAT]


async def test_the_session_tells_whose_number_a_lid_is(desk: Desk) -> None:
    desk.account.lids = {BOB: BOB_LID}

    message = await desk.message(heard("hi", chat=BOB_LID))

    assert (message.chat, message.chat_name) == (BOB, "Bob Builder")


async def test_a_number_that_becomes_known_makes_one_chat_of_two(desk: Desk) -> None:
    """What was kept of it by LID goes to the number, once."""
    before = await desk.message(heard("one", chat=BOB_LID))
    desk.account.lids = {BOB: BOB_LID}
    desk.clock.advance(IDS_AGAIN_S)

    after = await desk.hear(heard("two", chat=BOB_LID), heard("three", chat=BOB))

    assert before.chat == BOB_LID
    assert [message.chat for message in after] == [BOB, BOB]
    assert desk.taken.merged == [(BOB_LID, BOB)]


async def test_a_number_that_comes_to_somebody_else_is_one_chat_with_their_lid(desk: Desk) -> None:
    await desk.hear(heard("one", chat=BOB, sender_alt=BOB_LID))

    await desk.hear(heard("two", chat=BOB, sender_alt="999888777666@lid"))

    assert desk.taken.merged == [(BOB_LID, BOB), ("999888777666@lid", BOB)]


async def test_what_comes_to_the_users_list_is_filed_under_its_sender(desk: Desk) -> None:
    message = await desk.message(heard("to all", chat=LIST, sender=BOB_LID, sender_alt=BOB))

    assert (message.chat, message.is_group, message.chat_name) == (BOB, False, "Bob Builder")


@pytest.mark.parametrize(
    "event",
    [
        replace(own("hi", chat=LIST), sender=ANN),
        replace(own("hi", chat=LIST), sender=CAT_LID),  # by a LID that is not known to be the user's yet
        own("hi", chat=ANN),
        own("hi", chat=ANN_LID),
        heard("hi", chat="15550001111:3@s.whatsapp.net"),
        heard("hi", chat="12@s.whatsapp.net"),
        heard("  \n\t"),
        heard("\u200e\u2060 \u00ad"),
    ],
)
async def test_lists_of_the_user_their_own_chat_and_what_shows_nothing_are_left_out(
    desk: Desk, event: Heard
) -> None:
    assert await desk.hear(event) == []


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({}, False),
        ({"mentions": (ANN,)}, True),
        ({"mentions": (BOB, ANN_LID)}, True),
        ({"mentions": ("15550001111:2@s.whatsapp.net",)}, True),
        ({"mentions": (BOB,)}, False),
        ({"mentions": (GARDEN,)}, True),  # all of the group
        ({"quoted_author": ANN_LID}, True),
        ({"quoted_author": ANN}, True),
        ({"quoted_author": BOB}, False),
        ({"text": "@15550001111 typed, not chosen"}, False),
        ({"from_me": True, "sender": ANN, "mentions": (ANN,), "quoted_author": ANN}, False),
    ],
)
async def test_a_groups_message_calls_the_user_by_a_mention_or_a_reply(
    desk: Desk, changes: dict[str, object], calls: bool
) -> None:
    event = replace(heard("look", chat=GARDEN, sender=CAT), **changes)  # type: ignore[arg-type]

    assert (await desk.message(event)).calls_user is calls


async def test_in_a_private_chat_nothing_needs_to_call_the_user(desk: Desk) -> None:
    assert not (await desk.message(heard("re", quoted_author=ANN, mentions=(ANN,)))).calls_user


async def test_a_chat_is_not_called_by_the_users_own_name(desk: Desk) -> None:
    assert (await desk.message(own("hi", chat=CAT))).chat_name == ""


async def test_mentions_show_as_names_and_the_users_as_you(desk: Desk) -> None:
    desk.account.contacts += [
        named(CAT_LID, push="Cat\n10:00 You"),
        named(ANN, "Ann Me"),
        named(ANN_LID, "Ann"),
    ]
    text = (
        "@15550002222 @555666777888 @15550001111 @99887766554433 @777888999000 @15550002222x 12@15550002222"
    )
    event = heard(text, chat=GARDEN, mentions=(BOB, CAT_LID, ANN, "777888999000@lid"))

    assert (await desk.message(event)).text == (
        "@Bob Builder @Cat 10:00 You @you @you @777888999000 @Bob Builderx 12@Bob Builder"
    )


async def test_a_mentions_name_that_is_cut_shows_no_part_of_the_users_number(desk: Desk) -> None:
    desk.account.contacts.append(named(CAT, push="c" * 70 + " 15550001111"))

    message = await desk.message(heard("@15550003333 pays", chat=GARDEN, mentions=(CAT,)))

    assert message.text == f"@{'c' * 70} OWN pays"


@pytest.mark.parametrize("name", ["You", "you", "ＹＯＵ", "yóu", "You (really)", "\u200bYou"])
async def test_nobody_is_called_as_a_mention_of_the_user_is(desk: Desk, name: str) -> None:
    desk.account.contacts.append(named(CAT, push=name))

    message = await desk.message(heard("@15550003333 pays", chat=GARDEN, mentions=(CAT,)))

    assert message.text == "@15550003333 pays"


async def test_numbers_that_are_not_mentioned_stay_as_they_are(desk: Desk) -> None:
    assert (await desk.message(heard("@15550002222 hi", chat=GARDEN))).text == "@15550002222 hi"


async def test_the_users_number_is_hidden_in_texts_names_and_ids(desk: Desk) -> None:
    desk.groups.names[FOUNDED] = "Friends of +1 555 000 1111"
    event = heard("call 555-000-1111", chat=FOUNDED, sender=CAT, push_name="not １５５５０００１１１１")

    message = await desk.message(event)

    assert (message.chat, message.chat_name) == ("OWN-1500000000@g.us", "Friends of OWN")
    assert (message.sender, message.text) == ("not OWN", "call OWN")


async def test_a_renamed_group_goes_by_its_new_name(desk: Desk) -> None:
    await desk.hear(GroupRenamed(chat=GARDEN, name="Orchard"), GroupRenamed(chat=CARS, name="Cars"))

    messages = await desk.hear(heard("hi", chat=GARDEN), heard("hi", chat=CARS))

    assert [message.chat_name for message in messages] == ["Orchard", "Cars"]
    assert desk.groups.asked == 0


async def test_whatsapp_is_seldom_asked_what_an_unknown_group_is_called(desk: Desk) -> None:
    desk.groups.connected = False
    unnamed = await desk.hear(*(heard("hi", chat=GARDEN) for _ in range(5)))
    asked = desk.groups.asked

    desk.groups.connected = True
    desk.clock.advance(GROUPS_AGAIN_S)
    named_now = await desk.message(heard("hi", chat=GARDEN))

    assert ([message.chat_name for message in unnamed], asked) == ([""] * 5, 1)
    assert named_now.chat_name == "Garden"


async def test_names_that_come_from_the_phone_later_are_found(desk: Desk) -> None:
    """Nothing tells that they have come."""
    before = await desk.message(heard("hi", chat=CAT, push_name=""))
    desk.account.contacts.append(named(CAT, "Catherine"))
    soon = await desk.message(heard("hi", chat=CAT, push_name=""))
    desk.clock.advance(NAMES_KEPT_S)

    later = await desk.message(heard("hi", chat=CAT, push_name=""))

    assert [each.sender for each in (before, soon, later)] == ["+15550003333", "+15550003333", "Catherine"]


async def test_another_account_is_the_user_once_it_is_linked(desk: Desk) -> None:
    first = await desk.message(heard("call 15550001111, not 15550004444"))
    desk.account.me = Me(number="15550004444@s.whatsapp.net", lid="", push_name="Ann's")
    await desk.hear(Connected())

    second = await desk.message(heard("call 15550001111, not 15550004444"))

    assert [first.text, second.text] == ["call OWN, not 15550004444", "call 15550001111, not OWN"]


async def test_a_lid_that_is_given_later_is_the_users_too(desk: Desk) -> None:
    desk.account.me = Me(number=ANN, lid="", push_name="Ann")
    before = await desk.message(heard("@99887766554433", chat=GARDEN))
    desk.account.me = OWNER
    desk.clock.advance(IDS_AGAIN_S)

    after = await desk.message(heard("@99887766554433", chat=GARDEN))

    assert [before.text, after.text] == ["@99887766554433", "@you"]


async def test_a_message_that_says_no_time_was_written_when_it_came(desk: Desk) -> None:
    """The library has the year 1 for it, which is in no day of a zone west of Greenwich."""
    for nothing in (datetime(1, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)):
        assert (await desk.message(replace(heard("hi"), time=nothing))).time == desk.clock.now()


async def test_a_text_of_fifty_megabytes_is_read_as_far_as_it_is_shown(desk: Desk) -> None:
    message = await desk.message(heard("hi " + "15550001111 x" * 4_000_000))

    assert message.text.startswith("hi OWN xOWN x")
    assert not any(sign.isdigit() for sign in message.text)
    assert TEXT_MAX / 2 < len(message.text) <= READ_MAX


async def test_a_text_that_is_all_mentions_grows_within_bounds(desk: Desk) -> None:
    desk.account.contacts = [named(BOB, "Bob " * 20)]

    message = await desk.message(heard("@15550002222 " * 10_000, chat=GARDEN, mentions=(BOB,)))

    assert len(message.text) <= READ_MAX
    assert message.text.startswith(f"@{'Bob ' * 19}Bob")


async def test_nothing_is_shown_while_it_is_not_known_whom_to_hide(desk: Desk) -> None:
    desk.account.me = None

    assert await desk.hear(heard("call 15550001111")) == []


async def test_a_chat_is_called_by_name_else_by_what_is_known(desk: Desk) -> None:
    desk.groups.names[FOUNDED] = ""
    desk.groups.names[CARS] = "Cars of 555-000-1111"
    await desk.hear(Connected())

    called = [await desk.reading.called(chat) for chat in (BOB, GARDEN, CARS, CAT, CAT_LID, FOUNDED)]

    assert called == [
        "Bob Builder",
        "Garden",
        "Cars of OWN",
        "+15550003333",
        CAT_LID,
        "OWN-1500000000@g.us",
    ]
