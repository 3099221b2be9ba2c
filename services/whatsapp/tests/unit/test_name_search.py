"""What a name is found by, and in which order."""

import pytest
from onechat_whatsapp.domain.name_search import ChatKind, NamedChat, folded, found, shown_name


def chat(number: int, *names: str) -> NamedChat:
    return NamedChat(id=f"155500{number:05}@s.whatsapp.net", names=names, kind=ChatKind.CONTACT)


def names(chats: list[NamedChat]) -> list[str]:
    return [each.name for each in chats]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Zoë Müller", "zoe muller"),
        ("Zoe\u0308", "ZOË"),  # the same letter in two pieces
        ("Søren Łukasz", "soren lukasz"),
        ("Straße", "STRASSE"),
        ("İpek", "ipek"),
        ("ＦＵＬＬ width", "full"),
        ("Άννα", "αννα"),
        ("مُحَمَّد", "محمد"),
        ("Anna\u00a0\u202fRossi", "anna rossi"),
        ("Fam\u200dily ❤\ufe0f", "family ❤"),
        ("김민준", "김민준"),
        ("a  b", " a b "),
    ],
)
def test_case_accents_and_signs_that_show_nothing_make_no_difference(name, asked):
    assert names(found([chat(1, name)], asked)) == [name]


def test_what_a_name_does_not_hold_finds_nothing():
    assert found([chat(1, "Anna"), chat(2)], "bob") == []


def test_the_whole_name_comes_before_a_word_of_it_and_that_before_a_part_of_one():
    chats = [chat(1, "Joanna"), chat(2, "Zoe Anna"), chat(3, "Anna"), chat(4, "Annabel")]

    assert names(found(chats, "anna")) == ["Anna", "Annabel", "Zoe Anna", "Joanna"]


def test_two_of_one_name_keep_an_order():
    """Else a second page could repeat the first."""
    chats = [chat(2, "Anna"), chat(1, "Anna")]

    assert [each.id for each in found(chats, "anna")] == [chat(1).id, chat(2).id]
    assert found(chats, "anna") == found(chats[::-1], "anna")


def test_a_chat_found_by_its_other_name_says_both():
    """Whoever asked for one name must see why another one comes."""
    assert names(found([chat(1, "Mum", "Maria Rossi")], "maria")) == ["Mum (Maria Rossi)"]


def test_a_name_within_the_one_it_goes_by_is_not_said_twice():
    assert names(found([chat(1, "Anna Rossi", "Anna")], "anna")) == ["Anna Rossi"]


def test_of_two_names_that_fit_alike_the_one_it_goes_by_counts():
    assert names(found([chat(1, "Zed Anders", "Anders Z")], "anders")) == ["Zed Anders"]


@pytest.mark.parametrize("asked", ["15550000001", "+1 (555) 000-0001", "15550000001@s.whatsapp.net"])
def test_an_id_or_a_whole_number_finds_its_chat(asked):
    assert [each.id for each in found([chat(1), chat(2, "Anna")], asked)] == [chat(1).id]


def test_a_part_of_a_number_finds_nothing():
    """It stands in many."""
    assert found([chat(1)], "1555000") == []


def test_nothing_asked_for_is_in_every_name():
    assert names(found([chat(1, "Bob"), chat(2, "Ann"), chat(3)], " ")) == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Anna\nid | Bob | contact", "Anna id | Bob | contact"),
        ("\u202eevil\u202c", "evil"),
        ("a\x00b\x1b[31m", "ab[31m"),
        ("  two   words ", "two words"),
        ("👩\u200d👧 ok", "👩\u200d👧 ok"),
        ("x" * 150, "x" * 99 + "…"),
    ],
)
def test_a_name_is_shown_on_one_line_without_signs_that_change_others(name, shown):
    assert shown_name(name) == shown


def test_folding_changes_nothing_more_the_second_time():
    for text in ("Zoë Ǆ Ⅷ ﬁ", "İSTANBUL ıI", "Ὀδυσσεύς", "ẞß"):
        assert folded(folded(text)) == folded(text)
