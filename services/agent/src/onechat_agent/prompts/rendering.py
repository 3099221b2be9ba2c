"""How messages, views and remarks look to a model. Pure; the same values give the same bytes.

The system prompt: system.py. The state block: state.py. A compaction's task: compaction.py.
"""

from collections.abc import Iterable
from typing import Final

from onechat_agent.domain.chat import Kind
from onechat_agent.prompts.prose import prose

ROLLED_OVER: Final = prose(
    """
    (This turn has grown long, so it goes on from a new view. Its messages stand above; the steps that you
    took in it are the last lines of the view. Zoom into what you need, and go on.)
    """
)
REPEATED: Final = prose(
    """
    (This is the third time that this call has had this result. It will not change by itself: do something
    else, or end the turn and say what is in the way.)
    """
)


def message_text(kind: Kind, text: str) -> str:
    """A message as the model reads it, `user: …`; lines and zooms show it so, too."""
    return f"{kind}: {text}"


def view_text(lines: Iterable[str]) -> str:
    """Lines `first+count|text`, oldest first, as a view."""
    return "\n".join(["<chat>", *lines, "</chat>"])
