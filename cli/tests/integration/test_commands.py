"""send, status, usage and a chat without a terminal, against a fake agent service."""

import asyncio
import json
import os
import subprocess
import sys

import grpc
import pytest
from onechat.agent.v1 import event_pb2, usage_pb2
from onechat_cli.chat.plain import Talk
from onechat_cli.commands.send import send
from onechat_cli.commands.status import status
from onechat_cli.commands.usage import usage
from onechat_cli.config import settings_from
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused


async def test_send_prints_the_reply_and_nothing_else(agent, settings, capsys):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "It is nine.\nReally.")

    code = await send(settings, "what time is it?", as_json=False, timeout_s=10)

    assert code == Exit.OK
    assert capsys.readouterr() == ("It is nine.\nReally.\n", "")


async def test_send_needs_no_memory_service_to_hand_over_its_message(agent, settings, capsys):
    """The agent keeps the message, and answers when the memory is back."""
    agent.memory_away = True
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "Here I am.")

    code = await send(settings, "hi", as_json=False, timeout_s=10)

    assert code == Exit.OK
    assert capsys.readouterr() == ("Here I am.\n", "")


async def test_send_waits_for_the_answer_to_its_own_message(agent, settings, capsys):
    """Other clients' messages are answered meanwhile."""

    async def answers(delivery):
        await agent.answer("telegram:1:2:3", "not this", turn="other")
        await agent.answer(delivery.key, "this", turn="mine")

    agent.on_delivery = answers

    await send(settings, "hi", as_json=True, timeout_s=10)

    found = json.loads(capsys.readouterr().out)
    assert found["reply"] == "this"
    assert found["turn"] == "mine"
    assert found["key"] == next(iter(agent.deliveries))


async def test_an_empty_reply_prints_nothing_and_is_well(agent, settings, capsys):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "")

    code = await send(settings, "ok", as_json=False, timeout_s=10)

    assert code == Exit.OK
    assert capsys.readouterr() == ("", "")


async def test_a_notice_that_ends_the_message_goes_to_stderr_with_1(agent, settings, capsys):
    async def refuses(delivery):
        answered = [event_pb2.Answered(key=delivery.key)]
        await agent.tell(notice=event_pb2.Notice(text="The key is wrong.", answered=answered))

    agent.on_delivery = refuses

    code = await send(settings, "hi", as_json=False, timeout_s=10)

    assert code == Exit.WRONG
    assert capsys.readouterr() == ("", "onechat: The key is wrong.\n")


async def test_a_stopped_turn_ends_the_wait(agent, settings, capsys):
    async def stops(delivery):
        answered = [event_pb2.Answered(key=delivery.key)]
        await agent.over("turn", state="STATE_STOPPED", answered=answered)

    agent.on_delivery = stops

    code = await send(settings, "hi", as_json=False, timeout_s=10)

    assert code == Exit.WRONG
    assert "stopped" in capsys.readouterr().err


async def test_a_stream_that_breaks_before_the_answer_is_taken_up_again(agent, settings, capsys):
    async def breaks(delivery):
        await agent.cut()
        await agent.answer(delivery.key, "still here")

    agent.on_delivery = breaks

    code = await send(settings, "hi", as_json=False, timeout_s=20)

    assert code == Exit.OK
    assert capsys.readouterr().out == "still here\n"
    assert agent.texts() == ["hi"]


async def test_a_message_that_was_not_taken_in_time_is_not_called_kept(agent, settings):
    """A full disk keeps nothing; the words that say so are the agent's."""
    agent.fail("Deliver", code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="STORE_FULL", times=1_000)

    with pytest.raises(CommandFailed, match=r"not taken within .* as the test asked .*onechat status"):
        await send(settings, "hi", as_json=False, timeout_s=2)

    assert agent.texts() == []


async def test_no_reply_in_time_says_that_the_message_is_kept(agent, settings):
    with pytest.raises(CommandFailed, match="kept"):
        await send(settings, "hi", as_json=False, timeout_s=0.3)

    assert agent.texts() == ["hi"]


async def test_send_without_a_service_says_how_to_start_one(variables):
    settings = settings_from({**variables, "ONECHAT_AGENT_ADDRESS": "127.0.0.1:9"})

    with pytest.raises(CommandFailed, match="onechat up"):
        await send(settings, "hi", as_json=False, timeout_s=10)


async def test_send_without_a_token_says_how_to_get_one(variables, tmp_path):
    settings = settings_from({**variables, "ONECHAT_TOKEN_FILE": str(tmp_path / "none")})

    with pytest.raises(StartRefused, match="onechat up"):
        await send(settings, "hi", as_json=False, timeout_s=10)


