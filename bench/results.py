"""RESULTS.md: a section for each benchmark, with when, where and how it was measured."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from bench.figures import Figure, table

FILE: Final = Path(__file__).with_name("RESULTS.md")
_HEAD: Final = """\
# Results

Written by `python -m bench --write`; with names behind it, only those sections are new. Each figure is the
median of five rounds, its baselines were measured in the same run, and a goal is held against the median.
To repeat it: `make setup`, then the command of the section, on a machine that does nothing else (README.md).
"""
_SECTION: Final = re.compile(r"^## (\w+)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def section(
    name: str, title: str, about: str, figures: Sequence[Figure], *, machine: str, load: str, time: datetime
) -> str:
    """What a run of the benchmark `name` found, as Markdown. `load` is the machine's before the run."""
    return (
        f"## {name}\n\n"
        f"**{title}.** {about}\n\n"
        f"`.venv/bin/python -m bench {name}` on {time:%Y-%m-%d}; {machine}; load before the run {load}.\n\n"
        f"{table(figures)}\n"
    )


def write(sections: Mapping[str, str], order: Sequence[str]) -> None:
    """Put `sections` in the place of those of the same names; the others stay, all in `order`."""
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    kept = {match[1]: match[0].rstrip() + "\n" for match in _SECTION.finditer(before)}
    every = {**kept, **sections}
    FILE.write_text("\n".join([_HEAD, *(every[name] for name in order if name in every)]), encoding="utf-8")
