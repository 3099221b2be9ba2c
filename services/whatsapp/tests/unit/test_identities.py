"""Ids, who is the user, and who is the same person."""

import pytest
from onechat_whatsapp.domain.chat_ids import ChatId, Jid, bare, is_group, is_person, jid
from onechat_whatsapp.domain.identities import Own, People

ANN, ANN_LID = "15550001111@s.whatsapp.net", "99887766554433@lid"
BOB, BOB_LID = "15550002222@s.whatsapp.net", "111222333444@lid"
OWN = Own.of(ANN, ANN_LID)
MEXICAN = Own.of("5215512345678@s.whatsapp.net", "")


@pytest.mark.parametrize(
    ("written", "known"),
    [
        (ANN, ANN),
        ("15550001111:7@s.whatsapp.net", ANN),
        ("15550001111.0:7@s.whatsapp.net", ANN),
        ("15550001111@c.us", ANN),
        ("99887766554433:12@lid", ANN_LID),
        ("99887766554433:99@hosted.lid", ANN_LID),
        ("120363000000000001@g.us", "120363000000000001@g.us"),
        ("", ""),
        ("@s.whatsapp.net", ""),
        ("15550001111", ""),
    ],
)
def test_an_id_has_no_device(written: str, known: str) -> None:
    assert bare(written) == known


def test_an_id_is_made_of_its_parts() -> None:
    assert jid("15550001111:3", "hosted") == ANN
    assert jid("", "s.whatsapp.net") == ""


def test_persons_and_groups_are_told_apart() -> None:
    assert [is_person(each) for each in (ANN, ANN_LID, "0@s.whatsapp.net", "1@g.us", "x@lid")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert is_group("120363000000000001@g.us")
    assert not is_group(ANN)


@pytest.mark.parametrize(
    "jid", [ANN, ANN_LID, "15550001111:2@s.whatsapp.net", "99887766554433:1@lid", "15550001111@c.us"]
)
def test_number_and_lid_are_the_user_from_whatever_device(jid: str) -> None:
    assert OWN.is_user(jid)


@pytest.mark.parametrize("jid", [BOB, BOB_LID, "", "120363000000000001@g.us", "15550001111-1500000000@g.us"])
def test_nobody_else_is_the_user(jid: str) -> None:
    assert not OWN.is_user(jid)
    assert not Own.of(ANN, "").is_user(jid)


def test_the_other_form_of_the_users_number_is_the_user() -> None:
    """Mexico's mobile numbers had a 1 more; WhatsApp keeps whichever the account began with."""
    assert MEXICAN.is_user("525512345678@s.whatsapp.net")


@pytest.mark.parametrize(
    ("jid", "shown"),
    [
        (BOB, BOB),
        (BOB_LID, BOB_LID),
        ("120363000000000001@g.us", "120363000000000001@g.us"),
        ("15550002222-1500000000@g.us", "15550002222-1500000000@g.us"),
        ("15550001111-1500000000@g.us", "OWN-1500000000@g.us"),
    ],
)
def test_an_id_is_shown_without_the_users_number_and_taken_back(jid: str, shown: str) -> None:
    assert OWN.shown(Jid(jid)) == shown
    assert OWN.meant(shown) == jid


@pytest.mark.parametrize(
    ("founder", "shown"), [("5215512345678", "OWN-1500000000"), ("525512345678", "OWN1-1500000000")]
)
def test_each_form_of_the_users_number_is_hidden_in_a_group_and_found_again(founder: str, shown: str) -> None:
    group = Jid(f"{founder}-1500000000@g.us")

    assert MEXICAN.shown(group) == f"{shown}@g.us"
    assert MEXICAN.meant(f"{shown}@g.us") == group


@pytest.mark.parametrize(
    "written",
    [
        "",
        "Bob",
        "15550002222",
        "+15550002222@s.whatsapp.net",
        "15550002222:7@s.whatsapp.net",
        "0@s.whatsapp.net",
        "status@broadcast",
        "1234567@broadcast",
        "120363111@newsletter",
        "OWN@s.whatsapp.net",
        "OWN-@g.us",
        "OWN7-1500000000@g.us",
        "own-1500000000@g.us",
        "120363000000000001@g.us@g.us",
        "../x@g.us",
        "１５５５０００２２２２@s.whatsapp.net",
        ANN,
        ANN_LID,
    ],
)
def test_what_is_no_chat_that_can_be_written_to_is_none(written: str) -> None:
    """The user's own chat is none either: it is never shown."""
    assert OWN.meant(written) is None


def test_spaces_around_an_id_do_not_matter() -> None:
    assert OWN.meant(f" {BOB}\n") == BOB


def test_a_person_goes_by_number_once_it_is_known() -> None:
    people = People()
    before = people.person(BOB_LID)

    people.learn(BOB_LID, "15550002222:3@s.whatsapp.net")

    assert (before, people.person(BOB_LID), people.person(BOB)) == (BOB_LID, BOB, BOB)
    assert (people.by_lid(BOB), people.by_lid(BOB_LID), people.by_lid(ANN)) == (BOB_LID, BOB_LID, "")


@pytest.mark.parametrize(
    ("one", "other"), [(BOB, ""), ("", BOB_LID), (BOB, ANN), (BOB_LID, ANN_LID), ("1@g.us", BOB_LID)]
)
def test_only_a_number_and_a_lid_tell_that_two_are_one(one: str, other: str) -> None:
    people = People()

    people.learn(one, other)

    assert people.person(BOB_LID) == BOB_LID
    assert people.by_lid(BOB) == ""


def test_a_number_that_was_given_to_somebody_else_is_theirs() -> None:
    people = People()
    people.learn(BOB_LID, BOB)

    people.learn("555666777888@lid", BOB)

    assert people.person("555666777888@lid") == BOB
    assert people.person(BOB_LID) == BOB_LID
    assert people.by_lid(BOB) == "555666777888@lid"


def test_a_person_who_takes_another_number_goes_by_it() -> None:
    people = People()
    people.learn(BOB_LID, BOB)

    people.learn("15550009999@s.whatsapp.net", BOB_LID)

    assert people.person(BOB_LID) == "15550009999@s.whatsapp.net"
    assert people.by_lid(BOB) == ""


def test_a_group_is_nobody() -> None:
    group = "120363000000000001@g.us"

    assert People().person(group) == ChatId(group)
