"""Text that comes in pieces: a letter whose two halves fall into two of them must arrive whole. Pure."""

from onechat_agent.domain.text import clean


class PiecewiseText:
    """Joins pieces of a text whose cuts may fall between the halves of a surrogate pair."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, piece: str) -> str:
        """What is certain after `piece`: valid text; half a pair at its end is held back for the next."""
        text = self._held + piece
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return clean(text[: len(text) - len(self._held)])
