"""`onechat status`: what runs and what is wrong; exit code 1 when something is."""

import dataclasses
import json
import os
import sys
from datetime import UTC, datetime

from onechat_cli.adapters.services import report
from onechat_cli.config import CliSettings
from onechat_cli.domain.report import LinkReport, MemoryReport, Report, State
from onechat_cli.domain.safe_text import one_line
from onechat_cli.domain.table import table
from onechat_cli.outcome import Exit

_CELL = 60  # characters


async def status(settings: CliSettings, *, as_json: bool) -> Exit:
    """Print what the services say of themselves."""
    if settings.has_token:
        found = await report(settings.addresses, settings.operator_token())
    else:
        found = Report(
            hint=f"No service has run with the data folder {settings.data}: start with `onechat up`."
        )
    wrong = found.wrong()
    if as_json:
        shown = {**dataclasses.asdict(found), "wrong": wrong, "ok": not wrong}
        print(json.dumps(shown, ensure_ascii=False, default=_as_json))
    else:
        for line in lines_of(found, wrong, now=datetime.now(UTC), colour=_colour()):
            print(line)
    return Exit.WRONG if wrong else Exit.OK


def lines_of(found: Report, wrong: list[str], *, now: datetime, colour: bool) -> list[str]:
    """`found` for people, what is wrong at the end."""
    blocks = [_services(found, now, colour=colour), _agents(found, now)]
    if found.memory is not None:
        blocks.append([_memory(found.memory)])
    remarks = [(service.name, remark) for service in found.services for remark in service.remarks]
    told = {name for name, _ in remarks}
    # A link without more to say than its state is told by its service's remark, where there is one.
    blocks.append([_link(link) for link in found.links if link.said or link.name not in told])
    blocks.append([f"{name}: {one_line(text, 400)}" for name, text in remarks])
    red, plain = ("\x1b[31m", "\x1b[0m") if colour else ("", "")
    blocks.append([f"{red}wrong:{plain} {one_line(sentence, 400)}" for sentence in wrong] or ["all is well"])
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines and block else block
    return lines


def _services(found: Report, now: datetime, *, colour: bool) -> list[str]:
    if not found.services:
        return []
    rows = [("SERVICE", "STATE", "VERSION", "SCHEMA", "UP", "MISSES")]
    for one in found.services:
        up = _ago(one.start_time, now) if one.start_time else ""
        schema = str(one.schema) if one.schema else "-"
        rows.append(
            (one.name, one.state.value, one.version or "-", schema, up or "-", ", ".join(one.missing))
        )
    lines = table(rows)
    if not colour:
        return lines
    shades = {State.SERVING: "32", State.ENDING: "33", State.AWAY: "31", State.REFUSING: "31"}
    coloured = [
        line.replace(f" {one.state.value}", f" \x1b[{shades[one.state]}m{one.state.value}\x1b[0m", 1)
        for line, one in zip(lines[1:], found.services, strict=True)
    ]
    return [lines[0], *coloured]


def _agents(found: Report, now: datetime) -> list[str]:
    if not found.agents:
        return []
    rows = [("AGENT", "ROLE", "DOING", "WAITING", "MODEL", "LAST TURN")]
    for one in found.agents:
        model = one_line(f"{one.model} {one.effort}".strip(), _CELL)
        last = f"{_ago(one.last_turn_time, now)} ago" if one.last_turn_time else "never"
        doing = one_line(one.doing, _CELL)
        rows.append((one_line(one.name, _CELL), one.role, doing, str(one.waiting), model, last))
    return table(rows, right=frozenset({3}))


def _memory(memory: MemoryReport) -> str:
    text = (
        f"memory: {memory.messages} messages; the view has {memory.view_lines} lines, "
        f"{memory.view_bytes / 1000:.1f} kB"
    )
    if memory.unbuilt_leaves:
        text += f"; {memory.unbuilt_leaves} lines are not written yet"
    if memory.failing_nodes:
        text += f"; {memory.failing_nodes} failed and are tried again"
    return text


def _link(link: LinkReport) -> str:
    return ", ".join([f"{link.name}: {link.state}", *(one_line(said, 400) for said in link.said)])


def _ago(time: datetime, now: datetime) -> str:
    """How long ago `time` was, in its largest units."""
    seconds = max(int((now - time).total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return f"{minutes} min"
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{days} d {hours % 24} h"


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _as_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} is no JSON")
