"""A service as a process: how it starts, what it says when it cannot, how it ends."""

import asyncio
import json
import os
import signal
import socket
import stat

import apsw
import grpc
import psutil
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import CALLERS, read_token

from tests.fakes.echo import SECRET_TEXT, EchoStub, all_of


class Running:
    """A service that has said it is ready."""

    def __init__(self, process, ready, tmp_path):
        self.process = process
        self.ready = ready
        self.lines = []
        self._data = tmp_path / "data"

    @property
    def address(self):
        return self.ready["address"]

    def channel(self, caller="operator"):
        token = read_token(self._data / "tokens" / caller)
        return open_channel(self.address, token=token, name="scheduler")

    async def ended(self, within_s=12):
        async with asyncio.timeout(within_s):
            rest = await self.process.stderr.read()
            await self.process.wait()
        self.lines += [json.loads(line) for line in rest.decode().splitlines()]
        return self.process.returncode


@pytest.fixture
def start(program, tmp_path):
    async def started(**environ):
        environ = {"ONECHAT_SCHEDULER_ADDRESS": "127.0.0.1:0", **environ}
        return await program("echo_service.py", cwd=tmp_path, **environ)

    return started


@pytest.fixture
def start_ready(start, tmp_path):
    async def started(**environ):
        process = await start(**environ)
        async with asyncio.timeout(20):
            while line := await process.stderr.readline():
                said = json.loads(line)
                if said["event"] == "ready":
                    return Running(process, said, tmp_path)
        raise AssertionError("it ended before it was ready")

    return started


async def _refusal(process):
    """What a start that was refused said."""
    async with asyncio.timeout(20):
        _, said = await process.communicate()
    return process.returncode, said.decode().splitlines()


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


async def test_background_work_that_cannot_start_is_one_line(start):
    process = await start(ECHO_BREAKS="before-start")

    async with asyncio.timeout(20):
        _, said = await process.communicate()

    plain = [line for line in said.decode().splitlines() if not line.startswith("{")]
    assert process.returncode == 2
    assert plain == ["onechat scheduler: The kettle is gone: bring it back."]


async def test_a_port_in_use_is_one_line(start):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        address = f"127.0.0.1:{held.getsockname()[1]}"
        code, lines = await _refusal(await start(ONECHAT_SCHEDULER_ADDRESS=address))

    assert code == 2
    assert len(lines) == 1
    assert lines[0].startswith(f"onechat scheduler: {address} cannot be listened on (address already in use)")


async def test_a_metrics_port_in_use_is_one_line(start):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        code, lines = await _refusal(await start(ONECHAT_SCHEDULER_ADDRESS=f"127.0.0.1:{port - 1000}"))

    assert code == 2
    assert len(lines) == 1
    assert f"127.0.0.1:{port}, for /healthz and /metrics" in lines[0]


async def test_a_store_whose_damage_is_found_late_is_said_in_a_plain_line(start):
    """A page that the start of the store does not read; a person needs more than a stack in the log."""
    code, lines = await _refusal(await start(ECHO_BREAKS="damaged"))

    assert code == 2
    assert lines[-1] == "onechat scheduler: data/scheduler/store.db is damaged: restore a backup."


@pytest.mark.parametrize(
    ("path", "why"), [("none/s", "there is no folder"), ("s" * 120, "at most 102 bytes")]
)
async def test_a_unix_socket_that_cannot_be_is_refused_for_what_is_wrong_with_it(start, tmp_path, path, why):
    code, lines = await _refusal(await start(ONECHAT_SCHEDULER_ADDRESS=f"unix:{tmp_path}/{path}"))

    assert code == 2
    assert len(lines) == 1, lines
    assert why in lines[0]


async def test_a_second_service_does_not_take_the_unix_socket_of_the_first(start_ready, start, tmp_path):
    address = f"unix:{tmp_path}/s"
    service = await start_ready(ONECHAT_SCHEDULER_ADDRESS=address)

    code, lines = await _refusal(
        await start(ONECHAT_SCHEDULER_ADDRESS=address, ONECHAT_DATA=str(tmp_path / "other"))
    )

    assert code == 2
    assert len(lines) == 1
    assert lines[0].startswith(f"onechat scheduler: {address} cannot be listened on (it is in use)")
    async with service.channel() as channel:
        assert await _value(EchoStub(channel).Echo(StringValue(value="hi"), timeout=5)) == "hi"


async def test_a_socket_that_was_left_behind_is_taken_over(start_ready, tmp_path):
    address = f"unix:{tmp_path}/s"
    killed = await start_ready(ONECHAT_SCHEDULER_ADDRESS=address)
    killed.process.kill()
    await killed.process.wait()

    service = await start_ready(ONECHAT_SCHEDULER_ADDRESS=address)

    async with service.channel() as channel:
        assert await _value(EchoStub(channel).Echo(StringValue(value="hi"), timeout=5)) == "hi"


async def test_a_second_start_on_the_same_data_is_one_line_with_the_first_ones_pid(start_ready, start):
    service = await start_ready()

    code, lines = await _refusal(await start())

    assert code == 2
    assert len(lines) == 1
    assert f"in use by process {service.process.pid}" in lines[0]


async def test_faulty_settings_are_a_line_each(start):
    code, lines = await _refusal(await start(ECHO_SIZE="many", ONECHAT_LOG="loud"))

    assert code == 2
    assert [line.split()[2] for line in lines] == ["ONECHAT_LOG", "ECHO_SIZE"]


async def test_a_broken_dotenv_is_one_line(start, tmp_path):
    (tmp_path / ".env").write_text("ONECHAT_LOG=info\nnot a line\n")

    code, lines = await _refusal(await start())

    assert (code, len(lines)) == (2, 1)
    assert ".env, line 2:" in lines[0]


async def test_dotenv_is_read_and_the_environment_wins(start_ready, tmp_path):
    (tmp_path / ".env").write_text(f"ONECHAT_DATA={tmp_path}/from-dotenv\nECHO_SIZE=bad\n")

    service = await start_ready(ECHO_SIZE="2")

    assert (tmp_path / "from-dotenv" / "tokens").is_dir()
    service.process.terminate()
    assert await service.ended() == 0


async def test_a_data_folder_of_another_user_is_one_line(start, tmp_path):
    folder = tmp_path / "data"
    if os.geteuid() == 0:
        folder.mkdir()
        os.chown(folder, 12345, 12345)
    else:
        folder.symlink_to("/usr")

    code, lines = await _refusal(await start())

    assert (code, len(lines)) == (2, 1)
    assert "belongs to another user" in lines[0]


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
