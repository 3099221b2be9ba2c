"""A gateway that sends one message in a process of its own, and kills itself by SIGKILL at a named place.

What leaves is written to a file, each as a line, before the wire answers, as WhatsApp would have it.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

from tests.fakes.whatsapp_account import Sent
from tests.fakes.whatsapp_desk import account_of_ann, desk_at, text

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])
WITHIN_S = 20.0


def send_and_be_killed(folder: Path, place: str, request_id: str) -> None:
    """Send; return once the process has killed itself at `place`."""
    process = _CONTEXT.Process(target=_send, args=(str(folder), place, request_id), daemon=True)
    process.start()
    process.join(WITHIN_S)
    assert process.exitcode == -signal.SIGKILL, f"ended with {process.exitcode}"


def left(folder: Path) -> list[str]:
    """The texts that have left."""
    file = folder / "left"
    return file.read_text().splitlines() if file.exists() else []


def _send(folder: str, place: str, request_id: str) -> None:
    asyncio.run(_sent(Path(folder), _killer(place), request_id))


def _killer(place: str) -> Callable[[str], None]:
    def reached(here: str) -> None:
        if here == place:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


async def _sent(folder: Path, reached: Callable[[str], None], request_id: str) -> None:
    account = account_of_ann()

    class Leaving(list[Sent]):
        def append(self, sent: Sent) -> None:
            super().append(sent)
            with (folder / "left").open("a") as file:
                file.write(f"{sent.text}\n")
            reached("left")

    account.sent = Leaving()
    async with desk_at(folder, account=account, reached=reached) as desk:
        await desk.sending.send(request_id, text())
        reached("answered")
