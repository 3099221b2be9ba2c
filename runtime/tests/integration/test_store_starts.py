"""A start that cannot work ends with one line that says what to do, and damages nothing."""

import os
import re
import stat
import sys
from pathlib import Path

import apsw
import pytest
from onechat_runtime.data_folder import claim_folder
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Migration, Store, migrations_in
from onechat_runtime.store_schema import COPY_SUFFIX

SAUCERS = Migration(number=2, name="saucers", sql="CREATE TABLE saucers (number INTEGER PRIMARY KEY) STRICT;")


def _line(raised):
    said = str(raised.value)
    assert "\n" not in said
    return said


async def _refusal(opening):
    with pytest.raises(StartRefused) as raised:
        async with opening:
            pass
    return _line(raised)


async def test_a_second_process_is_told_who_holds_the_store(open_store, program, tmp_path):
    async with open_store() as store:
        process = await program("open_store.py", str(store.path))
        _, said = await process.communicate()

    assert process.returncode == 2
    assert f"in use by process {os.getpid()}" in said.decode()


async def test_a_store_of_a_newer_version_is_refused_and_untouched(open_store, cups, tmp_path):
    async with open_store(cups, SAUCERS):
        pass
    path = tmp_path / "kitchen" / "store.db"
    before = path.read_bytes()

    said = await _refusal(open_store(cups))

    assert re.search(r"newer onechat \(schema 2; this one knows 1\)", said)
    assert path.read_bytes() == before


async def test_a_store_of_another_service_is_refused(open_store):
    async with open_store():
        pass

    assert "is the store of kitchen" in await _refusal(open_store(component="garden"))


async def test_the_store_is_copied_beside_itself_before_a_migration(open_store, cups, tmp_path):
    async with open_store(cups) as store:
        await store.write(lambda db: db.execute("INSERT INTO cups VALUES (1, 'green')").get)
    copy = tmp_path / "kitchen" / f"store.db{COPY_SUFFIX}"
    assert not copy.exists()

    async with open_store(cups, SAUCERS) as store:
        assert store.schema == 2

    kept = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    assert kept.execute("SELECT tea FROM cups").get == "green"
    assert not kept.table_exists(None, "saucers")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


async def test_only_the_last_copy_stays(open_store, cups, tmp_path):
    third = Migration(number=3, name="spoons", sql="CREATE TABLE spoons (number INTEGER PRIMARY KEY) STRICT;")
    for migrations in ((cups,), (cups, SAUCERS), (cups, SAUCERS, third)):
        async with open_store(*migrations):
            pass

    (copy,) = (tmp_path / "kitchen").glob("*before*")
    kept = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    assert kept.table_exists(None, "saucers")
    assert not kept.table_exists(None, "spoons")


async def test_a_migration_that_fails_leaves_the_store_as_it_was(open_store, cups):
    broken = Migration(
        number=2, name="broken", sql="CREATE TABLE saucers (n INTEGER); INSERT INTO nothing VALUES (1);"
    )
    async with open_store(cups) as store:
        await store.write(lambda db: db.execute("INSERT INTO cups VALUES (1, 'green')").get)

    with pytest.raises(apsw.SQLError):
        async with open_store(cups, broken):
            pass

    async with open_store(cups) as store:
        assert store.schema == 1
        assert store.read(lambda db: db.execute("SELECT tea FROM cups").get) == "green"
        assert not store.read(lambda db: db.table_exists(None, "saucers"))


async def test_all_steps_of_an_old_store_are_taken_in_order(open_store, cups):
    async with open_store(cups):
        pass
    rename = Migration(number=3, name="rename", sql="ALTER TABLE saucers RENAME TO plates;")

    async with open_store(cups, SAUCERS, rename) as store:
        assert store.read(lambda db: db.table_exists(None, "plates"))


def test_migrations_lie_in_a_package_numbered_without_gaps():
    found = migrations_in("onechat_runtime.migrations")

    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert found[0].name == "request_ids_and_outbox"


@pytest.fixture
def importable(tmp_path):
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))


def test_a_gap_in_the_numbers_is_found(importable):
    package = importable / "gappy_migrations"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "0001_a.sql").write_text("SELECT 1;")
    (package / "0003_c.sql").write_text("SELECT 1;")

    with pytest.raises(ValueError, match="without gaps"):
        migrations_in("gappy_migrations")


async def test_a_data_folder_of_another_user_is_refused(open_store, tmp_path):
    folder = tmp_path / "kitchen"
    if os.geteuid() == 0:
        folder.mkdir()
        os.chown(folder, 12345, 12345)
    else:
        folder.symlink_to("/usr")

    said = await _refusal(open_store())

    assert "belongs to another user" in said
    assert "ONECHAT_DATA" in said


async def test_a_file_where_the_folder_should_be_is_refused(open_store, tmp_path):
    (tmp_path / "kitchen").write_text("")

    assert "is not a folder" in await _refusal(open_store())


async def test_a_folder_below_a_file_is_refused(tmp_path, clock):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "kitchen" / "store.db"

    assert "is not a folder" in await _refusal(
        Store.open(path, component="kitchen", migrations=(), clock=clock)
    )


async def test_a_folder_that_cannot_be_written_is_refused(open_store, tmp_path):
    if os.geteuid() == 0:
        with pytest.raises(StartRefused) as raised:
            claim_folder_on_read_only()
        said = _line(raised)
    else:
        tmp_path.chmod(0o500)
        said = await _refusal(open_store())
        tmp_path.chmod(0o700)

    assert "cannot be" in said


def claim_folder_on_read_only():
    """Root may write everywhere but where the kernel says no."""
    claim_folder(Path("/proc/self/onechat"), private=True)


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 500])
async def test_a_file_that_is_no_store_is_refused_and_untouched(open_store, tmp_path, content):
    path = tmp_path / "kitchen" / "store.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(content)

    said = await _refusal(open_store())

    assert str(path) in said
    assert "backup" in said
    assert path.read_bytes() == content


async def test_a_database_of_something_else_is_refused(open_store, tmp_path):
    path = tmp_path / "kitchen" / "store.db"
    path.parent.mkdir(mode=0o700)
    apsw.Connection(str(path)).execute("CREATE TABLE bookmarks (url TEXT)")

    assert "not one of onechat" in await _refusal(open_store())


async def test_a_file_system_without_shared_memory_is_refused(open_store):
    """There SQLite would fall back to a journal that readers block."""
    assert "name a local folder in ONECHAT_DATA" in await _refusal(open_store(vfs="unix-none"))


async def test_a_folder_where_the_store_should_be_is_refused(open_store, tmp_path):
    (tmp_path / "kitchen" / "store.db").mkdir(parents=True)

    assert "store.db" in await _refusal(open_store())


async def test_a_refused_start_lets_the_next_one_in(open_store, cups):
    async with open_store(cups, SAUCERS):
        pass
    await _refusal(open_store(cups))

    async with open_store(cups, SAUCERS) as store:
        assert store.schema == 2


def test_an_existing_data_folder_keeps_its_mode(tmp_path):
    """Only a store's own folder is closed; the data folder may be shared by the user's choice."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)

    claim_folder(folder, private=False)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_new_data_folder_is_for_this_user_alone(tmp_path):
    claim_folder(tmp_path / "a" / "data", private=False)

    assert stat.S_IMODE((tmp_path / "a" / "data").stat().st_mode) == 0o700
