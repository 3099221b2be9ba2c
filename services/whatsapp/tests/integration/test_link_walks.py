"""Whatever happens to a link, in any order: in the end it is as the account is, and nothing was a storm."""

import random
from contextlib import AsyncExitStack

import pytest
from onechat_runtime.errors import ServiceError
from onechat_whatsapp.domain.link import LinkState

from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_link_bench import LinkBench, Running, SlowAccount

STEPS = 20
SEEDS = range(3)
STRIKES = {
    "replace": "Another program uses",
    "ban": "WhatsApp has shut",
    "outdate": "WhatsApp wants",
    "log_out": "WhatsApp has ended",
}


class Walk:
    """One seed's."""

    def __init__(self, folder, seed: int) -> None:
        self.rng = random.Random(seed)
        self.bench = LinkBench(folder, SlowAccount(OWNER if seed % 2 else None))
        self.strikes: list[str] = []
        self.stack = AsyncExitStack()
        self.now: Running

    async def start(self) -> None:
        self.now = await self.stack.enter_async_context(self.bench.running())
        await self.now.settled()

    async def step(self) -> None:
        """One thing that happens, and some time."""
        account, online = self.bench.account, self.bench.account.online
        match self.rng.randrange(10):
            case 0 | 1 if online:
                account.drop()
            case 2 if account.me and account.dialled and not online and self.now.rooms.link.now.usable:
                account.take_up()
            case 3 if self.now.wire.up:
                self.now.wire.crash()
            case 4 if online:
                self.strikes.append(self.rng.choice(sorted(STRIKES)))
                getattr(account, self.strikes[-1])()
            case 5:
                await self._pair()
            case 6 if self.rng.random() < 0.4:
                await self.now.unlink()
            case 7:
                account.dial_faults.extend(["no route to host"] * self.rng.randrange(4))
            case 8 if self.rng.random() < 0.4:
                await self.stack.aclose()
                await self.start()
            case _:
                pass
        await self.now.after(self.rng.choice([0.5, 3, 60, 900]), step_s=200)

    async def _pair(self) -> None:
        try:
            await self.now.pair()
        except ServiceError:
            return
        if self.rng.random() < 0.6:
            self.bench.account.type_code()
        else:
            self.bench.account.end_pairing(self.rng.choice(["timeout", "passkey-request"]))
        await self.now.settled()


@pytest.fixture(params=[*SEEDS, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 60))])
async def walk(request, tmp_path):
    walk = Walk(tmp_path, request.param)
    async with walk.stack:
        await walk.start()
        yield walk


async def test_a_link_ends_as_the_account_is_and_each_end_was_said_once(walk):
    began, notices = walk.bench.clock.now(), walk.bench.user.notices
    for _ in range(STEPS):
        await walk.step()
        assert walk.now.rooms.link.connected == (walk.bench.account.online and walk.now.rooms.link.now.linked)
    walk.bench.account.dial_faults.clear()
    await walk.now.after(3_600, step_s=300)
    if walk.now.rooms.link.now.linked and not walk.now.rooms.link.now.usable:
        await walk.stack.aclose()
        await walk.start()

    link, notices = walk.now.rooms.link, walk.bench.user.notices
    hours = (walk.bench.clock.now() - began).total_seconds() / 3600
    assert link.connected is (walk.bench.account.me is not None)
    assert walk.now.rooms.link.now.linked is (walk.bench.account.me is not None)
    assert walk.now.wire.up is link.connected
    assert link.now.state in (LinkState.CONNECTED, LinkState.NOT_LINKED, LinkState.LOGGED_OUT)
    for strike, words in STRIKES.items():
        assert sum(notice.startswith(words) for notice in notices) <= walk.strikes.count(strike)
    back = notices.count("WhatsApp is connected again.")
    away = sum(notice.startswith("WhatsApp has been disconnected") for notice in notices)
    assert back <= away + len(walk.strikes)
    assert walk.bench.account.dials <= STEPS * 4 + 14 * hours
