"""The link to Telegram as it is now: shown in status, log and health, noted by whoever calls the Bot API."""

import asyncio
from datetime import datetime

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard

from onechat_telegram.domain.bot_errors import BotApiError, OtherPoller, TokenRefused
from onechat_telegram.domain.link import CHAT_CLOSED, SENTENCES, LinkState

log = logs.get("onechat_telegram.link")

_TROUBLE = "telegram"
_CLOSED = "owner_chat"


class Link:
    """How the link is; `changed` wakes who waits for it to work again."""

    def __init__(self, clock: Clock, board: HealthBoard, state: LinkState = LinkState.CONNECTING) -> None:
        self._clock = clock
        self._board = board
        self.state = state
        self.bot = ""  #: the bot's user name, once known
        self.last_answer: datetime | None = None  #: UTC; when Telegram last answered
        self.works = asyncio.Event()  #: set while connected
        self._show()

    def answered(self) -> None:
        """Telegram answered a call."""
        self.last_answer = self._clock.now()

    def connected(self) -> None:
        """Polling works."""
        self.answered()
        self._become(LinkState.CONNECTED)

    def failed(self, error: BotApiError) -> None:
        """Polling failed with `error`."""
        match error:
            case TokenRefused():
                self._become(LinkState.TOKEN_REFUSED)
            case OtherPoller():
                self._become(LinkState.OTHER_POLLER)
            case _:
                self._become(LinkState.UNREACHABLE)

    def refuse_token(self) -> None:
        """The token is none that Telegram could have given."""
        self._become(LinkState.TOKEN_REFUSED)

    def chat_closed(self, closed: bool) -> None:
        """Whether the owner's chat takes no messages."""
        if closed:
            self._board.trouble(_CLOSED, CHAT_CLOSED)
        else:
            self._board.clear(_CLOSED)

    def _become(self, state: LinkState) -> None:
        if state is self.state:
            return
        if state in SENTENCES:
            log.warning("link_lost", state=state, what_to_do=SENTENCES[state])
        else:
            log.info("link", state=state, bot=self.bot)
        self.state = state
        self._show()

    def _show(self) -> None:
        if self.state in SENTENCES:
            self._board.trouble(_TROUBLE, SENTENCES[self.state])
        else:
            self._board.clear(_TROUBLE)
        if self.state is LinkState.CONNECTED:
            self.works.set()
        else:
            self.works.clear()
