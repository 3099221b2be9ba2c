"""People and the bot in a run with kills: everything is said to the Bot API server, and the run waits for it.

What is said: telegram_script.py. When services are killed: strikes.py. What must hold afterwards:
telegram_left.py. Times are seconds.
"""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from onechat_telegram.domain import admissions, proposals

from tests.fakes.pictures import drawn
from tests.system.over_telegram import RUNNING, WITHIN_S, OverTelegram
from tests.system.strikes import Kill, Strikes
from tests.system.telegram_script import BOT, IN_GROUP, MEMBERS, WORD, Kind, Thing, agent_of, answers

PICTURE = drawn(8, 8, "PNG")


class TelegramRun:
    """Three services, the owner, a group of five members, and a model that knows what to say."""

    def __init__(self, over: OverTelegram, rng: random.Random) -> None:
        self.over = over
        self.services = over.services
        self.chat = over.chat
        self.api = over.api
        self.model = over.model
        self.group = 0  #: the chat, once it is there
        self.messages: dict[str, int] = {}  #: of each word: the message that holds it
        self._rng = rng
        self._texts: dict[int, list[int]] = {}  #: by writer, 0 for the owner: texts that may still be edited
        self._words_of: dict[str, set[str]] = {}  #: by key
        self._done: set[str] = set()  #: words whose turn has ended
        self._looked_at = 0

    async def open(self, first: Thing, said: Sequence[Thing]) -> None:
        """Begin undisturbed: `first` of the owner, and the group admitted. The model knows all."""
        self.model.script(*answers([first, *said]))
        await self.services.start(*RUNNING)
        await self._say(first)
        await self._answered_but(0, [first])
        for user, name in MEMBERS.items():
            self.api.directory.introduce(user, name)
        self.api.privacy = False
        self.group = self.api.groups.found("Garden", list(MEMBERS), forum=False)
        await self.over.press(admissions.YES, '"Garden"')

    async def live(self, said: Sequence[Thing], planned: Sequence[Kill]) -> None:
        """Say everything while services are killed; returns once all run again and all is done and shown."""
        strikes = Strikes(self.services, self.chat)
        async with asyncio.TaskGroup() as tasks:
            for number, thing in enumerate(said):
                for kill in planned:
                    if kill.after == number:
                        tasks.create_task(strikes.strike(kill))
                await self._say(thing)
                await self._answered_but(self._rng.choice((0, 1, 3, 6)), said[: number + 1])
        await self._answered_but(0, said)
        await self.api.until(lambda: not self.api.updates, WITHIN_S)
        await self.chat.all_done(set())

    async def _say(self, thing: Thing) -> None:
        who = {"user": thing.who, "chat": self.group} if thing.kind in IN_GROUP else {}
        word, people = thing.word, self.api.people
        match thing.kind:
            case Kind.TEXT:
                self._said(thing, self.api.say(f"I tell you of {word}"))
            case Kind.ASIDE:
                self._said(thing, self.api.say(f"I tell you all of {word}", **who))
            case Kind.MENTION:
                self._said(thing, self.api.say(f"{BOT} what of {word}?", **who))
            case Kind.GROUP_COMMAND:
                self._said(thing, self.api.say(f"/look{BOT} {word}", **who))
            case Kind.PHOTO | Kind.MENTIONING_PHOTO:
                to = f"{BOT} " if thing.kind is Kind.MENTIONING_PHOTO else ""
                self.messages[word] = people.show_photo(PICTURE, f"{to}a picture of {word}", **who)
            case Kind.ALBUM:
                parts = people.show_album([(PICTURE, f"{word} from above"), (PICTURE, "and from below")])
                self.messages[word] = parts[0]
            case Kind.EDIT | Kind.ASIDE_EDIT:
                self._edit(thing, who)
            case Kind.COMMAND:
                self.api.say(f"/no 9{word[1:]}")
            case Kind.PROPOSAL:
                await self._propose(thing)
            case Kind.ADMISSION:
                self.api.groups.found(f"Club {word}", list(MEMBERS))
                await self.over.press(admissions.YES if thing.yes else proposals.NO, f'"Club {word}"')

    def _said(self, thing: Thing, message: int) -> None:
        self.messages[thing.word] = message
        self._texts.setdefault(thing.who, []).append(message)

    def _edit(self, thing: Thing, who: dict[str, Any]) -> None:
        """Edit a text of the same writer that was not edited yet; there is a new one where none is left."""
        if not self._texts.get(thing.who):
            self._said(thing, self.api.say(f"I tell you of {thing.word}", **who))
            return
        before = self._texts[thing.who].pop(0)
        self.messages[thing.word] = before
        self.api.edit(before, f"I meant to tell of {thing.word}", **who)

    async def _propose(self, thing: Thing) -> None:
        """A turn of its own, else its words would not be the newest, and a press of one of its buttons."""
        await self.chat.all_done(set())
        self.messages[thing.word] = self.api.say(f"Please propose {thing.word}")
        await self.over.press(proposals.YES if thing.yes else proposals.NO, agent_of(thing))
        await self.chat.all_done(set())

    async def _answered_but(self, left: int, said: Sequence[Thing]) -> None:
        """Return once at most so many of them wait for the end of a turn."""
        waited_for = {thing.word for thing in said if thing.answered}
        try:
            await self.chat.until(lambda: len(waited_for - self._ended()) <= left, WITHIN_S)
        except TimeoutError:
            raise AssertionError(f"nobody answers {sorted(waited_for - self._done)}") from None

    def _ended(self) -> set[str]:
        """The words of messages whose turn has ended; looks at the events since the last time."""
        for event in self.chat.events[self._looked_at :]:
            for body in (event.user_message, event.outside_message):
                if body.key:
                    self._words_of[body.key] = set(WORD.findall(body.text))
            for one in event.turn_change.answered:
                self._done |= self._words_of.get(one.key, set())
        self._looked_at = len(self.chat.events)
        return self._done
