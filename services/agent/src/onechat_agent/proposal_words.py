"""What people read of a proposal: who asks, what exactly would run, and why they are asked.

Nothing that runs is hidden: a character that would not show stands as its code point, the lines of a text
have a mark that they cannot close, and where a text is too long to be read at once, a line says how much is
missing and how to see it. Lengths are characters. What agents read of their proposals: prompts/proposals.py.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo

from onechat_agent import sentences
from onechat_agent.domain.outside import MARK
from onechat_agent.domain.proposal import OUTCOME_MAX, Held, Proposal, ProposalNumber, ProposalState
from onechat_agent.domain.text import clip
from onechat_agent.domain.visible import Shortened, shortened, visible

SHORT_MAX: Final = 200  #: a text of one line and no more than this stands beside its name, in quotes


def asked(held: Held, number: ProposalNumber, agent_name: str) -> str:
    """What people are shown of a new proposal, in lines."""
    lines, cut = _act(held, agent_name, whole=False)
    if held.own_rules:
        lines.append(sentences.PROPOSED_RULES)
    lines.append(sentences.PROPOSED_WHY[held.why.name])
    if cut:
        lines.append(sentences.PROPOSED_CUT.format(number=number))
    return "\n".join(lines)


def whole(proposal: Proposal, zone: ZoneInfo) -> str:
    """All of what would run, or ran, however long; and how far it is."""
    lines, _ = _act(proposal, proposal.agent_name, whole=True)
    return "\n".join([*lines, standing(proposal, zone)])


def standing(proposal: Proposal, zone: ZoneInfo) -> str:
    """How far it is, in a sentence, with how it went once it is over."""
    if proposal.state is ProposalState.OPEN:
        until = f"{proposal.expire_time.astimezone(zone):%Y-%m-%d %H:%M}"
        return sentences.PROPOSAL_OPEN.format(number=proposal.number, until=until)
    said = sentences.PROPOSAL_STATES[proposal.state].format(
        number=proposal.number, agent=proposal.agent_name, tool=proposal.tool
    )
    return f"{said}\n{proposal.outcome}" if proposal.outcome else said


def outcome(text: str) -> str:
    """What a call gave, or why it did not run, as people are shown it: marked, and at most so long."""
    return "\n".join(MARK + visible(line) for line in clip(text.strip("\n"), OUTCOME_MAX).split("\n"))


def _act(act: Held | Proposal, agent_name: str, *, whole: bool) -> tuple[list[str], bool]:
    """Who would run what, with all its arguments, and whether some of them is missing in these lines."""
    arguments: Mapping[str, Any] = json.loads(act.arguments)
    lines = [sentences.PROPOSED.format(agent=visible(agent_name), tool=visible(act.tool), where=_where(act))]
    cut = False
    for name, value in arguments.items():
        shown, is_cut = _argument(visible(name), value, whole=whole)
        if name in act.beside:
            shown[0] += f" ({visible(act.beside[name])})"
        lines += shown
        cut = cut or is_cut
    return lines if arguments else [*lines, sentences.PROPOSED_NOTHING], cut


def _where(held: Held | Proposal) -> str:
    if held.target:
        return sentences.PROPOSED_ON.format(target=visible(held.target))
    return sentences.PROPOSED_IN.format(workdir=visible(held.workdir)) if held.tool == "shell" else ""


def _argument(name: str, value: Any, *, whole: bool) -> tuple[list[str], bool]:
    """The lines of one argument, and whether some of it is missing in them."""
    if not isinstance(value, str):
        return [f"{name}: {visible(json.dumps(value, ensure_ascii=False))}"], False
    if "\n" not in value and len(value) <= SHORT_MAX:
        return [f'{name}: "{visible(value)}"'], False
    lines, characters = value.count("\n") + 1, f"{len(value):,}"
    heading = (
        sentences.PROPOSED_ONE_LINE.format(name=name, characters=characters)
        if lines == 1
        else sentences.PROPOSED_LONG.format(name=name, lines=f"{lines:,}", characters=characters)
    )
    parts = Shortened(head=value) if whole else shortened(value)
    return [heading, *_marked(parts)], parts.left_out > 0


def _marked(parts: Shortened) -> Iterator[str]:
    """The lines of a long text, each behind a mark, so that none of them looks like onechat's own."""
    for line in parts.head.split("\n"):
        yield MARK + visible(line)
    if parts.left_out:
        yield sentences.PROPOSED_LEFT_OUT.format(left_out=f"{parts.left_out:,}")
        for line in parts.tail.split("\n"):
            yield MARK + visible(line)
