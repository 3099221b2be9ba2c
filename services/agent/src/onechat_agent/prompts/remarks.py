"""What onechat itself adds to the messages of a turn, so that they are taken for what they are. Pure."""

from collections.abc import Iterable
from typing import Final

from onechat_agent.domain.delivery import Delivery, from_agent
from onechat_agent.prompts.prose import prose

MAY_BE_EMPTY: Final = prose(
    """
    (If nothing in this needs the user, end the turn with an empty reply.)
    """
)


def early(deliveries: Iterable[Delivery]) -> str:
    """Which of the turn's messages stand in the view only, by chat."""
    counts: dict[str, int] = {}
    for delivery in deliveries:
        source = "agents" if from_agent(delivery.source) else delivery.source
        counts[source] = counts.get(source, 0) + 1
    chats = ", ".join(f"{count} of {source}" for source, count in counts.items())
    return f"(Earlier messages of the same moment stand in the view only: {chats}. Zoom to read them.)"


def instead_of(name: str) -> str:
    """The first line of a message that was for another agent, who is gone."""
    return f"(This was for {name}, who is not there any more.)"
