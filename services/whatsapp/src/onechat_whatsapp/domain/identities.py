"""Who is the user, and which ids are the same person's. Pure.

WhatsApp knows an account by its phone number and by its LID, an id that hides the number, and may name it by
either. The number's form is the one that is shown once it is known. Ids: chat_ids.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from onechat_whatsapp.domain.chat_ids import (
    LIDS,
    NUMBERS,
    ChatId,
    Jid,
    bare,
    meant,
    server_of,
    shown,
    user_of,
)
from onechat_whatsapp.domain.number_forms import international_forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The account that is linked: the user."""

    number: str  #: digits, international form
    lid: str  #: digits; empty while WhatsApp has given none

    @classmethod
    def of(cls, number: str, lid: str) -> "Own":
        """From ids, which may name a device; `lid` may be empty."""
        return cls(number=user_of(bare(number)), lid=user_of(bare(lid)))

    def is_user(self, jid: str) -> bool:
        """Whether `jid` names the user, with or without a device."""
        user = user_of(bare(jid))
        return bool(user) and (user == self.lid or user in self.numbers)

    @property
    def numbers(self) -> Sequence[str]:
        """The number in each form in which WhatsApp may carry it, its own form first."""
        return international_forms(self.number)

    def shown(self, jid: Jid) -> ChatId:
        """`jid` as the agent sees it."""
        return shown(jid, self.numbers)

    def meant(self, chat: str) -> Jid | None:
        """The id of WhatsApp's for one that the agent gives; None for no such id, or the user's own chat."""
        found = meant(chat, self.numbers)
        return None if found is None or self.is_user(found) else found


class People:
    """Which LID is whose number, as far as it is known.

    A LID stays with its account; a number may come to another one, and is then of the later.
    """

    def __init__(self) -> None:
        self._number: dict[str, str] = {}  # of a LID's digits
        self._lid: dict[str, str] = {}  # of a number's digits

    def learn(self, one: str, other: str) -> None:
        """Note that both ids are the same person's. Anything but a number and a LID tells nothing."""
        pair = {server_of(each): user_of(each) for each in (bare(one), bare(other))}
        number, lid = pair.get(NUMBERS, ""), pair.get(LIDS, "")
        if not number or not lid or self._number.get(lid) == number:
            return
        self._number.pop(self._lid.pop(number, ""), None)
        self._lid.pop(self._number.pop(lid, ""), None)
        self._number[lid], self._lid[number] = number, lid

    def person(self, jid: str) -> Jid:
        """The one id that stands for whoever `jid` names: by number, once that is known."""
        known = bare(jid)
        number = self._number.get(user_of(known)) if server_of(known) == LIDS else None
        return known if number is None else Jid(f"{number}@{NUMBERS}")

    def by_lid(self, jid: str) -> Jid:
        """The same person by LID; empty where that is not known."""
        known = bare(jid)
        if server_of(known) == LIDS:
            return known
        lid = self._lid.get(user_of(known)) if server_of(known) == NUMBERS else None
        return Jid("" if lid is None else f"{lid}@{LIDS}")
