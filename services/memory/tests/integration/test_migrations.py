"""A store that an older version left, brought up to date: what the new columns are filled with."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from onechat_memory.__main__ import MIGRATIONS, NAME
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

LOG = (
    "INSERT INTO logs (number, id, label, shape, state, chat_high, chat_low, compaction_high, compaction_low,"
    " generation, create_time) VALUES (?, ?, '', ?, ?, 9, 8, 9, 8, 1, 0)"
)
NODE = "INSERT INTO nodes (log, last, level, text, builder, time, degraded) VALUES (?, ?, ?, ?, 'x', 0, 0)"
LINE = "INSERT INTO view_lines VALUES (?, ?, ?, ?)"


@pytest.fixture
def opened_up_to(tmp_path: Path) -> Callable:
    """Opens a store with the first migrations alone, or with all."""

    def opened(number: int | None):
        path, known = tmp_path / NAME / "store.db", migrations_in(MIGRATIONS)[:number]
        return Store.open(path, component=NAME, migrations=known, clock=SystemClock())

    return opened


def two_trees_and_a_flat_log(db: apsw.Connection) -> None:
    db.executemany(
        LOG, [(3, "root", "tree", "live"), (5, "old", "tree", "kept"), (6, "flat", "flat", "live")]
    )
    db.executemany(
        NODE,
        [
            (3, 0, 0, "no line"),
            (3, 3, 2, "é" * 100),
            (3, 3, 1, "nor this"),
            (3, 4, 0, "four"),
            (5, 4, 0, "of 5"),
        ],
    )
    lines = {
        (3, "chat"): ((0, 2), (4, 0), (5, 0)),  # 5+1 is not built
        (3, "compaction"): ((0, 2), (4, 0)),
        (5, "chat"): ((4, 0),),
    }
    db.executemany(LINE, [(*view, *line) for view, some in lines.items() for line in some])


async def test_a_store_without_the_bytes_of_views_gets_them(opened_up_to):
    """Nothing counts them again later: a wrong one would move each batch of its log for ever."""
    async with opened_up_to(7) as store:
        await store.write(two_trees_and_a_flat_log)

    async with opened_up_to(None) as store:
        found = store.read(
            lambda db: db.execute("SELECT id, chat_bytes, compaction_bytes FROM logs ORDER BY 1").fetchall()
        )

    assert found == [("flat", 0, 0), ("old", 4, 0), ("root", 204 + PLACEHOLDER_SIZE, 204)]
