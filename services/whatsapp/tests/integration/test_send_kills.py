"""SIGKILL at each place between a call, its record, the send and its outcome: nothing is ever sent twice."""

from pathlib import Path

import pytest
from onechat_whatsapp.domain.records import SendState

from tests.fakes.whatsapp_desk import desk_at, text
from tests.fakes.whatsapp_sender import left, send_and_be_killed


@pytest.mark.parametrize(
    ("place", "state", "count"),
    [
        ("sending", SendState.UNKNOWN, 0),
        ("left", SendState.UNKNOWN, 1),
        ("sent", SendState.UNKNOWN, 1),
        ("recorded", SendState.SENT, 1),
        ("answered", SendState.SENT, 1),
    ],
)
async def test_the_same_id_after_a_kill_gets_an_answer_and_sends_nothing(
    tmp_path: Path, place: str, state: SendState, count: int
) -> None:
    await send_and_be_killed(tmp_path, place, "1")

    async with desk_at(tmp_path) as desk:
        answer = await desk.sending.send("1", text())
        again = await desk.sending.send("1", text())

    assert answer.record.state == state
    assert again == answer
    assert desk.account.sent == []
    assert left(tmp_path) == ["hello"] * count


async def test_other_ids_are_sent_after_a_kill(tmp_path: Path) -> None:
    await send_and_be_killed(tmp_path, "sending", "1")

    async with desk_at(tmp_path) as desk:
        answer = await desk.sending.send("2", text())

    assert answer.record.state == SendState.SENT
    assert len(desk.account.sent) == 1
