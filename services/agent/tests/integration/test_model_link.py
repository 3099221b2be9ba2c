"""The link to a model's server: silence, cancelling, proxies, switches, and what must not be told."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.failures import (
    BadRequest,
    Trouble,
    Unreachable,
)
from onechat_agent.model.items import OutputItem

from tests.fakes.model_requests import KEY, REQUEST, after, endpoint_of, ignore
from tests.fakes.scripted_model import (
    Answer,
    Break,
    Call,
    HttpFault,
    Outcome,
    ScriptedModel,
    call,
)


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel.serving() as served:
        yield served
        assert served.refusals() == []


@pytest.fixture
async def client(model) -> AsyncIterator[ModelClient]:
    made = ModelClient(endpoint_of(model), read_timeout_s=5, call_timeout_s=20)
    await made.warm_up()
    yield made
    await made.close()


async def test_malformed_arguments_come_back_as_they_are(model, client):
    model.call(Call(name="date", arguments='{"id": '))

    answer = await client.respond(REQUEST, ignore)

    assert answer.calls[0].arguments == '{"id": '


@pytest.mark.parametrize("after_events", [0, 4])
async def test_a_server_that_falls_silent_is_given_up(model, after_events):
    model.break_stream(Break.STALL, after=after_events)
    hasty = ModelClient(endpoint_of(model), read_timeout_s=0.2, call_timeout_s=20)

    with pytest.raises(Unreachable) as failure:
        await hasty.respond(REQUEST, ignore)

    assert failure.value.trouble is Trouble.SLOW
    await hasty.close()


async def test_a_server_that_never_begins_is_given_up(model):
    gate = model.hold()
    hasty = ModelClient(endpoint_of(model), read_timeout_s=0.2, call_timeout_s=20)

    with pytest.raises(Unreachable) as failure:
        await hasty.respond(REQUEST, ignore)

    assert failure.value.trouble is Trouble.SLOW
    gate.open()
    await hasty.close()


async def test_a_call_has_an_end_however_alive_its_stream_is(model):
    model.break_stream(Break.STALL, after=2)
    hasty = ModelClient(endpoint_of(model), read_timeout_s=20, call_timeout_s=0.2)

    with pytest.raises(Unreachable) as failure:
        await hasty.respond(REQUEST, ignore)

    assert failure.value.code == "call_timeout"
    await hasty.close()


@pytest.mark.parametrize("begun", [False, True])
async def test_a_cancelled_call_ends_at_once_and_the_server_sees_it_go(model, client, begun):
    """`/stop` must take less than a second."""
    first_text = asyncio.Event()
    gate = None
    if begun:
        model.break_stream(Break.STALL, answer=Answer(text="a long answer " * 20), after=8)
    else:
        gate = model.hold()
    running = asyncio.create_task(client.respond(REQUEST, lambda _offset, _text: first_text.set()))
    await asyncio.wait_for(gate.reached() if gate else first_text.wait(), 30)

    running.cancel()
    async with asyncio.timeout(20):
        with pytest.raises(asyncio.CancelledError):
            await running

    record = model.requests()[0]
    await asyncio.wait_for(record.ended.wait(), 30)
    assert record.outcome in (Outcome.GONE, Outcome.FAULT)


async def test_a_listener_that_fails_is_not_taken_for_the_server(model, client):
    def broken(_offset: int, _text: str) -> None:
        raise LookupError("a bug of the caller")

    with pytest.raises(LookupError):
        await client.respond(REQUEST, broken)


async def test_calls_run_side_by_side_each_with_its_own_stream(model, client):
    gate = model.hold(answer=Answer(text="the first"))
    model.say("the second")
    first = asyncio.create_task(client.respond(REQUEST, ignore))
    await asyncio.wait_for(gate.reached(), 30)

    second = await client.respond(REQUEST, ignore)
    gate.open()

    assert second.text == "the second"
    assert (await first).text == "the first"


async def test_a_closed_client_opens_again_for_the_next_call(model, client):
    await client.close()

    assert (await client.respond(REQUEST, ignore)).text


async def test_a_proxy_of_the_environment_does_not_stand_before_this_machine(model, monkeypatch):
    """The demo model and local servers answer on loopback, where no proxy leads."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client = ModelClient(endpoint_of(model))

    assert (await client.respond(REQUEST, ignore)).text
    await client.close()


