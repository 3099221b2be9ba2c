"""Finding chats by name, and the account's contacts, as the agent may see them: without the user's number.

Whom there is to find: directory.py; what fits a name: domain/name_search.py.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from onechat_runtime.clock import Clock

from onechat_whatsapp.directory import Directory, named
from onechat_whatsapp.domain.chat_ids import Jid, is_group
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.name_search import FOUND_MAX, NamedChat, found, shown_name
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.domain.own_number import hidden
from onechat_whatsapp.errors import NamesNotReady, NotConnected

READY_AFTER: Final = timedelta(minutes=30)  # of a link; an address book without a name is then taken as such
NO_GROUPS: Final = (
    "WhatsApp is not connected and has not given the groups yet, so they cannot be looked through. "
)
_SOON: Final = "It is connected again by itself: try later for a group."

LinkedSince = Callable[[], datetime | None]  #: since when an account is linked, as far as that is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of the chats that fit."""

    chats: tuple[NamedChat, ...]
    more: bool  #: whether others fit that come after them
    groups_missing: str = ""  #: why no group could be looked through, a sentence; "" where they were


class Finding:
    """Looks through the directory."""

    def __init__(
        self,
        directory: Directory,
        linked_since: LinkedSince,
        clock: Clock,
        *,
        trouble: Callable[[], str] = lambda: "",
    ) -> None:
        """`trouble`: what is wrong with the link and what to do, "" for nothing that is known."""
        self._directory = directory
        self._linked_since = linked_since
        self._clock = clock
        self._trouble = trouble

    async def find(self, asked: str, *, start: int = 0, count: int = FOUND_MAX) -> Page:
        """The chats whose name holds `asked`, or the one whose id or number it is; the likeliest first.

        `count` of them from `start` on; people alone where the groups have never come. Raises NotLinked,
        NamesNotReady.
        """
        own = await self._directory.own()
        chat = own.meant(asked)
        if chat is not None:
            chats, groups_missing = await self._by_id(chat), ""
        else:
            chats, groups_missing = await self._by_name(asked)
        page = _page(chats[start : start + count], own, more=len(chats) > start + count)
        return replace(page, groups_missing=groups_missing)

    async def contacts(self, *, after: str = "", count: int) -> Page:
        """Each person that the session knows a name of, in order of their ids, `count` of them after one.

        Raises NotLinked.
        """
        own = await self._directory.own()
        contacts = await self._directory.contacts()
        people = await self._directory.people(contacts, contacts)
        rest = sorted((each for each in people if each.names and each.id > after), key=lambda each: each.id)
        return _page(rest[:count], own, more=len(rest) > count)

    async def _by_name(self, asked: str) -> tuple[list[NamedChat], str]:
        """The chats, and why groups are not among them."""
        contacts = await self._directory.contacts()
        if not self._ready(contacts.values()):
            raise NamesNotReady
        # In a thread: thousands of names take some hundredths of a second, in which others must be served.
        fit = await asyncio.to_thread(found, (named(jid, [row]) for jid, row in contacts.items()), asked)
        people = await self._directory.people((Jid(each.id) for each in fit), contacts)
        try:
            return found([*people, *await self._groups()], asked), ""
        except NamesNotReady as error:
            return found(people, asked), str(error)

    async def _by_id(self, chat: Jid) -> list[NamedChat]:
        if is_group(chat):
            return [each for each in await self._groups() if each.id == chat]
        contacts = await self._directory.contacts()
        forms = await self._directory.forms(chat)
        return await self._directory.people([form for form in forms if form in contacts], contacts)

    async def _groups(self) -> list[NamedChat]:
        try:
            return await self._directory.groups()
        except NotConnected as error:
            raise NamesNotReady(f"{NO_GROUPS}{self._trouble() or _SOON}") from error

    def _ready(self, contacts: Iterable[Contact]) -> bool:
        """Whether the names of the address book have come, which they do all at once."""
        if any(row.full_name or row.first_name for row in contacts):
            return True
        since = self._linked_since()
        return since is not None and self._clock.now() - since >= READY_AFTER


def _page(chats: Iterable[NamedChat], own: Own, *, more: bool) -> Page:
    """`chats` as the agent may see them."""
    shown = (
        replace(chat, id=own.shown(Jid(chat.id)), names=tuple(_lines(chat.names, own))) for chat in chats
    )
    return Page(chats=tuple(shown), more=more)


def _lines(names: Iterable[str], own: Own) -> Iterable[str]:
    # Hidden first: of a name that is cut, what is left of the number would not be known as such.
    lines = (shown_name(hidden(name, own)) for name in names)
    return dict.fromkeys(line for line in lines if line)
