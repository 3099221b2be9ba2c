"""Which groups are served: the bot is added, the owner confirms or refuses, a group is set, moved, left.

What the owner sees of it goes through ports.Owner. A group that was left keeps its agent and its log, and
gets both back when it is admitted again.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.groups import batch_rows, rows
from onechat_telegram.groups.departing import Departures
from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.group import Entrance, Group, GroupState, on_added, on_message
from onechat_telegram.groups.domain.ids import (
    AgentId,
    ChatId,
    MessageKey,
    key_of_line,
    source_of,
)
from onechat_telegram.groups.domain.messages import Added, Message, Moved, Removed
from onechat_telegram.groups.domain.settings import GroupSettings, fault, first_settings
from onechat_telegram.groups.ports import Adapter, Agents, Owner

log = logs.get("onechat_telegram.groups")


Beside = Callable[[apsw.Connection, Group], None]
"""Called in the transaction that keeps a change, with the group as it is then."""


class GroupUnknown(Exception):
    """The bot is in no such group."""


class SettingInvalid(Exception):
    """A setting that cannot be; the text says why."""


def nothing(db: apsw.Connection, group: Group) -> None:
    """Keeps nothing beside a change."""


class Admission:
    """Which groups there are, and how each is set."""

    def __init__(
        self,
        adapter: Adapter,
        agents: Agents,
        owner: Owner,
        store: Store,
        clock: Clock,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`changed` is called when a group is on disk otherwise than before."""
        self._changed = changed
        self._adapter = adapter
        self._agents = agents
        self._owner = owner
        self._departures = Departures(owner, clock)
        self._store = store
        self._clock = clock

    def groups(self) -> list[Group]:
        """The groups that the bot is in, admitted or not; by id."""
        return [group for group in self._store.read(rows.groups) if group.state is not GroupState.LEFT]

    def group(self, chat: ChatId) -> Group | None:
        """The group of that id, an earlier one of it too, be it left or not."""
        return self._store.read(lambda db: rows.group(db, rows.chat_now(db, chat)))

    async def added(self, event: Added) -> None:
        """Somebody has put the bot into a group: ask the owner, or tell the owner and leave."""
        group = self.group(event.chat)
        match on_added(None if group is None else group.state, by_owner=event.by_owner):
            case Entrance.ASK:
                await self._owner.ask(key_of_line(event.key), event.chat, event.title)
                await self._keep(event.chat, event.title, GroupState.ASKED)
            case Entrance.LEAVE:
                line = wording.ADDED_BY_OTHERS.format(
                    title=wording.name_of(event.title), name=wording.name_of(event.by.name)
                )
                await self._leave(event.key, event.chat, event.title, line)

    async def admits(self, message: Message) -> Group | None:
        """The group of `message` when it is served; from one that is not the bot goes away."""
        chat = message.place.chat
        group = self.group(chat)
        if group is not None and group.title != message.title and message.title:
            await self._store.write(lambda db: rows.retitle(db, chat, message.title))
            group = replace(group, title=message.title)
        match on_message(None if group is None else group.state):
            case Entrance.LEAVE:
                line = wording.NOT_ADMITTED.format(title=wording.name_of(message.title))
                await self._leave(message.key, chat, message.title, line)
            case Entrance.LEAVE_QUIETLY:
                await self._adapter.leave(chat)
        return group if group is not None and group.state is GroupState.ADMITTED else None

    async def answer(self, chat: ChatId, *, yes: bool) -> Group:
        """The owner says whether the group shall be served. Idempotent. Raises GroupUnknown.

        A no to a group that is served already changes nothing: that is `remove`.
        """
        group = self._present(chat)
        if yes:
            return await self.admit(group.chat)
        return await self.remove(group.chat) if group.state is GroupState.ASKED else group

    async def admit(self, chat: ChatId, beside: Beside = nothing) -> Group:
        """Serve the group: it gets its agent, a new one if that is gone. Idempotent. Raises GroupUnknown."""
        group = self._present(chat)
        agent = await self._agents.create(group.source, group.title)
        admitted = await self._change(
            chat, lambda now: replace(_inside(now), state=GroupState.ADMITTED, agent=agent), beside
        )
        log.info("group_admitted", group=group.source)
        return admitted

    async def set(self, chat: ChatId, settings: GroupSettings, beside: Beside = nothing) -> Group:
        """Set the group. Raises GroupUnknown, SettingInvalid."""
        if (wrong := fault(settings)) is not None:
            raise SettingInvalid(wrong)
        return await self._change(chat, lambda now: replace(_inside(now), settings=settings), beside)

    async def remove(self, chat: ChatId, beside: Beside = nothing) -> Group:
        """Leave the group; its agent and log stay. Idempotent. Raises GroupUnknown for one never known."""
        group = self.group(chat)
        if group is None:
            raise GroupUnknown
        if group.state is not GroupState.LEFT:
            await self._adapter.leave(group.chat)
        return await self._change(chat, lambda now: replace(now, state=GroupState.LEFT), beside)

    async def removed(self, event: Removed) -> None:
        """Somebody has removed the bot."""
        # Of an earlier id: a platform may close the old chat once the group has moved.
        group = self._store.read(lambda db: rows.group(db, event.chat))
        if group is not None:
            await self._keep(event.chat, group.title, GroupState.LEFT)

    async def moved(self, event: Moved) -> None:
        """The platform has given a group another id: it stays the same group, with its agent."""
        await self._store.write(lambda db: rows.move(db, event.old, event.new))

    def _present(self, chat: ChatId) -> Group:
        group = self.group(chat)
        if group is None:
            raise GroupUnknown
        return _inside(group)

    async def _leave(self, key: MessageKey, chat: ChatId, title: str, line: str) -> None:
        await self._departures.tell(key, line)
        await self._adapter.leave(chat)
        await self._keep(chat, title, GroupState.LEFT)

    async def _change(self, chat: ChatId, change: Callable[[Group], Group], beside: Beside) -> Group:
        """The group after `change`, made of how it is by then: others may have changed or moved it."""
        now = self._clock.now()

        def job(db: apsw.Connection) -> Group:
            group = rows.group(db, rows.chat_now(db, chat))
            if group is None:
                raise GroupUnknown
            changed = change(group)
            _save(db, changed, now)
            beside(db, changed)
            self._store.when_committed(self._changed)
            return changed

        return await self._store.write(job)

    async def _keep(self, chat: ChatId, title: str, state: GroupState) -> Group:
        """The group in its new state, with what is known of it from before."""
        now, bot = self._clock.now(), self._adapter.bot
        new = Group(
            chat=chat,
            title=title,
            state=state,
            source=source_of(self._adapter.channel, chat),
            agent=AgentId(""),
            settings=first_settings(bot),
        )

        def job(db: apsw.Connection) -> Group:
            before = rows.group(db, chat)
            kept = new if before is None else replace(before, title=title, state=state)
            _save(db, kept, now)
            self._store.when_committed(self._changed)
            return kept

        return await self._store.write(job)


def _inside(group: Group) -> Group:
    """`group`, if the bot is in it. Raises GroupUnknown."""
    if group.state is GroupState.LEFT:
        raise GroupUnknown
    return group


def _save(db: apsw.Connection, group: Group, now: datetime) -> None:
    rows.save(db, group, now)
    if group.state is GroupState.LEFT and not group.agent:
        batch_rows.drop(db, group.chat)
