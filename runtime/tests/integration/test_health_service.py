"""Health, per service and per neighbour, and the pages that show the same."""

import asyncio
import json

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.fakes.echo import EchoServicer, echo_served
from tests.fakes.loopback import serving

STATES = health_pb2.HealthCheckResponse
ECHO = "onechat_tests.EchoService"


@pytest.fixture
async def loopback(board):
    async with serving(echo_served(EchoServicer()), board=board, pages=True) as opened:
        yield opened


async def _state(loopback, service=""):
    async with grpc.aio.insecure_channel(loopback.address) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status
        except grpc.aio.AioRpcError as error:
            return error.code()


async def _get(loopback, path, method="GET"):
    host, _, port = loopback.listening.pages_address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


async def _settle(loopback, service, wanted):
    async with asyncio.timeout(5):
        while await _state(loopback, service) != wanted:
            pass


async def test_the_whole_and_each_service_serve(loopback):
    await _settle(loopback, ECHO, STATES.SERVING)

    assert await _state(loopback) == STATES.SERVING
    assert await _state(loopback, "onechat.ops.v1.SnapshotService") == STATES.SERVING
    assert await _state(loopback, "nothing") is grpc.StatusCode.NOT_FOUND


async def test_a_missing_neighbour_is_named_and_the_service_still_serves(loopback, board):
    board.neighbour("memory", serving=False)
    await _settle(loopback, "neighbour.memory", STATES.NOT_SERVING)
    whole, page = await _state(loopback), await _get(loopback, "/healthz")

    board.neighbour("memory", serving=True)
    await _settle(loopback, "neighbour.memory", STATES.SERVING)

    assert whole == STATES.SERVING
    assert page[0] == 200
    assert json.loads(page[1])["neighbours"] == {"memory": "NOT_SERVING"}


async def test_healthz_shows_the_same_as_health(loopback, board):
    board.trouble("outbox", "1 could not be handed over.")
    board.remark("link", "not linked")

    status, body = await _get(loopback, "/healthz")

    assert status == 200
    assert json.loads(body) == {
        "status": "SERVING",
        "neighbours": {},
        "troubles": {"outbox": "1 could not be handed over."},
        "remarks": {"link": "not linked"},
    }


async def test_whoever_watches_hears_that_the_service_ends(loopback, board):
    heard = []
    async with grpc.aio.insecure_channel(loopback.address) as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=10)
        heard.append((await watching.read()).status)

        draining = asyncio.create_task(loopback.listening.drain())
        heard.append((await watching.read()).status)
        status, body = await _get(loopback, "/healthz")
        await draining

    assert heard == [STATES.SERVING, STATES.NOT_SERVING]
    assert status == 503
    assert json.loads(body)["status"] == "NOT_SERVING"


async def test_metrics_count_calls_by_caller_and_outcome(loopback, board):
    from google.protobuf.wrappers_pb2 import StringValue

    from tests.fakes.echo import EchoStub

    board.neighbour("memory", serving=False)
    await EchoStub(loopback.channel("scheduler")).Echo(StringValue(value="hi"), timeout=5)

    status, body = await _get(loopback, "/metrics")

    said = body.decode()
    assert status == 200
    assert 'onechat_rpcs_total{caller="scheduler",code="OK",rpc="EchoService/Echo"} 1.0' in said
    assert 'onechat_neighbour_serving{neighbour="memory"} 0.0' in said
    assert "onechat_serving 1.0" in said


async def test_the_pages_are_on_this_machine_only(loopback):
    assert loopback.listening.pages_address.startswith("127.0.0.1:")


async def test_other_pages_and_other_methods_are_refused(loopback):
    assert (await _get(loopback, "/"))[0] == 404
    assert (await _get(loopback, "/healthz", method="POST"))[0] == 405
    assert await _get(loopback, "/healthz", method="HEAD") == (200, b"")


async def test_one_that_sends_no_request_holds_up_nobody(loopback):
    host, _, port = loopback.listening.pages_address.rpartition(":")
    _, silent = await asyncio.open_connection(host, int(port))
    _, gone = await asyncio.open_connection(host, int(port))
    gone.write(b"GE")
    gone.close()

    assert (await _get(loopback, "/healthz"))[0] == 200
    silent.close()


async def test_beside_a_unix_socket_the_pages_are_on_one_too(board, tmp_path):
    address = f"unix:{tmp_path}/kitchen"
    async with serving(echo_served(EchoServicer()), board=board, address=address, pages=True) as loopback:
        reader, writer = await asyncio.open_unix_connection(f"{tmp_path}/kitchen.http")
        writer.write(b"GET /healthz HTTP/1.1\r\n\r\n")
        answer = await reader.read()
        writer.close()

        assert await _state(loopback) == STATES.SERVING
    assert answer.startswith(b"HTTP/1.1 200")
