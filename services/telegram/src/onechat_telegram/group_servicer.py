"""ListGroups, AdmitGroup, SetGroup and RemoveGroup of TelegramService. Part of servicer.py.

How nouns translate: adapters/group_contract.py. What is done: groups/admission.py.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import apsw
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import answered, call_body, once
from onechat_runtime.store import Store

from onechat_telegram.adapters import group_contract as contract
from onechat_telegram.domain.bot_errors import BotApiError, TooManyCalls
from onechat_telegram.errors import GroupUnknown, NotConnected, NoToken, SettingInvalid
from onechat_telegram.groups import admission
from onechat_telegram.groups.admission import Admission, Beside
from onechat_telegram.groups.domain.group import Group

TELEGRAM_S: Final = 6.0  # four tries of a channel, and what is between them, are within the call's 30 s
Change = Callable[[Admission, Beside], Awaitable[Group]]
Write: TypeAlias = v1.AdmitGroupRequest | v1.SetGroupRequest | v1.RemoveGroupRequest


class GroupServicer:
    """Groups at the service's door."""

    def __init__(
        self, store: Store, admission: Admission | None, clock: Clock, *, telegram_s: float = TELEGRAM_S
    ) -> None:
        """`admission` is None without a bot, which is in no group then; Telegram may take `telegram_s`."""
        self._telegram_s = telegram_s
        self._store = store
        self._admission = admission
        self._clock = clock
        # One call of a kind at a time: a retry waits for the first to end, and gets its answer.
        self._at_work: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ListGroups(self, request: v1.ListGroupsRequest, context: Any) -> v1.ListGroupsResponse:
        groups = self._admission.groups() if self._admission else []
        return contract.page(groups, request.page_size, request.page_token)

    async def AdmitGroup(self, request: v1.AdmitGroupRequest, context: Any) -> v1.AdmitGroupResponse:
        chat = contract.chat(request.chat_id)
        given = await self._once(
            "AdmitGroup", request, lambda groups, beside: groups.admit(chat, beside), contract.admitted
        )
        return v1.AdmitGroupResponse.FromString(given)

    async def SetGroup(self, request: v1.SetGroupRequest, context: Any) -> v1.SetGroupResponse:
        chat, settings = contract.chat(request.group.chat_id), contract.settings(request.group)
        given = await self._once(
            "SetGroup", request, lambda groups, beside: groups.set(chat, settings, beside), contract.was_set
        )
        return v1.SetGroupResponse.FromString(given)

    async def RemoveGroup(self, request: v1.RemoveGroupRequest, context: Any) -> v1.RemoveGroupResponse:
        chat = contract.chat(request.chat_id)

        async def remove(groups: Admission, beside: Beside) -> Group:
            async with asyncio.timeout(self._telegram_s):
                return await groups.remove(chat, beside)

        given = await self._once("RemoveGroup", request, remove, contract.removed)
        return v1.RemoveGroupResponse.FromString(given)

    async def _once(
        self, rpc: str, request: Write, change: Change, answer: Callable[[Group], bytes]
    ) -> bytes:
        """The `answer` to the group after `change`; or the first one, when this request came before."""
        request_id, body, now = request.request_id, call_body(rpc, request), self._clock.now()

        def remember(db: apsw.Connection, group: Group) -> None:
            once(db, request_id=request_id, body=body, now=now, answer=lambda: answer(group))

        async with self._at_work[rpc]:
            known = self._store.read(lambda db: answered(db, request_id=request_id, body=body, now=now))
            if known is not None:
                return known
            if self._admission is None:
                raise NoToken
            with _refusals():
                return answer(await change(self._admission, remember))


@contextmanager
def _refusals() -> Iterator[None]:
    """What groups and the Bot API fail with becomes a refusal of the contract."""
    try:
        yield
    except admission.GroupUnknown:
        raise GroupUnknown from None
    except admission.SettingInvalid as why:
        raise SettingInvalid(str(why)) from None
    except TooManyCalls as error:
        raise NotConnected(retry_after_s=error.retry_after_s) from None
    except (BotApiError, TimeoutError):
        raise NotConnected from None
