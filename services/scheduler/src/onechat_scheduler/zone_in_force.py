"""The zone that expressions follow: when it or its rules are others than before, next times are found anew.

At a start, before anything runs, in one transaction. They are found from what was dealt with last, so nothing
runs twice, and what has come by the new time runs late. Single times stay the instants that they are.
"""

from datetime import datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

import apsw
from onechat_runtime import logs
from onechat_runtime.data_folder import disk_full
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_scheduler.adapters import schedule_rows, zone_rules
from onechat_scheduler.domain.cron import parse
from onechat_scheduler.domain.recurrence import next_run
from onechat_scheduler.domain.schedule import Schedule

_ZONE: Final = "zone"
_RULES: Final = "zone_rules"

log = logs.get("onechat_scheduler.zone_in_force")


async def follow(store: Store, zone: ZoneInfo) -> None:
    """Have every expression's next time be of `zone`, by the rules that it has now.

    Raises StartRefused when the disk is full.
    """
    in_force = {_ZONE: zone.key, _RULES: zone_rules.fingerprint(zone.key)}
    known = store.read(lambda db: {name: schedule_rows.fact(db, name) for name in in_force})
    if known == in_force:
        return

    def job(db: apsw.Connection) -> None:
        schedule_rows.rezone(db, zone.key, partial(_next_time, zone=zone))
        for name, value in in_force.items():
            schedule_rows.set_fact(db, name, value)

    try:
        await store.write(job)
    except StoreFull:
        raise disk_full(store.path) from None
    log.info("zone_in_force", zone=zone.key, was=known[_ZONE])


def _next_time(schedule: Schedule, zone: ZoneInfo) -> datetime | None:
    assert schedule.cron is not None
    return next_run(parse(schedule.cron), zone, schedule.last_time)
