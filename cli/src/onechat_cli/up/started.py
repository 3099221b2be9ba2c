"""Services for as long as a chat needs them: those that run already, else started here. Times are seconds."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.data_folder import claim_folder, unusable
from onechat_runtime.errors import StartRefused

from onechat_cli.adapters.health import serving
from onechat_cli.config import CliSettings
from onechat_cli.outcome import CommandFailed, Exit
from onechat_cli.up.healthz import listens, until_serving_all
from onechat_cli.up.tethered import Child, start

START_S: Final = 90.0  # a slow machine's first start; the chat opens then in any case
END_S: Final = 12.0  # `up` gives its services ten
SETTLE_S: Final = 20.0  # longer than services take to end
_LOOK_S: Final = 0.1
LOG_MAX: Final = 1_000_000  # bytes, of the log of `up` itself
_WORDS_MAX: Final = 4_000


@asynccontextmanager
async def services(
    settings: CliSettings,
    environ: Mapping[str, str],
    *,
    demo: bool,
    clock: Clock,
    progress: Callable[[list[str]], None],
    waiting: Callable[[], None],
    starting: Callable[[], None],
    ending: Callable[[], None],
) -> AsyncIterator[None]:
    """While inside, the services run; those that ran before go on afterwards.

    `progress` hears which services are still awaited, and that none are in the end. Raises StartRefused when
    they cannot start.
    """
    if await _run_already(settings, clock, waiting):
        progress([])
        yield
        return
    starting()
    log = _own_log(settings.data)
    begin = log.stat().st_size
    with log.open("ab") as output:
        arguments = ["up", *(["--demo"] if demo else [])]
        child = await start("onechat_cli", arguments, environ=environ, output=output)
    try:
        await _until_ready(child, settings, clock, progress, log, begin)
        yield
    finally:
        ending()
        await child.end(END_S)
        progress([])


async def _run_already(settings: CliSettings, clock: Clock, waiting: Callable[[], None]) -> bool:
    """Whether the services run; those that just start or end are waited for, which `waiting` hears."""
    until = clock.monotonic() + SETTLE_S
    while True:
        held = _is_up(settings.data)
        used = [address for address in settings.addresses.values() if await listens(address)]
        if not held and not used:
            return False
        if settings.agent_address in used:
            if not settings.has_token:
                raise StartRefused(
                    f"{settings.agent_address} is in use, and not by services of the data folder "
                    f"{settings.data}: stop what uses it, or set another ONECHAT_AGENT_ADDRESS."
                )
            if await serving(settings.agent_address):
                return True
        if clock.monotonic() >= until:
            return held
        waiting()
        await clock.sleep(_LOOK_S)


async def _until_ready(
    child: Child,
    settings: CliSettings,
    clock: Clock,
    progress: Callable[[list[str]], None],
    log: Path,
    begin: int,
) -> None:
    awaited = list(settings.addresses)
    progress(awaited)

    def came(name: str) -> None:
        awaited.remove(name)
        progress(awaited)

    coming = asyncio.create_task(until_serving_all(settings.addresses, clock, came))
    ending = asyncio.create_task(child.ended())
    try:
        await asyncio.wait({coming, ending}, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
        if ending.done():
            raise _refusal(ending.result(), log, begin)
    finally:
        coming.cancel()
        ending.cancel()
        await asyncio.gather(coming, ending, return_exceptions=True)


def _refusal(code: int, log: Path, begin: int) -> Exception:
    """What `up` said when it ended instead of coming up."""
    with log.open("rb") as stream:
        stream.seek(begin)
        lines = stream.read(_WORDS_MAX).decode("utf-8", "replace").splitlines()
    words = [line.removeprefix("onechat: ") for line in lines if line.startswith("onechat: ")]
    text = "\n".join(words) or f"The services ended while they started; see {log}."
    return StartRefused(text) if code == Exit.REFUSED else CommandFailed(text)


def _own_log(data: Path) -> Path:
    claim_folder(data, private=False)
    claim_folder(data / "logs", private=True)
    log = data / "logs" / "up.log"
    try:
        if log.exists() and log.stat().st_size > LOG_MAX:
            log.replace(log.with_name("up.log.1"))
        os.close(os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise unusable(log, error) from None
    return log


def _is_up(data: Path) -> bool:
    """Whether an `onechat up` holds this data folder."""
    try:
        file = os.open(data / "up.lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
