"""Tests spread over processes that are forked from the one that has collected them: `pytest --workers 3`.

Collecting takes 10 s of processor time, and 27 s where nothing is compiled yet: as much as many tests. So it
is done once, not once in each process. A pytest plugin, loaded by conftest.py at the root.

Each worker takes the next batch: some tests of one file, those first that may take long. It ends a file's
fixtures with the batch, and the session's when there is none left. Its reports come here as lines of JSON.
One that dies fails the test that it was at, and another goes on in its place.
"""

import gc
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NoReturn
from warnings import WarningMessage

import pytest

_BATCH: Final = 8  # tests; more would let one worker end long after the others
_NUMBER_BYTES: Final = 4
_LONG: Final = ("system", "integration")  # folders, in the order in which their tests begin


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="spread the tests over so many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    workers: int = session.config.getoption("--workers")
    if not workers or session.config.option.collectonly or session.testsfailed:
        return None
    Spreading(session).run(workers)
    return True


def batches(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """All of `items`, some of one file at a time, in the order in which they begin."""
    found: list[list[pytest.Item]] = []
    for _, of_file in groupby(items, key=lambda item: (item.path, _allowed_s(item))):
        rest = list(of_file)
        long = _allowed_s(rest[0]) or any(item.get_closest_marker("soak") for item in rest)
        size = 1 if long else _BATCH
        found += (rest[begin : begin + size] for begin in range(0, len(rest), size))
    return sorted(found, key=lambda batch: (-_allowed_s(batch[0]), _place(batch[0].path)))


def _allowed_s(item: pytest.Item) -> float:
    """The time that a test asks for, when it asks for its own; the longest begin first."""
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark and mark.args else 0.0


def _place(path: Path) -> int:
    return next((at for at, folder in enumerate(_LONG) if folder in path.parts), len(_LONG))


@dataclass(slots=True, kw_only=True, eq=False)
class _Worker:
    pid: int
    reports: int  #: the end of the pipe that is read here
    rest: bytes = b""  #: of a line
    left: list[pytest.Item]  #: of its batch, the test that it runs first


class Spreading:
    """One run of the tests of `session`."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        self._batches = batches(session.items)
        self._working: dict[int, _Worker] = {}  # by the pipe
        self._queue, fill = os.pipe()  # whoever reads a number has that batch
        with os.fdopen(fill, "wb") as filled:
            for number in range(len(self._batches)):
                filled.write(number.to_bytes(_NUMBER_BYTES, "big"))

    def run(self, workers: int) -> None:
        """Run every test. Raises what pytest raises for a run that is to stop."""
        gc.collect()
        gc.freeze()  # collected tests are looked at no more by the workers' garbage collectors
        self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        try:
            for _ in range(workers):
                self._fork()
            while self._working:
                for ready in select.select(list(self._working), [], [])[0]:
                    self._hear(self._working[ready])
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for worker in self._working.values():
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)

    def _fork(self, begin: Sequence[pytest.Item] = ()) -> None:
        reports, tell = os.pipe()
        self._config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _work(self._session, begin, self._batches, self._queue, tell)
        os.close(tell)
        self._working[reports] = _Worker(pid=pid, reports=reports, left=list(begin))

    def _hear(self, worker: _Worker) -> None:
        piece = os.read(worker.reports, 1 << 16)
        *lines, worker.rest = (worker.rest + piece).split(b"\n")
        for line in lines:
            self._told(worker, json.loads(line))
        if not piece:
            del self._working[worker.reports]
            os.close(worker.reports)
            code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
            if code:
                self._died(worker, code)

    def _told(self, worker: _Worker, said: dict[str, Any]) -> None:
        hook = self._config.hook
        if "batch" in said:
            worker.left = self._batches[said["batch"]][:]
        elif "at" in said:
            hook.pytest_runtest_logstart(nodeid=said["at"], location=worker.left[0].location)
        elif "report" in said:
            report = hook.pytest_report_from_serializable(config=self._config, data=said["report"])
            if report.skipped and isinstance(report.longrepr, list):  # JSON has no tuples
                report.longrepr = tuple(report.longrepr)
            hook.pytest_runtest_logreport(report=report)
        elif "over" in said:
            over = worker.left.pop(0)
            hook.pytest_runtest_logfinish(nodeid=over.nodeid, location=over.location)
        elif "failed" in said:
            self._fail(f"the end of worker {worker.pid}", said["failed"])
        elif "warning" in said:
            words = UserWarning(said["warning"])
            warning = WarningMessage(words, UserWarning, said["file"], said["line"])
            told = {"warning_message": warning, "when": "runtest", "nodeid": said["of"], "location": None}
            hook.pytest_warning_recorded.call_historic(kwargs=told)

    def _died(self, worker: _Worker, code: int) -> None:
        name = worker.left[0].nodeid if worker.left else f"worker {worker.pid}"
        self._fail(name, f"Its process ended with {code}.")
        self._fork(worker.left[1:])

    def _fail(self, name: str, why: str) -> None:
        place = (name.partition("::")[0], None, name)
        report = pytest.TestReport(name, place, {}, "failed", why, "call")
        self._config.hook.pytest_runtest_logreport(report=report)


class _Telling:
    """What a worker has in place of the terminal."""

    def __init__(self, config: pytest.Config, pipe: int) -> None:
        self._config = config
        self.hears = False  # a plugin is first told the warnings of the past, which are known
        self._pipe = open(pipe, "wb", buffering=0)  # noqa: SIM115 it is open as long as the process is

    def tell(self, **said: Any) -> None:
        """One line."""
        line = memoryview(json.dumps(said).encode() + b"\n")
        while line:
            line = line[self._pipe.write(line) :]

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.tell(at=nodeid, place=location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self.tell(report=hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_runtest_logfinish(self) -> None:
        self.tell(over=True)

    def pytest_warning_recorded(self, warning_message: WarningMessage, nodeid: str) -> None:
        if not self.hears:
            return
        words = f"{warning_message.category.__name__}: {warning_message.message}"
        place = {"file": warning_message.filename, "line": warning_message.lineno}
        self.tell(warning=words, of=nodeid, **place)


def _work(
    session: pytest.Session,
    begin: Sequence[pytest.Item],
    todo: Sequence[Sequence[pytest.Item]],
    queue: int,
    pipe: int,
) -> NoReturn:
    """All that a worker does: `begin`, then the batches of `todo` that it takes."""
    code = 70
    try:
        telling = _settled_in(session.config, pipe)
        _run(session, begin)
        while number := os.read(queue, _NUMBER_BYTES):
            batch = int.from_bytes(number, "big")
            telling.tell(batch=batch)
            _run(session, todo[batch])
        try:
            session._setupstate.teardown_exact(None)
        except BaseException:
            telling.tell(failed=traceback.format_exc())
        code = 0
    except BrokenPipeError:
        code = 1  # who would hear has gone
    except BaseException:
        with suppress(OSError):
            os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _settled_in(config: pytest.Config, pipe: int) -> _Telling:
    """What a worker must not share with the others is its own after this."""
    plugins = config.pluginmanager
    capture = plugins.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()
    capture.start_global_capturing()
    plugins.unregister(name="terminalreporter")
    telling = _Telling(config, pipe)
    plugins.register(telling)
    telling.hears = True
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"worker-{os.getpid()}"
    factory._basetemp.mkdir(mode=0o700)
    return telling


def _run(session: pytest.Session, batch: Sequence[pytest.Item]) -> None:
    # What is set up ends when the next test has no part in it; after the last of a batch all but the session.
    for item, following in zip(batch, [*batch[1:], session], strict=False):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
