"""read, write, edit: the user's text files, wherever the service's user may go within the fence.

How a file is found, opened and replaced: file_access.py. Whether a call needs the user's consent:
domain/consent.py.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onechat_agent.domain.text import one_line
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.file_access import FileRefused, changing, locate, read_text, replace_text
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

_PATH = text("Absolute, or counted from the working directory.")


class ReadTool:
    """Gives a text file."""

    name = "read"
    resumption = Resumption.AGAIN
    schema = function_schema(
        "read", "Read a text file in UTF-8. A long one shows its head and tail.", path=_PATH
    )

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """The file's text, which taints."""

        def read() -> ToolResult:
            real = locate(arguments["path"], context.workdir, self._fence)
            content = read_text(real, self._fence)
            return ToolResult(text=content or f"({real} is empty)", taints=True)

        return await _aside(read)

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `read: notes.txt`."""
        return f"read: {one_line(arguments['path'])}"


class WriteTool:
    """Puts a text file in place, whole."""

    name = "write"
    resumption = Resumption.UNKNOWN
    schema = function_schema(
        "write",
        "Write a text file whole, in UTF-8: a new one, with the folders it needs, or instead of the old one.",
        path=_PATH,
        text=text("All that the file shall hold."),
    )

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Says where it wrote, how much, and whether something was there."""

        def write() -> ToolResult:
            real = locate(arguments["path"], context.workdir, self._fence)
            content: str = arguments["text"]
            with changing(real):
                replaced = replace_text(real, content, self._fence)
            size = len(content.encode())
            return ToolResult(text=f"{'Replaced' if replaced else 'Made'} {real} ({size:,} bytes).")

        return await _aside(write)

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `write: notes.txt`."""
        return f"write: {one_line(arguments['path'])}"


class EditTool:
    """Changes one place of a text file."""

    name = "edit"
    resumption = Resumption.UNKNOWN
    schema = function_schema(
        "edit",
        "Replace one place of a text file. `old` must occur in it exactly once, character by character, with "
        "its spaces and line ends; else nothing is changed and the answer says how often it occurs.",
        path=_PATH,
        old=text("The words to replace, with enough around them to be found once only."),
        new=text("What stands there afterwards; empty to delete."),
    )

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Says that it changed the file, or how often `old` occurs."""

        def edit() -> ToolResult:
            real = locate(arguments["path"], context.workdir, self._fence)
            with changing(real):
                content = read_text(real, self._fence)
                at = _only_place(arguments["old"], arguments["new"], content, real)
                replace_text(real, content.replace(arguments["old"], arguments["new"]), self._fence)
            return ToolResult(text=f"Changed {real} at line {content.count(chr(10), 0, at) + 1}.")

        return await _aside(edit)

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `edit: notes.txt`."""
        return f"edit: {one_line(arguments['path'])}"


async def _aside(work: Callable[[], ToolResult]) -> ToolResult:
    """`work` in a worker thread; a refusal becomes a result. What has begun ends whole even if cancelled."""
    try:
        return await asyncio.to_thread(work)
    except FileRefused as refused:
        return ToolResult(text=one_line(str(refused), 1000), failed=True)


def _only_place(old: str, new: str, content: str, real: Path) -> int:
    """Where in `content` the one occurrence of `old` begins; FileRefused for an edit that is none."""
    if not old:
        raise FileRefused("`old` is empty: say which words to replace. Nothing was changed.")
    count = _occurrences(old, content)
    if count != 1:
        raise FileRefused(f"{real}: `old` occurs {count} times, not once. Nothing was changed.")
    if old == new:
        raise FileRefused(f"{real}: `old` and `new` are the same. Nothing was changed.")
    return content.find(old)


def _occurrences(old: str, content: str) -> int:
    """At how many places `old` begins; those that overlap count each."""
    count, at = 0, content.find(old)
    while at >= 0:
        count += 1
        at = content.find(old, at + 1)
    return count
