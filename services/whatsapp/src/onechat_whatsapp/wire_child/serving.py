"""The child's side of the pipe: takes calls, asks the library, answers, and passes on what comes.

Calls run side by side. The process ends when its input does, or once it was told to hang up; at once and
without tidying, since the library's threads can't be ended otherwise.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Final, assert_never

from onechat_whatsapp.wire.calls import (
    Answer,
    AskGroups,
    AskOnline,
    Call,
    Code,
    Dial,
    Done,
    Groups,
    HangUp,
    Logout,
    Online,
    Pair,
    SendImage,
    SendText,
    SentId,
    failed_of,
    without_numbers,
)
from onechat_whatsapp.wire.codec import body_of_answer, body_of_event, call_in
from onechat_whatsapp.wire.events import WireDown, WireEvent
from onechat_whatsapp.wire.frames import Kind, frame, read_frame
from onechat_whatsapp.wire_child.library import Library

INPUT: Final = 0

MakeLibrary = Callable[[Callable[[WireEvent], None]], Library]


def take_output() -> int:
    """The descriptor of the pipe to the gateway, moved out of the way: the library prints on the standard
    output, which from now on leads nowhere."""
    pipe = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return pipe


async def serve(make: MakeLibrary, output: int) -> None:
    """Answer calls from the standard input until it ends or a HangUp was answered."""
    serving = Serving(make, lambda framed: _write_all(output, framed))
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(INPUT, "rb", buffering=0)
    )
    while read := await read_frame(reader):
        number, call = call_in(read[1])
        if isinstance(call, HangUp):
            await serving.answer(number, call)
            return
        serving.begin(number, call)


class Serving:
    """Calls to a library, and its answers and events as frames for `write`."""

    def __init__(self, make: MakeLibrary, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._library = make(self._emit)
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, number: int, call: Call) -> None:
        """Let `call` be answered while others are."""
        task = asyncio.create_task(self.answer(number, call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def answer(self, number: int, call: Call) -> None:
        """Answer `call`, whatever becomes of it."""
        try:
            body = body_of_answer(number, await self._asked(call))
        except Exception as error:  # noqa: BLE001 - whatever the library raises is an answer, not an end
            body = body_of_answer(number, failed_of(error))
        self._write(frame(Kind.ANSWER, body))

    async def _asked(self, call: Call) -> Answer:
        match call:
            case Dial():
                await self._library.dial()
            case HangUp():
                await self._library.hang_up()
            case Logout():
                await self._library.logout()
            case Pair():
                return Code(code=await self._library.pair(call.phone))
            case AskOnline():
                return Online(online=await self._library.is_online())
            case AskGroups():
                return Groups(groups=tuple(await self._library.groups()))
            case SendText():
                return SentId(id=await self._library.send_text(call.chat, call.text))
            case SendImage():
                sent = await self._library.send_image(call.chat, call.data, call.mime, call.caption)
                return SentId(id=sent)
            case _:
                assert_never(call)
        return Done()

    def _emit(self, event: WireEvent) -> None:
        if isinstance(event, WireDown):  # which is logged
            event = WireDown(why=without_numbers(event.why))
        self._write(frame(Kind.EVENT, body_of_event(event)))


def _write_all(descriptor: int, framed: bytes) -> None:
    left = memoryview(framed)
    while left:
        left = left[os.write(descriptor, left) :]
