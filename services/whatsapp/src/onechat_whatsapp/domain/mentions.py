"""Mentions within a text: WhatsApp writes "@" and the digits of an id, and names the ids beside it. Pure.

The user's own mentions are own_number.py's. Names: names.py.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from onechat_whatsapp.domain.batch_wording import name_of
from onechat_whatsapp.domain.chat_ids import bare, user_of
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.name_search import folded
from onechat_whatsapp.domain.own_number import hidden

_MENTION: Final = re.compile(r"@(\d{5,25})", re.ASCII)
_AS_THE_USER: Final = re.compile(r"you\b")


def with_names(text: str, mentions: Iterable[str], own: Own, called: Callable[[str], str]) -> str:
    """`text` with "@" and a name for each mention of somebody else whom `called` has a name for.

    A name that would read as the user's own mention is left out, and its digits stay. Names come without the
    user's number: in one that is cut, what is left of it would not be known as such.
    """
    ids = {user_of(bare(mention)): mention for mention in mentions if not own.is_user(mention)}

    def named(found: re.Match[str]) -> str:
        mention = ids.get(found[1])
        name = "" if mention is None else name_of(hidden(called(mention), own))
        return f"@{name}" if name and not _AS_THE_USER.match(folded(name)) else found[0]

    return _MENTION.sub(named, text)
