"""What people and groups are called, as far as the session tells. Pure.

A person may be in the session by number and by LID, with other names in each. Names are others' choice: how
one is made harmless within a line is batch_wording.py's. Finding by a name: name_search.py.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onechat_whatsapp.domain.chat_ids import LIDS, Jid, bare, server_of, user_of
from onechat_whatsapp.domain.identities import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person that the session knows, by one id. One person may have two: one by number, one by LID. The
    user's own entry is among them. Names come from the phone some minutes after the link; until then they
    are ""."""

    id: str  #: by number or LID
    full_name: str  #: as it is written in the user's address book
    first_name: str  #: likewise
    push_name: str  #: what the person calls themselves
    business_name: str  #: of a business that WhatsApp has checked


class Names:
    """The names of people and groups, at one time."""

    def __init__(self, people: People, contacts: Iterable[Contact] = ()) -> None:
        self._people = people
        self._contacts = {bare(contact.id): contact for contact in contacts}
        self._groups: dict[Jid, str] = {}

    def with_contacts(self, contacts: Iterable[Contact]) -> "Names":
        """The same with `contacts` in place of those that were there."""
        names = Names(self._people, contacts)
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
        contacts = list(self._contacts_of(jid))
        given = [contact.full_name or contact.first_name for contact in contacts]
        checked = [contact.business_name for contact in contacts]
        own = [push_name, *(contact.push_name for contact in contacts)]
        return next((name.strip() for name in [*given, *checked, *own] if name.strip()), "")

    def of_sender(self, jid: str, push_name: str = "") -> str:
        """What `jid` is called, else the number with its "+", else the id."""
        person = self._people.person(jid)
        unnamed = person if server_of(person) == LIDS else f"+{user_of(person)}"
        return self.of_person(person, push_name) or unnamed

    def _contacts_of(self, jid: str) -> Iterator[Contact]:
        person = self._people.person(jid)
        for known in (person, self._people.by_lid(person)):
            if known in self._contacts:
                yield self._contacts[known]
