"""How Telegram's groups are named, set and read from a terminal."""

import pytest
from onechat_cli.domain.groups import (
    Changes,
    Group,
    NotOneGroup,
    group_lines,
    group_row,
    meant,
    settings_of,
    title_of,
)
from onechat_cli.domain.table import columns_of

GARDEN = -1001234567890


def group(chat=GARDEN, title="Garden", **about):
    given = {
        "admitted": True,
        "detector": "hybrid",
        "names": ("@robobot", "Robo"),
        "ask_model": True,
        "learn": True,
        "private_chats": True,
        "agent": "garden-id",
    }
    return Group(chat=chat, title=title, **{**given, **about})


def test_a_table_says_which_groups_are_served_by_whom_and_how_each_is_set():
    asked = group(-42, "Cars", admitted=False, agent="", detector="simple", names=(), learn=False)

    assert group_lines([group(), asked], {"garden-id": "Group1"}, None) == [
        "          CHAT  GROUP   STATE            AGENT   SET TO",
        "-1001234567890  Garden  served           Group1  "
        "hybrid; learns; private chats; listens for @robobot, Robo",
        "           -42  Cars    awaits your yes  -       "
        "simple; does not learn; private chats; listens for no name",
    ]


def test_on_a_narrow_terminal_the_settings_have_a_line_of_their_own():
    assert group_lines([group()], {"garden-id": "Group1"}, 50) == [
        "          CHAT  GROUP   STATE   AGENT",
        "-1001234567890  Garden  served  Group1",
        "    hybrid; learns; private chats; listens for @r…",
    ]
    assert len(group_lines([group()], {}, 80)) == 3
    assert len(group_lines([group()], {}, 120)) == 2


@pytest.mark.parametrize("width", [24, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    found = [group(title="水" * 99, names=("家" * 60,) * 20, agent="👋" * 50), group(title="e\u0301" * 99)]

    assert [line for line in group_lines(found, {}, width) if columns_of(line) > width] == []


def test_columns_stand_under_one_another_whatever_the_titles_are_written_in():
    lines = group_lines([group(title="花园 🌹"), group(title="Cafe\u0301")], {}, None)

    assert (
        len(
            {
                columns_of(line[: line.index(word)])
                for line, word in zip(lines, ("STATE", "served", "served"), strict=True)
            }
        )
        == 1
    )


def test_nothing_in_a_title_or_a_name_ends_its_line_or_acts_on_a_terminal():
    bad = group(title="a\nb\x1b[2J", names=("x\ny\x1b]0;z\x07",), agent="\x1b[31mred", detector="\x9b1m")

    said = [*group_lines([bad], {}, None), title_of(bad), settings_of(bad)]

    assert len(said) == 4
    assert not any(set("\x1b\x9b\x07\n") & set(line) for line in said)


def test_what_a_group_may_not_do_is_said():
    shut = group(ask_model=False, learn=False, private_chats=False)

    assert settings_of(shut) == (
        "hybrid without the model; does not learn; no private chats; listens for @robobot, Robo"
    )
    assert settings_of(group(detector="model", ask_model=False)).startswith("model; ")


def test_a_row_has_every_field():
    assert group_row(group(), {"garden-id": "Group1"}) == {
        "chat_id": GARDEN,
        "title": "Garden",
        "admitted": True,
        "detector": "hybrid",
        "names": ["@robobot", "Robo"],
        "ask_model": True,
        "learn": True,
        "private_chats": True,
        "agent": "Group1",
        "agent_id": "garden-id",
    }
    assert group_row(group(agent=""), {}) | {"agent": None, "agent_id": None} == group_row(
        group(agent=""), {}
    )


# Which group is meant


FOUND = [group(), group(-42, "Garden tools"), group(-7, "Cars -42"), group(-8, "Ｃａｆé Straße")]


@pytest.mark.parametrize(
    ("text", "chat"),
    [
        (str(GARDEN), GARDEN),
        ("garden", GARDEN),
        ("tools", -42),
        ("  GARDEN \n tools ", -42),
        ("-42", -42),
        ("rs -4", -7),
        ("STRASSE", -8),
    ],
)
def test_a_group_is_named_by_its_number_its_title_or_a_part_of_that(text, chat):
    assert meant(FOUND, text).chat == chat


def test_a_part_of_several_titles_names_none_and_says_their_numbers():
    with pytest.raises(NotOneGroup) as several:
        meant(FOUND, "Gard")

    assert str(several.value) == (
        f"Gard may be 2 groups: Garden ({GARDEN}), Garden tools (-42). Name one by its number."
    )


def test_of_many_groups_five_are_said():
    with pytest.raises(NotOneGroup, match=r"may be 9 groups: Pub \(1\), .*Pub \(5\), …\. Name one"):
        meant([group(number, "Pub") for number in range(1, 10)], "pub")


@pytest.mark.parametrize("text", ["house", "9" * 5_000, "\x1b[2J", "1001234567890x"])
def test_what_names_no_group_says_how_to_find_them(text):
    with pytest.raises(NotOneGroup, match="`onechat telegram groups` shows") as none:
        meant(FOUND, text)

    assert "\x1b" not in str(none.value)
    assert len(str(none.value)) < 150


# What is set anew


def test_a_setting_that_is_not_named_stays():
    assert Changes().applied(group()) == group()
    assert Changes(learn=False, names=()).applied(group()) == group(learn=False, names=())
    assert Changes(detector="model", names=("x",), ask_model=False, private_chats=False).applied(
        group()
    ) == group(detector="model", names=("x",), ask_model=False, private_chats=False)


def test_only_what_sets_nothing_is_empty():
    assert Changes().is_empty
    assert not Changes(names=()).is_empty
    assert not Changes(learn=False).is_empty
