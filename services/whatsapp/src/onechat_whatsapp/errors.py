"""What the WhatsApp gateway refuses, each with the reason that its contract names."""

from inspect import cleandoc
from typing import Final

from onechat_runtime.errors import NotServedYet


class LinkingNotServedYet(NotServedYet):
    """This version cannot link a WhatsApp account, so it read, sent and changed nothing.
    Write to the agent from the terminal or from Telegram.
    """

    def __init__(self) -> None:
        super().__init__(SENTENCE)


SENTENCE: Final = " ".join(cleandoc(LinkingNotServedYet.__doc__ or "").split())
