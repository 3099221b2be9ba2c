"""The pictures of one turn: which its model sees, from their names to their pixels.

What was shown once stays as it is, so that each call of the turn begins with the bytes of the one before,
also after a restart. A picture that cannot be shown is said in a line and ends nothing. Scaled pictures are
kept as long as their turn. Names and the choice of new ones: domain/images.py. Sizes are bytes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onechat_runtime import logs
from onechat_runtime.errors import RemoteError

from onechat_agent.adapters.memory_images import NOT_TO_BE_HAD, MemoryImages
from onechat_agent.adapters.picture_scaling import PictureScaling, PictureUnfit
from onechat_agent.domain.images import image_name, newest_new
from onechat_agent.domain.text import one_line
from onechat_agent.model.items import Picture, UserItem
from onechat_agent.patience import Patience
from onechat_agent.prompts import rendering

CALL_MAX: Final = 40_000_000  # of all pictures that a call holds: 53 MB as they are sent
RESULT_MAX: Final = 50  # pictures of one result, so that no zoom fills a call by itself

log = logs.get("onechat.agent")


class PictureSource:
    """Stored pictures as a model can take them; shared by all turns."""

    def __init__(self, images: MemoryImages, scaling: PictureScaling, patience: Patience) -> None:
        self._images = images
        self._scaling = scaling
        self._patience = patience

    async def picture(self, name: str) -> Picture | str:
        """The picture of that name, or a clause that says why it cannot be shown. Waits for the memory."""
        if image_name(name) is None:
            return rendering.NOT_A_PICTURE
        try:
            content = await self._patience.get("image", lambda: self._images.content(name))
            return await self._scaling.scaled(content)
        except RemoteError as error:
            log.warning("image_not_had", image=name, reason=error.reason)
            known = error.reason in NOT_TO_BE_HAD
            return rendering.NOT_STORED if known else rendering.NOT_GIVEN
        except PictureUnfit as unfit:
            return str(unfit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A message of the turn as its model reads it, and the pictures that came with it."""

    key: str  #: of the message in the log
    text: str  #: `kind: text`
    images: tuple[str, ...]


class TurnPictures:
    """What one turn shows."""

    def __init__(
        self,
        source: PictureSource,
        places: Callable[[], Awaitable[Mapping[str, int]]],
        log_name: str = "",
    ) -> None:
        """`places`: the ids of the turn's messages by their keys, read when a line must name one.

        `log_name`: by which name their log is zoomed, where it is not the one of the view.
        """
        self._log_name = log_name
        self._source = source
        self._places = places
        self._had: dict[str, Picture | str] = {}
        self._new: set[str] = set()  # names that messages of the turn have brought
        self._room = CALL_MAX

    def rolled_over(self) -> None:
        """The turn goes on from a new view: its calls hold no picture any more."""
        self._had = {name: found for name, found in self._had.items() if name in self._new}
        self._new.clear()
        self._room = CALL_MAX

    async def messages(self, messages: Sequence[Worded]) -> list[UserItem]:
        """`messages`, which come to the model together, oldest first, with the new pictures they bring."""
        chosen = newest_new([message.images for message in messages], self._new)
        for names in chosen:
            self._new.update(names)
        items = []
        for message, names in zip(messages, chosen, strict=True):
            pictures, lines = await self._pictures(names)
            left = [name for name in dict.fromkeys(message.images) if name not in names]
            lines += [rendering.shown_elsewhere(_safe(name)) for name in left if name in self._new]
            lines += await self._left_out(message.key, [name for name in left if name not in self._new])
            items.append(UserItem(text="\n".join([message.text, *lines]), pictures=pictures))
        return items

    async def of_result(self, images: Sequence[str]) -> tuple[tuple[Picture, ...], list[str]]:
        """(the pictures that a tool's result shows, lines on those that it cannot)."""
        names = list(dict.fromkeys(images))
        pictures, lines = await self._pictures(names[:RESULT_MAX])
        return pictures, lines + [rendering.too_many(_safe(name)) for name in names[RESULT_MAX:]]

    async def _pictures(self, names: Sequence[str]) -> tuple[tuple[Picture, ...], list[str]]:
        pictures, lines = [], []
        for name in names:
            found = self._had.get(name) or await self._source.picture(name)
            if isinstance(found, Picture) and len(found.content) > self._room:
                lines.append(rendering.too_many(_safe(name)))
                continue
            self._had[name] = found
            if isinstance(found, str):
                lines.append(rendering.not_shown(_safe(name), found))
            else:
                self._room -= len(found.content)
                pictures.append(found)
        return tuple(pictures), lines

    async def _left_out(self, key: str, names: Sequence[str]) -> list[str]:
        """Lines on new pictures beyond what a turn shows: how each is seen all the same."""
        if not names:
            return []
        place = (await self._places()).get(key)
        return [rendering.beyond_the_newest(_safe(name), place, self._log_name) for name in names]


def _safe(name: str) -> str:
    """`name` in a line of ours; one that was never stored may hold anything."""
    return one_line(name, 40).translate({ord("["): "(", ord("]"): ")"})
