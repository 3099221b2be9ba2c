"""A member's private chat with the bot: which group is meant, and what waits until that is known.

Whoever is a member of a served group gets an answer here, from that group's agent. The choice is kept; a
group that the member has left, or whose owner has switched private chats off, is offered no more.
"""

import json
from dataclasses import replace

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.groups import heard_rows, private_rows, rows
from onechat_telegram.groups.addressed import Addressed
from onechat_telegram.groups.admin import Admin
from onechat_telegram.groups.deliveries import delivery_from_json, delivery_to_json
from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.commands import AdminCommand, admin_command
from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MemberId, Source, key_of_line
from onechat_telegram.groups.domain.messages import Message
from onechat_telegram.groups.domain.privates import (
    HELD_MOST,
    Candidate,
    Choice,
    Chosen,
    Meant,
    Nobody,
    Unclear,
    meant,
)
from onechat_telegram.groups.domain.settings import GroupSettings
from onechat_telegram.groups.ports import Adapter


class Privates:
    """Private chats with the members of groups."""

    def __init__(
        self, adapter: Adapter, store: Store, addressed: Addressed, admin: Admin, clock: Clock
    ) -> None:
        self._adapter = adapter
        self._store = store
        self._addressed = addressed
        self._admin = admin
        self._clock = clock

    async def take(self, message: Message) -> bool:
        """Take a private message; False when its writer is in no group that is served in private."""
        command = admin_command(message.command)
        anew = command is AdminCommand.CHOOSE
        choice = self._store.read(lambda db: private_rows.choice(db, message.sender.id))
        groups = await self._groups_of(message.sender.id, choice, anew=anew)
        candidates = [_candidate(group) for group in groups.values()]
        match meant(choice, candidates, message.text, anew=anew):
            case Nobody():
                return False
            case Unclear(groups=offered):
                await self._ask(await self._fetched(message), offered, command)
            case Chosen(group=chosen):
                await self._chosen(message, groups[chosen.chat])
            case Meant(group=one) if anew:
                await self._say(message, wording.ONLY_ONE.format(title=wording.name_of(one.title)))
            case Meant(group=one) if command is not None:
                await self._admin.run(command, message, groups[one.chat])
            case Meant(group=one):
                kept = await self._fetched(message)
                return await self._store.write(lambda db: self._deliver(db, kept, groups[one.chat]))
        return True

    async def _fetched(self, message: Message) -> Message:
        return await self._adapter.fetched(message) if message.images else message

    async def _groups_of(self, member: MemberId, choice: Choice | None, *, anew: bool) -> dict[ChatId, Group]:
        """The served groups that `member` may mean; only the one that was chosen while that still holds."""
        served = [group for group in self._store.read(rows.groups) if _is_served(group)]
        if choice is not None and not anew:
            for group in served:
                if group.chat == choice.chat and await self._adapter.is_member(group.chat, member):
                    return {group.chat: group}
        return {group.chat: group for group in served if await self._adapter.is_member(group.chat, member)}

    async def _ask(
        self, message: Message, offered: tuple[Candidate, ...], command: AdminCommand | None
    ) -> None:
        """Ask which of `offered` is meant; let the message wait, unless it is a command."""
        waits = command is None
        waiting = self._store.read(lambda db: private_rows.held(db, message.sender.id))
        full = len(waiting) >= HELD_MOST and message.key not in dict(waiting)
        question = wording.which(offered)
        await self._adapter.reply(
            key_of_line(message.key),
            message.place,
            f"{question}\n\n{wording.NOT_KEPT}" if waits and full else question,
        )
        choice = Choice(chat=None, offered=tuple(group.chat for group in offered))

        def keep(db: apsw.Connection) -> None:
            if not self._note(db, message):
                return
            private_rows.set_choice(db, message.sender.id, choice, self._clock.now())
            if waits and not full:
                private_rows.hold(db, message.sender.id, message.key, self._body(message))

        await self._store.write(keep)

    async def _chosen(self, message: Message, group: Group) -> None:
        line = wording.CHOSEN.format(title=wording.name_of(group.title))
        await self._adapter.reply(key_of_line(message.key), message.place, line)
        choice = Choice(chat=group.chat, offered=())

        def keep(db: apsw.Connection) -> None:
            if self._note(db, message):
                private_rows.set_choice(db, message.sender.id, choice, self._clock.now())
                self._release(db, message.sender.id, group)

        await self._store.write(keep)

    async def _say(self, message: Message, line: str) -> None:
        await self._adapter.reply(key_of_line(message.key), message.place, line)
        await self._store.write(lambda db: self._note(db, message))

    def _deliver(self, db: apsw.Connection, message: Message, group: Group) -> bool:
        """Hand it over; False, and nothing kept, if the owner has ended that while the platform was asked."""
        now = rows.group(db, rows.chat_now(db, group.chat))
        if now is None or not _is_served(now):
            return False
        if self._note(db, message):
            self._release(db, message.sender.id, now)
            self._addressed.deliver(db, self._addressed.delivery(message, now), now)
        return True

    def _release(self, db: apsw.Connection, member: MemberId, group: Group) -> None:
        """Hand over what waited, to the agent of `group`."""
        for key, body in private_rows.held(db, member):
            waited = delivery_from_json(key, json.loads(body))
            self._addressed.deliver(db, replace(waited, agent=group.agent), group)
        private_rows.release(db, member)

    def _body(self, message: Message) -> str:
        """`message` worded for whichever agent it will be."""
        nobody = Group(
            chat=ChatId(""),
            title="",
            state=GroupState.ADMITTED,
            source=Source(""),
            agent=AgentId(""),
            settings=GroupSettings(),
        )
        return json.dumps(delivery_to_json(self._addressed.delivery(message, nobody)))

    def _note(self, db: apsw.Connection, message: Message) -> bool:
        """Whether the message is new; it is known from now on, but none of its words."""
        place = message.place
        return heard_rows.note(db, message.key, place.chat, place.thread, "", self._clock.now())


def _candidate(group: Group) -> Candidate:
    return Candidate(chat=group.chat, title=wording.name_of(group.title))


def _is_served(group: Group) -> bool:
    return group.state is GroupState.ADMITTED and group.settings.private_chats
