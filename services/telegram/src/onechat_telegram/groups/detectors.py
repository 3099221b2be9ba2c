"""Which messages of a group are meant for the bot: simple, model and hybrid behind one interface.

simple   what the platform marks, and the group's names
model    one small model call a message; none for what the platform marks, whose answer is known
hybrid   simple first; the model only for what is unclear, and only if the group's owner lets it

An administrator's command and a private message never cost a call. Where the model is away a message counts
as `simple` has it: it is learned, and the group does not stand still.
"""

from collections.abc import Sequence
from typing import Protocol

from onechat_runtime import logs

from onechat_telegram.groups.domain.addressing import (
    Judgement,
    Line,
    asks_after_own_words,
    by_names,
    by_platform,
    clear_names,
    doubtful_names,
)
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.messages import Bot, Message
from onechat_telegram.groups.domain.settings import DetectorKind
from onechat_telegram.groups.ports import Judges, ModelAway, Question

log = logs.get("onechat_telegram.groups")


class Detector(Protocol):
    """Judges one message."""

    async def judge(self, message: Message, group: Group, bot: Bot, before: Sequence[Line]) -> Judgement:
        """What `message` is, given the lines `before` it in its thread, oldest first."""


class SimpleDetector:
    """By rules alone."""

    async def judge(self, message: Message, group: Group, bot: Bot, before: Sequence[Line]) -> Judgement:
        """No call; `before` does not matter."""
        return _by_rules(message, group, bot)


class ModelDetector:
    """Asks for every message that the platform does not mark."""

    def __init__(self, model: Judges) -> None:
        self._model = model

    async def judge(self, message: Message, group: Group, bot: Bot, before: Sequence[Line]) -> Judgement:
        """One call at the most."""
        judgement = by_platform(message, bot)
        if judgement.answered or message.sender.is_bot or not message.text.strip():
            return judgement
        return await _asked(self._model, message, group, bot, before)


class HybridDetector:
    """Asks only for what rules leave unclear."""

    def __init__(self, model: Judges) -> None:
        self._model = model

    async def judge(self, message: Message, group: Group, bot: Bot, before: Sequence[Line]) -> Judgement:
        """No call for what is clear, one for what is not."""
        if not group.settings.ask_model:
            return _by_rules(message, group, bot)
        clear = by_platform(message, bot) | Judgement(mentions=by_names(message, clear_names(group.settings)))
        if clear.answered:
            return clear
        unclear = by_names(message, doubtful_names(group.settings, bot))
        if unclear or asks_after_own_words(message, before):
            return await _asked(self._model, message, group, bot, before)
        return clear


def detectors(model: Judges) -> dict[DetectorKind, Detector]:
    """One of each kind."""
    return {
        DetectorKind.SIMPLE: SimpleDetector(),
        DetectorKind.MODEL: ModelDetector(model),
        DetectorKind.HYBRID: HybridDetector(model),
    }


def _by_rules(message: Message, group: Group, bot: Bot) -> Judgement:
    named = by_names(message, group.settings.names)
    return by_platform(message, bot) | Judgement(mentions=named)


async def _asked(
    model: Judges, message: Message, group: Group, bot: Bot, before: Sequence[Line]
) -> Judgement:
    question = Question(
        agent=group.agent,
        text=message.text,
        names=(*group.settings.names, bot.name),
        before=tuple(line.text for line in before),
    )
    try:
        said = await model.judge(question)
    except ModelAway:
        log.info("judged_without_the_model", group=group.source)
        return _by_rules(message, group, bot)
    # A command is what is written as one: the model's word alone must not run any, but gets an answer.
    return Judgement(mentions=said.answered)
