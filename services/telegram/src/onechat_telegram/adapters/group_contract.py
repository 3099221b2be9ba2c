"""Between groups of onechat.telegram.v1 and our own, both ways, and the pages of their list."""

import re
from collections.abc import Sequence
from typing import Final

from onechat.telegram.v1 import telegram_service_pb2 as v1

from onechat_telegram.errors import BadPage, SettingInvalid
from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import ChatId
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

PAGE_DEFAULT: Final = 100
PAGE_MAX: Final = 1_000
PAGE_BYTES_MAX: Final = 3_000_000  # a client of gRPC takes 4 MiB if it is not told otherwise
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")  # that an int64 holds; Telegram's have 52 bits
_DETECTORS: Final = {
    v1.DETECTOR_SIMPLE: DetectorKind.SIMPLE,
    v1.DETECTOR_MODEL: DetectorKind.MODEL,
    v1.DETECTOR_HYBRID: DetectorKind.HYBRID,
}
_OF_KIND: Final = {kind: detector for detector, kind in _DETECTORS.items()}


def chat(number: int) -> ChatId:
    """The group's id."""
    return ChatId(str(number))


def settings(group: v1.Group) -> GroupSettings:
    """How `group` shall be set. Raises SettingInvalid where it names no detector."""
    kind = _DETECTORS.get(group.detector)
    if kind is None:
        raise SettingInvalid
    return GroupSettings(
        detector=kind,
        names=tuple(group.names),
        ask_model=group.ask_model,
        learn=group.learn,
        private_chats=group.private_chats,
    )


def group_to_proto(group: Group) -> v1.Group:
    """A group as the contract has it."""
    return v1.Group(
        chat_id=int(group.chat),
        title=group.title,
        admitted=group.state is GroupState.ADMITTED,
        detector=_OF_KIND[group.settings.detector],
        names=group.settings.names,
        ask_model=group.settings.ask_model,
        learn=group.settings.learn,
        private_chats=group.settings.private_chats,
        agent_id=group.agent,
    )


def admitted(group: Group) -> bytes:
    """The answer to who admitted a group, as it is sent and remembered."""
    return v1.AdmitGroupResponse(group=group_to_proto(group)).SerializeToString()


def was_set(group: Group) -> bytes:
    """The answer to who set a group, as it is sent and remembered."""
    return v1.SetGroupResponse(group=group_to_proto(group)).SerializeToString()


def removed(group: Group) -> bytes:
    """The answer to who removed a group, as it is sent and remembered."""
    return v1.RemoveGroupResponse().SerializeToString()


def page(groups: Sequence[Group], page_size: int, page_token: str) -> v1.ListGroupsResponse:
    """Those of `groups`, which are by id, that a page holds. Raises BadPage.

    A group whose id the contract's number cannot hold is in none.
    """
    if page_size < 0 or (page_token and not _NUMBER.fullmatch(page_token)):
        raise BadPage
    left = [group for group in groups if group.chat > page_token and _NUMBER.fullmatch(group.chat)]
    shown: list[v1.Group] = []
    room = PAGE_BYTES_MAX
    for each in map(group_to_proto, left[: min(page_size or PAGE_DEFAULT, PAGE_MAX)]):
        room -= each.ByteSize()
        if shown and room < 0:
            break
        shown.append(each)
    more = len(left) > len(shown)
    return v1.ListGroupsResponse(groups=shown, next_page_token=str(shown[-1].chat_id) if more else "")
