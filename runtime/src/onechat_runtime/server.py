"""A service as a process: it starts with one line if it cannot work, serves, drains within ten seconds.

What it listens with: listening.py. Who may call: tokens.py and `Served.allow`. Times are seconds.
"""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import apsw

from onechat_runtime import logs
from onechat_runtime.clock import SystemClock
from onechat_runtime.data_folder import claim_folder
from onechat_runtime.errors import StartRefused
from onechat_runtime.freezing import Snapshots
from onechat_runtime.health import HealthBoard
from onechat_runtime.listening import Listening, Served, listening
from onechat_runtime.settings import ServiceSettings, load, overlaid, read_dotenv
from onechat_runtime.snapshot_copy import Prune
from onechat_runtime.store import Store
from onechat_runtime.tokens import Callers
from onechat_runtime.undumpable import protect_process

__all__ = ["Served", "run_service", "serve"]

REFUSED: Final = 2  # exit code of a start that cannot work
FAILED: Final = 1  # exit code of a service that broke

Settings = TypeVar("Settings", bound=ServiceSettings)

log = logs.get("onechat.server")


async def serve(
    *,
    name: str,
    settings: ServiceSettings,
    services: Sequence[Served],
    board: HealthBoard,
    store: Store | None,
    prune: Prune | None = None,
    background: Sequence[Callable[[], Awaitable[None]]] = (),
    schema: int | None = None,
    ready: Callable[[Listening], None] | None = None,
    said: Mapping[str, object] = MappingProxyType({}),
    stop: asyncio.Event | None = None,
) -> None:
    """Serve `services` until SIGTERM, SIGINT or `stop`, then drain.

    `background` and what each of `services` has of its own run as long; one that fails ends the service with
    an ExceptionGroup, one that returns does not. `schema` is the store's unless named. `ready` is called once
    calls are taken; `said` stands in the log's ready line. `prune` deletes from a copy of `store` what no
    backup may hold. Raises StartRefused.
    """
    ended = stop or asyncio.Event()
    if schema is None:
        schema = store.schema if store is not None else 0
    with _signals_set(ended):
        async with (
            _snapshots_of(store, prune) as snapshots,
            listening(
                name=name,
                address=settings.address,
                services=services,
                board=board,
                callers=Callers.of(settings),
                schema=schema,
                started=SystemClock().now(),
                snapshots=snapshots,
            ) as opened,
        ):
            log.info("ready", address=opened.address, pages=opened.pages_address, pid=os.getpid(), **said)
            if ready is not None:
                ready(opened)
            async with asyncio.TaskGroup() as tasks:
                own = [job for service in services for job in service.background]
                running = [tasks.create_task(_awaited(job)) for job in (*background, *own)]
                await ended.wait()
                log.info("draining")
                await opened.drain()
                for task in running:
                    task.cancel()
    log.info("ended")


@asynccontextmanager
async def _snapshots_of(store: Store | None, prune: Prune | None) -> AsyncIterator[Snapshots | None]:
    if store is None:
        yield None
        return
    async with Snapshots.open(store, clock=SystemClock(), new_id=_snapshot_id, prune=prune) as snapshots:
        yield snapshots


def _snapshot_id() -> str:
    return secrets.token_hex(8)


async def _awaited(job: Callable[[], Awaitable[None]]) -> None:
    await job()


@contextmanager
def _signals_set(ended: asyncio.Event) -> Iterator[None]:
    """While inside, SIGTERM and SIGINT set `ended`."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for one in signals:
        loop.add_signal_handler(one, ended.set)
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)


def run_service(name: str, settings_class: type[Settings], run: Callable[[Settings], Awaitable[None]]) -> int:
    """Run a service with its settings from `.env` and the environment, and say how it ended: the exit code.

    A start that cannot work prints a plain line a fault on stderr and gives 2; whatever else `run` raises is
    logged with its stack and gives 1.
    """
    protect_process()
    os.umask(0o077)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its lines are not ours: they would stand among them
    data = Path()
    try:
        settings = load(settings_class, overlaid(read_dotenv(Path(".env")), os.environ))
        data = settings.data
        logs.configure(name, settings.log_level, json=not sys.stderr.isatty())
        claim_folder(settings.data, private=False)
        _run(run(settings))
    except StartRefused as refused:
        return _refuse(name, [refused])
    except KeyboardInterrupt:
        return FAILED
    except BaseExceptionGroup as errors:
        return _failed(name, data, errors, list(_leaves(errors)))
    except Exception as error:  # noqa: BLE001 - the last one to see it: logged, and the process ends
        return _failed(name, data, error, [error])
    return 0


def _run(main: Awaitable[None]) -> None:
    import uvloop

    async def awaited() -> None:
        await main

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(awaited())


def _failed(name: str, data: Path, error: BaseException, causes: Sequence[BaseException]) -> int:
    """Say in plain lines what a person can mend, else log the stack; the exit code."""
    if all(isinstance(one, StartRefused) for one in causes):
        return _refuse(name, causes)
    log.error("service_failed", stack=logs.stack_of(error))
    if any(isinstance(one, apsw.CorruptError | apsw.NotADBError) for one in causes):
        # Damage that lies deeper than the store's own start looks. Starting again would not help.
        return _refuse(name, [StartRefused(f"{data / name / 'store.db'} is damaged: restore a backup.")])
    return FAILED


def _refuse(name: str, refusals: Sequence[BaseException]) -> int:
    for refused in refusals:
        for line in str(refused).splitlines():
            print(f"onechat {name}: {line}", file=sys.stderr)
    return REFUSED


def _leaves(errors: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for one in errors.exceptions:
        if isinstance(one, BaseExceptionGroup):
            yield from _leaves(one)
        else:
            yield one
