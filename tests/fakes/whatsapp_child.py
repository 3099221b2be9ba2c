"""The real child process with a stub in the library's place: `python -m tests.fakes.whatsapp_child WORLD
SESSION`.

The stub passes each call on to the test's own process, over the socket WORLD, and what comes from there back.
The other end, with the account: whatsapp_world.py.
"""

import asyncio
import os
import sys
from collections.abc import Callable

from onechat_whatsapp.wire.calls import (
    Answer,
    AskGroups,
    AskOnline,
    Call,
    Dial,
    Failed,
    HangUp,
    Logout,
    Pair,
    SendImage,
    SendText,
    error_of,
)
from onechat_whatsapp.wire.codec import answer_in, body_of_call, event_in
from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.frames import Kind, frame, read_frame
from onechat_whatsapp.wire.ports import GroupRow
from onechat_whatsapp.wire_child.__main__ import guard
from onechat_whatsapp.wire_child.serving import serve, take_output


class RelayedLibrary:
    """Keeps Library's promises as far as the account at the other end does."""

    def __init__(
        self,
        emit: Callable[[WireEvent], None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._emit, self._reader, self._writer = emit, reader, writer
        self._calls: dict[int, asyncio.Future[Answer]] = {}
        self._last_number = 0
        self._listening = asyncio.ensure_future(self._listen())

    async def dial(self) -> None:
        await self._asked(Dial())

    async def hang_up(self) -> None:
        await self._asked(HangUp())

    async def pair(self, phone: str) -> str:
        return (await self._asked(Pair(phone=phone))).code

    async def logout(self) -> None:
        await self._asked(Logout())

    async def is_online(self) -> bool:
        return (await self._asked(AskOnline())).online

    async def groups(self) -> list[GroupRow]:
        return list((await self._asked(AskGroups())).groups)

    async def send_text(self, chat: str, text: str) -> str:
        return (await self._asked(SendText(chat=chat, text=text))).id

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        return (await self._asked(SendImage(chat=chat, data=data, mime=mime, caption=caption))).id

    async def _asked(self, call: Call):
        self._last_number += 1
        waits = self._calls[self._last_number] = asyncio.get_running_loop().create_future()
        self._writer.write(frame(Kind.CALL, body_of_call(self._last_number, call)))
        answer = await waits
        if isinstance(answer, Failed):
            raise error_of(answer)
        return answer

    async def _listen(self) -> None:
        while read := await read_frame(self._reader):
            kind, body = read
            if kind is Kind.EVENT:
                self._emit(event_in(body))
            else:
                number, answer = answer_in(body)
                self._calls.pop(number).set_result(answer)
        os.abort()  # as a fault in Go does: the world has ended it


async def main(world: str) -> None:
    output = take_output()
    guard()
    reader, writer = await asyncio.open_unix_connection(world)
    await serve(lambda emit: RelayedLibrary(emit, reader, writer), output)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
