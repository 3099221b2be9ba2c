"""Work in a process with few means: what it gives, and what its end harms. Times are seconds."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from onechat_runtime.confined import Done, confined

LONG_S = 60.0


async def doing(statement: str, *, longest_s: float = LONG_S) -> Done:
    """Runs `statement` once in a confined process, by a module that every Python has."""
    return await confined("timeit", b"", "-n1", "-r1", statement, longest_s=longest_s)


async def test_what_it_makes_of_its_input_comes_back() -> None:
    done = await confined("base64", b"a picture", "-e", longest_s=LONG_S)

    assert done == Done(status=0, output=b"YSBwaWN0dXJl\n")


async def test_an_input_of_20_mb_goes_in_and_out() -> None:
    done = await confined("base64", bytes(20_000_000), "-e", longest_s=LONG_S)

    assert len(done.output) > 26_000_000


async def test_it_has_nothing_of_this_process_environment() -> None:
    os.environ["ONECHAT_TEST_SECRET"] = "s3cret"
    try:
        done = await doing("import os; os.write(1, repr(dict(os.environ)).encode())")
    finally:
        del os.environ["ONECHAT_TEST_SECRET"]

    assert b"s3cret" not in done.output
    assert b"PATH" not in done.output


@pytest.mark.parametrize(
    ("statement", "status"), [("import os; os._exit(7)", 7), ("import os; os.kill(os.getpid(), 11)", -11)]
)
async def test_however_it_ends_that_is_a_status(statement: str, status: int) -> None:
    assert (await doing(statement)).status == status


async def test_one_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    begins = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"

    done = await doing(begins, longest_s=2.0)

    assert done == Done(status=None, output=b"")
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


async def test_cancelled_work_leaves_no_process(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    begins = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    working = asyncio.ensure_future(doing(begins))
    async with asyncio.timeout(20):
        while not mark.exists() or not mark.read_text():
            await asyncio.sleep(0.01)

    working.cancel()
    await asyncio.wait({working})

    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


@pytest.mark.parametrize(
    ("means", "statement"),
    [
        ("memory", "bytearray(600_000_000)"),
        ("work", "while True: pass"),
        ("files", "open(path, 'wb').write(b'x' * 10_000)"),
    ],
)
def test_means_that_were_given_up_are_gone(means: str, statement: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from onechat_runtime.few_means import give_up_means\n"
        "give_up_means(memory_bytes=500_000_000, cpu_s=1)\n"
        "path = sys.argv[1]\n"
        f"{statement}\n"
    )
    file = tmp_path / "file"

    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(file)], env={}, check=False, capture_output=True, timeout=60
    )

    assert done.returncode != 0, means
    assert not file.exists() or file.stat().st_size == 0
