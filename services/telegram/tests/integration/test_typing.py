"""`typing…` in the owner's chat as long as the root is at work."""

from onechat.agent.v1 import event_pb2

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running


async def test_typing_is_shown_again_and_again_while_a_turn_runs(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn("t")
        await bench.api.until(lambda: len(bench.api.actions) == 1)
        await bench.clock.until_sleeping()
        bench.clock.advance(5)
        await bench.api.until(lambda: len(bench.api.actions) == 2)
        await bench.agent.end_turn("t")
        await bench.agent.reply("done")
        await bench.api.until(lambda: bool(bench.api.sent))
        bench.clock.advance(5)
        await bench.agent.reply("more")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

        assert bench.api.actions == [(OWNER, "typing")] * 2


async def test_typing_is_shown_of_a_turn_that_was_at_work_before_the_gateway_started(bench: Bench) -> None:
    """Its beginning lies before the place in the events where something was shown in its middle."""
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn("t")
        await bench.agent.notice("The model is asked again.", turn="t")
        await bench.api.until(lambda: bool(bench.api.sent))
    before = len(bench.api.actions)

    async with bench.running():
        await bench.agent.until(lambda: len(bench.agent.subscribed) == 2)
        await bench.agent.tell(activity=event_pb2.Activity(tool="shell"), turn="t")
        await bench.api.until(lambda: len(bench.api.actions) > before)


async def test_an_agent_that_is_not_the_root_does_not_type(running: Running) -> None:
    await running.agent.tell(
        activity=event_pb2.Activity(tool="shell"), turn="c", agent_id="house-id", agent="House"
    )
    await running.agent.reply("end")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.actions == []


async def test_typing_goes_on_until_the_last_of_two_turns_is_over(bench: Bench) -> None:
    """The end of one may come late, when another has begun."""
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn("one")
        await bench.agent.begin_turn("two")
        await bench.agent.end_turn("one")
        await bench.agent.reply("one is over")
        await bench.api.until(lambda: bool(bench.api.sent))
        before = len(bench.api.actions)
        async with bench.time_flies():
            await bench.api.until(lambda: len(bench.api.actions) > before + 1)


async def test_429_on_typing_waits_as_long_as_telegram_says_and_no_failure_ends_it(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.fail("sendChatAction", code=400)
    bench.api.fail("sendChatAction", code=429, retry_after=40)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn()
        await bench.clock.until_sleeping()
        bench.clock.advance(5)
        await bench.api.until(lambda: bench.api.calls["sendChatAction"] == 2)
        await bench.clock.until_sleeping()
        waits = bench.clock.sleepers
        bench.clock.advance(40)
        await bench.api.until(lambda: bool(bench.api.actions))

    assert waits == [40]


async def test_there_is_no_typing_where_telegram_refuses_the_token(bench: Bench) -> None:
    bench.api.fail("getMe", code=401, times=None)
    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn()
        await bench.api.until(lambda: bench.api.calls["getMe"] > 5)

    assert bench.api.calls["sendChatAction"] == 0
