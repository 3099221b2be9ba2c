"""A call that comes twice is done once."""

import asyncio
from datetime import timedelta

import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.errors import BadRequestId, KeyReused
from onechat_runtime.request_ids import OnceHere, answered, call_body, once


@pytest.fixture
def pour(store, clock):
    """Pours a cup under a request id; how many cups there were is the answer."""

    async def poured(request_id, body=b"green", fails=False):
        def job(db):
            def answer():
                db.execute("INSERT INTO cups (tea) VALUES (?)", (body.decode(),))
                if fails:
                    raise ValueError("spilt")
                return str(db.execute("SELECT count(*) FROM cups").get).encode()

            return once(db, request_id=request_id, body=body, now=clock.now(), answer=answer)

        return await store.write(job)

    return poured


@pytest.fixture
def cups_poured(store):
    return lambda: store.read(lambda db: db.execute("SELECT count(*) FROM cups").get)


async def test_the_same_id_and_body_give_the_first_answer_and_do_nothing(pour, cups_poured):
    first = await pour("id-1")
    await pour("id-2")

    again = await pour("id-1")

    assert again == first == b"1"
    assert cups_poured() == 2


async def test_the_same_id_with_another_body_is_refused_and_does_nothing(pour, cups_poured):
    await pour("id-1")

    with pytest.raises(KeyReused):
        await pour("id-1", b"black")

    assert cups_poured() == 1


async def test_a_repeat_is_known_before_anything_is_done(pour, store, clock, cups_poured):
    """A call that does something outside first must not do that again."""

    def known(request_id, body=b"green"):
        return store.read(lambda db: answered(db, request_id=request_id, body=body, now=clock.now()))

    first = await pour("id-1")

    assert (known("id-1"), known("id-2"), known("")) == (first, None, None)
    with pytest.raises(KeyReused):
        known("id-1", b"black")
    with pytest.raises(BadRequestId):
        known("größer")
    clock.advance(timedelta(days=90, seconds=1).total_seconds())
    assert known("id-1", b"black") is None
    assert cups_poured() == 1


async def test_what_failed_is_not_remembered(pour, cups_poured):
    with pytest.raises(ValueError, match="spilt"):
        await pour("id-1", fails=True)

    assert await pour("id-1") == b"1"
    assert cups_poured() == 1


async def test_no_id_is_no_promise(pour, cups_poured):
    await pour("")
    await pour("")

    assert cups_poured() == 2


@pytest.mark.parametrize("request_id", ["x" * 201, "größer", "two\nlines", "\0", "\x7f"])
async def test_an_id_that_is_too_long_or_not_ascii_is_refused(pour, cups_poured, request_id):
    with pytest.raises(BadRequestId):
        await pour(request_id)

    assert cups_poured() == 0


async def test_the_longest_id_is_taken(pour):
    assert await pour("x" * 200) == b"1"


async def test_an_id_is_kept_for_ninety_days(pour, clock, cups_poured):
    await pour("id-1")
    clock.advance(timedelta(days=90).total_seconds())

    await pour("id-1")
    clock.advance(1)
    await pour("id-1", b"black")

    assert cups_poured() == 2


async def test_old_ids_leave_the_store_as_new_ones_come(pour, clock, store):
    for number in range(20):
        await pour(f"old-{number}")
    clock.advance(timedelta(days=91).total_seconds())

    await pour("new-1")
    await pour("new-2")

    assert store.read(lambda db: db.execute("SELECT count(*) FROM request_ids").get) == 2


async def test_ids_outlive_a_restart(open_store, clock):
    def job(db):
        return once(db, request_id="id-1", body=b"x", now=clock.now(), answer=lambda: b"first")

    async with open_store() as store:
        await store.write(job)

    async with open_store() as store:
        again = await store.write(
            lambda db: once(db, request_id="id-1", body=b"x", now=clock.now(), answer=lambda: b"second")
        )
    assert again == b"first"


def test_the_same_bytes_for_another_rpc_are_another_body():
    """DeleteLog("x") must not be answered with CreateLog("x")'s answer."""
    request = StringValue(value="x")

    assert call_body("CreateLog", request) != call_body("DeleteLog", request)
    assert call_body("CreateLog", request) == call_body("CreateLog", StringValue(value="x"))


class Kettle:
    """Does once, in memory, what `boil` asks for; `boils` is how often it did it."""

    def __init__(self, clock):
        self._here = OnceHere(clock)
        self.boils = 0
        self.ready = asyncio.Event()
        self.ready.set()

    async def boil(self, request_id, body=b"green", fails=False):
        async def answer():
            await self.ready.wait()
            if fails:
                raise ValueError("spilt")
            self.boils += 1
            return str(self.boils).encode()

        return await self._here.once(request_id=request_id, body=body, answer=answer)


@pytest.fixture
def kettle(clock):
    return Kettle(clock)


async def test_in_memory_the_same_id_and_body_give_the_first_answer(kettle):
    first = await kettle.boil("id-1")
    await kettle.boil("id-2")

    assert await kettle.boil("id-1") == first == b"1"
    assert [await kettle.boil(""), await kettle.boil("")] == [b"3", b"4"]
    with pytest.raises(KeyReused):
        await kettle.boil("id-1", b"black")
    for wrong in ("x" * 201, "größer", "a\nb"):
        with pytest.raises(BadRequestId):
            await kettle.boil(wrong)
    assert kettle.boils == 4


async def test_in_memory_a_retry_waits_for_the_first_and_gets_its_answer(kettle):
    kettle.ready.clear()
    both = [asyncio.create_task(kettle.boil("id-1")) for _ in range(2)]
    await asyncio.sleep(0)
    kettle.ready.set()

    assert await asyncio.gather(*both) == [b"1", b"1"]


async def test_in_memory_what_failed_or_was_given_up_is_not_remembered(kettle):
    with pytest.raises(ValueError, match="spilt"):
        await kettle.boil("id-1", fails=True)
    kettle.ready.clear()
    given_up = asyncio.create_task(kettle.boil("id-1"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    kettle.ready.set()

    assert await kettle.boil("id-1", b"black") == b"1"


async def test_in_memory_an_id_is_forgotten_after_ninety_days(kettle, clock):
    await kettle.boil("id-1")
    clock.advance(timedelta(days=89).total_seconds())
    await kettle.boil("id-2")
    clock.advance(timedelta(days=1, seconds=1).total_seconds())

    assert await kettle.boil("id-1", b"black") == b"3"
    assert await kettle.boil("id-2") == b"2"
