"""Groups of five members and three topics that talk over Telegram, each with a detector: who is answered.

What is said and who should be answered: tests/fakes/group_table.py. Times are seconds.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from onechat.memory.v1 import memory_service_pb2
from onechat.telegram.v1 import telegram_service_pb2
from onechat_telegram.domain import admissions
from onechat_telegram.groups.domain.settings import DetectorKind

from tests.fakes.five_services_chat import CALL_S
from tests.fakes.group_table import SETTINGS, TABLE, THREADS, is_meant
from tests.fakes.scripted_model import FOR_EVER, Answer, Script
from tests.system.invariants import whole
from tests.system.over_telegram import OverTelegram

MEMBERS = {7770001: "Anna", 7770002: "Bob", 7770003: "Cleo", 7770004: "Dan", 7770005: "Eva"}
ANNA = 7770001
SHOWN_S = 60.0
AT_ONCE = 50  #: messages that are said before the answers to them are waited for
_NUMBER = re.compile(r" #(\d+)$", re.MULTILINE)
_JUDGES = "You watch a group chat for an agent"


def is_judgement(body: dict[str, Any]) -> bool:
    """Whether the request is the detectors' small call."""
    return str(body["instructions"]).startswith(_JUDGES)


def judge() -> Sequence[Script]:
    """What the model says when it is asked whether a message is meant for the bot."""
    return [
        Script(
            answer=Answer(text=json.dumps({"mentions": meant, "command": False, "private": False})),
            match=lambda body, meant=meant: is_judgement(body) and is_meant(_judged(body)) is meant,
            times=FOR_EVER,
        )
        for meant in (True, False)
    ]


def _judged(body: dict[str, Any]) -> str:
    asked = json.loads(body["input"][0]["content"][0]["text"])
    return str(asked["message"])


