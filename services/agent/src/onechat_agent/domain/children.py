"""What comes of making a child, and what a start makes of the children and the folders that there are. Pure.

An agent is known by its id, whatever its folder is called. How it is carried out: children.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from onechat_agent.domain.agent import Agent, AgentState, name_fault
from onechat_agent.domain.chat import AgentId


class Contradiction(Exception):
    """Rows and folders that cannot both be true; the text names a folder and says what to do."""


class ChildRefused(Exception):
    """A child cannot be made like that; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChild:
    """A child that was made."""

    id: AgentId
    name: str
    ready: bool  #: whether its log and its folder are there; else that is still being done


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A child's folder."""

    name: str
    id: AgentId
    area: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is to be done, in this order."""

    removed: tuple[Agent, ...]  #: whose folder was taken away
    known: tuple[Folder, ...]  #: of rows, which take name and area from the folder
    adopted: tuple[Folder, ...]  #: without a row, or of one that was removed before
    unfinished: tuple[Agent, ...]  #: whose folder is still to be made


def opening(
    rows: Sequence[Agent],
    others: Sequence[Agent],
    folders: Sequence[Folder],
    astray: Mapping[AgentId, str] = MappingProxyType({}),
    *,
    fault: Callable[[str], str | None] = name_fault,
) -> Opening:
    """What becomes of `rows`, the children that are not removed, and of `folders`, all but the root's.

    Groups' agents come about alike. `others`: all agents that are no children. `fault`: why one of them
    cannot have a name. `astray`: ids in folders that no agent can be called like, with the folders' names.
    Raises Contradiction where a person must settle it; then nothing is to be done.
    """
    found = _by_id(folders)
    by_name = {folder.name: folder for folder in folders}
    gone = [row for row in rows if row.id not in found]
    for row in gone:
        if row.name in by_name:
            raise Contradiction(
                f"{row.name} holds another id than {row.name}'s. Put the old id back; or, if it is to be a "
                "new agent, take the folder away, start once without it, and put it back"
            )
        if row.id in astray:
            raise Contradiction(
                f"{astray[row.id]} is {row.name}'s folder, and no agent can be called so. Give it a name of "
                f"letters, a capital first; or, if {row.name} is to go, move it to another place"
            )
    known = {row.id for row in rows}
    unfinished = tuple(row for row in gone if row.state is AgentState.CREATING)
    _want_free_names(folders, [*others, *unfinished], fault)
    return Opening(
        removed=tuple(row for row in gone if row.state is not AgentState.CREATING),
        known=tuple(folder for folder in folders if folder.id in known),
        adopted=tuple(folder for folder in folders if folder.id not in known),
        unfinished=unfinished,
    )


def _by_id(folders: Sequence[Folder]) -> Mapping[AgentId, Folder]:
    found: dict[AgentId, Folder] = {}
    for folder in folders:
        if folder.id in found:
            raise Contradiction(
                f"{folder.name} holds the same id as {found[folder.id].name}. "
                "Take one of them away, or give one another id"
            )
        found[folder.id] = folder
    return found


def _want_free_names(
    folders: Sequence[Folder], others: Sequence[Agent], fault: Callable[[str], str | None]
) -> None:
    """Each folder's name and id are its own, in any case of letters."""
    taken = {other.name.casefold(): other.name for other in others}
    ids = {other.id: other.name for other in others}
    for folder in folders:
        if folder.id in ids:
            raise Contradiction(f"{folder.name} holds the id of {ids[folder.id]}. Give it another one")
        if (why := fault(folder.name)) is not None:
            raise Contradiction(f"{folder.name} cannot be an agent's: {why} Rename or move the folder")
        if (holder := taken.get(folder.name.casefold())) is not None:
            raise Contradiction(f"{folder.name} has the same name as {holder}. Rename or move the folder")
        taken[folder.name.casefold()] = folder.name
