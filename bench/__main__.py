"""`python -m bench [NAME …]`: runs benchmarks one after the other and prints what they found."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Protocol

from bench import (
    agent_queue,
    agent_turn,
    append,
    compaction_calls,
    group_detectors,
    idle,
    machine,
    memory_append,
    memory_calls,
    memory_open,
    memory_prefixes,
    memory_search,
    memory_size,
    memory_start,
    memory_views,
    results,
    scheduler,
    turn_own_time,
    whatsapp_catch_up,
    whatsapp_find,
    whatsapp_memory,
)
from bench.figures import Figure, table
from bench.scale import FULL, SMOKE, Scale


class Benchmark(Protocol):
    """A module of this folder."""

    @property
    def TITLE(self) -> str: ...

    @property
    def ABOUT(self) -> str:
        """What is measured, and beside what."""
        ...

    async def measure(self, scale: Scale) -> list[Figure]:
        """The figures of one run."""
        ...


BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "memory_start": memory_start,
    "memory_open": memory_open,
    "memory_size": memory_size,
    "memory_append": memory_append,
    "append": append,
    "memory_calls": memory_calls,
    "memory_search": memory_search,
    "memory_views": memory_views,
    "memory_prefixes": memory_prefixes,
    "compaction_calls": compaction_calls,
    "turn_own_time": turn_own_time,
    "agent_turn": agent_turn,
    "agent_queue": agent_queue,
    "scheduler": scheduler,
    "group_detectors": group_detectors,
    "whatsapp_catch_up": whatsapp_catch_up,
    "whatsapp_find": whatsapp_find,
    "idle": idle,
    "whatsapp_memory": whatsapp_memory,
}


def main() -> int:
    """Run what the command line names; the exit code says that it ran, not that goals were reached."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of onechat.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; none: all")
    parser.add_argument("--smoke", action="store_true", help="tiny: only to see that each one works")
    parser.add_argument("--write", action="store_true", help="write the results into bench/RESULTS.md too")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(BENCHMARKS):
        parser.error(
            f"there is no benchmark {', '.join(sorted(unknown))}: name some of {', '.join(BENCHMARKS)}"
        )
    if asked.smoke and asked.write:
        parser.error("a smoke run finds nothing worth writing down")
    where = machine.described()
    print(where, flush=True)
    sections = {}
    for name in asked.names or BENCHMARKS:
        sections[name] = _run(name, where, SMOKE if asked.smoke else FULL)
    if asked.write:
        results.write(sections, list(BENCHMARKS))
    return 0


def _run(name: str, where: str, scale: Scale) -> str:
    """Measure and print; the section for RESULTS.md."""
    benchmark = BENCHMARKS[name]
    load, time = machine.load(), datetime.now(UTC)
    figures = asyncio.run(benchmark.measure(scale))
    print(f"\n{name}: {benchmark.TITLE} (load before {load})\n\n{table(figures)}", flush=True)
    return results.section(
        name, benchmark.TITLE, benchmark.ABOUT, figures, machine=where, load=load, time=time
    )


if __name__ == "__main__":
    sys.exit(main())
