"""`onechat memory view`, `zoom` and `stats`: a log as it is.

Search: memory_search.py. Export: memory_export.py. Which log is meant: which_log.py.
"""

import argparse
import dataclasses
from collections.abc import Mapping

from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import RemoteError

from onechat_cli.adapters.memory import MemoryClient
from onechat_cli.commands.memory_export import export
from onechat_cli.commands.memory_search import search
from onechat_cli.commands.printed import print_json, print_lines_of, print_text, remark
from onechat_cli.commands.which_log import log_of, remembering
from onechat_cli.config import CliSettings
from onechat_cli.domain.memory_text import about_lines, figure_lines, head_line, line_text, log_lines
from onechat_cli.domain.remembered import (
    Figures,
    KeptLog,
    LineName,
    Zoomed,
    iso_utc,
    message_row,
    view_lines,
)
from onechat_cli.outcome import CommandFailed, Exit


async def memory(settings: CliSettings, chosen: argparse.Namespace) -> Exit:
    """Run the part of the command that `chosen.part` names."""
    async with remembering(settings) as client:
        if chosen.part == "stats" and chosen.all:
            return await every_log(client, as_json=chosen.json)
        log = await log_of(settings, client, log=chosen.log, agent=chosen.agent)
        match chosen.part:
            case "view":
                return await view(client, log, as_json=chosen.json)
            case "zoom":
                return await zoom(client, log, chosen.line, page=chosen.page, as_json=chosen.json)
            case "search":
                words, most = " ".join(chosen.words), chosen.most
                return await search(client, log, words, most=most, as_json=chosen.json, clock=SystemClock())
            case "export":
                return await export(
                    client,
                    log,
                    file=chosen.file,
                    first=chosen.first,
                    last=chosen.last,
                    force=chosen.force,
                    clock=SystemClock(),
                )
            case "stats":
                return await stats(client, log, as_json=chosen.json)
            case unknown:
                raise AssertionError(f"no part {unknown}")


async def view(client: MemoryClient, log: str, *, as_json: bool) -> Exit:
    """Print the chat's view as it stands."""
    try:
        found = await client.view(log)
    except RemoteError as error:
        if error.reason != "LOG_IS_FLAT":
            raise
        raise CommandFailed(
            f"{log} is flat: it has messages and no view. `onechat memory zoom --log {log}` shows them."
        ) from None
    if as_json:
        lines = [
            {"first_id": name.first, "count": name.count, "text": text}
            for name, text in view_lines(found.text)
        ]
        about = {"log": log, "generation": found.generation, "messages": found.length}
        print_json({**about, "bytes": found.size, "unbuilt_lines": found.unbuilt, "lines": lines})
    else:
        print_lines_of(found.text)
    if found.unbuilt:
        remark(f"{found.unbuilt:,} of {found.lines:,} lines are not written yet.")
    return Exit.OK


async def zoom(client: MemoryClient, log: str, name: LineName, *, page: int | None, as_json: bool) -> Exit:
    """Print what stands below the line `name`: two lines, a message whole, or a page of a whole log."""
    found = await client.zoom(log, name, page)
    if as_json:
        print_json(_zoomed_row(log, found))
        return Exit.OK
    for line in found.lines:
        print(line_text(line))
    for place, message in enumerate(found.messages):
        if name.count:
            print("\n".join([*about_lines(message), ""]))
        else:
            print(f"\n{head_line(message)}" if place else head_line(message))
        print_text(message.text)
    if found.next_page is not None:
        remark(f"More follows: --page {found.next_page}")
    return Exit.OK


def _zoomed_row(log: str, found: Zoomed) -> Mapping[str, object]:
    return {
        "log": log,
        "lines": [
            {"first_id": one.name.first, "count": one.name.count, "text": one.text, "built": one.built}
            for one in found.lines
        ],
        "messages": [message_row(one) for one in found.messages],
        "next_page": found.next_page,
    }


async def stats(client: MemoryClient, log: str, *, as_json: bool) -> Exit:
    """Print how far a log is, and what its lines have cost."""
    found = await client.figures(log)
    if as_json:
        print_json(_figures_row(found))
    else:
        print("\n".join(figure_lines(found)))
    return Exit.OK


def _figures_row(found: Figures) -> Mapping[str, object]:
    figures = dataclasses.asdict(found)
    return {**figures, "log": _log_row(found.log), "calls_per_line": found.calls_per_line}


async def every_log(client: MemoryClient, *, as_json: bool) -> Exit:
    """Print what logs there are."""
    found = await client.logs()
    if as_json:
        print_json({"logs": [_log_row(one) for one in found]})
    elif found:
        print("\n".join(log_lines(found)))
    else:
        remark("the memory holds no log yet")
    return Exit.OK


def _log_row(log: KeptLog) -> Mapping[str, object]:
    return {**dataclasses.asdict(log), "create_time": iso_utc(log.create_time)}
