"""What the tools of agents may not touch, by the settings, and working directories, which lie outside of it.

What a fence does: tools/fence.py. Which agent has which: seating.py.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from onechat_runtime.errors import StartRefused
from onechat_runtime.settings import read_dotenv

from onechat_agent.adapters.agent_folder import SETTINGS_FILE, AgentFolder
from onechat_agent.config import AgentSettings
from onechat_agent.tools.fence import Fence

_OURS: Final = ("OPENAI_", "TELEGRAM_", "ONECHAT_")  # whose _FILE variables name files with secrets


def fence(settings: AgentSettings) -> Fence:
    """What no tool may touch: every service's data, the tokens, .env, files that hold secrets."""
    dotenv = Path(".env")
    closed = [settings.data, dotenv, settings.token_file, settings.callers_file]
    closed += secret_files(read_dotenv(dotenv), os.environ)
    return Fence(
        closed=tuple(path.absolute() for path in closed if path is not None),
        agent_folders=(settings.agents_folder.absolute(),),
    )


def group_fence(settings: AgentSettings) -> Fence:
    """The same, and every agent's folder: what the user has told others is no affair of a group."""
    closed = fence(settings).closed
    return Fence(closed=(*closed, settings.agents_folder.absolute()))


def secret_files(*told: Mapping[str, str]) -> list[Path]:
    """The files that these variables name as holders of secrets, of this service or of another."""
    return [
        Path(value)
        for variables in told
        for name, value in variables.items()
        if value and name.startswith(_OURS) and name.endswith("_FILE")
    ]


def make_workdir(settings: AgentSettings, folder: AgentFolder) -> None:
    """The working directory, made where it is missing. Raises StartRefused."""
    workdir = folder.workdir or settings.workdir
    where = f"workdir in {folder.path / SETTINGS_FILE}" if folder.workdir else "ONECHAT_WORKDIR"
    try:
        workdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartRefused(
            f"The working directory {workdir} cannot be made: {error.strerror}. Set {where}."
        ) from None
    if fence(settings).refuses(workdir.resolve()):
        raise StartRefused(
            f"The working directory {workdir} lies in the services' data, which is closed to tools. "
            f"Set {where} to another folder."
        )
