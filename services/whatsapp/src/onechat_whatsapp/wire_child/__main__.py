"""The process that holds the session: `python -m onechat_whatsapp.wire_child SESSION`.

It is started by wire/supervisor.py and speaks frames over its standard input and output. SESSION is the
library's file, in a folder that is there.
"""

import asyncio
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from onechat_runtime.undumpable import protect_process

from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire_child.library import Library, MissingLibrary, sentence_for
from onechat_whatsapp.wire_child.serving import serve, take_output

_SET_DEATH_SIGNAL: Final = 1  # for prctl


def guard() -> None:
    """Keep the account's keys to this user (files of its own only, no core dump, no reading in /proc), and
    the session to a gateway that lives: this process ends with it, whatever the library is about."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    protect_process()
    with suppress(OSError, AttributeError):  # no Linux: there the end of its input has to do
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def library(session: Path, emit: Callable[[WireEvent], None]) -> Library:
    """neonize, or what says that it is missing."""
    try:
        from onechat_whatsapp.wire_child.neonize_client import NeonizeLibrary
    except Exception as error:  # noqa: BLE001 - it is loaded here and nowhere else, whatever it raises
        return MissingLibrary(sentence_for(error))
    return NeonizeLibrary(session, emit)


def main(arguments: list[str]) -> None:
    """Serve the gateway, then end at once: threads of the library may be stuck for ever."""
    output = take_output()
    guard()
    session = Path(arguments[0])
    asyncio.run(_served(session, output))


async def _served(session: Path, output: int) -> None:
    code = 1
    try:
        await serve(lambda emit: library(session, emit), output)
        code = 0
    except BrokenPipeError:
        code = 0  # the gateway is gone
    except Exception as error:  # noqa: BLE001 - said in the line that the gateway keeps; no more is left to do
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
