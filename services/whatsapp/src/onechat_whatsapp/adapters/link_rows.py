"""The store's row on the link. Functions on a connection, for transactions. Instants are aware, UTC."""

from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_whatsapp.domain.link import LinkNow, LinkState


def kept(db: apsw.Connection) -> LinkNow | None:
    """The link as it was last; None in a new store."""
    rows: list[Any] = db.execute(
        "SELECT state, since, away_told, linked_since, last_connect, last_disconnect, ban_end, away_since"
        " FROM link"
    ).fetchall()
    for state, since, away_told, *times in rows:
        linked_since, last_connect, last_disconnect, ban_end, away_since = map(_optional, times)
        return LinkNow(
            state=LinkState(state),
            since=instant(since),
            away_told=bool(away_told),
            linked_since=linked_since,
            last_connect=last_connect,
            last_disconnect=last_disconnect,
            ban_end=ban_end,
            away_since=away_since,
        )
    return None


def keep(db: apsw.Connection, link: LinkNow) -> None:
    """Replace what was kept."""
    times = (link.linked_since, link.last_connect, link.last_disconnect, link.ban_end, link.away_since)
    db.execute(
        "INSERT OR REPLACE INTO link (only, state, since, away_told, linked_since, last_connect,"
        " last_disconnect, ban_end, away_since) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            link.state.value,
            micros(link.since),
            link.away_told,
            *(None if time is None else micros(time) for time in times),
        ),
    )


def _optional(time: int | None) -> datetime | None:
    return None if time is None else instant(time)
