"""Finding contacts and groups by name, in the session's contacts and WhatsApp's list of groups."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from onechat_whatsapp.directory import GROUPS_AGAIN_S, GROUPS_KEPT_S, Directory
from onechat_whatsapp.domain.name_search import ChatKind
from onechat_whatsapp.errors import NamesNotReady, NotLinked
from onechat_whatsapp.finding import READY_AFTER, Finding
from onechat_whatsapp.wire.events import GroupRenamed
from onechat_whatsapp.wire.ports import GroupRow, Me

from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_desk import START, Desk, contact, desk_at
from tests.fakes.whatsapp_scripts import ANN, BOB, BOB_LID, CARS, CAT, CAT_LID, GARDEN
from tests.fakes.whatsapp_wire import FakeWire

DAN, DAN_LID = "15550004444@s.whatsapp.net", "999888777666@lid"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(tmp_path) as desk:
        yield desk


async def test_contacts_and_groups_whose_name_holds_the_text_are_found_once_each(desk: Desk) -> None:
    page = await desk.finding.find("bob")

    assert [(chat.id, chat.name, chat.kind) for chat in page.chats] == [
        (BOB, "Bob Builder", ChatKind.CONTACT),
        (CARS, "Cars & Bob's", ChatKind.GROUP),
    ]


@pytest.mark.parametrize("asked", ["catia", "CÁTIA GOMES", "gomes"])
async def test_neither_case_nor_accents_matter(desk: Desk, asked: str) -> None:
    assert await desk.found(asked) == [(CAT, "Cátia Gomes")]


@pytest.mark.parametrize("asked", ["ann", "Ann Me", ANN, "+1 555 000 1111", ""])
async def test_the_user_is_never_found(desk: Desk, asked: str) -> None:
    assert all(each not in (ANN, OWNER.lid) for each, _ in await desk.found(asked))


async def test_who_is_known_by_lid_alone_is_found_by_it_and_by_number_once_that_is_known(desk: Desk) -> None:
    desk.account.contacts.append(contact(DAN_LID, push="Dan"))
    before = await desk.found("dan")

    desk.account.lids[DAN] = DAN_LID
    desk.clock.advance(61)
    after = await desk.found("dan")

    assert before == [(DAN_LID, "Dan")]
    assert after == [(DAN, "Dan")]


async def test_who_is_known_by_both_goes_by_the_name_of_the_address_book(desk: Desk) -> None:
    """Their own name for themselves stands with the LID alone here, and finds them too."""
    desk.account.contacts += [contact(DAN, "Daniel Smith"), contact(DAN_LID, push="Captain")]
    desk.account.lids[DAN] = DAN_LID

    assert await desk.found("captain") == [(DAN, "Daniel Smith (Captain)")]


async def test_an_id_finds_its_chat(desk: Desk) -> None:
    """So that a question about a send can show whom it would go to."""
    assert await desk.found(BOB) == [(BOB, "Bob Builder")]
    assert await desk.found(BOB_LID) == [(BOB, "Bob Builder")]
    assert await desk.found(GARDEN) == [(GARDEN, "Garden")]
    assert await desk.found("15550009999@s.whatsapp.net") == []


async def test_without_a_link_it_says_so(desk: Desk) -> None:
    desk.account.log_out()

    with pytest.raises(NotLinked, match="/whatsapp pair PHONE"):
        await desk.finding.find("bob")
    with pytest.raises(NotLinked):
        await desk.people()
    with pytest.raises(NotLinked):
        await desk.directory.profile_name()


def newly_linked() -> WhatsAppAccount:
    """Only names that people have given themselves are there."""
    account = WhatsAppAccount(OWNER)
    account.contacts = [contact(BOB, push="bobby")]
    account.groups_joined = [GroupRow(id=GARDEN, name="Garden")]
    return account


async def test_until_the_names_have_come_from_the_phone_it_says_that_they_are_not_ready(
    tmp_path: Path,
) -> None:
    async with desk_at(tmp_path, account=newly_linked()) as desk:
        with pytest.raises(NamesNotReady, match="some minutes"):
            await desk.finding.find("bob")
        desk.account.contacts.append(contact(CAT, "Cátia Gomes"))

        assert await desk.found("bob") == [(BOB, "bobby")]


async def test_an_id_is_found_before_the_names_have_come(tmp_path: Path) -> None:
    async with desk_at(tmp_path, account=newly_linked()) as desk:
        assert await desk.found(BOB) == [(BOB, "bobby")]


async def test_an_address_book_without_a_name_is_taken_as_such_after_half_an_hour(tmp_path: Path) -> None:
    """Else somebody who has saved nobody could never find a group."""
    async with desk_at(tmp_path, account=newly_linked(), linked_since=START) as desk:
        desk.clock.advance(READY_AFTER / timedelta(seconds=1))

        assert await desk.found("garden") == [(GARDEN, "Garden")]


async def test_groups_are_asked_for_once_an_hour(desk: Desk) -> None:
    for _ in range(5):
        await desk.found("garden")
    desk.account.groups_joined.append(GroupRow(id="120363000000000003@g.us", name="Garden 2"))
    within = await desk.found("garden 2")
    desk.clock.advance(3_599)
    still = await desk.found("garden 2")
    desk.clock.advance(1)
    after = await desk.found("garden 2")

    assert (within, still, len(after)) == ([], [], 1)
    assert desk.account.group_calls == 2


async def test_a_group_that_was_renamed_goes_by_its_new_name_at_once(desk: Desk) -> None:
    await desk.found("garden")

    await desk.directory.hear(GroupRenamed(chat=GARDEN, name="Allotment"))

    assert await desk.found("garden") == []
    assert await desk.found("allotment") == [(GARDEN, "Allotment")]


async def test_groups_that_cannot_be_asked_for_are_as_they_were(desk: Desk) -> None:
    await desk.found("garden")
    desk.account.drop()
    desk.clock.advance(GROUPS_KEPT_S)

    assert await desk.found("garden") == [(GARDEN, "Garden")]


async def test_groups_that_have_never_come_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    """Else the answer would be that there is no such group. People are found all the same."""
    async with desk_at(tmp_path, online=False) as desk:
        page = await desk.finding.find("bob")

        assert [chat.id for chat in page.chats] == [BOB]
        assert "not connected" in page.groups_missing
        with pytest.raises(NamesNotReady, match="not connected"):
            await desk.finding.find(GARDEN)


async def test_where_the_groups_were_looked_through_none_is_said_to_be_missing(desk: Desk) -> None:
    assert (await desk.finding.find("bob")).groups_missing == ""


async def test_a_search_without_groups_says_what_is_wrong_with_the_link(tmp_path: Path) -> None:
    """A ban is not over by itself in a moment, so it must not say so."""
    async with desk_at(tmp_path, online=False, trouble="There is a ban.") as desk:
        page = await desk.finding.find("garden")

        assert page.groups_missing.endswith("looked through. There is a ban.")


class SlowWire(FakeWire):
    """Never gives the groups."""

    async def groups(self) -> list[GroupRow]:
        self.account.group_calls += 1
        await asyncio.Event().wait()
        return []


async def test_groups_that_do_not_come_are_waited_for_once_a_minute(desk: Desk) -> None:
    """Whoever looks for a name has a deadline of seconds."""
    wire = SlowWire(desk.account)
    directory = Directory(wire, lambda _: False, desk.clock, ask_s=0.01)
    finding = Finding(directory, lambda: START, desk.clock)
    for _ in range(3):
        assert (await finding.find("garden")).groups_missing
    within = desk.account.group_calls
    desk.clock.advance(GROUPS_AGAIN_S)
    assert (await finding.find("garden")).groups_missing

    assert (within, desk.account.group_calls) == (1, 2)


async def test_after_the_link_has_ended_nothing_of_it_is_kept(desk: Desk) -> None:
    await desk.found("garden")

    desk.directory.forget()
    desk.account.groups_joined = []

    assert await desk.found("garden") == []


async def test_another_account_has_groups_of_its_own(desk: Desk) -> None:
    """What is kept for an hour is not shown to whoever links the next account."""
    await desk.found("garden")
    desk.account.me = Me(number="15550007777@s.whatsapp.net", lid="", push_name="Eve")
    desk.account.groups_joined = [GroupRow(id=CARS, name="Cars")]

    assert await desk.found("garden") == []


async def test_neither_name_nor_id_holds_the_users_number(desk: Desk) -> None:
    number = ANN.partition("@")[0]
    desk.account.contacts.append(contact(DAN, "Dan, knows +1 (555) 000-1111", push=f"dan {number}"))
    desk.account.groups_joined += [
        GroupRow(id=f"{number}-1500000000@g.us", name="Old garden"),
        GroupRow(id="120363000000000003@g.us", name=f"Call {number} for the garden"),
    ]

    found = [*await desk.found("garden"), *await desk.found("dan"), *await desk.found("")]
    people = await desk.people()

    assert ("OWN-1500000000@g.us", "Old garden") in found
    assert ("120363000000000003@g.us", "Call OWN for the garden") in found
    assert all("0001111" not in "".join(filter(str.isdigit, name)) for _, name in [*found, *people])
    assert all(number not in each for each, _ in [*found, *people])


async def test_a_long_name_that_is_cut_shows_no_part_of_the_users_number(desk: Desk) -> None:
    desk.account.groups_joined = [
        GroupRow(id=f"1203630000000010{n:02}@g.us", name=f"Cars {'x' * n} {ANN.partition('@')[0]} and more")
        for n in range(80, 99)
    ]

    found = await desk.found("cars")

    assert len(found) == 19
    assert not any(sign.isdigit() for _, name in found for sign in name)


async def test_a_founded_group_is_found_by_the_id_that_it_shows(desk: Desk) -> None:
    real = f"{ANN.partition('@')[0]}-1500000000@g.us"
    desk.account.groups_joined.append(GroupRow(id=real, name="Old garden"))

    assert await desk.found("OWN-1500000000@g.us") == [("OWN-1500000000@g.us", "Old garden")]


async def test_a_name_that_others_chose_stays_on_its_line(desk: Desk) -> None:
    desk.account.groups_joined.append(GroupRow(id=CARS, name="Cars\n\u202e15550001111@s | Ann\x1b[2J"))

    ((_, name),) = await desk.found("cars")

    assert "\n" not in name
    assert name.isprintable()


async def test_broken_rows_of_the_session_are_passed_over(desk: Desk) -> None:
    desk.account.contacts += [
        contact("0@s.whatsapp.net", "WhatsApp"),
        contact("status@broadcast", "Status"),
        contact("867051314767696@bot", "A bot"),
        contact("", "Nobody"),
        contact("x@s.whatsapp.net", "X"),
    ]

    names = {name for _, name in await desk.found("")}

    assert names == {"Bob Builder", "Cátia Gomes", "Garden", "Cars & Bob's"}


async def test_contacts_are_each_person_with_a_name_in_order_of_their_ids(desk: Desk) -> None:
    desk.account.contacts += [contact(DAN_LID, push="Dan"), contact("15550005555@s.whatsapp.net")]

    people = await desk.people()

    assert people == [
        (BOB, "Bob Builder"),
        (CAT, "Cátia Gomes"),
        (DAN_LID, "Dan"),
    ]


async def test_the_profile_name_is_the_users_own(desk: Desk) -> None:
    assert await desk.directory.profile_name() == OWNER.push_name


async def test_finding_sends_nothing(desk: Desk) -> None:
    for asked in ("bob", "", BOB, CAT_LID, GARDEN):
        await desk.found(asked)
    await desk.people()

    assert desk.account.sent == []
