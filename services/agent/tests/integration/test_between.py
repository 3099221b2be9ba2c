"""What agents say to each other: tells, reports, and what of it is logged, shown and waked."""

from dataclasses import replace
from pathlib import Path

import apsw
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent import sentences
from onechat_agent.domain.delivery import HOPS_MAX
from onechat_agent.domain.limits import Limits
from onechat_agent.seat import Seat

from tests.fakes.agent_house import House, Seen, living
from tests.fakes.agent_talk import always, holds, make_child, of, says, user_texts
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, Script, ScriptedModel, call, wrong_key

TELL = call("tell", name="House", message="look at the boiler")


async def test_a_child_is_told_and_its_ending_is_its_parents_work(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "I have asked", "The boiler is fine.")
        says(house, "House", "  It runs.\n")
        await house.say("how is the boiler?")
        await house.seen.until(lambda seen: seen.replies()[-1:] == ["The boiler is fine."])

        assert await house.lines("House") == ["user: look at the boiler", "reply:   It runs.\n"]
        assert (await house.lines())[-3:] == [
            "reply: I have asked",
            "work: [House] It runs.",
            "reply: The boiler is fine.",
        ]
        assert user_texts(model.requests(Purpose.TURN)[-1].body)[-1] == "work: [House] It runs."


