"""The owner's chat, as group chats use it: a question with buttons, a line. groups/ports.Owner.

The answer comes back through buttons.py.
"""

from collections.abc import Sequence

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.domain.admissions import question_piece
from onechat_telegram.domain.ids import ChatId, private_chat_of
from onechat_telegram.domain.pieces import Piece, plain_pieces_of
from onechat_telegram.groups.domain import ids as group_ids
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies


class OwnerChat:
    """Speaks to the owner."""

    def __init__(self, store: Store, ownership: Ownership, replies: Replies, clock: Clock) -> None:
        self._store = store
        self._ownership = ownership
        self._replies = replies
        self._clock = clock

    async def ask(self, key: group_ids.MessageKey, chat: group_ids.ChatId, title: str) -> None:
        """Ask whether the group shall be served; once for each key. The answer comes to Buttons' groups."""
        await self._add(key, (question_piece(ChatId(int(chat)), title),))

    async def tell(self, key: group_ids.MessageKey, text: str) -> None:
        """Say `text`, plain; on disk once it returns, once for each key."""
        await self._add(key, plain_pieces_of(text))

    async def _add(self, key: str, pieces: Sequence[Piece]) -> None:
        """Waits for an owner: there is none to tell before."""
        chat, now = private_chat_of(await self._ownership.wait_known()), self._clock.now()
        await self._store.write(lambda db: piece_store.add_answer(db, key, chat, pieces, now))
        self._replies.added.set()
