"""`onechat up`: the five services on this machine, until this process is asked to end."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from onechat_runtime.clock import SystemClock
from onechat_runtime.data_folder import WriterLock, claim_folder
from onechat_runtime.errors import StartRefused
from onechat_runtime.time_zone import machine_zone
from onechat_runtime.tokens import ensure_tokens
from onechat_runtime.undumpable import protect_process

from onechat_cli.config import SERVICES, CliSettings
from onechat_cli.outcome import Exit
from onechat_cli.up import household
from onechat_cli.up.healthz import listens
from onechat_cli.up.log_files import RotatingLog
from onechat_cli.up.remarks import remarks
from onechat_cli.up.service import Service, own_environment

LOCK: Final = "up.lock"
LOGS: Final = "logs"


async def up(
    settings: CliSettings,
    variables: Mapping[str, str],
    environ: Mapping[str, str],
    *,
    demo: bool,
    modules: Mapping[str, str] | None = None,
) -> Exit:
    """Run the services until SIGTERM, SIGINT or SIGHUP. `modules` by service name; ours unless given.

    Raises StartRefused; services that refuse to start give REFUSED, their words on stderr.
    """
    protect_process()  # its environment may hold every service's secrets
    claim_folder(settings.data, private=False)
    lock = WriterLock(settings.data / LOCK)
    try:
        await _refuse_held_addresses(settings)
        ensure_tokens(settings.data)
        logs = settings.data / LOGS
        claim_folder(logs, private=True)
        for remark in remarks(variables, data=settings.data, demo=demo):
            print(remark, flush=True)
        told = _told(variables, demo=demo)
        names = modules or {name: f"onechat_{name}" for name in SERVICES}
        services = [
            Service(
                name,
                module=module,
                address=settings.addresses[name],
                environ=own_environment(name, environ, told),
                log=RotatingLog(logs / f"{name}.log"),
                clock=SystemClock(),
                say=_say,
            )
            for name, module in names.items()
        ]
        return await _run(services, logs)
    finally:
        lock.release(clean=True)


async def _run(services: list[Service], logs: Path) -> Exit:
    stop = asyncio.Event()
    household.on_signals(stop)
    greeting = asyncio.create_task(_greet(services, logs))
    try:
        refused = await household.keep(services, stop)
    finally:
        greeting.cancel()
    if not refused:
        print("All services have ended.", flush=True)
        return Exit.OK
    for line in refusal_lines(refused):
        print(f"onechat: {line}", file=sys.stderr, flush=True)
    return Exit.REFUSED


def refusal_lines(refused: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each fault, with the names of all that gave it; `refused` holds names and their words."""
    names: dict[str, list[str]] = {}
    for name, words in refused:
        for line in words.splitlines():
            names.setdefault(line, []).append(name)
    return [
        f"{', '.join(these)} {'does' if len(these) == 1 else 'do'} not start: {line}"
        for line, these in names.items()
    ]


async def _greet(services: list[Service], logs: Path) -> None:
    for service in services:
        await service.ready.wait()
    print(f"All is up; logs are in {logs}. `onechat chat` opens the chat, Ctrl-C here ends all.", flush=True)


async def _refuse_held_addresses(settings: CliSettings) -> None:
    """Before anything starts, so that another program's answer is not taken for a service's."""
    for name, address in settings.addresses.items():
        if await listens(address):
            raise StartRefused(
                f"{address} is in use, {name} cannot listen there: stop what uses it, "
                f"or set another ONECHAT_{name.upper()}_ADDRESS."
            )


def _told(variables: Mapping[str, str], *, demo: bool) -> dict[str, str]:
    """What every service is told beside its environment: one time zone for all, and the demo."""
    told = {}
    if not variables.get("ONECHAT_TIME_ZONE"):
        told["ONECHAT_TIME_ZONE"] = machine_zone(variables)
    if demo:
        told["ONECHAT_DEMO"] = "1"
    return told


def _say(name: str, line: str) -> None:
    print(f"{name:<10} {line}", flush=True)
