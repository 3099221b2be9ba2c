"""What holds after a run with WhatsApp and kills; each complaint is a sentence, and a sound system has none.

Each message stands once in the log that it belongs to, and in no other. Each send that was asked for has left
at most once, exactly if its answer says so, and nothing else has left.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_TOOL

from tests.system.invariants import Whole, logs_of, of_calls, of_deliveries, of_events
from tests.system.whatsapp_run import WhatsAppRun
from tests.system.whatsapp_script import ASKED, HOUSE, ROOT, ROUTED, SENDS, WORD, Kind, Thing

SENT, UNKNOWN = "Sent to ", "not known whether"
NOT_SENT: Final = ("Nothing was sent", "nothing was sent", "It was not sent")
_OBSERVES: Final = {"Dial", "HangUp", "AskOnline", "AskGroups", "SendText"}  #: what may be asked of WhatsApp


async def complaints(run: WhatsAppRun) -> list[str]:
    """Sentences; none after a sound run."""
    logs = await logs_of(run.chat)
    kept = await run.chat.kept_events()
    roots = [event for event in kept if event.agent == ROOT]  # what House says is a report, and no event
    agent = {event.agent_id for event in roots}
    deliveries = [one for one in await run.chat.deliveries() if one.agent_id in agent]
    return [
        *_of_messages(run, logs),
        *(fault for log in logs.values() for fault in of_calls(log)),
        *of_deliveries(deliveries, [], roots),
        *of_events(run.chat.events, kept),
        *_of_sends(run, outcomes(run, logs[ROOT])),
        *_of_the_account(run),
        *(f"the model refused: {refusal}" for refusal in run.model.refusals()),
    ]


def heard_in(log: Sequence[Whole]) -> list[str]:
    """The words in a log's batches, in order, as often as they are there."""
    lines = [
        line
        for one in log
        if one.key.startswith("d:") and one.text.startswith("[WhatsApp]")
        for line in one.text.splitlines()
        if line.startswith("| ")
    ]
    return WORD.findall("\n".join(lines))


def outcomes(run: WhatsAppRun, log: Sequence[Whole]) -> dict[str, list[str]]:
    """What became of each word's send, as the root and the user are told: mostly one text."""
    found: dict[str, list[str]] = {thing.word: [] for thing in run.said if thing.kind in SENDS}
    texts = {one.key: one.text for one in log}
    for one in log:
        if one.kind == MESSAGE_KIND_TOOL and "whatsapp_send" in one.text:
            found[WORD.findall(one.text)[0]].append(texts.get(f"{one.key}:r", ""))
    for event in run.chat.events:
        proposal = event.proposal.proposal
        if proposal.outcome:
            found[json.loads(proposal.arguments)["id"]].append(proposal.outcome)
    return {
        word: [text for text in texts if any(sign in text for sign in (SENT, UNKNOWN, *NOT_SENT))]
        for word, texts in found.items()
    }


def _of_messages(run: WhatsAppRun, logs: dict[str, list[Whole]]) -> Iterator[str]:
    heard = {name: heard_in(log) for name, log in logs.items()}
    counts = {name: Counter(words) for name, words in heard.items()}
    written = [thing for thing in run.said if thing.kind not in ASKED]
    for thing in written:
        mine = HOUSE if thing.kind in ROUTED else ROOT
        here, there = counts[mine][thing.word], counts[ROOT if mine == HOUSE else HOUSE][thing.word]
        if here != 1 and not (here == 0 and thing.word in run.lost):
            yield f"{thing.word} ({thing.kind}) is {here} times in the log of {mine}"
        if there:
            yield f"{thing.word} ({thing.kind}) is in a log that it does not belong to"
    if unknown := {word for words in heard.values() for word in words} - {thing.word for thing in written}:
        yield f"nobody has written {sorted(unknown)}"
    for chat in _chats(written):
        places = [heard[name].index(word) for name, word in chat if word in heard[name]]
        if any(later < earlier for earlier, later in pairwise(places)):
            yield f"the messages of {chat[0][1]}'s chat do not keep their order"


def _chats(written: Sequence[Thing]) -> Iterator[list[tuple[str, str]]]:
    """(log, word) of each chat's messages, in their order."""
    groups = (ROUTED, {Kind.ASIDE, Kind.MENTION}, {Kind.PRIVATE, Kind.BY_LID, Kind.OWN, Kind.ASKS})
    for kinds in groups:
        found = [
            (HOUSE if thing.kind in ROUTED else ROOT, thing.word) for thing in written if thing.kind in kinds
        ]
        if found:
            yield found


def _of_sends(run: WhatsAppRun, told: dict[str, list[str]]) -> Iterator[str]:
    asked = {thing.sent: thing for thing in run.said if thing.kind in SENDS}
    left = Counter(sent.text for sent in run.account.sent)
    for sent in run.account.sent:
        if sent.text not in asked:
            yield f"{sent.text!r} has left, and nobody asked for it"
        elif sent.chat != asked[sent.text].sends_to or sent.image:
            yield f"{sent.text!r} has left for {sent.chat}"
    for text, thing in asked.items():
        said = told[thing.word]
        if left[text] > 1:
            yield f"{text!r} has left {left[text]} times"
        if thing.word in run.lost and not said and not left[text]:
            continue
        if not said:
            yield f"nobody says what became of {text!r}"
        elif any(SENT in one for one in said) and not left[text]:
            yield f"{text!r} has not left, and it is said that it has"
        elif left[text] and not any(SENT in one or UNKNOWN in one for one in said):
            yield f"{text!r} has left, and it is said that it has not: {said}"


def _of_the_account(run: WhatsAppRun) -> Iterator[str]:
    """It only observes: nothing but sends leaves, no receipt, no presence, no answer."""
    if more := set(run.world.asked) - _OBSERVES:
        yield f"WhatsApp was asked for {sorted(more)}"
    if run.world.asked["SendText"] > sum(thing.kind in SENDS for thing in run.said):
        yield "WhatsApp was asked for more sends than the user"
