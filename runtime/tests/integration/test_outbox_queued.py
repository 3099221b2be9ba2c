"""What waits in a lane of the outbox, for whoever hands over several as one."""

import random
from datetime import timedelta

from onechat_runtime.outbox import Outbox


async def test_what_waits_in_a_lane_is_shown_in_order_with_when_it_was_put(store, clock):
    outbox = Outbox(store, clock, random.Random(1), {})

    async def put(key, *, lane, kind="cup", body=b"tea"):
        await store.write(
            lambda db: outbox.put(db, kind=kind, key=key, body=body, lane=lane, now=clock.now())
        )

    since = clock.now()
    await put("a", lane="left", body=b"first")
    await put("b", lane="right")
    await put("c", lane="left", kind="plate")
    clock.advance(2)
    await put("d", lane="left")

    queued = store.read(lambda db: Outbox.queued(db, kind="cup", lane="left"))

    assert [(one.key, one.body) for one in queued] == [("a", b"first"), ("d", b"tea")]
    assert [one.time - since for one in queued] == [timedelta(), timedelta(seconds=2)]


async def test_what_was_withdrawn_waits_no_more(store, clock):
    outbox = Outbox(store, clock, random.Random(1), {})
    await store.write(lambda db: outbox.put(db, kind="cup", key="a", body=b"", lane="left", now=clock.now()))

    await store.write(lambda db: Outbox.withdraw(db, kind="cup", key="a"))

    assert store.read(lambda db: Outbox.queued(db, kind="cup", lane="left")) == []
