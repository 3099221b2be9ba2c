"""Photos and files of the stand-in Bot API server: how they are shown, getFile, and their content.

Sizes are bytes. A photo is shown in the sizes that Telegram makes of it, the largest last. A file that comes
a second time has a new file_id and the same file_unique_id. What a bot may download ends at 20 MB.
"""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from PIL import Image, UnidentifiedImageError

from tests.fakes.bot_api_fields import text
from tests.fakes.bot_api_refusals import TOO_LARGE, RefusedByBotApi, refused
from tests.fakes.bot_api_state import Json

DOWNLOAD_MAX = 20 * 1024 * 1024
UPLOAD_MAX = 50 * 1024 * 1024
PHOTO_MAX = 10 * 1024 * 1024
SIDES_MAX = 10_000  # width and height of a sent photo together
RATIO_MAX = 20
_SMALLER = (90, 320, 800, 1280)  # longest sides, in pixels
_TAKEN = {"JPEG", "PNG", "WEBP", "GIF", "BMP"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that Telegram has, by the id that this bot knows it by."""

    file_id: str
    unique_id: str
    path: str
    data: bytes
    size: int  #: as it is said; a test may say more than there is
    shown: Json  #: PhotoSize or Document

    def named(self) -> Json:
        return {"file_id": self.file_id, "file_unique_id": self.unique_id, "file_size": self.size}


class Files:
    """The files of one server."""

    def __init__(self, bot_id: int) -> None:
        self._bot_id = bot_id
        self._by_id: dict[str, StoredFile] = {}
        self._linked: dict[str, StoredFile] = {}
        self._photos: dict[str, list[Json]] = {}

    def photo(self, data: bytes, *, size: int | None = None) -> list[Json]:
        """A photo's sizes; `size` is what is said of the largest, whatever its data."""
        image = _image(data)
        longest = max(image.size)
        sizes = [self._size(_scaled(image, side)) for side in _SMALLER if side < longest]
        sizes.append(self._size(data, size))
        for shown in sizes:
            self._photos[shown["file_id"]] = sizes
        return sizes

    def document(self, data: bytes, *, name: str = "", mime: str = "", size: int | None = None) -> Json:
        """A file as it is sent: unchanged, with a thumbnail when it is an image."""
        try:
            thumbnail = {"thumbnail": self._size(_scaled(_image(data), 320))}
        except RefusedByBotApi:
            thumbnail = {}
        named = ({"file_name": name} if name else {}) | ({"mime_type": mime} if mime else {})
        suffix = PurePosixPath(name).suffix
        return self._keep("BQAC", f"documents/file_{{}}{suffix}", data, size, named | thumbnail).shown

    def sent_photo(self, data: bytes) -> list[Json]:
        """A photo that the bot uploads; refused where Telegram refuses it."""
        if len(data) > PHOTO_MAX:
            raise refused(f"file of size {len(data)} bytes is too big for a photo")
        width, height = _image(data).size
        if width + height > SIDES_MAX or max(width, height) > RATIO_MAX * min(width, height):
            raise refused("PHOTO_INVALID_DIMENSIONS")
        return self.photo(data)

    def sent_document(self, data: bytes, name: str, mime: str) -> Json:
        """A file that the bot uploads."""
        if len(data) > UPLOAD_MAX:
            raise RefusedByBotApi(413, TOO_LARGE)
        if not data:
            raise refused("file must be non-empty")
        return self.document(data, name=name, mime=mime)

    def known_photo(self, file_id: str) -> list[Json]:
        """A photo sent again by the id of one of its sizes."""
        if file_id not in self._photos:
            raise refused("wrong file identifier/HTTP URL specified")
        return self._photos[file_id]

    def known_document(self, file_id: str) -> Json:
        """A file sent again by its id, which no photo's is."""
        stored = self._by_id.get(file_id)
        if stored is None or file_id in self._photos:
            raise refused("wrong file identifier/HTTP URL specified")
        return stored.shown

    async def get_file(self, fields: Mapping[str, Any]) -> Json:
        stored = self._by_id.get(text(fields, "file_id"))
        if stored is None:
            raise refused("invalid file_id")
        if stored.size > DOWNLOAD_MAX:
            raise refused("file is too big")
        self._linked[stored.path] = stored
        return stored.named() | {"file_path": stored.path}

    def content(self, path: str) -> bytes:
        """What a download gives; refused until getFile has named the path."""
        if path not in self._linked:
            raise RefusedByBotApi(404, "Not Found")
        return self._linked[path].data

    def end_links(self) -> None:
        """As an hour later: a file must be asked for again before it can be downloaded."""
        self._linked.clear()

    def data_of(self, shown: Json) -> bytes:
        """The content of a PhotoSize or Document."""
        return self._by_id[shown["file_id"]].data

    def _size(self, data: bytes, size: int | None = None) -> Json:
        width, height = _image(data).size
        return self._keep("AgAC", "photos/file_{}.jpg", data, size, {"width": width, "height": height}).shown

    def _keep(self, prefix: str, path: str, data: bytes, size: int | None, more: Json) -> StoredFile:
        number = len(self._by_id) + 1
        digest = hashlib.sha256(data).hexdigest()[:12]
        named = {
            "file_id": f"{prefix}{self._bot_id}-{number}",
            "file_unique_id": f"{prefix[:2]}{digest}",
            "file_size": len(data) if size is None else size,
        }
        stored = StoredFile(
            file_id=named["file_id"],
            unique_id=named["file_unique_id"],
            path=path.format(number),
            data=data,
            size=named["file_size"],
            shown=named | more,
        )
        self._by_id[stored.file_id] = stored
        return stored


def _image(data: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        raise refused("IMAGE_PROCESS_FAILED") from None
    if image.format not in _TAKEN:
        raise refused("IMAGE_PROCESS_FAILED")
    return image


def _scaled(image: Image.Image, side: int) -> bytes:
    """A JPEG whose longest side is at most `side` pixels."""
    smaller = image.convert("RGB")
    smaller.thumbnail((side, side))
    made = io.BytesIO()
    smaller.save(made, "JPEG")
    return made.getvalue()
