"""What holds after a run with kills: each thing in its log once, each answer in its chat once, or marked.

Read through the contracts, but for pieces whose outcome stays unknown: those the gateway's store alone has.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from onechat.agent.v1 import event_pb2
from onechat_telegram.domain.admissions import GONE
from onechat_telegram.domain.wording import REPEAT_MARK

from tests.fakes.bot_api import OWNER
from tests.fakes.five_services import FiveServices
from tests.system.invariants import Whole, logs_of, of_calls, of_deliveries, of_events, of_telegram
from tests.system.telegram_run import TelegramRun
from tests.system.telegram_script import IN_GROUP, UNHEARD, WORD, Kind, Thing

_ROOT = "One"


async def complaints(run: TelegramRun, said: Sequence[Thing]) -> list[str]:
    """Sentences; none after a sound run."""
    kept = await run.chat.kept_events()
    logs = await logs_of(run.chat)
    deliveries = await run.chat.deliveries()
    shown = run.api.texts()
    user = [event for event in kept if event.audience == "user"]
    return [
        *_of_logs(logs, said),
        *(fault for log in logs.values() for fault in of_calls(log)),
        *of_deliveries(deliveries, [], kept),
        *_of_keys(run, [one.key for one in deliveries], said),
        *of_events(run.chat.events, kept),
        *of_telegram([text for text in shown if not _is_from_the_gateway(text)], user),
        *_of_commands(shown, said),
        *_of_buttons(run, said),
        *_of_group(run, said, _unknown(run.services)),
        *_of_marks(run),
        *(f"the model refused: {refusal}" for refusal in run.model.refusals()),
    ]


def _is_from_the_gateway(text: str) -> bool:
    """Whether it is no agent's reply: what a command answers, a question with buttons, how it ended."""
    begins = ("There is no proposal 9", "Proposal ", "I was added", "I serve", "I have left", GONE)
    return text.startswith(begins)


def _of_logs(logs: dict[str, list[Whole]], said: Sequence[Thing]) -> Iterator[str]:
    """Each thing is once in the log that it belongs to, and in no other one."""
    roots = _heard(logs[_ROOT])
    others = sum((_heard(log) for name, log in logs.items() if name != _ROOT), Counter[str]())
    for thing in said:
        mine, theirs = (others, roots) if thing.kind in IN_GROUP else (roots, others)
        wanted = 0 if thing.kind in UNHEARD else 1
        if mine[thing.word] != wanted:
            yield f"{thing.word} ({thing.kind}) is {mine[thing.word]} times in its log"
        if theirs[thing.word]:
            yield f"{thing.word} ({thing.kind}) is in a log that it does not belong to"


def _heard(log: Iterable[Whole]) -> Counter[str]:
    """How often each word was heard; what a message quotes is not counted."""
    found: Counter[str] = Counter()
    for message in log:
        if message.key.startswith("d:") and "[proposal " not in message.text:
            lines = [line.removeprefix("| ") for line in message.text.splitlines()]
            found.update(WORD.findall("\n".join(line for line in lines if not line.startswith("  > "))))
    return found


def _of_keys(run: TelegramRun, keys: Sequence[str], said: Sequence[Thing]) -> Iterator[str]:
    """The owner's messages are a delivery each, with their own key."""
    mine = [key for key in keys if key.startswith("telegram:")]
    for thing in said:
        if thing.kind in UNHEARD | {Kind.ASIDE, Kind.ASIDE_EDIT}:
            continue
        chat = run.group if thing.kind in IN_GROUP else OWNER
        begin = f"telegram:{run.api.bot_id}:{chat}:{run.messages[thing.word]}"
        if not any(key == begin or key.startswith(f"{begin}:") for key in mine):
            yield f"{thing.word} ({thing.kind}) has no delivery with its key"


