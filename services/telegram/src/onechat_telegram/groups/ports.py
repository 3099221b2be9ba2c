"""What group chats need of the outside: a platform's adapter, the agent service, and the owner's own chat.

Every call may raise RemoteError, or whatever else its adapter fails with; then what asked for it is tried
again, and nothing was recorded as done.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from onechat_telegram.groups.domain.addressing import Judgement
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MemberId, MessageKey, Source
from onechat_telegram.groups.domain.messages import Bot, Heard, Message, Place

Take = Callable[[Heard], Awaitable[bool]]  # False: a private message of somebody who is in no group with us


class Adapter(Protocol):
    """A platform's groups, and its private chats with their members."""

    @property
    def channel(self) -> str:
        """The platform's name, one word in small letters; sources of groups begin with it."""

    @property
    def bot(self) -> Bot:
        """Who we are there; known before anything is heard."""

    @property
    def limits(self) -> str:
        """What the platform lets the bot not hear and what to do about it, a sentence; empty for nothing."""

    async def listen(self, take: Take) -> None:
        """Give `take` all that is heard, until cancelled.

        What is of one chat comes in order, one after the other. What was being taken when the process died,
        or made `take` raise, comes again with the same key. The bot's own messages don't come. That a group
        has moved comes before anything else of its new id, and not as an Added.
        """

    async def fetched(self, message: Message) -> Message:
        """`message` with its images in the image store, under the names that it then has.

        Asked of what is kept alone: nothing of anybody else is fetched. Of an image that cannot be had the
        text says so. The same may be asked again.
        """

    async def reply(self, key: MessageKey, place: Place, text: str) -> None:
        """Say `text`, Markdown, in reply to the message at `place` and in its thread.

        It is on disk once this returns; a key that was there before says nothing, whatever the text. Sent in
        the order of the calls. Where it is not known whether a group has got it, it is not sent again.
        """

    async def is_administrator(self, chat: ChatId, member: MemberId) -> bool:
        """Whether `member` administers the group now; the group itself, as which one may write, does."""

    async def is_member(self, chat: ChatId, member: MemberId) -> bool:
        """Whether `member` is in the group now."""

    async def leave(self, chat: ChatId) -> None:
        """Leave the group; no error when we are out of it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDelivery:
    """What goes to a group's agent. Of the kind work; the user does not stand behind it."""

    key: MessageKey
    agent: AgentId
    source: Source  #: the group's; of a private message its own chat's, which marks it as private
    text: str
    images: tuple[str, ...]
    time: datetime  #: when it was written; of a batch its last message
    wakes: bool  #: a turn of its own; without, it is logged
    place: Place | None  #: where the answer goes; given back with it. None: there is no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a small model call is asked."""

    agent: AgentId
    text: str
    names: tuple[str, ...]
    before: tuple[str, ...]  #: the last few messages of the thread, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgent:
    """How a group's agent is."""

    id: AgentId
    name: str
    messages: int
    last_turn: datetime | None


AGENT_GONE: Final = "AGENT_UNKNOWN"  #: the RemoteError's reason where the agent service has no such agent


class ModelAway(Exception):
    """The model cannot be reached, though the agent service can."""


class Judges(Protocol):
    """Whoever asks the model; all that detectors need of the agent service."""

    async def judge(self, question: Question) -> Judgement:
        """Whether a message is meant for the agent. Raises ModelAway."""


class Agents(Judges, Protocol):
    """The agent service."""

    async def create(self, source: Source, title: str) -> AgentId:
        """The agent of the group `source`, made if there is none. Idempotent by source."""

    async def deliver(self, delivery: GroupDelivery) -> None:
        """Hand over; the agent has it on its disk once this returns. A known key counts as done."""

    async def look(self, agent: AgentId) -> GroupAgent:
        """How the agent is. No model call."""

    async def reset(self, agent: AgentId, request_id: MessageKey) -> str:
        """Set the agent's log aside and begin a fresh one; the kept one's name. Idempotent by request id."""


class Owner(Protocol):
    """The owner's private chat with the bot."""

    async def ask(self, key: MessageKey, chat: ChatId, title: str) -> None:
        """Ask whether the group shall be served; the answer comes to Admission.answer. Once for each key."""

    async def tell(self, key: MessageKey, text: str) -> None:
        """Say `text`, plain. On disk once it returns; once for each key."""
