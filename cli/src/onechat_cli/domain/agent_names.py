"""Agents by the names that people know them by. Where the names come from: commands/agent_names.py."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from onechat_cli.domain.safe_text import one_line

Names: TypeAlias = Mapping[str, str]
"""The agents' names by their ids."""

_CELL: Final = 40  # characters


def agent_name(agent: str, names: Names) -> str:
    """The agent's name in one line; its id where the name is not known."""
    return one_line(names.get(agent) or agent, _CELL)
