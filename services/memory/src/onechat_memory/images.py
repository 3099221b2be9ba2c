"""Images into the store and out of it, by their content: taken as they come, verified as they go.

The file is written first, then its row; only the row makes an image, so a file without one does no harm. The
same content gets the same name and is kept once. Types and names: domain/image_types.py; files and rows:
adapters/image_store.py. Whatever reads or writes a file runs in a thread.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing
from functools import partial
from typing import Final, NamedTuple, TypeVar

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_memory.adapters.image_store import (
    FOLDER,
    ImageFiles,
    ImageRows,
    IncomingFile,
    OpenImage,
    StoredImage,
    damaged,
)
from onechat_memory.domain.image_types import (
    HEAD,
    SIZE_MAX,
    ImageType,
    name_from,
    name_of,
    sniffed,
)
from onechat_memory.errors import ImageDamaged, ImageInvalid, ImageUnknown

PIECE_MAX: Final = 65_536  #: bytes of one piece's content
SHA256_BYTES: Final = 32

T = TypeVar("T")

log = logs.get("onechat.images")


class Piece(NamedTuple):
    """A piece of a file on its way; `sha256` of all content in the last one, empty in all others."""

    content: bytes
    sha256: bytes = b""


class Images:
    """Every image of the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._files = ImageFiles(store.path.with_name(FOLDER))
        self._placing = asyncio.Lock()  # two of one name must not both take its place

    async def prepare(self) -> None:
        """Make the folder, and remove what a killed process had begun. Raises StartRefused."""
        await asyncio.to_thread(self._files.prepare)

    async def put(self, pieces: AsyncIterable[Piece]) -> StoredImage:
        """The image that `pieces` make, on disk. Raises ImageInvalid, StoreFull; then nothing is kept."""
        file = await opened(self._files.receive, IncomingFile.discard)
        try:
            kind = await _take(pieces, file)
            await asyncio.to_thread(file.sync)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(file.discard))
            raise
        image = StoredImage(name=name_of(file.sha256, kind), sha256=file.sha256, size=file.size)
        # Shielded: a caller that is gone must not leave the place to another one in the middle.
        await asyncio.shield(asyncio.ensure_future(self._settle(file, image)))
        return image

    async def _settle(self, file: IncomingFile, image: StoredImage) -> None:
        try:
            async with self._placing:
                await self._place(file, image)
        finally:
            await asyncio.to_thread(file.discard)

    async def _place(self, file: IncomingFile, image: StoredImage) -> None:
        """Give `file` the image's name, then write the row; neither where they are there already."""
        known = self._store.read(lambda db: ImageRows(db).find(image.name))
        if known is not None and known.sha256 != image.sha256:
            raise ImageInvalid(
                f"Another image is stored as {image.name}, for the checksums of both begin alike. It stays:"
                " save this picture in another size or format, then send it again."
            )
        if known is not None and await asyncio.to_thread(self._files.intact, known):
            return
        await asyncio.to_thread(file.become, self._files.path(image.name))
        if known is None:
            await self._keep(image)

    async def _keep(self, image: StoredImage) -> None:
        now = self._clock.now()
        try:
            await self._store.write(lambda db: ImageRows(db).add(image, now))
        except StoreFull:
            await asyncio.to_thread(self._files.remove, image.name)
            raise

    async def get(self, name: str) -> AsyncGenerator[Piece, None]:
        """The image's content, and at the end its SHA-256 when all that was given is what was stored.

        Raises ImageUnknown, and ImageDamaged at the beginning or at the end.
        """
        asked = name_from(name)
        image = None if asked is None else self._store.read(lambda db: ImageRows(db).find(asked))
        if image is None:
            raise ImageUnknown
        try:
            async with aclosing(self._read(image)) as pieces:
                async for piece in pieces:
                    yield piece
        except ImageDamaged as error:
            log.error("image_damaged", image=image.name, found=error.message)
            raise

    async def _read(self, image: StoredImage) -> AsyncGenerator[Piece, None]:
        file = await opened(partial(self._files.open, image), OpenImage.close)
        given = hashlib.sha256()
        try:
            while content := await asyncio.to_thread(file.read):
                given.update(content)
                yield Piece(content)
        finally:
            await asyncio.shield(asyncio.to_thread(file.close))
        if given.digest() != image.sha256:
            raise damaged(image.name, "its content has changed")
        yield Piece(b"", given.digest())


async def opened(make: Callable[[], T], close: Callable[[T], None]) -> T:
    """What `make` opens in a thread; it is closed again for a caller that has gone away meanwhile."""
    opening = asyncio.ensure_future(asyncio.to_thread(make))

    def close_unwanted(done: "asyncio.Future[T]") -> None:
        if done.exception() is None:
            close(done.result())

    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(close_unwanted)
        raise


async def _take(pieces: AsyncIterable[Piece], file: IncomingFile) -> ImageType:
    """Write `pieces` into `file` as they come; the type of what they make. Raises ImageInvalid, StoreFull."""
    head, kind, claimed = b"", None, b""
    async for piece in pieces:
        _must_go_on(piece, claimed, file.size)
        claimed = piece.sha256
        head += piece.content[: HEAD - len(head)]
        if kind is None and len(head) == HEAD:
            kind = _typed(head)
        if piece.content:
            await asyncio.to_thread(file.write, piece.content)
    if not claimed:
        raise ImageInvalid(
            "The image ended without its last piece, the SHA-256 of all content: send it again, whole."
        )
    if not file.size:
        raise ImageInvalid("The image has no content: send a PNG, JPEG, WebP or GIF file.")
    if claimed != file.sha256:
        raise ImageInvalid("What arrived does not fit its SHA-256: send the image again.")
    return kind or _typed(head)


def _must_go_on(piece: Piece, claimed: bytes, size: int) -> None:
    """Raise ImageInvalid for a piece that no image may have after `size` bytes."""
    if claimed:
        raise ImageInvalid("There is more after the piece with the SHA-256: that piece is the last one.")
    if len(piece.content) > PIECE_MAX:
        raise ImageInvalid(f"A piece has at most {PIECE_MAX:,} bytes: cut the image into smaller ones.")
    if len(piece.sha256) not in (0, SHA256_BYTES):
        raise ImageInvalid(f"A SHA-256 has {SHA256_BYTES} bytes; this one has {len(piece.sha256)}.")
    if size + len(piece.content) > SIZE_MAX:
        raise ImageInvalid(
            f"The image is larger than {SIZE_MAX // 1_000_000} MB: make it smaller, then send it again."
        )


def _typed(head: bytes) -> ImageType:
    kind = sniffed(head)
    if kind is None:
        raise ImageInvalid("This is no PNG, JPEG, WebP or GIF image, whatever its name says: convert it.")
    return kind
