"""What status and usage print."""

from datetime import UTC, datetime, timedelta

from onechat_cli.commands.status import lines_of as status_lines
from onechat_cli.domain.report import (
    AgentReport,
    LinkReport,
    MemoryReport,
    Report,
    ServiceReport,
    State,
)
from onechat_cli.domain.spent import Spent, lines_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def service(name="agent", state=State.SERVING, **about):
    return ServiceReport(name=name, address="127.0.0.1:1", state=state, **about)


def spent(**about):
    given = {
        "day": "2026-11-30",
        "agent": "One",
        "purpose": "turn",
        "model": "m",
        "calls": 2,
        "input_tokens": 1000,
        "cached_input_tokens": 750,
        "output_tokens": 10,
        "reasoning_tokens": 0,
        "cost_millionths": 1_500_000,
    }
    return Spent(**{**given, **about})


def test_usage_shows_the_share_read_from_cache_and_the_cost():
    (head, row) = lines_of([spent()])

    assert head.split() == ["DAY", "AGENT", "PURPOSE", "MODEL", "CALLS", "INPUT", "CACHED", "OUTPUT", "COST"]
    assert row.split() == ["2026-11-30", "One", "turn", "m", "2", "1,000", "75%", "10", "1.5000"]


def test_an_unknown_price_stays_unknown_in_the_sum():
    """A sum that leaves something out would be taken for the whole."""
    lines = lines_of([spent(), spent(model="new", cost_millionths=None)])

    assert lines[-2].split()[-1] == "unknown"
    assert lines[-1].split() == ["total", "4", "2,000", "75%", "20", "unknown"]


def test_a_service_that_is_away_or_in_trouble_is_wrong():
    report = Report(
        services=(
            service(),
            service("memory", State.AWAY),
            service("scheduler", troubles=("The disk is full.",)),
            service("telegram", State.REFUSING, fault="no such token"),
        )
    )

    assert report.wrong() == [
        "memory does not answer at 127.0.0.1:1.",
        "scheduler: The disk is full.",
        "telegram: no such token",
    ]


def test_a_link_that_was_never_set_up_is_not_wrong_and_a_lost_one_is():
    never = LinkReport(name="whatsapp", state="not linked", lost=False)
    lost = LinkReport(name="telegram", state="token refused", lost=True, set_aside=2)

    assert Report(services=(service(),), links=(never,)).wrong() == []
    assert Report(services=(service(),), links=(lost,)).wrong() == [
        "telegram: the link is lost: token refused.",
        "telegram: 2 set aside; its log says why.",
    ]


def test_status_shows_services_agents_memory_and_links():
    report = Report(
        services=(
            service(version="0.1.0", schema=3, start_time=NOW - timedelta(hours=3), remarks=("demo",)),
        ),
        agents=(
            AgentReport(
                name="One",
                role="root",
                doing="idle",
                waiting=0,
                model="m",
                effort="low",
                last_turn_time=NOW - timedelta(minutes=5),
            ),
        ),
        memory=MemoryReport(messages=9, view_lines=4, view_bytes=1500, unbuilt_leaves=0, failing_nodes=0),
        links=(LinkReport(name="telegram", state="no token", lost=False),),
    )

    lines = status_lines(report, report.wrong(), now=NOW, colour=False)

    assert [line.split() for line in lines if line][1:] == [
        ["agent", "serving", "0.1.0", "3", "3", "h", "0", "min"],
        ["AGENT", "ROLE", "DOING", "WAITING", "MODEL", "LAST", "TURN"],
        ["One", "root", "idle", "0", "m", "low", "5", "min", "ago"],
        ["memory:", "9", "messages;", "the", "view", "has", "4", "lines,", "1.5", "kB"],
        ["telegram:", "no", "token"],
        ["agent:", "demo"],
        ["all", "is", "well"],
    ]


def test_what_a_service_says_of_its_link_is_said_once():
    report = Report(
        services=(
            service("whatsapp", remarks=("WhatsApp is not linked.",)),
            service("telegram", troubles=("Telegram refuses the bot's token: check TELEGRAM_TOKEN.",)),
        ),
        links=(
            LinkReport(name="whatsapp", state="not linked", lost=False),
            LinkReport(name="telegram", state="token refused", lost=True, said=("@bot",)),
        ),
    )

    lines = status_lines(report, report.wrong(), now=NOW, colour=False)

    assert [line for line in lines if ": " in line] == [
        "telegram: token refused, @bot",
        "whatsapp: WhatsApp is not linked.",
        "wrong: telegram: Telegram refuses the bot's token: check TELEGRAM_TOKEN.",
    ]


def test_colour_is_only_where_it_is_asked_for():
    report = Report(services=(service("memory", State.AWAY),))

    plain = status_lines(report, report.wrong(), now=NOW, colour=False)
    coloured = status_lines(report, report.wrong(), now=NOW, colour=True)

    assert "\x1b" not in "".join(plain)
    assert "\x1b[31maway\x1b[0m" in "".join(coloured)
