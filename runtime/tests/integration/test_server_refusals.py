"""A service that cannot start says why in plain lines, and what to do."""

import asyncio
import os
import socket

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from tests.fakes.echo import EchoStub


async def _refusal(process):
    """What a start that was refused said."""
    async with asyncio.timeout(20):
        _, said = await process.communicate()
    return process.returncode, said.decode().splitlines()


async def _value(call):
    return (await call).value


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
