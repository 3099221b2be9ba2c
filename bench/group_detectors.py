"""What it costs to tell which of a group's messages are meant for the bot: simple, model and hybrid.

The gateway's own detectors judge a made conversation, in this process. What a call sends is what the agent
service would send; the model is one that judges right, so that what a detector misses is its own. The bot
answers whatever is judged to be for it. Nothing is timed, and the figures are the same anywhere.
"""

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onechat_agent.prompts import addressed
from onechat_demo.usage import tokens
from onechat_telegram.groups.detectors import detectors
from onechat_telegram.groups.domain.addressing import Judgement, Line
from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import AgentId, Source, ThreadId
from onechat_telegram.groups.domain.settings import DetectorKind, first_settings
from onechat_telegram.groups.domain.wording import line_for_detector, own_line
from onechat_telegram.groups.heard_rows import LINES_MOST
from onechat_telegram.groups.ports import Question

from bench.figures import Figure, figure
from bench.made_group import ANSWER, BOT, CHAT, Said, conversation
from bench.scale import Scale

TITLE: Final = "What it costs to see who is meant in a group"
ABOUT: Final = (
    "A made conversation of 5 members in 3 threads: of 100 messages 6 mention the bot, 4 reply to it, 4 "
    "call it by its bare name, 3 only speak of it and 20 are questions to others; of what follows the bot's "
    "words 40 % are questions to it, 5 % go on without one, 15 % are questions to others. The group has a "
    "new one's settings but for its detector; `simple` and `model` are the baselines of `hybrid`. A call's "
    "tokens are a quarter of the bytes of its instructions, its schema and its question, the lines before "
    "the message among them. The model judges right: a message that is meant for the bot and not answered "
    "was never asked about, and one that is answered though it is for others was taken by a rule. A round "
    "is a conversation of its own."
)
_GROUP: Final = Group(
    chat=CHAT,
    title="Friends",
    state=GroupState.ADMITTED,
    source=Source(f"made:{CHAT}"),
    agent=AgentId("a"),
    settings=first_settings(BOT),
)
_HEAD_TOKENS: Final = tokens(addressed.SYSTEM) + tokens(json.dumps(addressed.FORM.schema))


class _Model:
    """A model that knows who is meant; it counts what is asked."""

    def __init__(self, meant: Mapping[str, bool]) -> None:
        """`meant`: by a message's text, whether it is for the bot."""
        self._meant = meant
        self.calls = 0
        self.tokens = 0

    async def judge(self, question: Question) -> Judgement:
        """Right, for what the agent service's call would cost."""
        self.calls += 1
        asked = addressed.question(question.text, question.names, question.before)
        self.tokens += _HEAD_TOKENS + tokens(asked)
        return Judgement(mentions=self._meant[question.text])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One conversation under one detector."""

    calls: float  #: a message
    tokens: float  #: a message
    found: float  #: percent of the messages for the bot that were answered
    wrong: float  #: percent of the others that were answered too


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    chats = [conversation(scale.group_messages, seed) for seed in range(scale.rounds)]
    kinds = (DetectorKind.SIMPLE, DetectorKind.MODEL, DetectorKind.HYBRID)
    judged = {kind: [await _judged(kind, chat) for chat in chats] for kind in kinds}
    figures = [
        figure(
            f"messages for the bot, of {scale.group_messages}", [sum(s.meant for s in c) for c in chats], ""
        )
    ]
    for kind, rounds in judged.items():
        figures += [
            figure(f"{kind}: model calls a message", [one.calls for one in rounds], ""),
            figure(f"{kind}: tokens a message", [one.tokens for one in rounds], ""),
            figure(f"{kind}: answered, of those for the bot", [one.found for one in rounds], "%"),
            figure(f"{kind}: answered, of the others", [one.wrong for one in rounds], "%"),
        ]
    return figures


async def _judged(kind: DetectorKind, chat: Sequence[Said]) -> _Judged:
    model = _Model({one.message.text: one.meant for one in chat})
    detector = detectors(model)[kind]
    before: defaultdict[ThreadId, deque[Line]] = defaultdict(lambda: deque(maxlen=LINES_MOST))
    answered: list[bool] = []
    for one in chat:
        lines = before[one.message.place.thread]
        judgement = await detector.judge(one.message, _GROUP, BOT, tuple(lines))
        lines.append(Line(text=line_for_detector(one.message), own=False))
        if judgement.answered:
            lines.append(Line(text=own_line(ANSWER), own=True))
        answered.append(judgement.answered)
    return _Judged(
        calls=model.calls / len(chat),
        tokens=model.tokens / len(chat),
        found=_percent(answered, chat, meant=True),
        wrong=_percent(answered, chat, meant=False),
    )


def _percent(answered: Sequence[bool], chat: Sequence[Said], *, meant: bool) -> float:
    """Which share of the messages that are for the bot, or are not, was answered."""
    those = [was for was, one in zip(answered, chat, strict=True) if one.meant is meant]
    return 100 * sum(those) / max(len(those), 1)
