"""`onechat memory export`: a log as JSON lines, a message each, in constant memory.

A file is written beside its place and put there once it is whole, so that there is never half of one.
"""

import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.adapters.memory import MemoryClient
from onechat_cli.commands.printed import Progress
from onechat_cli.domain.remembered import KeptMessage, message_row
from onechat_cli.domain.safe_text import harmless_json
from onechat_cli.outcome import CommandFailed, Exit

_STDOUT: Final = Path("-")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)  # dumps() would make one for each message


async def export(
    client: MemoryClient,
    log: str,
    *,
    file: Path,
    first: int,
    last: int | None,
    force: bool,
    clock: Clock,
) -> Exit:
    """Write the messages from `first` to `last`, both included, into `file`, or to stdout for "-"."""
    before = (await client.figures(log)).log
    end, written = before.length if last is None else last + 1, 0
    try:
        with _opened(file, force=force) as out:
            progress = Progress(clock)
            try:
                async with aclosing(client.messages(log, first, end)) as messages:
                    async for line in _rows(messages, for_eyes=out.isatty()):
                        out.write(line)
                        written += 1
                        progress.say(f"{written:,} of {end - first:,} messages")
            finally:
                progress.end()
            if (await client.figures(log)).log.generation != before.generation:
                raise CommandFailed("The log was replaced by another one meanwhile: export it again.")
    except RemoteError as error:
        if (error.reason and error.reason != "SERVICE_ENDING") or not retriable(error.code):
            raise
        kept = "what was printed is not all" if file == _STDOUT else f"{file} was not written"
        raise CommandFailed(
            f"The memory service went away after {written:,} messages: {kept}. Try again."
        ) from None
    return Exit.OK


async def _rows(
    messages: AsyncGenerator[KeptMessage, None], *, for_eyes: bool
) -> AsyncGenerator[bytes, None]:
    async for message in messages:
        document = _ENCODER.encode(message_row(message))
        yield ((harmless_json(document) if for_eyes else document) + "\n").encode()


@contextmanager
def _opened(file: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Where the rows go. CommandFailed where something lies at `file`, but for what `force` may replace."""
    if file == _STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    _check_free(file, force=force)
    try:
        number, name = tempfile.mkstemp(prefix=f".{file.name[:60]}.", suffix=".part", dir=file.parent)
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}.") from None
    beside = Path(name)
    try:
        with os.fdopen(number, "wb") as out:
            yield out
            out.flush()
            os.fsync(number)
        _check_free(file, force=force)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _check_free(file: Path, *, force: bool) -> None:
    if file.is_dir():
        raise CommandFailed(f"{file} is a folder: name a file.")
    if not force and (file.exists() or file.is_symlink()):
        raise CommandFailed(f"{file} is there already: name another file, or give --force to replace it.")
