"""What a start makes of rows and folders: who is opened, renamed, adopted, finished, let go, or refused."""

import pytest
from onechat_agent.domain.agent import Agent, AgentState, Role, name_fault
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import Contradiction, Folder, Opening, opening

ROOT = Agent(id=AgentId("r"), name="One", role=Role.ROOT, state=AgentState.READY)


def row(name: str, agent: str, state: AgentState = AgentState.READY) -> Agent:
    return Agent(id=AgentId(agent), name=name, role=Role.CHILD, state=state, parent=ROOT.id)


def folder(name: str, agent: str) -> Folder:
    return Folder(name=name, id=AgentId(agent), area="an area")


def opened(rows: list[Agent], folders: list[Folder], others: list[Agent] | None = None) -> Opening:
    return opening(rows, others or [ROOT], folders)


def refused(rows: list[Agent], folders: list[Folder], others: list[Agent] | None = None) -> str:
    with pytest.raises(Contradiction) as why:
        opened(rows, folders, others)
    return str(why.value)


def test_a_folder_with_its_row_is_known() -> None:
    plan = opened([row("House", "h")], [folder("House", "h")])

    assert plan == Opening(removed=(), known=(folder("House", "h"),), adopted=(), unfinished=())


def test_a_folder_without_a_row_is_adopted() -> None:
    assert opened([], [folder("House", "h")]).adopted == (folder("House", "h"),)


def test_a_row_without_a_folder_is_removed() -> None:
    assert opened([row("House", "h")], []).removed == (row("House", "h"),)


def test_a_child_whose_making_was_interrupted_is_finished_and_not_removed() -> None:
    making = row("House", "h", AgentState.CREATING)

    plan = opened([making], [])

    assert (plan.unfinished, plan.removed) == ((making,), ())


def test_a_child_is_known_by_its_id_whatever_its_folder_is_called_now() -> None:
    plan = opened([row("House", "h")], [folder("Home", "h")])

    assert (plan.known, plan.removed, plan.adopted) == ((folder("Home", "h"),), (), ())


def test_two_children_may_have_changed_names() -> None:
    plan = opened([row("House", "h"), row("Garden", "g")], [folder("House", "g"), folder("Garden", "h")])

    assert {one.name: one.id for one in plan.known} == {"House": "g", "Garden": "h"}


@pytest.mark.parametrize("state", [AgentState.READY, AgentState.CREATING])
def test_a_folder_with_another_id_than_its_name_had_is_refused(state: AgentState) -> None:
    """A mistake in one line of a file must not set a memory aside."""
    assert "House holds another id" in refused([row("House", "h", state)], [folder("House", "x")])


def test_two_folders_with_one_id_are_refused_by_name() -> None:
    """A copy of a folder would be a second agent with the same memory."""
    why = refused([row("House", "h")], [folder("House", "h"), folder("Garden", "h")])

    assert "Garden" in why
    assert "House" in why


@pytest.mark.parametrize("name", ["HOUSE", "One", "ONE"])
def test_names_that_differ_by_the_case_of_their_letters_alone_are_refused(name: str) -> None:
    assert "same name" in refused([row("House", "h")], [folder("House", "h"), folder(name, "x")])


def test_a_folder_may_not_take_the_name_of_a_child_that_is_still_being_made() -> None:
    making = row("House", "h", AgentState.CREATING)

    assert "same name" in refused([making], [folder("HOUSE", "x")])


def test_a_childs_folder_under_a_name_that_no_agent_can_have_lets_nobody_go() -> None:
    """A slip of the hand in a name must not set a memory aside."""
    with pytest.raises(Contradiction) as why:
        opening([row("House", "h")], [ROOT], [], {AgentId("h"): "house"})

    assert "house is House's folder" in str(why.value)


def test_a_copy_under_such_a_name_is_nobodys_as_long_as_the_child_is_there() -> None:
    plan = opening([row("House", "h")], [ROOT], [folder("House", "h")], {AgentId("h"): "House.bak"})

    assert (plan.known, plan.removed) == ((folder("House", "h"),), ())


def test_the_id_of_an_agent_that_is_no_child_is_refused() -> None:
    assert "the id of One" in refused([], [folder("House", "r")])


@pytest.mark.parametrize("name", ["All", "ROOT"])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    assert "cannot be an agent's" in refused([], [folder(name, "x")])


@pytest.mark.parametrize("name", ["House", "Ab", "A" * 32, "HOUSE", "McDonald"])
def test_a_word_of_letters_with_a_capital_first_is_a_name(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "H",
        "house",
        "A" * 33,
        "My House",
        "House1",
        "House-1",
        "House\n",
        "Hôtel",
        "Ηouse",
        "[House]",
        "../House",
        "All",
        "all",
        "Root",
        "root",
    ],
)
def test_anything_else_is_none(name: str) -> None:
    """A name stands in messages as [NAME], in paths and in /stop NAME."""
    assert name_fault(name) is not None