@dataclass(slots=True, kw_only=True)
class GroupTalk:
    """One group with the detector that `which` names in SETTINGS."""

    over: OverTelegram
    which: str
    rng: random.Random
    numbers: Iterator[int]
    chat: int = 0
    agent: str = ""
    _topics: dict[str, int | None] = field(default_factory=dict)
    _last: dict[tuple[str, str], int] = field(default_factory=dict)  #: by topic and author, to be replied to
    _answered: dict[int, str] = field(default_factory=dict)  #: messages that are: their topics
    _heard: Counter[str] = field(default_factory=Counter)  #: numbers of what was said
    asked: int = 0  #: how often the model should be asked, at least

    @property
    def title(self) -> str:
        """The group's."""
        return f"Garden {self.which}"

    async def open(self) -> None:
        """Found it, let the owner admit and set it, and have the bot and Anna say something in each topic."""
        groups = self.over.api.groups
        self.chat = groups.found(self.title, list(MEMBERS), forum=True)
        await self.over.press(admissions.YES, f'"{self.title}"')
        await self._set()
        for name in THREADS:
            self._topics[name] = groups.open_topic(self.chat, name, by=ANNA) if name else None
            question = self._say("@robobot hello", name, ANNA)
            self._answered[question] = name
            await self._until_answered()
            self._last[name, "robobot"] = self._said_to(question)[0]["message_id"]
            self._last[name, "anna"] = self._say("so be it", name, ANNA)
            self.asked += self.which == "m"

    async def talk(self, messages: int) -> None:
        """So many messages of anybody in any topic, and one at the end which is answered."""
        for number in range(messages):
            if number % AT_ONCE == AT_ONCE - 1:
                await self._until_answered()
            row, name = self.rng.choice(TABLE), self.rng.choice(THREADS)
            reply_to = self._last[name, row.answers] if row.answers else None
            message = self._say(row.text, name, self.rng.choice(list(MEMBERS)), reply_to)
            if self.which in row.answered:
                self._answered[message] = name
            self.asked += self.which in row.asked
        self._answered[self._say("@robobot that is all", "", ANNA)] = ""
        await self._until_answered()

    async def complaints(self) -> list[str]:
        """What is not as the table has it."""
        here = self._of_bot()
        found = [f"{len(here)} answers to {len(self._answered)} messages"] * (
            len(here) != len(self._answered)
        )
        for message, name in self._answered.items():
            threads = [one.get("message_thread_id") for one in self._said_to(message)]
            if threads != [self._topics[name]]:
                found.append(f"{self._text(message)!r} in {name!r} is answered in {threads}")
        for one in here:
            answered = one.get("reply_to_message", {}).get("message_id")
            if answered not in self._answered:
                found.append(f"{self._text(answered)!r} is answered")
        found += self._of_judgements()
        learned = await self._numbers_in_log()
        if learned != self._heard:
            found.append(f"not once in the log: {(learned - self._heard) | (self._heard - learned)}")
        return [f"{self.which}: {complaint}" for complaint in found]

    def _of_judgements(self) -> Iterator[str]:
        bodies = [record.body for record in self.over.model.requests() if record.body is not None]
        judged = [_NUMBER.findall(_judged(body)) for body in bodies if is_judgement(body)]
        times = sum(number in self._heard for found in judged for number in found)
        # After the bot's own words hybrid asks of a question too; when those come is chance here.
        perhaps_more = SETTINGS[self.which].detector is DetectorKind.HYBRID
        if times < self.asked or (times > self.asked and not perhaps_more):
            yield f"the model was asked {times} times and not {self.asked}"

    def _say(self, text: str, name: str, who: int, reply_to: int | None = None) -> int:
        number = next(self.numbers)
        self._heard[str(number)] += 1
        where = {"user": who, "chat": self.chat, "thread": self._topics.get(name)}
        return self.over.api.say(f"{text} #{number}", reply_to=reply_to, **where)

    def _text(self, message: object) -> str:
        return str(self.over.api.messages.get((self.chat, message), {}).get("text"))  # type: ignore[call-overload]

    def _of_bot(self) -> list[dict[str, Any]]:
        return [one for one in self.over.api.sent if one["chat"]["id"] == self.chat]

    def _said_to(self, message: int) -> list[dict[str, Any]]:
        return [one for one in self._of_bot() if one.get("reply_to_message", {}).get("message_id") == message]

    async def _until_answered(self) -> None:
        """Return once all was heard and answered, or what is not there yet does not come."""
        with suppress(TimeoutError):
            await self.over.api.until(lambda: len(self._of_bot()) >= len(self._answered), SHOWN_S)
        await self.over.all_heard()

    async def _set(self) -> None:
        """As the owner does from the terminal."""
        asked = telegram_service_pb2.ListGroupsRequest()
        groups = (await self.over.telegram.ListGroups(asked, timeout=CALL_S)).groups
        (group,) = [one for one in groups if one.chat_id == self.chat]
        settings = SETTINGS[self.which]
        group.detector = f"DETECTOR_{settings.detector.upper()}"
        group.names[:] = settings.names
        group.ask_model = settings.ask_model
        request = telegram_service_pb2.SetGroupRequest(group=group, request_id=f"set {self.chat}")
        self.agent = (await self.over.telegram.SetGroup(request, timeout=CALL_S)).group.agent_id

    async def _numbers_in_log(self) -> Counter[str]:
        """The numbers of the messages that the group's agent has heard; quoted ones are not counted."""
        request = memory_service_pb2.ListMessagesRequest(log_id=self.agent)
        messages = []
        async for answer in self.over.chat.memory.ListMessages(request, timeout=CALL_S * 4):
            messages += answer.messages
        texts = [one.text for one in whole(messages) if one.key.startswith("d:")]
        lines = [line for text in texts for line in text.splitlines() if not line.startswith("|   > ")]
        return Counter(_NUMBER.findall("\n".join(lines)))


def numbers() -> Iterator[int]:
    """Of messages, so that all groups have their own."""
    return count(1)
