"""A gateway that sends one message in a process of its own, and kills itself by SIGKILL at a named place.

What leaves is written to a file, each as a line, before the wire answers, as WhatsApp would have it.
"""

import asyncio
import multiprocessing
from collections.abc import Callable
from pathlib import Path

from tests.fakes.killed_at import KilledAt, killer
from tests.fakes.whatsapp_account import Sent
from tests.fakes.whatsapp_desk import account_of_ann, desk_at, text

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


async def send_and_be_killed(folder: Path, place: str, request_id: str) -> None:
    """Send; return once the process has killed itself at `place`."""
    await KilledAt(
        _CONTEXT.Process(target=_send, args=(str(folder), place, request_id), daemon=True)
    ).killed()


def left(folder: Path) -> list[str]:
    """The texts that have left."""
    file = folder / "left"
    return file.read_text().splitlines() if file.exists() else []


def _send(folder: str, place: str, request_id: str) -> None:
    asyncio.run(_sent(Path(folder), killer(place), request_id))


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
