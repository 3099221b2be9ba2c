"""image_show: the root shows the user a picture that is stored.

How it reaches the user's clients: showing.py. How a model itself sees pictures: pictures.py, tools/memory.py.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from onechat_runtime.errors import RemoteError

from onechat_agent.domain.images import ImageName, image_name
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

CAPTION_MAX: Final = 4_000  # characters


class ShowsImages(Protocol):
    """Brings pictures to the user; the same call shows one once."""

    async def show(self, context: CallContext, image: ImageName, caption: str) -> bool:
        """Whether the picture is stored and therefore shown. Raises RemoteError."""
        ...


class ImageShowTool:
    """Shows a stored picture."""

    name = "image_show"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "image_show",
        "Show the user a stored picture; only when the user asks for it.",
        image=text("The stored name, as an `[image FILE]` line has it: FILE. Never a path."),
        caption=text("What stands with it; may be empty."),
    )

    def __init__(self, showing: ShowsImages) -> None:
        self._showing = showing

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """That it was shown; else why not."""
        name = image_name(arguments["image"])
        if name is None:
            return _failed(
                "Nothing was shown: image is a stored name such as 0123456789abcdef.png, as an "
                "`[image FILE]` line has it."
            )
        if len(arguments["caption"]) > CAPTION_MAX:
            return _failed(f"Nothing was shown: a caption has at most {CAPTION_MAX} characters.")
        try:
            shown = await self._showing.show(context, name, arguments["caption"])
        except RemoteError:
            return _failed("The memory service could not be reached: nothing was shown.")
        if not shown:
            return _failed(f"Nothing was shown: no picture {name} is stored, or its file is damaged.")
        return ToolResult(text=f"Shown to the user: {name}")

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `image_show: 0123456789abcdef.png, the boiler`."""
        said = f", {arguments['caption']}" if arguments["caption"] else ""
        return f"image_show: {one_line(arguments['image'], 40)}{said}"


def _failed(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, failed=True)
