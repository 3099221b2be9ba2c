"""The line that tells the model which of a turn's messages it sees in the view only."""

from collections.abc import Iterable

from onechat_agent.domain.delivery import Delivery


def early(deliveries: Iterable[Delivery]) -> str:
    """Which of the turn's messages stand in the view only, by chat."""
    counts: dict[str, int] = {}
    for delivery in deliveries:
        counts[delivery.source] = counts.get(delivery.source, 0) + 1
    chats = ", ".join(f"{count} of {source}" for source, count in counts.items())
    return f"(Earlier messages of the same moment stand in the view only: {chats}. Zoom to read them.)"
