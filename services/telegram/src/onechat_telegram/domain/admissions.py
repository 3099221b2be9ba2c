"""What the owner is asked and told about groups, as messages. All of it is shown letter by letter. Pure.

Who may ask, and what an answer does: groups/admission.py. The buttons: callbacks.py.
"""

from dataclasses import replace
from typing import Final

from onechat_telegram.domain.callbacks import about_group
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.pieces import Piece, PieceKind
from onechat_telegram.domain.utf16 import between_letters, fitting
from onechat_telegram.domain.wording import one_line

TITLE_MAX: Final = 200  # units of a title; Telegram's have 128 letters

YES: Final = "✓ Yes, serve it"
_ASKED: Final = (
    'I was added to the group "{title}". Shall I serve it? Its agent has a memory of its own, which its'
    " members share; nothing of this chat reaches it."
)
_YES: Final = 'I serve the group "{title}" now.'
_NO: Final = 'I have left the group "{title}".'
GONE: Final = "I am in that group no more. To have me there, add me anew."


def question_piece(chat: ChatId, title: str) -> Piece:
    """Whether the group shall be served, with its buttons."""
    return _piece(PieceKind.QUESTION, chat, _ASKED.format(title=_shown(title)))


def outcome_piece(chat: ChatId, said: str) -> Piece:
    """What the question's message becomes."""
    return _piece(PieceKind.OUTCOME, chat, said)


def answered(title: str, *, served: bool) -> str:
    """What became of a group."""
    return (_YES if served else _NO).format(title=_shown(title))


def _shown(title: str) -> str:
    line = one_line(title)
    return line[: between_letters(line, fitting(line, TITLE_MAX))]


def _piece(kind: PieceKind, chat: ChatId, text: str) -> Piece:
    question = about_group(chat)
    piece = Piece(text=text, entities=(), plain=text)
    return replace(piece, kind=kind, stream=question.stream, proposal=question.number)
