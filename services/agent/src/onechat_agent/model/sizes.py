"""How much of a call its items fill. Pure. Sizes are UTF-8 bytes of text."""

from collections.abc import Iterable
from typing import Final

from onechat_agent.model.items import CallItem, Item, OutputItem, ReasoningItem, ReplyItem, UserItem

PICTURE: Final = 4_000  # what a picture counts: some 1,200 tokens


def size_of(items: Iterable[Item]) -> int:
    """What `items` fill together; thoughts, which are never logged, count nothing."""
    total = 0
    for item in items:
        match item:
            case UserItem(text=text) | ReplyItem(text=text) | OutputItem(text=text):
                total += len(text.encode("utf-8", "replace"))
            case CallItem(arguments=text):
                total += len(text.encode("utf-8", "replace"))
            case ReasoningItem():
                pass
        if isinstance(item, UserItem | OutputItem):
            total += PICTURE * len(item.pictures)
    return total
