"""Work on bytes that may be made to harm whoever reads them, in a process of its own with few means.

What it is: a module that gives up its means (few_means.py) before it reads its input, and writes its output.
It runs without an environment, and its end, whatever it was, harms nobody else. Times are seconds.
"""

import asyncio
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How such a process ended."""

    status: int | None  #: its exit status, below 0 for a signal; None: it took too long and was killed
    output: bytes


async def confined(module: str, content: bytes, *arguments: str, longest_s: float) -> Done:
    """What the program `module` makes of `content`, which is its whole input.

    `longest_s` is a bound for a machine that is busy; the process bounds its own work. When
    cancelled, it is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", module, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
    )
    try:
        async with asyncio.timeout(longest_s):
            output, _ = await process.communicate(content)
    except TimeoutError:
        return Done(status=None, output=b"")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
    return Done(status=process.returncode, output=output)
