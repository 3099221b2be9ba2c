"""`onechat memory search`: messages by words, newest first. Times are seconds."""

import shutil
import sys
from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError

from onechat_cli.adapters.memory import MemoryClient
from onechat_cli.commands.printed import Progress, print_json, remark
from onechat_cli.domain.memory_text import find_lines
from onechat_cli.domain.remembered import KeptMessage, message_row
from onechat_cli.outcome import Exit

_AGAIN_S: Final = 1.0
_STANDSTILLS: Final = 4  #: tries in a row that got no further, after which the index is not waited for
_WIDTH: Final = 160  #: characters of a line where there is no terminal


async def search(
    client: MemoryClient, log: str, words: str, *, most: int, as_json: bool, clock: Clock
) -> Exit:
    """Print up to `most` messages that hold all `words`, once the index has them all."""
    found: list[KeptMessage] = []
    token, more = "", True
    while more and len(found) < most:
        page, token = await _page(client, log, words, most - len(found), token, clock)
        found += page
        more = bool(token)
    if as_json:
        print_json({"log": log, "messages": [message_row(one) for one in found], "more": more})
        return Exit.OK
    for line in find_lines(found, words, _width()):
        print(line)
    if not found:
        remark("nothing found")
    elif more:
        remark(f"There is more: --most {most * 2} shows older messages too.")
    return Exit.OK


async def _page(
    client: MemoryClient, log: str, words: str, most: int, token: str, clock: Clock
) -> tuple[list[KeptMessage], str]:
    """A page of what is found; an index that is behind is waited for as long as it gets on."""
    progress, said, standstills = Progress(clock), "", 0
    progress.say("searching …")
    try:
        while True:
            try:
                return await client.search(log, words, most=most, token=token)
            except RemoteError as error:
                if error.reason != "INDEX_BEHIND" or standstills == _STANDSTILLS:
                    raise
                standstills = standstills + 1 if error.message == said else 0
                said = error.message
                progress.say_or_remark(said.partition(". ")[0])
                await clock.sleep(error.retry_after_s or _AGAIN_S)
    finally:
        progress.end()


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
