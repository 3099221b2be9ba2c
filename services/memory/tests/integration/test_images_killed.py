"""SIGKILL while an image is stored: whole or not there at all, and the same picture can be sent again."""

from pathlib import Path

import pytest
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import read_token

from tests.fakes.killable_memory import Remote, killable
from tests.fakes.memory_server import remembering
from tests.fakes.pictures import picture

FIRST, SECOND = picture(300_000, seed=1), picture(300_000, seed=2)


@pytest.mark.parametrize(
    ("point", "files", "rows"),
    [
        ("image named", 1, 1),
        ("INSERT INTO images", 2, 1),
        ("uncommitted:INSERT INTO images", 2, 1),
        ("committed:INSERT INTO images", 2, 2),
    ],
)
async def test_a_killed_put_leaves_an_image_or_none_and_the_next_one_ends_it(
    tmp_path: Path, point: str, files: int, rows: int
) -> None:
    """`files` and `rows` tell that the point lies where it is meant to: the file comes before the row."""
    data = tmp_path / "data"
    data.mkdir()
    async with remembering(data) as memory:
        first = await memory.put_image(FIRST)
        folder = memory.store.path.parent / "images"
    with killable(data, point, 1) as address:
        token = read_token(data / "tokens" / "agent")
        async with open_channel(address, token=token, name="memory") as channel:
            with pytest.raises(RemoteError):
                await Remote(channel).put_image(SECOND)

    async with remembering(data) as memory:
        named = sorted(path.name for path in folder.iterdir())
        kept = memory.store.read(lambda db: db.execute("SELECT count(*) FROM images").get)
        second = await memory.put_image(SECOND)

        assert (len(named), kept) == (files, rows)
        assert await memory.get_image(first.name) == FIRST
        assert await memory.get_image(second.name) == SECOND
        assert sorted(path.name for path in folder.iterdir()) == sorted([first.name, second.name])
