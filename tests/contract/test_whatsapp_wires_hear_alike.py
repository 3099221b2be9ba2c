"""The library's own events, in every shape, are the same on the fake wire and the real one.

The fake gives what the translation makes of them; behind the real one are the supervisor, the pipe, the child
and neonize itself, with a client that plays. What a wire says besides: test_whatsapp_wires_alike.py.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from itertools import chain

import pytest
from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.ports import WhatsAppWire
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor
from onechat_whatsapp.wire_child.translation import translated

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_events import MISSING
from tests.fakes.whatsapp_library import missing
from tests.fakes.whatsapp_shapes import Shape, flood, shapes
from tests.fakes.whatsapp_wire import FakeWire
from tests.fakes.whatsapp_world import QUICK

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

WITHIN_S = 60.0
PLAYED = [] if MISSING else [*shapes()]
KINDS = ["fake", pytest.param("real", marks=pytest.mark.skipif(bool(missing()), reason=missing() or "there"))]


@pytest.fixture(params=KINDS)
async def wire(request, tmp_path) -> AsyncIterator[WhatsAppWire]:
    """A wire that plays all shapes, then a flood, once it is started."""
    if request.param == "fake":
        account = WhatsAppAccount(OWNER)
        account.kept = [event for shape in chain(PLAYED, flood()) for event in translated(shape.event)]
        yield FakeWire(account)
        return
    real = WhatsAppSupervisor(
        tmp_path / "session.db",
        command=(sys.executable, "-m", "tests.fakes.whatsapp_client", "shapes"),
        environment={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        patience=QUICK,
    )
    yield real
    await real.kill()


def by_shape(came: list[WireEvent], played: list[Shape]) -> dict[str, list[WireEvent]]:
    """What came, under the names of the shapes that it should be of."""
    left = iter(came)
    return {shape.name: [event for _, event in zip(shape.heard, left, strict=False)] for shape in played}


async def test_each_shape_of_the_librarys_events_is_what_it_should_be(wire: WhatsAppWire) -> None:
    """Reconnects, a catch-up, replays, echoes, LIDs and ids with a device, edits, wrappers, what came without
    a key, fatal codes, and a flood of 5,000 messages."""
    played = [*PLAYED, *flood()]
    events = wire.events()
    await wire.start()

    async with asyncio.timeout(WITHIN_S):
        await anext(events)  # that it is connected
        came = [await anext(events) for shape in played for _ in shape.heard]

    assert by_shape(came, PLAYED) == {shape.name: [*shape.heard] for shape in PLAYED}
    assert came == [event for shape in played for event in shape.heard]


@pytest.mark.parametrize("shape", PLAYED, ids=lambda shape: shape.name)
def test_each_shape_is_translated_as_it_should_be(shape: Shape) -> None:
    assert tuple(translated(shape.event)) == shape.heard
