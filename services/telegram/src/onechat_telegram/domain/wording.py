"""How a message of the owner is worded for the agent, and what the gateway itself says to people.

Other people's words stand under a line that names them, each line marked `| `: only unmarked lines are the
user's.
"""

from datetime import UTC, datetime
from typing import Final

from onechat_telegram.domain.updates import Quote, Written

QUOTED_MAX: Final = 1000  # letters of what a message replies to; the agent remembers the rest itself

REPEAT_MARK: Final = "\n(perhaps a repeat)"
WELCOME: Final = "This chat is yours now. Write anything; /help shows the commands."
ALREADY_YOURS: Final = "This is your chat. Write anything; /help shows the commands."
NOT_FOR_YOU: Final = "Sorry, this is a private bot: it answers its owner only."
NO_OWNER_YET: Final = (
    "This bot has no owner yet. Send /start CODE with the code that `onechat status` shows on its machine."
)
MISSED: Final = "Some older replies are no longer kept and cannot be shown here."
ANOTHER_STORE: Final = "The agent's store is another one now: what it said before now is not shown here."

ASKED: Final = "Proposal {number}: {text}\n\n/yes {number} lets it run, /no {number} refuses it."
ANSWERED: Final = "{agent}'s proposal {number} is {state}."
_ENDS: Final = {"unknown": "interrupted: it is not known whether it ran"}


def asked(number: int, text: str) -> str:
    """What the owner is asked; `text` says who would run what."""
    return ASKED.format(number=number, text=text)


def answered(number: int, agent: str, state: str, outcome: str) -> str:
    """How a proposal ended; `state` as the contract names it, in small letters."""
    said = ANSWERED.format(agent=agent, number=number, state=_ENDS.get(state, state))
    return f"{said}\n{outcome}" if outcome else said


def for_agent(written: Written) -> str:
    """The text that the agent gets for `written`."""
    text = whole_letters(written.text)
    parts = []
    if written.edit_date is not None:
        sent = datetime.fromtimestamp(written.date, UTC)
        parts.append(f"[edited; replaces what I wrote on {sent:%Y-%m-%d at %H:%M:%S} UTC]")
    if written.answers is not None:
        parts.append(_answering(written.answers))
    if written.forwarded is not None:
        author = written.forwarded.author
        parts.append(f"Forwarded{', written by ' + one_line(author) if author else ''}:\n{marked(text)}")
    else:
        parts.append(text)
    return "\n".join(parts)


def not_read(kind: str) -> str:
    """What is said to a message of a kind that is not read yet; `kind` is plural."""
    return f"{kind} are not read yet: please write it as text."


def whole_letters(text: str) -> str:
    """`text` with halves of letters joined where they belong together, else replaced; JSON may hold such."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def marked(text: str) -> str:
    """`text` as somebody else's: a mark before every line, whatever ends a line."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def one_line(text: str) -> str:
    """`text` with whatever ends a line turned into blanks."""
    return " ".join(whole_letters(text).split())


def _answering(quote: Quote) -> str:
    whole = whole_letters(quote.text)
    shown = whole if len(whole) <= QUOTED_MAX else whole[:QUOTED_MAX] + "…"
    whose = "you" if quote.from_bot else one_line(quote.author) or "somebody"
    return f"In reply to what {whose} wrote:\n{marked(shown)}"
