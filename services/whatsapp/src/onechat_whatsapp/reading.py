"""Makes of what comes from WhatsApp messages for the agent: named, and without the user's number.

What is a text message at all: wire_child/translation.py. The rules: domain/identities.py, own_number.py,
names.py, mentions.py. What becomes of a message: batching.py. Who tells the events: hearing.py. Seconds.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_whatsapp.domain.batch_wording import name_of
from onechat_whatsapp.domain.chat_ids import LIDS, LISTS, ChatId, Jid, bare, is_group, is_person, server_of
from onechat_whatsapp.domain.identities import Own, People
from onechat_whatsapp.domain.ids import MessageId
from onechat_whatsapp.domain.mentions import with_names
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.domain.name_search import NamedChat
from onechat_whatsapp.domain.names import Names
from onechat_whatsapp.domain.own_number import cut, hidden
from onechat_whatsapp.errors import NotConnected, NotLinked
from onechat_whatsapp.wire.events import Connected, GroupRenamed, Heard, PairingStatus, WireEvent
from onechat_whatsapp.wire.ports import WhatsAppWire

NAMES_KEPT_S: Final = 600.0  # nothing tells when the phone has sent names, or the user has changed one
GROUPS_AGAIN_S: Final = 600.0  # before WhatsApp is asked again what an unknown group is called
IDS_AGAIN_S: Final = 60.0  # before it is looked up anew who has a LID or a number that was not known
NO_TIME: Final = 1970  # the year in which a message was written that says no time
MENTIONS_LOOKED_UP: Final = 100  # of one message; a group has up to 1,024 people

_OWN: Final = "own"

log = logs.get("onechat_whatsapp.reading")


class Groups(Protocol):
    """Who knows what groups are called: directory.py."""

    async def groups(self) -> list[NamedChat]:
        """The user's groups; may take some seconds. Raises NotLinked, NotConnected."""


class Batches(Protocol):
    """Where messages go: batching.py."""

    async def take(self, messages: Sequence[Message]) -> None:
        """Take messages in their order, each once; they are on disk soon, and this waits if that is late."""

    async def merge(self, old: ChatId, new: ChatId) -> None:
        """The chat that was known as `old` is the chat `new`."""


