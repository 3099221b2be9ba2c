"""The chats that there are: the contacts of the session, the groups of the account, the chats that were read.

Ids are WhatsApp's own here; as the agent sees them: finding.py. A person known by number and by LID is one
contact. Groups are asked of WhatsApp and kept an hour in memory. Seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_whatsapp.domain.chat_ids import LIDS, NUMBERS, ChatId, Jid, bare, is_group, is_person, server_of
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.name_search import ChatKind, NamedChat
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.errors import ChatUnknown, NotConnected, NotLinked
from onechat_whatsapp.wire.events import GroupRenamed, WireEvent
from onechat_whatsapp.wire.ports import SessionUnreadable, WhatsAppWire, WireGone

GROUPS_KEPT_S: Final = 3600.0
GROUPS_AGAIN_S: Final = 60.0  # before they are asked for anew, for a group that is not among them
ASK_S: Final = 10.0  # below the deadline of whoever looks for a name
NUMBER_AGAIN_S: Final = 60.0  # before a LID whose number was not known is looked up anew

HasHeard = Callable[[ChatId], bool]  #: whether messages of that chat were read
T = TypeVar("T")

log = logs.get("onechat_whatsapp.directory")


class Directory:
    """Whom one account can find and write to."""

    def __init__(
        self, wire: WhatsAppWire, has_heard: HasHeard, clock: Clock, *, ask_s: float = ASK_S
    ) -> None:
        """`ask_s`: how long the groups are waited for."""
        self._wire = wire
        self._ask_s = ask_s
        self._has_heard = has_heard
        self._clock = clock
        self._own: Own | None = None  #: whose groups and numbers are kept
        self._groups: dict[Jid, str] | None = None  #: names by id; None until they have come once
        self._groups_at = 0.0
        self._groups_not_before = 0.0
        self._asking = asyncio.Lock()
        self._numbers: dict[Jid, tuple[Jid, float]] = {}  #: of a LID, "" for none, and when it was looked up

    async def own(self) -> Own:
        """The account. What is kept of another one is forgotten. Raises NotLinked."""
        me = await self._wire.me()
        own = None if me is None else Own.of(me.number, me.lid)
        if own is None or (self._own is not None and own.number != self._own.number):
            self.forget()
        self._own = own
        if own is None:
            raise NotLinked
        return own

    async def profile_name(self) -> str:
        """What the user calls themselves; may be "". Raises NotLinked."""
        me = await self._wire.me()
        if me is None:
            raise NotLinked
        return me.push_name

    async def contacts(self) -> Mapping[Jid, Contact]:
        """All that the session knows, by id; a person may be there twice, and the user is there too."""
        return {Jid(row.id): row for row in await self._wire.contacts()}

    async def people(self, jids: Iterable[Jid], contacts: Mapping[Jid, Contact]) -> list[NamedChat]:
        """Who goes by `jids`, each person once, by number where that is known, with names from `contacts`.

        The user is left out, and what is no person.
        """
        own = await self.own()
        people: dict[Jid, list[Contact]] = {}
        for jid in jids:
            person = await self._person(jid)
            if is_person(person) and not own.is_user(person):
                rows = people.setdefault(person, [contacts[person]] if person in contacts else [])
                rows += [contacts[jid]] if jid != person and jid in contacts else []
        return [named(person, rows) for person, rows in people.items()]

    async def groups(self) -> list[NamedChat]:
        """The user's groups, as they were within the hour, or when WhatsApp could last be asked.

        Raises NotConnected.
        """
        names = await self._group_names(GROUPS_KEPT_S)
        return [
            NamedChat(id=jid, names=(name,) if name.strip() else (), kind=ChatKind.GROUP)
            for jid, name in names.items()
        ]

    async def hear(self, event: WireEvent) -> None:
        """Take from `event` what a group is called now: it was renamed, or the user joined it."""
        if isinstance(event, GroupRenamed) and self._groups is not None:
            self._groups[Jid(event.chat)] = event.name

    def forget(self) -> None:
        """Keep nothing of the account, whose link has ended."""
        self._own = self._groups = None
        self._groups_not_before = 0.0
        self._numbers.clear()

    async def address(self, written: str) -> Jid:
        """The chat that `written` is the id of.

        Raises NotLinked, ChatUnknown, and NotConnected where it can't be told.
        """
        own = await self.own()
        chat = own.meant(written)
        if chat is None:
            raise ChatUnknown
        if is_group(chat):
            await self._must_be_in(chat, own.shown(chat))
            return chat
        forms = await self.forms(chat)
        contacts = await self.contacts()
        known = any(form in contacts or self._has_heard(own.shown(form)) for form in forms)
        if not known or own.is_user(forms[0]):
            raise ChatUnknown
        return forms[0]

    async def forms(self, person: Jid) -> list[Jid]:
        """The ids that a person has, the one to go by first."""
        first = await self._person(person)
        lid = bare(await self._wire.lid_of(first)) if server_of(first) == NUMBERS else Jid("")
        return list(dict.fromkeys(form for form in (first, person, lid) if form))

    async def same_chat(self, one: str, other: str) -> bool:
        """Whether two ids, as they were written, are one chat's."""
        if one == other:
            return True
        try:
            own = await self.own()
            meant = [own.meant(written) for written in (one, other)]
            persons = [await self._person(chat) for chat in meant if chat is not None]
        except (NotLinked, SessionUnreadable):
            return False
        return len(persons) == len(meant) and persons[0] == persons[1]

    async def _must_be_in(self, group: Jid, shown: ChatId) -> None:
        """Raise ChatUnknown where the user is not in `group`."""
        for age_s in (GROUPS_KEPT_S, GROUPS_AGAIN_S):
            try:
                if group in await self._group_names(age_s):
                    return
            except NotConnected:
                if await self._wire.is_online() and self._has_heard(shown):
                    return  # WhatsApp gives no list just now; its messages were read
                raise
        raise ChatUnknown

    async def _group_names(self, age_s: float) -> dict[Jid, str]:
        async with self._asking:
            if self._groups is None or self._clock.monotonic() - self._groups_at >= age_s:
                await self._ask_for_groups()
            if self._groups is None:
                raise NotConnected
            return self._groups

    async def _ask_for_groups(self) -> None:
        """Keep the groups that WhatsApp gives; the old ones where it gives none."""
        if self._clock.monotonic() < self._groups_not_before:
            return
        try:
            rows = await _within(self._ask_s, self._wire.groups())
        except WireGone:
            log.info("groups_not_had", kept=self._groups is not None)
        except TimeoutError:
            # Who waits for this one would wait as long again.
            self._groups_not_before = self._clock.monotonic() + GROUPS_AGAIN_S
            log.warning("groups_late", kept=self._groups is not None)
        else:
            self._groups = {Jid(row.id): row.name for row in rows if is_group(row.id)}
            self._groups_at = self._clock.monotonic()

    async def _person(self, jid: Jid) -> Jid:
        """`jid`, a LID as the number where that is known."""
        if server_of(jid) != LIDS:
            return jid
        number, at = self._numbers.get(jid, (Jid(""), -NUMBER_AGAIN_S))
        now = self._clock.monotonic()
        if not number and now - at >= NUMBER_AGAIN_S:
            number = bare(await self._wire.number_of(jid))
            self._numbers[jid] = (number, now)
        return number or jid


async def _within(seconds: float, asked: Awaitable[T]) -> T:
    async with asyncio.timeout(seconds):
        return await asked


def named(jid: Jid, rows: Sequence[Contact]) -> NamedChat:
    """The contact of all `rows`, going by the name in the user's address book, else by one that it has given
    itself."""
    names = [
        *(row.full_name for row in rows),
        *(row.first_name for row in rows),
        *(row.business_name for row in rows),
        *(row.push_name for row in rows),
    ]
    kept = tuple(dict.fromkeys(name for name in names if name.strip()))
    return NamedChat(id=jid, names=kept, kind=ChatKind.CONTACT)
