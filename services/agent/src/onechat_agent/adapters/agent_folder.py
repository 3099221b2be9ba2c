"""What a person may read and edit of an agent: agents/NAME/agent.toml and instructions.md.

agent.toml holds the agent's random id, and what differs from the service's settings. Files are 0600, folders
0700.
"""

import os
import re
import secrets
import stat
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import tomli_w
from onechat_runtime.errors import StartRefused

from onechat_agent.domain.agent import AREA_MAX, is_name
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.consent import GROUP_MAY, OUTSIDE_MAY
from onechat_agent.domain.limits import Limits

SETTINGS_FILE: Final = "agent.toml"
INSTRUCTIONS_FILE: Final = "instructions.md"
SETTINGS_MAX: Final = 1_000_000  #: bytes of a file that can be used
_ID: Final = re.compile(r"(?!(?:root|user)\Z)[A-Za-z0-9_-]{1,64}")  # a log's too; those mean others
_TEXTS: Final = ("model", "effort", "workdir", "area")
_OF_GROUPS: Final = {"source", "tools"}
_GROUP_TOOLS: Final = (
    f"# Tools that it has beside zoom and date: some of {', '.join(sorted(GROUP_MAY))}. Whoever writes in\n"
    "# the group can have it use them: read shows them any file that this service may read, and the others\n"
    "# wait for your yes, if they are not in outside too.\n"
    "#tools = []\n"
)
_BESIDE: Final = re.compile(r"\.[A-Za-z]+[0-9]*-[0-9a-f]{8}")  # a folder that was never finished


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFolder:
    """One agent's folder, read."""

    path: Path
    id: AgentId
    area: str = ""
    model: str | None = None  #: None: the service's setting
    effort: str | None = None
    workdir: Path | None = None
    limits: Limits = field(default_factory=Limits)
    outside: tuple[str, ...] = ()  #: what its turns may do that the user does not stand behind
    source: str = ""  #: of the group that it is of; only a group's has one
    tools: tuple[str, ...] = ()  #: of a group's: what it has beside those of every group

    @property
    def instructions(self) -> Path:
        """The file of the user's wishes; it need not be there."""
        return self.path / INSTRUCTIONS_FILE

    @property
    def protected(self) -> tuple[Path, ...]:
        """Files whose change needs the user's consent."""
        return (self.path / SETTINGS_FILE, self.instructions)


def make_root(agents: Path) -> None:
    """Makes the agents folder itself."""
    try:
        agents.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartRefused(f"{agents} cannot be made: {error.strerror}. Set ONECHAT_AGENTS.") from None


