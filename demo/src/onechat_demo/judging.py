"""Whether a message of a group is meant for its agent, as the demo judges it: by names and a few words. Pure.

It is asked in JSON (`names`, `before`, `message`) and answers in the form that the request gives. Who is only
spoken about is not spoken to, so a name alone does not do.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from onechat_demo.refusals import JsonObject

FORM: Final = frozenset({"mentions", "command", "private"})  # what an answer says
OWN: Final = "you:"  # how the agent's own words begin among those before
_CALLS: Final = r"(?:hi|hello|hey|thanks|thank you|please|ok|okay|so|and)\b[\s,]{1,3}"
_COMMAND: Final = re.compile(
    r"\b(?:your status|clear (?:your|the) memory|forget everything)\b", re.IGNORECASE
)
_PRIVATE: Final = re.compile(r"\b(?:privately|in private|between us|only me|just me)\b", re.IGNORECASE)


def judges(schema: JsonObject) -> bool:
    """Whether `schema` is that of a judgement."""
    inside = schema.get("properties")
    return isinstance(inside, dict) and set(inside) == FORM


def judged(question: str) -> Mapping[str, bool]:
    """What the message in `question` is to the agent; nothing of it where it is no such question."""
    asked = _json(question)
    message = asked.get("message")
    text = message.strip() if isinstance(message, str) else ""
    before = _texts(asked.get("before"))
    goes_on = bool(before) and before[-1].startswith(OWN) and "?" in text
    mentions = goes_on or any(_speaks_to(name, text) for name in _texts(asked.get("names")))
    return {
        "mentions": mentions,
        "command": mentions and _COMMAND.search(text) is not None,
        "private": mentions and _PRIVATE.search(text) is not None,
    }


def _speaks_to(name: str, text: str) -> bool:
    """Whether `text` calls somebody by `name`: at its start or end, set off by a sign, or in a question."""
    bare = name.strip().strip("*")
    if not bare:
        return False
    named = rf"(?<!\w){re.escape(bare)}(?!\w)"
    first = rf"\W{{0,3}}(?:{_CALLS})?{named}\s{{0,3}}[,:!?]"
    last = rf"(?:[,:]\s{{0,3}}|\A{_CALLS}){named}\W{{0,3}}\Z"
    return (
        re.match(first, text, re.IGNORECASE) is not None
        or re.search(last, text, re.IGNORECASE) is not None
        or ("?" in text and re.search(named, text, re.IGNORECASE) is not None)
    )


def _json(text: str) -> JsonObject:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> Sequence[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
