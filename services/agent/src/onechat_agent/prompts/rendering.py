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


NOT_A_PICTURE: Final = "no stored picture has such a name"
NOT_STORED: Final = "it is not stored, or its file is damaged"
NOT_GIVEN: Final = "the memory service could not give it"


def not_shown(image: str, why: str) -> str:
    """The line on a picture that cannot be shown; `why` is a clause."""
    return f"({image} cannot be shown: {why}.)"


def shown_elsewhere(image: str) -> str:
    """The line on a picture that comes a second time."""
    return f"({image} stands with another message of this turn.)"


def beyond_the_newest(image: str, message: int | None, log_name: str = "") -> str:
    """The line on a new picture that is one too many for its turn; `message` is its message's number.

    `log_name`: by which name the message's log is zoomed, where that is not the one of the view.
    """
    named = f"name {log_name}, " if log_name else ""
    how = "Zoom its message with n 1" if message is None else f"Zoom with {named}id {message} and n 1"
    return f"({image} is not shown, since a turn shows its 8 newest pictures at once. {how} to see it.)"


def too_many(image: str) -> str:
    """The line on a picture for which a call has no room."""
    return f"({image} is not shown: there are too many pictures in this turn. Zoom it in a later one.)"
