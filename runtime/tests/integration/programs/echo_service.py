"""The echo contract as a whole service of its own process, on what the environment says.

ECHO_BREAKS=after-start makes a background task fail once the first call came; before-start refuses the start;
damaged is a store whose damage is found late.
"""

import asyncio
import os
import sys
from dataclasses import dataclass, replace

import apsw
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.settings import ServiceSettings, address_of, one_of, setting, whole_number
from onechat_runtime.store import Migration, Store

from tests.fakes.echo import SECRET_TEXT, EchoServicer, echo_served

CUPS = Migration(
    number=1, name="cups", sql="CREATE TABLE cups (number INTEGER PRIMARY KEY, tea TEXT) STRICT;"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoSettings(ServiceSettings):
    address: str = address_of("scheduler")
    size: int = setting("ECHO_SIZE", parse=whole_number(1, 9), default=1, doc="a number")
    breaks: str = setting(
        "ECHO_BREAKS",
        parse=one_of("no", "after-start", "before-start", "damaged"),
        default="no",
        doc="what breaks",
    )


class StoringServicer(EchoServicer):
    """Writes what it hears before it answers, also what came shortly before the end."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    async def Echo(self, request: StringValue, context: object) -> StringValue:
        if request.value == "slow":
            await asyncio.sleep(0.6)
        await self._store.write(
            lambda db: db.execute("INSERT INTO cups (tea) VALUES (?)", (request.value,)).get
        )
        return await super().Echo(request, context)


async def run(settings: EchoSettings) -> None:
    board = HealthBoard()
    path = settings.data / "scheduler" / "store.db"
    async with Store.open(
        path, component="scheduler", migrations=(CUPS,), clock=SystemClock(), board=board
    ) as store:
        servicer = StoringServicer(store)

        async def watch() -> None:
            if settings.breaks == "before-start":
                raise StartRefused("The kettle is gone: bring it back.")
            if settings.breaks == "damaged":
                raise apsw.CorruptError("database disk image is malformed")
            await servicer.arrived.wait()
            if settings.breaks == "after-start":
                raise ValueError(SECRET_TEXT)

        async def ends_at_once() -> None:
            return

        await serve(
            name="scheduler",
            settings=settings,
            services=[replace(echo_served(servicer), background=[watch])],
            board=board,
            store=store,
            background=[ends_at_once],
        )


if __name__ == "__main__":
    os.environ.pop("ONECHAT_TOKEN_FILE", None)
    sys.exit(run_service("scheduler", EchoSettings, run))
