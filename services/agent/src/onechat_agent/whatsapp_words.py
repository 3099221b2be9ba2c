"""What people read of the link to WhatsApp: how it is, since when, and which chats are routed. Pure.

The sentences are sentences.py's. When each is asked for: whatsapp_commands.py.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from onechat_agent import sentences
from onechat_agent.domain.text import plain_line
from onechat_agent.domain.whatsapp import LinkState, LinkStatus, PairingCode

ROUTES_SHOWN: Final = 50

Route = tuple[str, str, bool]
"""(source, the child's name, whether that child is there)."""


def pairing(code: PairingCode, zone: ZoneInfo) -> str:
    """The code, how long it is good, and where it is typed in."""
    until = sentences.PAIRING_UNTIL.format(time=_moment(code.expire_time, zone)) if code.expire_time else ""
    return sentences.PAIRING_CODE.format(code=plain_line(code.code), until=until)


def status(link: LinkStatus, zone: ZoneInfo) -> str:
    """How the link is, in lines."""
    return "\n".join(_status_lines(link, zone))


def routes(found: Sequence[Route], root: str) -> str:
    """Which chats go to which child, in lines; `root` is who gets all others."""
    if not found:
        return sentences.WHATSAPP_ROUTES_NONE.format(root=root)
    lines = [sentences.WHATSAPP_ROUTES]
    for source, child, there in found[:ROUTES_SHOWN]:
        form = sentences.WHATSAPP_ROUTE if there else sentences.WHATSAPP_ROUTE_GONE
        lines.append(form.format(chat=source.partition(":")[2], child=child, root=root))
    if len(found) > ROUTES_SHOWN:
        lines.append(sentences.WHATSAPP_ROUTES_MORE.format(more=len(found) - ROUTES_SHOWN))
    return "\n".join(lines)


def _status_lines(link: LinkStatus, zone: ZoneInfo) -> Iterator[str]:
    since = f", since {_moment(link.since, zone)}" if link.since else ""
    # What is wrong says the state once more, in a sentence of its own; but not on a link that is there.
    told = link.trouble and link.state not in (LinkState.CONNECTED, LinkState.OTHER)
    form = "" if told else sentences.WHATSAPP_LINKS.get(link.state, "")
    yield (form or sentences.WHATSAPP_LOST).format(state=link.state, since=since)
    if link.trouble:
        yield plain_line(link.trouble)
    for name, form in sentences.WHATSAPP_TIMES.items():
        time: datetime | None = getattr(link, name)
        if time is not None:
            yield form.format(time=_moment(time, zone))
    if link.batches:
        yield sentences.WHATSAPP_BATCHES.format(batches=link.batches)
    if link.undecryptable:
        yield sentences.WHATSAPP_UNDECRYPTABLE.format(messages=link.undecryptable)


def _moment(time: datetime, zone: ZoneInfo) -> str:
    return f"{time.astimezone(zone):%Y-%m-%d %H:%M}"
