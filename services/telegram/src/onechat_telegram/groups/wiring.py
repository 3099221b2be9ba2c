"""Group chats, put together: what a gateway with an adapter for groups builds, and runs in the background.

The outbox of the store needs `Deliveries.senders` beside its own, so that is built first.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo

from onechat_runtime.clock import Clock
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store

from onechat_telegram.groups.addressed import Addressed
from onechat_telegram.groups.admin import Admin
from onechat_telegram.groups.admission import Admission
from onechat_telegram.groups.batching import Batching
from onechat_telegram.groups.deliveries import Lanes
from onechat_telegram.groups.listening import Groups
from onechat_telegram.groups.ports import Adapter, Agents, Owner
from onechat_telegram.groups.privates import Privates
from onechat_telegram.groups.replies import GroupReplies


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChats:
    """What others see of group chats."""

    groups: Groups
    admission: Admission  #: for the owner's answers and for the calls of the contract
    replies: GroupReplies  #: for what the agents of groups answer
    background: tuple[Callable[[], Awaitable[None]], ...]


def opened_group_chats(
    adapter: Adapter,
    agents: Agents,
    owner: Owner,
    store: Store,
    outbox: Outbox,
    *,
    clock: Clock,
    zone: tzinfo,
    changed: Callable[[], None] = lambda: None,
) -> GroupChats:
    """Group chats over `adapter`; `zone` is the user's, for the times that agents and people read.

    `changed` is called when a group was admitted, set, or left.
    """
    lanes = Lanes(outbox, clock)
    batching = Batching(adapter, store, lanes, clock, zone)
    addressed = Addressed(adapter, batching, lanes, zone)
    admission = Admission(adapter, agents, owner, store, clock, changed)
    admin = Admin(adapter, agents, store, batching, lanes, clock, zone)
    privates = Privates(adapter, store, addressed, admin, clock)
    groups = Groups(adapter, agents, store, admission, batching, addressed, admin, privates, clock)
    return GroupChats(
        groups=groups,
        admission=admission,
        replies=GroupReplies(adapter, store, clock),
        background=(batching.run, groups.run),
    )
