"""Pictures made fit for a model, each in a process of its own (picture_process.py) that cannot harm this one.

Two at a time in the whole service, so that many pictures take time rather than memory. Times are seconds.
"""

import asyncio
from typing import Final

from onechat_runtime import logs
from onechat_runtime.confined import confined

from onechat_agent.model.items import Picture

AT_ONCE: Final = 2
LONGEST_S: Final = 60.0  # the process ends itself after 20 s of work; a busy machine may take longer for them
_PROCESS: Final = "onechat_agent.adapters.picture_process"
_TOO_LARGE: Final = 4  # that module's exit status; importing it would load Pillow into the service

log = logs.get("onechat.agent")


class PictureUnfit(Exception):
    """No picture can be made of it; its text is a clause that says why."""


class PictureScaling:
    """Makes pictures fit for a model."""

    def __init__(self, *, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self._room = asyncio.Semaphore(AT_ONCE)

    async def scaled(self, content: bytes) -> Picture:
        """`content` upright, its first frame, at most 2,048 pixels a side. Raises PictureUnfit."""
        async with self._room:
            done = await confined(_PROCESS, content, longest_s=self._longest_s)
        if done.status is None:
            log.warning("picture_too_slow", size_bytes=len(content))
            raise PictureUnfit("it takes too long to be decoded")
        kind, end, picture = done.output.partition(b"\n")
        if done.status == 0 and end:
            return Picture(media_type=kind.decode("ascii"), content=picture)
        log.warning("picture_unfit", size_bytes=len(content), status=done.status)
        if done.status == _TOO_LARGE:
            raise PictureUnfit("it has too many pixels to be decoded")
        raise PictureUnfit("it cannot be decoded")
