"""What an agent reads of how its proposal went: its first line is onechat's own, the rest is marked.

What people read of it: proposal_words.py of the package.
"""

from typing import Final

from onechat_agent.domain.outside import PRIVATE, marked_lines
from onechat_agent.domain.proposal import Proposal, ProposalState

_SAID: Final = {
    ProposalState.DONE: "the user said yes, and it has run",
    ProposalState.FAILED: "the user said yes, and it failed",
    ProposalState.UNKNOWN: "the user said yes; it was interrupted, not known whether it ran",
    ProposalState.REFUSED: "the user said no, and it did not run; do not reach the same another way",
    ProposalState.EXPIRED: "it has expired and did not run",
}


def outcome(proposal: Proposal, state: ProposalState, result: str, *, private: bool = False) -> str:
    """The message on a proposal that is over; `result`: what the tool gave, or "" if it did not run.

    `private`: a member alone had asked a group's agent for it.
    """
    said = f"[proposal {proposal.number}{PRIVATE if private else ''}] {proposal.tool}: {_SAID[state]}."
    return f"{said} Its result:\n{marked_lines(result)}" if result.strip() else said
