"""What the scheduler refuses, each with the reason that its contract names."""

from inspect import cleandoc
from typing import Final

from onechat_runtime.errors import NotServedYet


class SchedulesNotServedYet(NotServedYet):
    """This version keeps no schedules, so nothing was stored, found or removed.
    Use the machine's own cron, with `onechat send`, to have the agent woken.
    """

    def __init__(self) -> None:
        super().__init__(SENTENCE)


SENTENCE: Final = " ".join(cleandoc(SchedulesNotServedYet.__doc__ or "").split())
