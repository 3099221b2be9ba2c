"""What people and groups are called, as far as the session tells. Pure.

A person may be in the session by number and by LID, with other names in each. Names are others' choice: how
one is made harmless within a line is batch_wording.py's. Finding by a name: name_search.py.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onechat_whatsapp.domain.chat_ids import LIDS, Jid, server_of, user_of
from onechat_whatsapp.domain.identities import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the session has under one id; each name may be empty."""

    id: Jid
    full_name: str  #: as it is written in the user's address book
    first_name: str  #: likewise
    business_name: str  #: of a business that WhatsApp has checked
    push_name: str  #: what the person calls themselves


class Names:
    """The names of people and groups, at one time."""

    def __init__(self, people: People, cards: Iterable[Card] = ()) -> None:
        self._people = people
        self._cards = {card.id: card for card in cards}
        self._groups: dict[Jid, str] = {}

    def with_cards(self, cards: Iterable[Card]) -> "Names":
        """The same with `cards` in place of those that were there."""
        names = Names(self._people, cards)
        names._groups = self._groups
        return names

    def call_group(self, group: Jid, name: str) -> None:
        """Note what a group is called now."""
        self._groups[group] = name

    def of_group(self, group: Jid) -> str:
        """What `group` is called; empty where it is not known."""
        return self._groups.get(group, "")

    def of_person(self, jid: str, push_name: str = "") -> str:
        """What `jid` is called: by the user, else by WhatsApp, else by themselves; empty if unknown.

        `push_name` is what they call themselves now; the session's may be older.
        """
        cards = list(self._cards_of(jid))
        given = [card.full_name or card.first_name for card in cards]
        checked = [card.business_name for card in cards]
        own = [push_name, *(card.push_name for card in cards)]
        return next((name.strip() for name in [*given, *checked, *own] if name.strip()), "")

    def of_sender(self, jid: str, push_name: str = "") -> str:
        """What `jid` is called, else the number with its "+", else the id."""
        person = self._people.person(jid)
        unnamed = person if server_of(person) == LIDS else f"+{user_of(person)}"
        return self.of_person(person, push_name) or unnamed

    def _cards_of(self, jid: str) -> Iterator[Card]:
        person = self._people.person(jid)
        for known in (person, self._people.by_lid(person)):
            if known in self._cards:
                yield self._cards[known]
