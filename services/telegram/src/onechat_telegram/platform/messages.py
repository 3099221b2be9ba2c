"""A message in a group, or a member's private one, read from Telegram's own JSON as groups have it. Pure.

Several updates may be one message (joining.py). Telegram's entities count UTF-16 units, from the beginning of
their part; what comes of them here counts code points of the whole text, in which addresses stand after the
words that they are behind. What befalls a group: events.py.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from onechat_telegram.domain.ids import BotId, FileId, key_for_message
from onechat_telegram.domain.links import with_addresses
from onechat_telegram.domain.message_kinds import Picture
from onechat_telegram.domain.updates import Written, name_of, written_in
from onechat_telegram.domain.utf16 import unit_offsets
from onechat_telegram.domain.wording import kinds_not_read, not_seen, seams, whole_letters
from onechat_telegram.groups.domain.ids import NO_THREAD, ChatId, MemberId, MessageId, MessageKey, ThreadId
from onechat_telegram.groups.domain.messages import Command, Member, Mention, Message, Place, Quote
from onechat_telegram.platform.events import place_in_forum

_CODE: Final = frozenset({"code", "pre"})
_HIDDEN: Final = MemberId("hidden")  # whoever does not let forwards and quotes name them


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One update's message."""

    raw: Mapping[str, Any]
    written: Written
    text: str  #: as it was written
    start: int  #: where it begins in the whole text

    @property
    def shown(self) -> str:
        """As it stands in the whole text."""
        return with_addresses(self.text, self.written.links)

    def entities(self) -> Iterator[tuple[Mapping[str, Any], int, int]]:
        """Each entity with its place in this part's text, [begin, end) in code points."""
        offsets = unit_offsets(self.text)
        for entity in self.raw.get("entities", self.raw.get("caption_entities", ())):
            begin = int(entity["offset"])
            yield entity, bisect_left(offsets, begin), bisect_left(offsets, begin + int(entity["length"]))

    def in_whole(self, begin: int, end: int) -> tuple[int, int]:
        """[begin, end) of this part's text, in the whole one."""
        return self._shifted(begin, begin), self._shifted(end, end - 1)

    def addresses(self) -> Iterator[tuple[int, int]]:
        """Where the addresses stand that were put into the whole text."""
        links = self.written.links
        for end in sorted({link.end for link in links}):
            yield self._shifted(end, end - 1), self._shifted(end, end)

    def _shifted(self, index: int, after: int) -> int:
        """`index` in the whole text, behind the addresses of links that end at `after` or before."""
        before = [link for link in self.written.links if link.end <= after]
        return self.start + index + len(with_addresses(self.text, before)) - len(self.text)


def message_of(bot: BotId, updates: Sequence[Mapping[str, Any]], thread_title: str = "") -> Message:
    """The message of `bot`'s `updates`, which are its parts in order; each must hold words or a picture.

    Its images are named by what `picture_named` reads: they are not fetched yet.
    """
    parts = _parts(updates)
    first, raw = parts[0].written, parts[0].raw
    private, forum = raw["chat"]["type"] == "private", place_in_forum(updates[0])
    answers = _quote(raw, first)
    told = kinds_not_read([part.written for part in parts])
    text = "".join(
        seam + part.shown for seam, part in zip(seams([part.text for part in parts]), parts, strict=True)
    )
    asked = private or (answers is not None and answers.author.id == str(bot))
    if told and (text or asked):
        text = f"{text}\n{not_seen(told)}".lstrip("\n")
    return Message(
        key=MessageKey(key_for_message(bot, first.chat, first.message, first.edit_date)),
        place=Place(
            chat=ChatId(str(first.chat)),
            message=MessageId(str(first.message)),
            thread=NO_THREAD if forum is None else ThreadId(str(forum[1])),
        ),
        private=private,
        title="" if private else whole_letters(str(raw["chat"].get("title", ""))),
        sender=_writer(raw),
        time=datetime.fromtimestamp(first.edit_date or first.date, UTC),
        text=text,
        images=tuple(_name_of(part.written.picture) for part in parts if part.written.picture is not None),
        mentions=tuple(_mentions(parts)),
        command=_command(parts[0], text) if first.forwarded is None else None,
        answers=answers,
        forwarded_from=None if first.forwarded is None else whole_letters(first.forwarded.author),
        edited=first.edit_date is not None,
        code=tuple(_code(parts)),
        thread_title=thread_title,
    )


