"""The command, as a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

END_S = 30.0
TASK = "Compaction: message 1, 512 bytes.\n<input>\nuser: " + "words " * 200 + "\n</input>"


@contextmanager
def started(*options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The demo as a process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "onechat_demo", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["address"]
    finally:
        process.kill()
        process.wait(END_S)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def request(url: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(url, data=data, method=method, headers={"content-type": "application/json"})
    with urllib.request.urlopen(sent, timeout=END_S) as response:
        return json.load(response)


def status_of(url: str, body: Any = None) -> int:
    try:
        request(url, body)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def text_of(response: Any) -> str:
    return response["output"][0]["content"][0]["text"]


def test_it_says_its_address_answers_and_ends_on_sigterm() -> None:
    with started() as (process, address):
        reply = request(f"{address}/responses", {"model": "any", "input": "hello"})
        process.send_signal(signal.SIGTERM)

        assert text_of(reply).startswith("Demo model: Hello.")
        assert process.wait(END_S) == 0


def test_with_a_parent_pipe_it_ends_when_its_input_closes() -> None:
    """A parent that dies by SIGKILL closes the pipe and can do nothing else."""
    with started("--parent-pipe") as (process, _):
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(END_S) == 0


def test_it_ends_when_its_parent_is_killed() -> None:
    parent = (
        "import subprocess, sys\n"
        "command = [sys.executable, '-m', 'onechat_demo', '--parent-pipe']\n"
        "subprocess.Popen(command, stdin=subprocess.PIPE).wait()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()

    process.kill()

    assert process.communicate(timeout=END_S)[0] == b""  # the pipe ends with its last holder, the demo


def test_it_ends_without_a_word_when_its_parent_is_gone_before_it_serves() -> None:
    """A service that is ended during its start takes the demo with it; a stack in the log would mislead."""
    process = subprocess.Popen(
        [sys.executable, "-m", "onechat_demo", "--parent-pipe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait(END_S) == 0
    process.stderr.close()


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [sys.executable, "-m", "onechat_demo", "--port", str(port)],
            capture_output=True,
            timeout=END_S,
            check=False,
        )

    assert run.returncode == 2
    assert run.stdout == b""
    assert run.stderr.decode().count("\n") == 1
    assert f"port {port}" in run.stderr.decode()


def test_over_length_is_the_same_for_the_same_seed() -> None:
    said = []
    for seed in ("7", "7", "8"):
        with started("--over-length", seed) as (_, address):
            said.append(text_of(request(f"{address}/responses", {"model": "demo", "input": TASK})))

    assert said[0] == said[1]
    assert said[0] != said[2]


def test_there_is_no_control_without_its_flag() -> None:
    bodies: dict[str, dict[str, Any] | None] = {"requests": None, "script": {}, "gate/a": {}}
    with started() as (_, address):
        found = {
            path: status_of(f"{address.removesuffix('/v1')}/control/{path}", body)
            for path, body in bodies.items()
        }

    assert found == dict.fromkeys(bodies, 404)


def test_another_process_directs_it() -> None:
    with started("--control") as (_, address):
        control = address.removesuffix("/v1") + "/control"
        request(
            f"{control}/script",
            [
                {"answer": {"calls": [{"name": "shell", "arguments": {"command": "ls"}}]}, "purpose": "turn"},
                {"http": {"status": 503, "code": None, "message": "busy"}},
            ],
        )
        first = request(f"{address}/responses", {"model": "demo", "input": "go"})
        second = status_of(f"{address}/responses", {"model": "demo", "input": "again"})
        records = request(f"{control}/requests")

        assert first["output"][0]["arguments"] == '{"command": "ls"}'
        assert second == 503
        assert [record["outcome"] for record in records] == ["answered", "fault"]
        assert records[0]["body"]["input"] == "go"
        assert len(request(f"{control}/requests?after=1")) == 1


def test_a_script_that_is_none_is_refused_whole() -> None:
    with started("--control") as (_, address):
        control = address.removesuffix("/v1") + "/control"
        status = status_of(f"{control}/script", [{"answer": {"text": "x"}}, {"answr": {}}])

        assert status == 400
        assert "Hello" in text_of(request(f"{address}/responses", {"model": "demo", "input": "hi"}))


def test_a_gate_is_opened_from_another_process() -> None:
    with started("--control") as (_, address):
        control = address.removesuffix("/v1") + "/control"
        request(f"{control}/script", {"answer": {"text": "through"}, "gate": "a"})
        before = request(f"{control}/gate/a")
        request(f"{control}/gate/a", {}, "POST")

        assert before == {"reached": False}
        assert text_of(request(f"{address}/responses", {"model": "demo", "input": "hi"})) == "through"
        assert request(f"{control}/gate/a") == {"reached": True}


def test_it_imports_no_client_library() -> None:
    """The agent starts the demo as a child: that start must be quick and small."""
    code = "import sys, onechat_demo.__main__; print('openai' in sys.modules or 'grpc' in sys.modules)"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=END_S, check=True)

    assert run.stdout.strip() == b"False"


def test_its_environment_is_not_needed() -> None:
    """It runs with an empty environment, as a child that gets no secret of its parent."""
    process = subprocess.Popen(
        [sys.executable, "-m", "onechat_demo", "--parent-pipe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.defpath},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    process.communicate(timeout=END_S)

    assert "address" in json.loads(line)
