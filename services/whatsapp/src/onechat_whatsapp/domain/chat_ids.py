"""Ids of WhatsApp's chats and people, and the same as the agent sees them. Built and parsed here alone.

WhatsApp's id is a JID without its device: "15550002222@s.whatsapp.net" (a person by number),
"111222333444@lid" (a person by the id that hides the number), "120363000000000001@g.us" (a group). An older
group carries its founder's number: "15550002222-1500000000@g.us". If the founder is the user, the agent sees
"OWN-1500000000@g.us". Who is the user, and who is the same person: identities.py.
"""

import re
from collections.abc import Sequence
from typing import Final, NewType

Jid = NewType("Jid", str)  # as WhatsApp has it, without device
ChatId = NewType("ChatId", str)  # as the agent sees it, and gives it back

NUMBERS: Final = "s.whatsapp.net"
LIDS: Final = "lid"
GROUPS: Final = "g.us"
LISTS: Final = "broadcast"
OWN: Final = "OWN"

# A business that runs on Meta's own machines writes from these; it is the same person.
_SAME_SERVER: Final = {"c.us": NUMBERS, "hosted": NUMBERS, "hosted.lid": LIDS}
_PERSON: Final = re.compile(r"[1-9]\d{4,19}", re.ASCII)
_GROUP: Final = re.compile(r"\d{5,25}(-\d{1,20})?", re.ASCII)
_OWN_GROUP: Final = re.compile(rf"{OWN}(\d?)-(\d{{1,20}})", re.ASCII)


def jid(user: str, server: str) -> Jid:
    """The id of `user` on `server`, without the device that either may name; empty for an empty one."""
    bare = re.split(r"[:.]", user, maxsplit=1)[0]
    return Jid(f"{bare}@{_SAME_SERVER.get(server, server)}" if bare and server else "")


def bare(text: str) -> Jid:
    """`text`, which may name a device ("15550001111:7@s.whatsapp.net"), without it."""
    user, _, server = text.partition("@")
    return jid(user, server)


def user_of(jid: str) -> str:
    """What stands before the "@": of a person, the digits of the number or the LID."""
    return jid.partition("@")[0]


def server_of(jid: str) -> str:
    """What stands behind the "@"."""
    return jid.partition("@")[2]


def is_group(jid: str) -> bool:
    """Whether it is a group's."""
    return server_of(jid) == GROUPS


def is_person(jid: str) -> bool:
    """Whether it is a person's, by number or by LID."""
    return server_of(jid) in (NUMBERS, LIDS) and _PERSON.fullmatch(user_of(jid)) is not None


def shown(jid: Jid, own_numbers: Sequence[str]) -> ChatId:
    """`jid` as the agent sees it. `own_numbers`: the user's, in digits, in each form that WhatsApp may use.

    The first of them shows as OWN, the others as OWN1, OWN2, …, so that `meant` finds the id again.
    """
    founder, dash, rest = user_of(jid).partition("-")
    if not (is_group(jid) and dash and founder in own_numbers):
        return ChatId(jid)
    return ChatId(f"{OWN}{own_numbers.index(founder) or ''}-{rest}@{GROUPS}")


def meant(chat: str, own_numbers: Sequence[str]) -> Jid | None:
    """The id of WhatsApp's that `chat` stands for; None for what is no id as `shown` gives it."""
    written = chat.strip()
    if is_person(written):
        return Jid(written)
    if not is_group(written):
        return None
    user = user_of(written)
    if own := _OWN_GROUP.fullmatch(user):
        place = int(own[1] or 0)
        return Jid(f"{own_numbers[place]}-{own[2]}@{GROUPS}") if place < len(own_numbers) else None
    return Jid(written) if _GROUP.fullmatch(user) else None