def picture_named(name: str) -> Picture:
    """The picture that `message_of` has named so."""
    return Picture(files=tuple(FileId(file) for file in name.split(" ") if file))


def with_images(message: Message, names: Sequence[str], missing: int) -> Message:
    """`message` with its images by their stored names; `missing` of them could not be read."""
    text = message.text
    if missing:
        text = f"{text}\n{not_seen(['a picture'] * missing)}".lstrip("\n")
    return replace(message, images=tuple(names), text=text)


def _name_of(picture: Picture) -> str:
    return " ".join(picture.files)  # Telegram's ids of files have no blanks


def _parts(updates: Sequence[Mapping[str, Any]]) -> list[_Part]:
    found = [(update, written_in(update)) for update in updates]
    texts = [whole_letters(written.text) if written else "" for _, written in found]
    parts: list[_Part] = []
    start = 0
    for (update, written), text, seam in zip(found, texts, seams(texts), strict=True):
        if written is None:
            raise ValueError("an update without a message")
        raw = update.get("edited_message", update.get("message"))
        start += len(seam)
        parts.append(_Part(raw=raw, written=written, text=text, start=start))
        start += len(parts[-1].shown)
    return parts


def _mentions(parts: Sequence[_Part]) -> Iterator[Mention]:
    """The mentions that Telegram itself marks, by name or by number."""
    for part in parts:
        for entity, begin, end in part.entities():
            if entity["type"] == "mention":
                yield Mention(handle=part.text[begin:end].removeprefix("@"))
            elif entity["type"] == "text_mention":
                yield Mention(member=MemberId(str(entity["user"]["id"])))


def _code(parts: Sequence[_Part]) -> Iterator[tuple[int, int]]:
    """Where no name counts: in code, and in addresses that nobody reads in Telegram."""
    for part in parts:
        yield from part.addresses()
        for entity, begin, end in part.entities():
            if entity["type"] in _CODE:
                yield part.in_whole(begin, end)


def _command(part: _Part, text: str) -> Command | None:
    """The command that the message begins with; one further in is talked about, not given."""
    for entity, begin, end in part.entities():
        if entity["type"] == "bot_command" and begin == 0:
            name, _, to = part.text[1:end].partition("@")
            return Command(name=name, to=to, rest=text[part.in_whole(0, end)[1] :].strip())
    return None


def _writer(message: Mapping[str, Any]) -> Member:
    """Who wrote `message`: a person, or a chat that is written as, such as an administrator's own group.

    Then `from` is a stand-in that all of them share.
    """
    chat = message.get("sender_chat")
    return _member(message.get("from", {}) if chat is None else chat)


def _member(who: Mapping[str, Any], name: str = "") -> Member:
    return Member(
        id=MemberId(str(who["id"])) if "id" in who else _HIDDEN,
        name=whole_letters(name or name_of(who)),
        is_bot=bool(who.get("is_bot")),
    )


def _quote(message: Mapping[str, Any], written: Written) -> Quote | None:
    """What it replies to. A topic's messages come as answers to its creation, which nobody has chosen."""
    if written.answers is None:
        return None
    replied = message.get("reply_to_message")
    if replied is None or "external_reply" in message:
        author = _origin(message["external_reply"]["origin"], written.answers.author)
    elif message.get("is_topic_message") and replied["message_id"] == message["message_thread_id"]:
        return None
    else:
        author = _writer(replied)
    return Quote(author=author, text=whole_letters(written.answers.text))


def _origin(origin: Mapping[str, Any], name: str) -> Member:
    return _member(origin.get("sender_user", origin.get("sender_chat", origin.get("chat", {}))), name)