class Reading:
    """Reads one account's messages, one event at a time."""

    def __init__(self, wire: WhatsAppWire, groups: Groups, batches: Batches, clock: Clock) -> None:
        self._wire = wire
        self._groups = groups
        self._batches = batches
        self._clock = clock
        self._own: Own | None = None
        self._people = People()
        self._names = Names(self._people)
        self._names_due = self._groups_due = clock.monotonic()
        self._looked_up: dict[str, float] = {}  # ids, with when each was looked up last
        self._one_chat: dict[Jid, Jid] = {}  # a number's LID, once what was kept by it is the number's

    async def hear(self, event: WireEvent) -> None:
        """Take what is in `event`: a message, what a group is called, or that all may have changed."""
        match event:
            case Heard():
                message = await self.read(event)
                if message is not None:
                    await self._merge(self._people.person(message.chat))
                    await self._batches.take([message])
            case GroupRenamed(chat=group, name=name):
                self._names.call_group(bare(group), name)
            case PairingStatus(status="success"):
                self._own = None  # what comes before Connected may be another account's already
            case Connected():
                await self._learn_anew()

    async def _learn_anew(self) -> None:
        self._own = None
        self._looked_up.clear()
        self._names_due = self._groups_due = self._clock.monotonic()
        await self._know_own()
        await self._know_names()
        await self._know_groups()

    async def read(self, heard: Heard) -> Message | None:
        """`heard` as the agent may see it; None for what it shall not see. The same one reads the same.

        One that says no time was written when it came.
        """
        own = await self._know_own()
        if own is None:
            log.error("message_not_read", reason="nobody is linked")  # whose number would have to be hidden
            return None
        self._people.learn(heard.sender, heard.sender_alt)
        if heard.from_me and not heard.is_group:
            self._people.learn(heard.chat, heard.recipient_alt)
        await self._know_numbers([heard.chat, heard.sender, *heard.mentions[:MENTIONS_LOOKED_UP]])
        await self._know_names()
        if heard.is_group and not self._names.of_group(bare(heard.chat)):
            await self._know_groups()
        if heard.time.year <= NO_TIME:
            heard = replace(heard, time=self._clock.now())
        return message_in(heard, own, self._people, self._names)

    async def called(self, chat: str) -> str:
        """What to call a chat before the user: its name, else its id as the agent sees it."""
        own = await self._know_own()
        await self._know_numbers([chat])
        await self._know_names()
        person = self._people.person(chat)
        name = self._names.of_group(person) if is_group(person) else self._names.of_sender(person)
        shown = name or (own.shown(person) if own else person)
        return hidden(shown, own) if own else shown

    async def _merge(self, chat: Jid) -> None:
        """See to it that a person who was known by LID alone, and is by number now, is one chat."""
        if not is_person(chat) or server_of(chat) == LIDS:
            return
        if not self._people.by_lid(chat) and self._may_look_up(chat):
            self._people.learn(chat, await self._wire.lid_of(chat))
        lid = self._people.by_lid(chat)
        if lid and self._one_chat.get(chat) != lid:
            await self._batches.merge(ChatId(lid), ChatId(chat))
            self._one_chat[chat] = lid

    async def _know_own(self) -> Own | None:
        if self._own is None or (not self._own.lid and self._may_look_up(_OWN)):
            me = await self._wire.me()
            if me is not None:
                self._own = Own.of(me.number, me.lid)
                self._people.learn(me.number, me.lid)
        return self._own

    async def _know_numbers(self, ids: Iterable[str]) -> None:
        for known in dict.fromkeys(map(bare, ids)):
            unknown = server_of(known) == LIDS and self._people.person(known) == known
            if unknown and self._may_look_up(known):
                self._people.learn(known, await self._wire.number_of(known))

    def _may_look_up(self, known: str) -> bool:
        now = self._clock.monotonic()
        last = self._looked_up.get(known)
        if last is not None and now - last < IDS_AGAIN_S:
            return False
        self._looked_up[known] = now
        return True

    async def _know_names(self) -> None:
        if self._clock.monotonic() >= self._names_due:
            self._names_due = self._clock.monotonic() + NAMES_KEPT_S
            self._names = self._names.with_contacts(await self._wire.contacts())

    async def _know_groups(self) -> None:
        if self._clock.monotonic() >= self._groups_due:
            self._groups_due = self._clock.monotonic() + GROUPS_AGAIN_S
            try:
                for group in await self._groups.groups():
                    if group.names:
                        self._names.call_group(Jid(group.id), group.name)
            except (NotConnected, NotLinked) as error:
                log.info("group_names_not_had", reason=error.reason)


def message_in(heard: Heard, own: Own, people: People, names: Names) -> Message | None:
    """`heard` as the agent may see it; None for the user's own chat, the user's lists, and empty texts."""
    from_me = heard.from_me or own.is_user(heard.sender) or own.is_user(heard.sender_alt)
    listed = server_of(heard.chat) == LISTS
    if listed and from_me:
        return None  # each one on the list has the same in their own chat
    chat = people.person(heard.sender if listed else heard.chat)
    group = is_group(chat)
    if not group and (not is_person(chat) or own.is_user(chat)):
        return None
    text = hidden(cut(with_names(cut(heard.text), heard.mentions, own, names.of_person)), own)
    if is_blank(text):
        return None
    others = "" if from_me else heard.push_name
    chat_name = names.of_group(chat) if group else names.of_person(chat, others)
    return Message(
        chat=own.shown(chat),
        id=MessageId(heard.message_id),
        chat_name=name_of(hidden(chat_name, own)),
        is_group=group,
        sender="" if from_me else hidden(names.of_sender(heard.sender, others), own),
        from_me=from_me,
        calls_user=group and not from_me and _calls(heard, own),
        text=text,
        time=heard.time,
    )


def is_blank(text: str) -> bool:
    """Whether nothing of `text` shows: spaces, line ends and signs that only shape others."""
    return all(unicodedata.category(sign)[0] in "ZC" for sign in text)


def _calls(heard: Heard, own: Own) -> bool:
    """Whether it mentions the user, or all of the group, or replies to the user."""
    mentioned = any(own.is_user(mention) or mention == heard.chat for mention in heard.mentions)
    return mentioned or own.is_user(heard.quoted_author)
