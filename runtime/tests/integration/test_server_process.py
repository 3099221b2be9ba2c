"""A service as a process: how it starts, what it is like at work, how it ends."""

import asyncio
import json
import signal
import stat

import apsw
import grpc
import psutil
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import CALLERS

from tests.fakes.echo import SECRET_TEXT, EchoStub, all_of


async def _get(address, path):
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_service_starts_on_an_empty_folder_and_answers_with_its_tokens(start_ready, tmp_path):
    service = await start_ready()
    async with service.channel() as channel:
        answer = await EchoStub(channel).Echo(StringValue(value="caller"), timeout=5)
    healthz = await _get(service.ready["pages"], "/healthz")
    service.process.terminate()

    assert answer.value == "operator"
    assert healthz.startswith(b"HTTP/1.1 200")
    assert {path.name for path in (tmp_path / "data" / "tokens").iterdir()} == {*CALLERS, "callers.json"}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert await service.ended() == 0


async def test_sigterm_lets_running_calls_end_ends_streams_and_is_quick(start_ready):
    service = await start_ready()
    async with service.channel() as channel:
        stub = EchoStub(channel)
        stream = asyncio.create_task(all_of(stub.Repeat(StringValue(value="wait"), timeout=60)))
        slow = asyncio.create_task(_value(stub.Echo(StringValue(value="slow"), timeout=30)))
        await _value(stub.Echo(StringValue(value="first"), timeout=5))

        service.process.send_signal(signal.SIGTERM)
        with pytest.raises(RemoteError) as raised:
            await stream

        assert await slow == "slow"
        assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert await service.ended(within_s=5) == 0
    assert [line["event"] for line in service.lines if line["event"] in ("draining", "ended")] == [
        "draining",
        "ended",
    ]


async def test_a_call_that_does_not_end_holds_the_service_for_less_than_ten_seconds(start_ready):
    service = await start_ready()
    async with service.channel() as channel:
        stuck = asyncio.create_task(_value(EchoStub(channel).Echo(StringValue(value="wait"), timeout=60)))
        await _value(EchoStub(channel).Echo(StringValue(value="first"), timeout=5))

        service.process.send_signal(signal.SIGTERM)

        assert await service.ended(within_s=10) == 0
        await asyncio.gather(stuck, return_exceptions=True)


async def _value(call):
    return (await call).value


async def test_ctrl_c_ends_it_like_sigterm(start_ready):
    service = await start_ready()

    service.process.send_signal(signal.SIGINT)

    assert await service.ended(within_s=5) == 0


async def test_what_was_answered_before_the_end_is_there_after_a_restart(start_ready, tmp_path):
    service = await start_ready()
    async with service.channel() as channel:
        await _value(EchoStub(channel).Echo(StringValue(value="kept"), timeout=5))
    service.process.terminate()
    await service.ended()

    assert not (tmp_path / "data" / "scheduler" / "store.db-wal").exists()
    db = apsw.Connection(str(tmp_path / "data" / "scheduler" / "store.db"), flags=apsw.SQLITE_OPEN_READONLY)
    assert db.execute("SELECT tea FROM cups").get == "kept"


async def test_background_work_that_fails_ends_the_service_with_its_stack_logged(start_ready):
    """A service whose work has stopped must not look alive."""
    service = await start_ready(ECHO_BREAKS="after-start")
    async with service.channel() as channel:
        await asyncio.gather(
            _value(EchoStub(channel).Echo(StringValue(value="hi"), timeout=5)), return_exceptions=True
        )

    assert await service.ended() == 1
    (failed,) = [line for line in service.lines if line["event"] == "service_failed"]
    assert "ValueError" in failed["stack"]
    assert "watch" in failed["stack"]
    assert SECRET_TEXT not in json.dumps(service.lines, ensure_ascii=False)


async def test_a_socket_that_was_left_behind_is_taken_over(start_ready, tmp_path):
    address = f"unix:{tmp_path}/s"
    killed = await start_ready(ONECHAT_SCHEDULER_ADDRESS=address)
    killed.process.kill()
    await killed.process.wait()

    service = await start_ready(ONECHAT_SCHEDULER_ADDRESS=address)

    async with service.channel() as channel:
        assert await _value(EchoStub(channel).Echo(StringValue(value="hi"), timeout=5)) == "hi"


async def test_dotenv_is_read_and_the_environment_wins(start_ready, tmp_path):
    (tmp_path / ".env").write_text(f"ONECHAT_DATA={tmp_path}/from-dotenv\nECHO_SIZE=bad\n")

    service = await start_ready(ECHO_SIZE="2")

    assert (tmp_path / "from-dotenv" / "tokens").is_dir()
    service.process.terminate()
    assert await service.ended() == 0


async def test_a_lost_reader_of_the_log_does_not_fail_calls(start_ready):
    """The parent that read the log may be killed before its children."""
    service = await start_ready()
    service.process._transport.get_pipe_transport(2).close()

    async with service.channel() as channel:
        for word in ("a", "b", "c"):
            assert await _value(EchoStub(channel).Echo(StringValue(value=word), timeout=5)) == word


async def test_an_idle_service_is_small_and_sleeps(start_ready):
    service = await start_ready()
    async with service.channel() as channel:
        await _value(EchoStub(channel).Echo(StringValue(value="hi"), timeout=5))
        process = psutil.Process(service.process.pid)
        before = process.cpu_times()
        await asyncio.sleep(1.0)  # what is measured is a second of doing nothing
        after = process.cpu_times()

    spent = after.user + after.system - before.user - before.system
    assert process.memory_info().rss < 80 * 1024 * 1024
    assert spent < 0.1
