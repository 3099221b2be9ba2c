"""What is meant for the bot, as it goes to the group's agent: a turn of its own, answered where it was asked.

What the group has said before goes first, so that the agent knows it by then.
"""

from datetime import tzinfo

import apsw

from onechat_telegram.groups.batching import Batching
from onechat_telegram.groups.deliveries import Lanes
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.ids import source_of
from onechat_telegram.groups.domain.messages import Message
from onechat_telegram.groups.domain.wording import line_of
from onechat_telegram.groups.ports import Adapter, GroupDelivery


class Addressed:
    """Hands addressed messages over."""

    def __init__(self, adapter: Adapter, batching: Batching, lanes: Lanes, zone: tzinfo) -> None:
        self._adapter = adapter
        self._batching = batching
        self._lanes = lanes
        self._zone = zone

    def delivery(self, message: Message, group: Group) -> GroupDelivery:
        """What the agent of `group` gets of `message`."""
        return GroupDelivery(
            key=message.key,
            agent=group.agent,
            # By another source than the group's the agent service knows, and marks, what is private.
            source=source_of(self._adapter.channel, message.place.chat) if message.private else group.source,
            text=line_of(message, self._zone, self._adapter.bot.id),
            images=message.images,
            time=message.time,
            wakes=True,
            place=message.place,
        )

    def deliver(self, db: apsw.Connection, delivery: GroupDelivery, group: Group) -> None:
        """Put `delivery` on its way, in the caller's transaction."""
        self._batching.close(db, group)
        self._lanes.deliver(db, delivery, group)