async def test_usage_prints_rows_or_json(agent, settings, capsys):
    agent.usage = [
        usage_pb2.Usage(
            agent="One",
            day="2026-11-30",
            model="m",
            purpose=usage_pb2.USAGE_PURPOSE_COMPACTION,
            calls=1,
            input_tokens=100,
            cached_input_tokens=25,
            output_tokens=5,
        )
    ]

    await usage(settings, since="2026-11-01", as_json=False)
    table = capsys.readouterr().out
    await usage(settings, since="", as_json=True)
    (row,) = json.loads(capsys.readouterr().out)["usage"]

    row_shown = " ".join(table.splitlines()[1].split())
    assert row_shown == "2026-11-30 One compaction m 1 100 25% 5 unknown"
    assert row["cache_read_share"] == 0.25
    assert row["cost_millionths"] is None
    assert agent.usage_asked == ["2026-11-01", ""]


async def test_status_tells_services_that_are_away_and_ends_with_1(settings, capsys):
    code = await status(settings, as_json=True)

    found = json.loads(capsys.readouterr().out)
    assert code == Exit.WRONG
    assert {one["name"]: one["state"] for one in found["services"]} == {
        "agent": "serving",
        "memory": "away",
        "whatsapp": "away",
        "telegram": "away",
        "scheduler": "away",
    }
    assert [one["name"] for one in found["agents"]] == ["One"]
    assert len(found["wrong"]) == 4


async def test_status_before_the_first_start_says_how_to_start(variables, tmp_path, capsys):
    settings = settings_from({**variables, "ONECHAT_TOKEN_FILE": str(tmp_path / "none")})

    code = await status(settings, as_json=False)

    assert code == Exit.WRONG
    assert "onechat up" in capsys.readouterr().out


async def test_a_talk_takes_a_line_after_the_other(agent, client):
    """A script must read each reply before the next line is sent."""
    order = []
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, delivery.text.upper(), turn=delivery.key)

    async def lines():
        for line in ("one", "", "/usage", "two", "/quit", "never"):
            order.append(line)
            yield line

    keys = iter("abcdef")
    talk = Talk(
        agent=client, clock=SystemClock(), new_key=lambda: next(keys), answer=order.append, aside=order.append
    )
    await talk.take(lines())

    assert order == ["one", "ONE", "", "/usage", "did /usage", "two", "TWO", "/quit"]


async def test_a_line_that_is_refused_does_not_end_a_talk(agent, client):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "well", turn=delivery.key)
    agent.fail("Deliver", code=grpc.StatusCode.INVALID_ARGUMENT, reason="DELIVERY_INVALID")
    said, aside = [], []

    async def lines():
        yield "bad"
        yield "good"

    keys = iter("ab")
    talk = Talk(
        agent=client, clock=SystemClock(), new_key=lambda: next(keys), answer=said.append, aside=aside.append
    )
    await talk.take(lines())

    assert said == ["well"]
    assert len(aside) == 1


@pytest.mark.parametrize(
    ("dotenv", "said"),
    [("not a variable\n", ".env, line 1"), ("ONECHAT_AGENT_ADDRESS=nowhere\n", "ONECHAT_AGENT_ADDRESS")],
)
def test_a_broken_env_file_is_one_line_and_2(tmp_path, dotenv, said):
    (tmp_path / ".env").write_text(dotenv)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}

    ended = subprocess.run(
        [sys.executable, "-m", "onechat_cli", "status"],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == Exit.REFUSED
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert said in ended.stderr


async def run_in_shell(line, variables, tmp_path):
    """Exit code, stdout and stderr of a shell line in which `onechat` is the command."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", line.replace("onechat", f"{sys.executable} -m onechat_cli")),
        cwd=tmp_path,
        env={**clean, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await shell.communicate()
    return shell.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("line", "code", "out", "err"),
    [
        ("onechat send hi <&-", 0, "fine 🎩\n", ""),
        ("onechat send - <&-", 1, "", "onechat: There is nothing to send: the message is empty.\n"),
        ("onechat send hi >&-", 0, "", ""),
        (
            "onechat send hi >/dev/full",
            1,
            "",
            "onechat: The answer cannot be written: No space left on device.\n",
        ),
        ("PYTHONIOENCODING=latin-1 onechat send hi", 0, "fine ?\n", ""),
        ("onechat send $'a\\xff'", 0, "fine 🎩\n", ""),
        ("onechat usage | true; exit ${PIPESTATUS[0]}", 0, "", ""),
    ],
)
async def test_odd_streams_and_arguments_end_in_an_answer_or_a_line(
    agent, variables, tmp_path, line, code, out, err
):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "fine 🎩")

    assert await run_in_shell(line, variables, tmp_path) == (code, out, err)


async def test_a_message_that_no_call_can_carry_is_refused_at_once(agent, client):
    """gRPC says RESOURCE_EXHAUSTED, for which a sender would wait for ever, and all behind it with it."""
    talk_aside = []

    async def lines():
        yield "x" * 17_000_000

    talk = Talk(agent=client, clock=SystemClock(), new_key=lambda: "a", answer=print, aside=talk_aside.append)
    await talk.take(lines())

    assert talk_aside == ["not accepted: The message is larger than a call may be."]