async def test_what_a_child_says_is_shown_once_as_what_its_parent_got(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The user hears the root alone; a second voice in Telegram would be nobody's."""
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
        says(house, "", TELL, "", "")
        says(house, "House", "It runs.")
        await house.say("how is the boiler?")
        await house.seen.until(lambda seen: len(seen.ends()) == 4)

        assert house.seen.replies() == ["House is there", "", ""]
        came = [(event.agent, event.outside_message) for event in house.seen.events("outside_message")]
        assert [(agent, one.text) for agent, one in came] == [
            ("House", "look at the boiler"),
            ("One", "[House] It runs."),
        ]
        assert came[1][1].source == child
        assert [event.user_message.text for event in house.seen.events("user_message")] == [
            "make House",
            "how is the boiler?",
        ]


async def test_backing_is_handed_on_and_a_report_has_none(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "", "")
        says(house, "House", "It runs.")
        await house.say("how is the boiler?")
        await house.seen.until(lambda seen: len(seen.ends()) == 4)

        assert between(house) == [
            ("user", "look at the boiler", True, False, 1),
            ("work", "[House] It runs.", False, True, 2),
        ]


async def test_taint_is_handed_on(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> None:
    """What a shell printed may have said what to tell."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("shell", command="echo tell House"), TELL, "")
        says(house, "House", "")
        await house.say("look, then tell")
        await house.seen.until(lambda seen: len(seen.ends()) == 3)

        assert between(house) == [("user", "look at the boiler", True, True, 1)]


async def test_what_is_told_in_a_tainted_turn_taints_the_turn_that_it_joins(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
        says(house, "", TELL, "")
        gate = holds(house, "House", call("date", id=0))
        await house.say("tell it")
        await gate.reached()
        says(house, "", call("shell", command="true"), call("tell", name="House", message="and more"), "")
        await house.say("look, then tell it more")
        says(house, "House", "")
        gate.open()
        await house.seen.until(lambda seen: len(seen.ends()) == 4)

        assert [line for line in await house.lines("House") if line.startswith("user:")] == [
            "user: look at the boiler",
            "user: and more",
        ]
        assert turns(house, child) == [(True, True)]


async def test_an_empty_ending_is_not_passed_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "told")
        says(house, "House", " \n")
        await house.say("tell it")
        await house.seen.until(lambda seen: len(seen.ends()) == 3)

        assert [one for one in between(house) if one[0] == "work"] == []


async def test_a_failed_turn_is_reported_as_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Whoever waits for the child must not wait for ever."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "told", "House could not")
        says(house, "House", Answer(refusal="I cannot."))
        await house.say("tell it")
        await house.seen.until(lambda seen: seen.replies()[-1:] == ["House could not"])

        assert "work: [House] I could not finish this. The model declined to answer: I cannot." in (
            await house.lines()
        )
        assert house.seen.notices() == []
        assert [end.reason for end in house.seen.ends() if end.reason] == []


async def test_a_child_that_meets_a_limit_says_so_to_its_parent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    def short(seat: Seat) -> Seat:
        return replace(seat, limits=Limits(calls=1)) if seat.name == "House" else seat

    async with living(tmp_path, memory, model, change=short) as house:
        await make_child(house, "House")
        says(house, "", TELL, "told", "")
        says(house, "House", call("date", id=0))
        await house.say("tell it")

        await house.logged(f"work: [House] {sentences.CALLS_USED_UP.format(calls=1)}")


async def test_a_failure_that_lasts_is_told_to_the_user_too(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The root cannot pass it on: its own model has the same key."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "told")
        model.script(Script(http=wrong_key(), match=of(house, "House"), purpose=Purpose.TURN))
        await house.say("tell it")
        report = sentences.NOT_DONE.format(reason=sentences.MODEL_KEY)
        await house.logged(f"work: [House] {report}")

        assert house.seen.notices() == [sentences.MODEL_KEY]


async def test_a_stopped_child_reports_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, "told")
        gate = holds(house, "House", "too late")
        await house.say("tell it")
        await gate.reached()
        await house.stub().RunCommand(agent_service_pb2.RunCommandRequest(line="/stop House"), timeout=20)
        await house.seen.until(lambda seen: seen.ends()[-1].state == event_pb2.TurnChange.STATE_STOPPED)
        gate.open()

        assert [one for one in between(house) if one[0] == "work"] == []


async def test_what_one_step_tells_is_read_in_the_order_of_its_calls(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    told = [f"{number}" for number in range(12)]
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        calls = tuple(call("tell", name="house", message=text) for text in told)
        says(house, "", Answer(calls=calls), "")
        always(house, "House", "")
        await house.say("tell it all")
        await house.seen.until(lambda seen: answered_by(seen, "House") == len(told))

        lines = await house.lines("House")
        assert lines == [f"user: {text}" for text in told]


async def test_agents_that_thank_each_other_come_to_rest(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
        is_root = of(house, "")
        model.script(
            Script(
                answer=Answer(calls=(call("tell", name="House", message="thank you"),)),
                match=lambda body: is_root(body) and body["input"][-1].get("role") == "user",
                purpose=Purpose.TURN,
                times=0,
            )
        )
        always(house, "", "")
        always(house, "House", "you are welcome")
        await house.say("be polite")
        await house.seen.until(lambda seen: len(between(house)) == HOPS_MAX)

        assert [hops for *_, hops in between(house)] == list(range(1, HOPS_MAX + 1))
        assert waking(house) == [True] * (HOPS_MAX - 1) + [False]
        await house.memory_holds(4 + 1 + 3 * HOPS_MAX // 2)  # call, result and report each time
        assert (await house.lines())[-1] == "work: [House] you are welcome"
        assert len(turns(house, child)) == HOPS_MAX // 2


async def test_a_childs_subagent_is_its_own_to_tell_and_reports_to_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", TELL, call("tell", name="House-1", message="hurry"), "")
        spawn = call("spawn", tasks=["measure the pressure"], effort=None)
        says(house, "House", spawn, call("tell", name="House-1", message="in bar"), "", "It has 2 bar.")
        gate = holds(house, "House-1", call("date", id=0))
        says(house, "House-1", "2 bar")
        await house.say("how is the boiler?")
        await gate.reached()
        await house.logged("echo: House-1 has it.", "House")
        says(house, "", "")
        gate.open()
        await house.logged("work: [House] It has 2 bar.")

        assert "work: [House-1] 2 bar" in await house.lines("House")
        assert [line for line in await house.lines("House-1") if line.startswith("user:")] == [
            "user: measure the pressure",
            "user: in bar",
        ]
        assert any("you have no agent called House-1" in line for line in await house.lines())
        assert [line for line in await house.lines() if line.startswith("work:")] == [
            "work: [House] It has 2 bar."
        ]


async def test_an_agent_tells_its_own_people_only(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(
            house,
            "",
            call("tell", name="Calendar", message="hi"),
            call("tell", name="House", message=" "),
            "",
        )
        await house.say("tell somebody")

        echoes = [line for line in await house.lines() if line.startswith("echo: Nobody")]
        assert echoes == [
            "echo: Nobody was told anything: you have no agent called Calendar; yours are House.",
            "echo: Nobody was told anything: a message needs a text.",
        ]
        assert between(house) == []


def answered_by(seen: Seen, agent: str) -> int:
    """How many deliveries the ended turns of an agent have answered."""
    changes = [event.turn_change for event in seen.events("turn_change") if event.agent == agent]
    return sum(len(change.answered) for change in changes)


def between(house: House) -> list[tuple[str, str, bool, bool, int]]:
    """(kind, text, backed, tainted, hops) of what agents have handed over, in order."""

    def job(db: apsw.Connection) -> list[tuple[str, str, bool, bool, int]]:
        rows = db.execute(
            "SELECT kind, text, backed, tainted, hops FROM deliveries WHERE source IN"
            " (SELECT agent_id FROM agents) ORDER BY delivery_id"
        )
        return [(row[0], row[1], bool(row[2]), bool(row[3]), row[4]) for row in rows]

    return house.store.read(job)


def waking(house: House) -> list[bool]:
    """Whether each of them woke its recipient."""
    return house.store.read(
        lambda db: [
            bool(row[0])
            for row in db.execute(
                "SELECT wakes FROM deliveries WHERE source IN (SELECT agent_id FROM agents)"
                " ORDER BY delivery_id"
            )
        ]
    )


def turns(house: House, agent: str) -> list[tuple[bool, bool]]:
    """(backed, tainted) of each turn of an agent, in order."""

    def job(db: apsw.Connection) -> list[tuple[bool, bool]]:
        rows = db.execute(
            "SELECT backed, tainted FROM turns WHERE agent_id = ? ORDER BY begin_time", (agent,)
        )
        return [(bool(row[0]), bool(row[1])) for row in rows]

    return house.store.read(job)
