"""Which sources can be routed to a child, and what a change comes to. Pure. The routes: routes.py above."""

import re
from dataclasses import dataclass
from typing import Final

from onechat_agent.domain.delivery import NAME_MAX

_SOURCE: Final = re.compile(r"whatsapp:[^\s@:]+@[^\s@:]+")


class RouteRefused(Exception):
    """There can be no such route; its text is a clause that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Who gets what comes from a source, before and after; empty is the root."""

    before: str  #: a child's name
    now: str
    source: str  #: the id in use; another than the one that was given where the chat has got a new one


def source_fault(source: str) -> str | None:
    """Why nothing can be routed from `source`, a clause; None when it can, whether or not anything comes."""
    if _SOURCE.fullmatch(source) and source.isprintable() and len(source) <= NAME_MAX:
        return None
    return (
        "a source is written whatsapp:CHAT-ID, with the id as the first line of the chat's messages gives "
        "it, such as whatsapp:15550002222@s.whatsapp.net"
    )