async def test_a_proxy_that_is_none_is_a_network_trouble(monkeypatch):
    """The network library raises errors of its own kinds for it, before any call."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "gopher://nowhere")
    client = ModelClient(Endpoint.of(url="http://model.invalid/v1", api_key=None))

    await client.warm_up()
    with pytest.raises(Unreachable) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.code == "client_not_made"


async def test_nobody_there_is_a_network_trouble():
    async with ScriptedModel.serving() as gone:
        endpoint = endpoint_of(gone)
    client = ModelClient(endpoint)

    with pytest.raises(Unreachable) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.trouble is Trouble.NETWORK
    await client.close()


@pytest.mark.parametrize("lack", list(Lack))
async def test_an_endpoint_without_something_takes_calls_that_were_told_so(lack):
    async with ScriptedModel.serving(lacks=[str(lack)]) as model:
        model.say(Answer(reasoning="hm", calls=(call("date", id=1),)), "fine")
        client = ModelClient(endpoint_of(model, frozenset({lack})))

        asked = await client.respond(REQUEST, ignore)
        result = OutputItem(call_id=asked.calls[0].call_id, text="done")
        answer = await client.respond(after(REQUEST, *asked.items, result), ignore)

        assert answer.text == "fine"
        assert model.refusals() == []
        await client.close()


@pytest.mark.parametrize(
    "lack", [Lack.ENCRYPTED_REASONING, Lack.CACHE_OPTIONS, Lack.STRICT, Lack.PARALLEL_CALLS]
)
async def test_an_endpoint_without_something_says_which_switch_to_add(lack):
    async with ScriptedModel.serving(lacks=[str(lack)]) as model:
        client = ModelClient(endpoint_of(model))

        with pytest.raises(BadRequest) as failure:
            await client.respond(REQUEST, ignore)

        assert failure.value.switch is lack
        await client.close()


async def test_neither_key_nor_message_is_logged_even_at_debug_level(model, caplog):
    """The package logs whole requests at debug level."""
    client = ModelClient(endpoint_of(model))
    caplog.set_level(logging.DEBUG)
    model.fail(HttpFault(status=400, code=None, message=f"you sent buy milk with {KEY}"))

    with pytest.raises(BadRequest):
        await client.respond(REQUEST, ignore)
    await client.respond(REQUEST, ignore)

    logged = "".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    assert "milk" not in logged
    assert KEY not in logged
    await client.close()


async def test_the_key_goes_to_the_server_and_a_server_without_one_gets_a_word_in_its_place(model, client):
    await client.respond(REQUEST, ignore)
    keyless = ModelClient(Endpoint.of(url=model.base_url, api_key=None, lacking=frozenset()))
    await keyless.respond(REQUEST, ignore)

    assert [record.headers["authorization"] for record in model.requests()] == [
        f"Bearer {KEY}",
        "Bearer none",
    ]
    await keyless.close()


def test_importing_the_client_does_not_load_the_package():
    """It takes two seconds, which every start and every command would pay."""
    code = (
        "import sys, onechat_agent.model.call; sys.exit('openai' in sys.modules or 'httpx2' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_the_event_loop_goes_on_while_the_package_loads(model):
    """A turn of another agent must not wait for it."""
    client = ModelClient(endpoint_of(model))
    warming = asyncio.create_task(client.warm_up())
    turns = 0
    while not warming.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns > 1
    await warming
    await client.close()
