"""Shows stored pictures to the user, each call once: the event is on disk when the call is answered.

The tool that a model calls: tools/images.py. Who sees events: events.py.
"""

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent.adapters import delivery_rows
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.domain.events import Answered, NewEvent, PictureShown
from onechat_agent.domain.images import ImageName
from onechat_agent.events import Events
from onechat_agent.patience import committed
from onechat_agent.tools.tool import CallContext


class Showing:
    """Pictures on their way to the user's clients."""

    def __init__(self, store: Store, clock: Clock, events: Events, images: MemoryImages) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._images = images

    async def show(self, context: CallContext, image: ImageName, caption: str) -> bool:
        """Whether the picture is stored and therefore shown. Raises RemoteError.

        The call's key is its request id: a call that is made again after a restart shows nothing twice.
        """
        if not await self._images.is_there(image):
            return False

        def job(db: apsw.Connection) -> None:
            once(
                db,
                request_id=context.call_key,
                body=f"image_show {image} {caption}".encode(),
                now=self._clock.now(),
                answer=lambda: self._keep(db, context, image, caption),
            )

        await committed(self._store, self._clock, job)
        return True

    def _keep(self, db: apsw.Connection, context: CallContext, image: ImageName, caption: str) -> bytes:
        deliveries = delivery_rows.of_turn(db, context.turn)
        self._events.keep(
            db,
            NewEvent(
                agent=context.agent,
                agent_name=context.agent_name,
                turn=context.turn,
                time=self._clock.now(),
                body=PictureShown(
                    image=image,
                    caption=caption,
                    answered=tuple(
                        Answered(delivery=d.id, key=d.key, reply_to=d.reply_to) for d in deliveries
                    ),
                ),
            ),
        )
        return b""
