"""A group and its agent: what makes one, whose words it takes, what is private, what it is called."""

import pytest
from onechat_agent.domain.agent import AREA_MAX, name_fault
from onechat_agent.domain.groups import (
    GroupRefused,
    given_tools,
    group_name,
    group_name_fault,
    is_group_name,
    is_of_members,
    is_private,
    new_group,
    proposal_of,
    takes,
)

GROUP = "telegram:-100200"


@pytest.mark.parametrize(
    "source", ["", "telegram:", "telegram:1 2", "whatsapp:1@g.us", "user", "telegram:\u202e1"]
)
def test_a_group_is_known_by_a_source_of_its_messenger(source: str) -> None:
    with pytest.raises(GroupRefused):
        new_group(source, "Friends")


@pytest.mark.parametrize("title", ["", "  \n", "\u202e\0"])
def test_a_group_has_a_title_that_can_be_read(title: str) -> None:
    with pytest.raises(GroupRefused):
        new_group(GROUP, title)


def test_a_title_is_one_line_without_signs_that_play_tricks_and_of_bounded_length() -> None:
    assert new_group(GROUP, "Our\n\u202efriends ").title == "Our friends"
    assert len(new_group(GROUP, "x" * 10_000).title) == AREA_MAX


def test_no_child_and_no_group_can_have_the_others_name() -> None:
    """Their folders lie side by side and are told apart by their names."""
    assert is_group_name(group_name(1))
    assert is_group_name(group_name(20))
    assert name_fault(group_name(1)) is not None
    assert [is_group_name(name) for name in ("Group", "Group0", "Group01", "House", "group1")] == [False] * 5
    assert group_name_fault("Group3") is None
    assert group_name_fault("House") is not None


def test_without_a_fence_of_the_kernel_a_group_has_no_shell_whatever_the_owner_gave_it() -> None:
    """It would read to the group what the root is told."""
    assert given_tools(("read", "shell"), fenced=True) == ("read", "shell")
    assert given_tools(("read", "shell"), fenced=False) == ("read",)


@pytest.mark.parametrize("source", ["user", "whatsapp:15550002222@s.whatsapp.net", "schedule:1", "abcdef"])
def test_what_is_not_of_its_messenger_has_no_way_into_a_groups_agent(source: str) -> None:
    assert not takes(GROUP, source)


def test_a_members_own_chat_is_private_and_the_group_is_not() -> None:
    assert takes(GROUP, GROUP)
    assert not is_private(GROUP, GROUP)
    assert takes(GROUP, "telegram:71")
    assert is_private(GROUP, "telegram:71")
    assert takes(GROUP, "proposal:3")
    assert not is_private(GROUP, "proposal:3")


@pytest.mark.parametrize(("source", "number"), [("proposal:3", 3), ("proposal:", None), ("telegram:3", None)])
def test_an_outcome_says_of_which_proposal_it_is(source: str, number: int | None) -> None:
    assert proposal_of(source) == number


def test_what_groups_and_their_members_write_is_told_from_the_users_words() -> None:
    assert is_of_members(GROUP)
    assert is_of_members("telegram:71")
    assert not any(map(is_of_members, ("user", "whatsapp:1@g.us", "schedule:1", "telegram", "proposal:1")))
