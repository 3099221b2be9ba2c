"""What the toolbox asks of whoever keeps proposals: that a call it holds back is kept, once, and shown.

What a held call is: domain/proposal.py. Who keeps them: proposals.py of the package.
"""

from typing import Protocol

from onechat_agent.domain.proposal import Held, ProposalNumber


class Proposing(Protocol):
    """Keeps what awaits the user's yes."""

    def of_call(self, call_key: str) -> ProposalNumber | None:
        """What the call of this key has proposed already, before a restart."""
        ...

    async def propose(self, held: Held) -> ProposalNumber:
        """Keeps `held` and answers once it is on disk. The same call, or the same act in one turn, is one."""
        ...
