"""What a message holds beside its words: pictures, which are read, and kinds that are not read yet.

Sizes are bytes, as Telegram claims them; what is fetched is measured again (adapters/file_download.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_telegram.domain.ids import FileId

PICTURE_MAX: Final = 20_000_000  #: bytes; the agent's limit and Telegram's
PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
OTHER_PICTURES: Final = "Images that are no PNG, JPEG, WebP or GIF"

# An animation comes as a document too, a place as a location too: the more telling one stands first.
_NOT_READ: Final = {
    "animation": "Animations",
    "audio": "Audio files",
    "paid_media": "Paid media",
    "sticker": "Stickers",
    "story": "Stories",
    "video": "Videos",
    "video_note": "Video messages",
    "voice": "Voice messages",
    "document": "Files",
    "checklist": "Checklists",
    "contact": "Contacts",
    "dice": "Dice",
    "game": "Games",
    "giveaway": "Giveaways",
    "invoice": "Invoices",
    "poll": "Polls",
    "venue": "Places",
    "location": "Locations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A photo, or an image that was sent as a file."""

    #: The same picture in its sizes, the largest first; what claims to be too large is left out.
    files: tuple[FileId, ...]


def picture_of(message: Mapping[str, Any]) -> Picture | None:
    """The picture that `message` holds; an animation is none, nor a file that claims another type."""
    if "photo" in message:  # also a live photo's, as it stands still
        sizes = sorted(message["photo"], key=_area, reverse=True)
        return Picture(files=_fetchable(sizes))
    document = message.get("document")
    if document is None or "animation" in message or document.get("mime_type") not in PICTURE_TYPES:
        return None
    return Picture(files=_fetchable([document]))


def kind_not_read(message: Mapping[str, Any]) -> str:
    """What `message` holds that is not read yet, for people and plural, as "Videos"; empty for nothing."""
    if picture_of(message) is not None:
        return ""
    field = next((field for field in _NOT_READ if field in message), None)
    if field == "document" and str(message["document"].get("mime_type", "")).startswith("image/"):
        return OTHER_PICTURES
    return "" if field is None else _NOT_READ[field]


def _area(size: Mapping[str, Any]) -> int:
    return int(size["width"]) * int(size["height"])


def _fetchable(files: list[Mapping[str, Any]]) -> tuple[FileId, ...]:
    return tuple(
        FileId(str(file["file_id"])) for file in files if int(file.get("file_size", 0)) <= PICTURE_MAX
    )
