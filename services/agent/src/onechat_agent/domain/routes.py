"""Which sources can be routed to a child. Pure. The routes themselves: routes.py of the package."""

import re
from typing import Final

from onechat_agent.domain.delivery import NAME_MAX

_SOURCE: Final = re.compile(r"whatsapp:[^\s@:]+@[^\s@:]+")


def source_fault(source: str) -> str | None:
    """Why nothing can be routed from `source`, a clause; None when it can, whether or not anything comes."""
    if _SOURCE.fullmatch(source) and source.isprintable() and len(source) <= NAME_MAX:
        return None
    return (
        "a source is written whatsapp:CHAT-ID, with the id as whatsapp_find or the first line of the chat's "
        "messages gives it, such as whatsapp:15550002222@s.whatsapp.net"
    )
