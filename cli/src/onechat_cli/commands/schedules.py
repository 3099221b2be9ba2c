"""`onechat schedules`: what the agents are to be told and when; what a time or an expression would give."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.errors import RemoteError

from onechat_cli.adapters.scheduler import SchedulerClient
from onechat_cli.commands.agent_names import NOT_SAID, names_of_agents
from onechat_cli.commands.away import failure
from onechat_cli.commands.printed import columns, print_json, print_text, remark
from onechat_cli.commands.send import new_key
from onechat_cli.config import CliSettings
from onechat_cli.domain.remembered import iso_utc
from onechat_cli.domain.schedules import (
    run_lines,
    schedule_lines,
    schedule_remarks,
    schedule_row,
    told,
)
from onechat_cli.outcome import CommandFailed, Exit


async def schedules(settings: CliSettings, chosen: argparse.Namespace, clock: Clock | None = None) -> Exit:
    """Run the part of the command that `chosen.part` names; the list without one."""
    clock = clock or SystemClock()
    async with _scheduling(settings) as client:
        match chosen.part:
            case None | "list":
                return await show(client, settings, as_json=chosen.json, clock=clock)
            case "preview":
                return await preview(client, " ".join(chosen.when), runs=chosen.runs, as_json=chosen.json)
            case "remove":
                return await remove(client, settings, chosen.id, as_json=chosen.json)
            case unknown:
                raise AssertionError(f"no part {unknown}")


async def show(client: SchedulerClient, settings: CliSettings, *, as_json: bool, clock: Clock) -> Exit:
    """Print every agent's schedules, by next time."""
    found, names = await asyncio.gather(client.schedules(), names_of_agents(settings))
    if as_json:
        print_json({"schedules": [schedule_row(one, names or {}) for one in found]})
        return Exit.OK
    if not found:
        remark("no agent has a schedule")
        return Exit.OK
    print_text("\n".join(schedule_lines(found, names or {}, columns())))
    for sentence in schedule_remarks(found, clock.now()):
        remark(sentence)
    if names is None:
        remark(NOT_SAID)
    return Exit.OK


async def preview(client: SchedulerClient, when: str, *, runs: int, as_json: bool) -> Exit:
    """Print when a schedule at `when` would run."""
    found = await client.preview(when, runs=runs)
    if as_json:
        times = [iso_utc(time) for time in found.times]
        print_json({"zone": found.zone, "times": times, "remark": found.remark})
        return Exit.OK
    for line in run_lines(found):
        print(line)
    if found.remark:
        remark(found.remark)
    return Exit.OK


async def remove(client: SchedulerClient, settings: CliSettings, number: int, *, as_json: bool) -> Exit:
    """Remove the schedule of this id, whoever's it is, and print what it was."""
    found, names = await asyncio.gather(client.schedules(), names_of_agents(settings))
    unknown = CommandFailed(f"There is no schedule {number}: `onechat schedules` shows those that are there.")
    one = next((one for one in found if one.id == number), None)
    if one is None:
        raise unknown
    try:
        await client.remove(one, request_id=new_key())
    except RemoteError as error:
        if error.reason != "SCHEDULE_UNKNOWN":
            raise
        raise unknown from None
    if as_json:
        print_json({"removed": schedule_row(one, names or {})})
    else:
        print_text(f"Removed {told(one, names or {})}")
    return Exit.OK


@asynccontextmanager
async def _scheduling(settings: CliSettings) -> AsyncIterator[SchedulerClient]:
    """A client of the scheduler service; CommandFailed, with what to do, when the service is not there."""
    async with SchedulerClient.connect(settings.scheduler_address, settings.operator_token()) as client:
        try:
            yield client
        except RemoteError as error:
            raise (failure(error, settings, "scheduler") or error) from None
