"""A proposal as messages: the question, and what its last message becomes once it is answered. Pure.

All of it is shown letter by letter: as Markdown a part of what would run could be hidden. Whoever asks and
what would run is worded by the agent service. The buttons: callbacks.py.
"""

from dataclasses import replace
from typing import Final

from onechat_telegram.domain.callbacks import Question
from onechat_telegram.domain.pieces import TEXT_MAX, Piece, PieceKind, plain_pieces_of
from onechat_telegram.domain.utf16 import between_letters, fitting, units

OUTCOME_ROOM: Final = 2_400  # units that a question's last message leaves for how it ends

YES: Final = "✓ Yes, run it"
NO: Final = "✗ No"
_HOW: Final = "\n\n/yes {number} lets it run, /no {number} refuses it."
_STATES: Final = {
    "approved": "has your yes and is being run",
    "unknown": "was interrupted: it is not known whether it ran",
}
_MORE: Final = "\n… /proposals {number} shows all of it."


def question_pieces(question: Question, text: str) -> tuple[Piece, ...]:
    """What the owner is asked; the last has the buttons. `text` says who would run what."""
    *before, last = _parts(question, text)
    how = _HOW.format(number=question.number)
    return (*before, _of(question, PieceKind.QUESTION, last.text + how))


def outcome_piece(question: Question, text: str, agent: str, state: str, outcome: str) -> Piece:
    """What the message with the buttons becomes: what it showed, and how it went, or goes.

    `state` as the contract names it, in small letters. An outcome that has no room is cut, and says so.
    """
    shown = _parts(question, text)[-1].text
    said = f"{agent}'s proposal {question.number} {_STATES.get(state, f'is {state}')}."
    said = f"{said}\n{outcome}" if outcome else said
    room = TEXT_MAX - units(shown) - 2
    if units(said) > room:
        more = _MORE.format(number=question.number)
        said = said[: between_letters(said, fitting(said, room - units(more)))] + more
    return _of(question, PieceKind.OUTCOME, f"{shown}\n\n{said}")


def _parts(question: Question, text: str) -> tuple[Piece, ...]:
    """What is proposed, in order; the last leaves room for what is said below it, now and later."""
    *before, last = plain_pieces_of(f"Proposal {question.number}: {text}")
    return (*before, *plain_pieces_of(last.text, TEXT_MAX - OUTCOME_ROOM))


def _of(question: Question, kind: PieceKind, text: str) -> Piece:
    piece = Piece(text=text, entities=(), plain=text)
    return replace(piece, kind=kind, stream=question.stream, proposal=question.number)