def _of_commands(shown: Sequence[str], said: Sequence[Thing]) -> Iterator[str]:
    for thing in said:
        if thing.kind is Kind.COMMAND:
            yield from _once_or_marked(shown, f"There is no proposal 9{thing.word[1:]}", thing.word)


def _once_or_marked(shown: Sequence[str], begin: str, word: str) -> Iterator[str]:
    found = [text for text in shown if text.startswith(begin)]
    plain = [text for text in found if not text.endswith(REPEAT_MARK)]
    if len(plain) > 1 or not found:
        yield f"the answer to {word} is shown {len(plain)} times, and {len(found) - len(plain)} times marked"


def _of_buttons(run: TelegramRun, said: Sequence[Thing]) -> Iterator[str]:
    """Nothing is left to be pressed, and each press had its effect, once."""
    yield from (f"{one['text'][:60]!r} still has buttons" for one in run.api.sent if "reply_markup" in one)
    changes = [event.proposal.proposal for event in run.chat.events if event.HasField("proposal")]
    ends = Counter(one.number for one in changes if one.state in _ENDS)
    yield from (f"proposal {number} ended {times} times" for number, times in ends.items() if times != 1)
    proposed = [thing for thing in said if thing.kind is Kind.PROPOSAL]
    if len(ends) != len(proposed):
        yield f"{len(ends)} of {len(proposed)} proposals were answered"
    for thing in said:
        if thing.kind is Kind.ADMISSION:
            yield from _of_admission(run, thing)


def _of_admission(run: TelegramRun, thing: Thing) -> Iterator[str]:
    title = f"Club {thing.word}"
    (group,) = [one for one in run.api.directory.groups.values() if one.title == title]
    if group.member(run.api.bot_id).inside is not thing.yes:
        yield f"the bot should {'not ' * (not thing.yes)}be in {title}"
    if thing.yes and f'I serve the group "{title}" now.' not in run.api.texts():
        yield f"nothing says that {title} is served"


def _of_group(run: TelegramRun, said: Sequence[Thing], unknown: Counter[str]) -> Iterator[str]:
    """Each answer is there once, at its message, never marked; or not, where that is recorded as unknown."""
    here = [one for one in run.api.sent if one["chat"]["id"] == run.group]
    for thing in said:
        if thing.kind not in IN_GROUP:
            continue
        found = [one for one in here if thing.word in WORD.findall(one["text"])]
        if not thing.answered:
            yield from (f"{thing.word} was answered in the group" for _ in found)
            continue
        if len(found) != 1 and not (not found and unknown[thing.answer]):
            yield f"the answer to {thing.word} is {len(found)} times in the group"
        for one in found:
            if one["text"] != thing.answer:
                yield f"the group shows {one['text']!r} where {thing.answer!r} belongs"
            if one.get("reply_to_message", {}).get("message_id") != run.messages[thing.word]:
                yield f"the answer to {thing.word} does not reply to it"
    if len(here) > sum(thing.answered for thing in said if thing.kind in IN_GROUP):
        yield "the group shows more than the answers"


def _unknown(services: FiveServices) -> Counter[str]:
    """The texts of pieces that may be in a chat or not, and are not repeated."""
    with sqlite3.connect(f"file:{services.data / 'telegram' / 'store.db'}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT text FROM pieces WHERE state = 'unknown'").fetchall()
    return Counter(str(text) for (text,) in rows)


def _of_marks(run: TelegramRun) -> Iterator[str]:
    """No more is marked than there were moments in which it could not be known."""
    marked = [one for one in run.api.sent if one.get("text", "").endswith(REPEAT_MARK)]
    if len(marked) > run.services.kills["telegram"]:
        yield f"{len(marked)} messages are marked as repeats after {run.services.kills['telegram']} kills"


_ENDS = (
    event_pb2.PROPOSAL_STATE_DONE,
    event_pb2.PROPOSAL_STATE_FAILED,
    event_pb2.PROPOSAL_STATE_REFUSED,
    event_pb2.PROPOSAL_STATE_UNKNOWN,
)
