"""What an adapter heard, taken once: judged, then answered, learned silently, or dropped.

`Groups.take` is what adapters give everything to. It returns once what was heard is in the store or on its
way; what raises is to be given again, with the same key. Messages of one chat are taken one after the other.
"""

import asyncio
from dataclasses import replace
from weakref import WeakValueDictionary

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.groups import heard_rows, rows
from onechat_telegram.groups.addressed import Addressed
from onechat_telegram.groups.admin import Admin
from onechat_telegram.groups.admission import Admission
from onechat_telegram.groups.batching import Batching
from onechat_telegram.groups.detectors import detectors
from onechat_telegram.groups.domain.commands import admin_command
from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import ChatId
from onechat_telegram.groups.domain.messages import Added, Heard, Message, Moved, Removed
from onechat_telegram.groups.domain.wording import line_for_detector, within_bounds
from onechat_telegram.groups.ports import Adapter, Agents
from onechat_telegram.groups.privates import Privates


class Groups:
    """All groups of a platform, and the private chats with their members."""

    def __init__(
        self,
        adapter: Adapter,
        agents: Agents,
        store: Store,
        admission: Admission,
        batching: Batching,
        addressed: Addressed,
        admin: Admin,
        privates: Privates,
        clock: Clock,
    ) -> None:
        self._adapter = adapter
        self._detectors = detectors(agents)
        self._store = store
        self._admission = admission
        self._batching = batching
        self._addressed = addressed
        self._admin = admin
        self._privates = privates
        self._clock = clock
        self._turns: WeakValueDictionary[ChatId, asyncio.Lock] = WeakValueDictionary()

    async def take(self, heard: Heard) -> bool:
        """Take what was heard; False for a private message of somebody who is in no group with us."""
        match heard:
            case Message():
                place = self._store.read(lambda db: rows.place_now(db, heard.place))
                turn = self._turns.setdefault(place.chat, asyncio.Lock())
                async with turn:
                    return await self._message(within_bounds(replace(heard, place=place)))
            case Added():
                await self._admission.added(heard)
            case Removed():
                await self._admission.removed(heard)
            case Moved():
                await self._admission.moved(heard)
        return True

    async def run(self) -> None:
        """Listen until cancelled."""
        await self._adapter.listen(self.take)

    async def _message(self, message: Message) -> bool:
        if message.sender.id == self._adapter.bot.id:
            return True
        if self._store.read(lambda db: heard_rows.is_known(db, message.key)):
            return True
        if not message.text.strip() and not message.images:
            return True
        if message.private:
            return await self._privates.take(message)
        group = await self._admission.admits(message)
        if group is not None:
            await self._in_group(message, group)
        return True

    async def _in_group(self, message: Message, group: Group) -> None:
        before = self._store.read(lambda db: heard_rows.before(db, group.chat, message.place.thread))
        detector = self._detectors[group.settings.detector]
        judgement = await detector.judge(message, group, self._adapter.bot, before)
        command = admin_command(message.command)
        if judgement.command and command is not None:
            await self._admin.run(command, message, group)
            return
        kept = message
        if message.images and (judgement.answered or group.settings.learn):
            kept = await self._adapter.fetched(message)
        await self._store.write(lambda db: self._record(db, kept, group, judgement.answered))

    def _record(self, db: apsw.Connection, message: Message, group: Group, answered: bool) -> None:
        """Note the message and put it where it goes; of one that is neither answered nor learned no words.

        What judged it may have taken long: the group may have moved since, been set otherwise, or been left.
        """
        now = rows.group(db, rows.chat_now(db, group.chat))
        if now is None or now.state is not GroupState.ADMITTED:
            return
        group = now
        line = line_for_detector(message) if answered or group.settings.learn else ""
        new = heard_rows.note(db, message.key, group.chat, message.place.thread, line, self._clock.now())
        if not new:
            return
        if answered:
            self._addressed.deliver(db, self._addressed.delivery(message, group), group)
        elif group.settings.learn:
            self._batching.learn(db, message, group)
