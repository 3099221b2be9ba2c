"""Starting a child that ends with this process: the parent's side of child.py."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

OUTPUT_READ_BYTES: Final = 64 * 1024


@dataclass(slots=True, kw_only=True)
class Child:
    """A child at work; `tether` is the writing end of its pipe."""

    process: asyncio.subprocess.Process
    tether: int

    def terminate(self) -> None:
        """Ask it to end; nothing when it has."""
        if self.process.returncode is None:
            self.process.terminate()

    async def ended(self) -> int:
        """Its exit code, negative for a signal, once it has ended."""
        try:
            return await self.process.wait()
        finally:
            if self.process.returncode is not None and self.tether >= 0:
                os.close(self.tether)
                self.tether = -1

    async def end(self, grace_s: float) -> int:
        """End it: SIGTERM, and SIGKILL when that does not help within `grace_s` seconds."""
        self.terminate()
        try:
            async with asyncio.timeout(grace_s):
                return await self.ended()
        except TimeoutError:
            self.process.kill()
            return await self.ended()


async def start(
    module: str, arguments: Sequence[str] = (), *, environ: Mapping[str, str], output: IO[bytes] | int
) -> Child:
    """Run `module` as a child in a process group of its own, without input.

    `output` takes what it prints on both streams: a file, or asyncio.subprocess.PIPE to read it here.
    """
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "onechat_cli.up.child",
                str(reading),
                str(os.getpid()),
                module,
                *arguments,
            ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            env=dict(environ),
            pass_fds=(reading,),
            process_group=0,  # a Ctrl-C in the terminal is for the parent, which then ends its children
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return Child(process=process, tether=writing)