def make(
    agents: Path,
    name: str,
    agent: AgentId,
    *,
    area: str = "",
    source: str = "",
    like: AgentFolder | None = None,
) -> None:
    """Makes agents/NAME whole in one step: written beside, synced, renamed. One that is there stays.

    It has the model, effort and working directory of `like`. `source`: of the group that it is of.
    Raises StartRefused where it cannot be made, or belongs to another agent.
    """
    target = agents / name
    if target.exists():
        if read(target).id != agent:
            raise StartRefused(f"{target} is another agent's folder. Take it away and start again.")
        return
    beside = agents / f".{name}-{secrets.token_hex(4)}"
    try:
        beside.mkdir(mode=0o700)
        settings = beside / SETTINGS_FILE
        with os.fdopen(os.open(settings, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_settings_text(agent, area, like, source).encode())
            file.flush()
            os.fsync(file.fileno())
        _sync(beside)
        beside.rename(target)
        _sync(agents)
    except OSError as error:
        raise StartRefused(
            f"{target} cannot be made: {error.strerror}. Give this user write access to {agents}, "
            "or set ONECHAT_AGENTS."
        ) from None


def _settings_text(agent: AgentId, area: str, like: AgentFolder | None, source: str) -> str:
    """agent.toml: what is set, and as comments what else may stand in it, with what holds without it."""
    own = {"model": like and like.model, "effort": like and like.effort, "workdir": like and like.workdir}
    lines = (tomli_w.dumps({key: str(value)}) if value else f'#{key} = ""\n' for key, value in own.items())
    limits = (f"#{field.name} = {field.default}\n" for field in fields(Limits))
    return (
        tomli_w.dumps(
            {"id": agent} | ({"area": area} if area else {}) | ({"source": source} if source else {})
        )
        + f"\n# The {'id and the source stay as they are' if source else 'id stays as it is'}. "
        "What follows is for this agent alone, from the next start on.\n"
        "# In the place of ONECHAT_MODEL, ONECHAT_EFFORT and ONECHAT_WORKDIR:\n"
        + "".join(lines)
        + (_GROUP_TOOLS if source else "")
        + f"# Tools that it may use for others without your yes: some of {', '.join(sorted(OUTSIDE_MAY))}.\n"
        "#outside = []\n"
        "\n#[limits]\n" + "".join(limits)
    )


def all_in(agents: Path, called: Callable[[str], bool] = is_name) -> list[Path]:
    """The folders of agents that are `called` so, by name.

    Whatever else lies there, such as a lost+found, is no agent's. What a start that was killed had not
    finished is cleared away. Raises StartRefused.
    """
    try:
        there = sorted(agents.iterdir())
    except OSError as error:
        raise StartRefused(f"{agents} cannot be read: {error.strerror}. Mend it and start again.") from None
    for path in there:
        if _BESIDE.fullmatch(path.name):
            with suppress(OSError):
                (path / SETTINGS_FILE).unlink(missing_ok=True)
                path.rmdir()
    # A link that leads nowhere is a folder that did not come up, not one that was taken away.
    return [path for path in there if called(path.name) and (path.is_dir() or path.is_symlink())]


def astray(agents: Path) -> dict[AgentId, str]:
    """The ids in whole agent.toml files of folders that no agent can be called like, with their names."""
    found: dict[AgentId, str] = {}
    for path in agents.iterdir():
        if not is_name(path.name) and (path / SETTINGS_FILE).is_file():
            with suppress(StartRefused):
                found[read(path).id] = path.name
    return found


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(agents: Path, old: str, new: str, agent: AgentId) -> None:
    """Gives the folder of `agent` its new name; one that has it stays. StartRefused where that cannot be."""
    if not agents.is_dir():
        raise StartRefused(f"{agents} is missing. Mount or restore it and start again; nothing was changed.")
    if (agents / new).exists():
        if read(agents / new).id != agent:
            raise StartRefused(f"{agents / new} is another agent's folder. Choose another name for {old}.")
        return
    if (agents / old).exists():
        try:
            (agents / old).rename(agents / new)
            _sync(agents)
        except OSError as error:
            raise StartRefused(f"{agents / old} cannot be renamed to {new}: {error.strerror}.") from None


def read(path: Path) -> AgentFolder:
    """The folder at `path`. Raises StartRefused, naming the file, when agent.toml cannot be used."""
    file = path / SETTINGS_FILE
    try:
        return _folder(path, tomllib.loads(_settings_in(file)))
    except FileNotFoundError:
        raise StartRefused(
            f"{file} is missing. Put it back, or restore the folder from a backup; nothing was changed."
        ) from None
    except RecursionError:
        raise StartRefused(
            f"{file} cannot be used: its brackets never end. Mend it and start again."
        ) from None
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}. Mend it and start again.") from None
    except ValueError as error:
        raise StartRefused(f"{file} cannot be used: {error}. Mend it and start again.") from None


def _settings_in(file: Path) -> str:
    # Not blocking: nobody may ever write to a pipe.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise ValueError("it is no plain file")
        content = opened.read(SETTINGS_MAX + 1)
    if len(content) > SETTINGS_MAX:
        raise ValueError(f"it has more than {SETTINGS_MAX:,} bytes")
    return content.decode()


def _folder(path: Path, table: Mapping[str, Any]) -> AgentFolder:
    unknown = set(table) - {"id", "limits", "outside", *_TEXTS} - (_OF_GROUPS if "source" in table else set())
    if unknown:
        raise ValueError(f"it has no setting {', '.join(sorted(unknown))}")
    for name in ("id", "source", *_TEXTS):
        if not isinstance(table.get(name, ""), str):
            raise ValueError(f"{name} must be a text in quotes")
        if "\0" in table.get(name, ""):
            raise ValueError(f"{name} holds a character that is none")
    if not _ID.fullmatch(table.get("id", "")):
        raise ValueError("id is missing, or is not 1 to 64 of a-z, A-Z, 0-9, - and _, or is root or user")
    if len(table.get("area", "")) > AREA_MAX:
        raise ValueError(f"area has more than {AREA_MAX:,} characters")
    return AgentFolder(
        path=path,
        id=AgentId(table["id"]),
        area=table.get("area", ""),
        model=table.get("model") or None,
        effort=table.get("effort") or None,
        workdir=Path(table["workdir"]) if table.get("workdir") else None,
        limits=_limits(table.get("limits", {})),
        outside=_names(table, "outside", OUTSIDE_MAY),
        source=table.get("source", ""),
        tools=_names(table, "tools", GROUP_MAY),
    )


def _names(table: Mapping[str, Any], setting: str, known: frozenset[str]) -> tuple[str, ...]:
    """The tools that a setting lists. Raises ValueError."""
    named = table.get(setting, [])
    if not isinstance(named, list) or not set(map(str, named)) <= known:
        raise ValueError(f"{setting} is a list of some of {', '.join(sorted(known))}")
    return tuple(named)


def _limits(table: object) -> Limits:
    names = {field.name for field in fields(Limits)}
    if not isinstance(table, dict) or not set(table) <= names:
        raise ValueError(f"[limits] holds some of {', '.join(sorted(names))}")
    for name, value in table.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"limits.{name} must be a whole number of at least 1")
    return Limits(**table)
