"""Questions to a kernel about itself, asked inside a real IPython shell."""

from __future__ import annotations

import asyncio
import atexit
import builtins
import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from cellwright.kernels import cell_watch
from cellwright.kernels.cell_watch import STATE, after_cell, before_cell
from cellwright.kernels.interrupt_watch import InterruptWatch, StubbornCellError
from cellwright.kernels.probe import FUNCTIONS, answer, answer_text


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A shell of its own, in an empty folder, that ran nothing yet."""
    monkeypatch.chdir(tmp_path)
    displayhook, excepthook = sys.displayhook, sys.excepthook
    found = InteractiveShell(history_length=0)
    found.history_manager.enabled = False  # type: ignore[union-attr]
    STATE.__init__()  # type: ignore[misc]
    STATE.cell = STATE.files = STATE.own_error = STATE.persons_error = None
    STATE.own_counts.clear()
    for name in ("last_value", "last_type", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    yield found
    found.history_manager.end_session()  # type: ignore[union-attr]
    found.atexit_operations()
    # It has just been called, and a second time it complains.
    atexit.unregister(found.atexit_operations)
    sys.displayhook, sys.excepthook = displayhook, excepthook


def ask(shell: InteractiveShell, function: str, **arguments: Any) -> Any:
    return answer(function, arguments, shell)["value"]


def changes(shell: InteractiveShell, code: str) -> dict[str, Any]:
    """What the watch finds about a cell."""
    before_cell(shell, is_nested=True)
    result = shell.run_cell(code)
    return after_cell(shell, result)


def test_variables_are_listed_without_what_is_ipythons(shell: InteractiveShell) -> None:
    shell.run_cell("import os, json as j\na = 1\n_b = 2\nclass C: ...\ndef f(x): ...")
    assert ask(shell, "list_variables") == [
        {"name": "a", "type": "int", "text": "1"},
        {"name": "C", "type": "type", "text": "C()"},
        {"name": "f", "type": "function", "text": "f(x)"},
    ]
    assert [row["name"] for row in ask(shell, "list_variables", pattern="[a-z]")] == ["a", "f"]
    assert len(ask(shell, "list_variables", limit=1)) == 1


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("d['k']", "int: 5"),
        ("d[1].real", "int: 3"),
        (" x ", "str of 1 characters: 'v'"),
        ("d[1, 2]", "str of 1 characters: 't'"),
        ("n[-1]", "int: 9"),
    ],
)
def test_parts_of_variables_can_be_inspected(
    shell: InteractiveShell, expression: str, text: str
) -> None:
    shell.run_cell("d = {'k': 5, 1: 3, (1, 2): 't'}\nx = 'v'\nn = [8, 9]")
    assert ask(shell, "inspect_variable", name=expression) == text


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("delete()", "'delete()' is not a name"),
        ("a + 1", "'a + 1' is not a name"),
        ("a b", "'a b' is not a name"),
        ("a\x00", "is not a name"),
        ("a[b]", "cannot be read: ValueError"),
        ("a.nothing", "'a.nothing' cannot be read: AttributeError"),
        ("d['z']", "there is no \"d['z']\""),
        ("longname", "there is no 'longname'; there is long_name"),
        ("f()[0]", "is not a name"),
    ],
)
def test_what_cannot_be_inspected_is_refused_with_the_reason(
    shell: InteractiveShell, expression: str, reason: str
) -> None:
    shell.run_cell("a = [1]\nd = {}\nlong_name = 1")
    refused = answer("inspect_variable", {"name": expression}, shell)
    assert reason in refused["refused"]


def test_a_property_is_read_but_never_a_call_made(shell: InteractiveShell) -> None:
    shell.run_cell("called = []\ndef f():\n    called.append(1)\n    return [1]")
    answer("inspect_variable", {"name": "f()"}, shell)
    assert ask(shell, "inspect_variable", name="called") == "list of 0 ()"


def test_a_question_that_breaks_is_an_answer_too(shell: InteractiveShell) -> None:
    assert "TypeError" in answer("list_variables", {"nonsense": 1}, shell)["failed"]
    assert "KeyError" in answer("nonsense", {}, shell)["failed"]
    assert json.loads(answer_text("nonsense", "{}")) == {"refused": "there is no IPython here"} or (
        "failed" in json.loads(answer_text("nonsense", "{}"))
    )


def test_outside_of_ipython_the_probe_says_so() -> None:
    import subprocess

    code = "from cellwright.kernels.probe import answer; print(answer('packages', {}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'refused': 'there is no IPython here'}\n"


def test_executed_cells_are_the_persons(shell: InteractiveShell) -> None:
    shell.run_cell("a = 1", store_history=True)
    shell.run_cell("%who", store_history=True)
    shell.run_cell("nested = 1", store_history=False)
    STATE.own_counts.add(3)
    shell.run_cell("ours = 1", store_history=True)
    assert ask(shell, "executed_cells") == ["a = 1", "%who"]


def test_the_last_error_of_the_person_is_told_with_its_cell(shell: InteractiveShell) -> None:
    assert ask(shell, "last_error") is None
    shell.run_cell("def half(x):\n    return x / 0\nhalf(1)", store_history=True)
    told = ask(shell, "last_error")
    assert told["ename"] == "ZeroDivisionError"
    assert told["evalue"] == "division by zero"
    assert told["text"].splitlines() == [
        "cell line 3: half(1)",
        "cell line 2, in half: return x / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert told["source"] == "def half(x):\n    return x / 0\nhalf(1)\n"


def test_our_own_errors_are_not_taken_for_the_persons(shell: InteractiveShell) -> None:
    changes(shell, "1 / 0")
    assert ask(shell, "last_error") is None
    shell.run_cell("raise KeyError('theirs')")
    changes(shell, "raise ValueError('ours')")
    changes(shell, "raise ValueError('ours again')")
    assert ask(shell, "last_error")["evalue"] == "'theirs'"


def test_a_syntax_error_and_a_mute_one_are_told_too(shell: InteractiveShell) -> None:
    shell.run_cell("x = = 1")
    assert ask(shell, "last_error")["ename"] == "SyntaxError"
    shell.run_cell("class Mute(Exception):\n    def __str__(self): raise TypeError\nraise Mute()")
    assert "Mute" in ask(shell, "last_error")["text"]
    shell.run_cell("import json\njson.loads('{')")
    assert ask(shell, "last_error")["text"].startswith("cell line 2: json.loads('{')")


def test_an_error_from_a_library_alone_names_its_file(shell: InteractiveShell) -> None:
    try:
        json.loads("{")
    except ValueError as error:
        error.__traceback__ = error.__traceback__.tb_next  # type: ignore[union-attr]
        sys.last_value = error
    assert "decoder.py line" in ask(shell, "last_error")["text"]


def test_packages_are_named_as_they_name_themselves(shell: InteractiveShell) -> None:
    assert ask(shell, "packages") == {
        distribution.metadata["Name"]: distribution.version for distribution in distributions()
    }


def test_packages_and_digests(shell: InteractiveShell, tmp_path: Path) -> None:
    assert "pytest" in ask(shell, "packages")
    (tmp_path / "a.csv").write_bytes(b"x")
    digests = ask(shell, "file_digest", paths=["a.csv", "missing.csv"])
    assert digests == {"a.csv": hashlib.sha256(b"x").hexdigest()}
    described = ask(shell, "describe_kernel")
    assert described["cwd"] == str(tmp_path)
    assert described["process_id"] == os.getpid()
    assert set(FUNCTIONS) >= {"packages", "file_digest"}


# The watch


def test_new_changed_and_removed_variables_are_found(shell: InteractiveShell) -> None:
    shell.run_cell("a, b, c, d = 1, [1], {'x': 1}, 2.5\nsame = object()\nnan = float('nan')")
    found = changes(shell, "a = 2\nb.append(1)\nc['y'] = 2\ndel d\nnew = {1, 2}\nnan = nan")
    assert [row["name"] for row in found["changed"]] == ["a", "b", "c", "new"]
    assert found["removed"] == ["d"]
    assert changes(shell, "pass")["changed"] == []


def test_a_value_without_a_readable_shape_is_told_by_identity(shell: InteractiveShell) -> None:
    shell.run_cell(
        "class Figure:\n    __module__ = 'matplotlib.figure'\n"
        "    @property\n    def shape(self): raise RuntimeError\nf = Figure()"
    )
    assert changes(shell, "1")["changed"] == []
    assert [row["name"] for row in changes(shell, "f = Figure()")["changed"]] == ["f"]


def test_results_worth_a_summary_get_one(shell: InteractiveShell) -> None:
    assert changes(shell, "list(range(100))")["result_summary"].startswith("list of 100")
    assert changes(shell, "[1]")["result_summary"] == ""
    assert changes(shell, "'text'")["result_summary"] == ""
    code = "import numpy as np\nnp.zeros(100)"
    assert changes(shell, code)["result_summary"].startswith("ndarray shape (100,)")


def test_input_and_exit_are_blocked_during_a_cell_only(shell: InteractiveShell) -> None:
    asked = builtins.input
    found = changes(shell, "try:\n    input()\nexcept EOFError as e:\n    said = str(e)\nexit()")
    assert "no keyboard" in shell.user_ns["said"]
    assert found["notes"] == ["exit() and quit() did nothing: the kernel belongs to the person."]
    assert builtins.input is asked
    assert "ask_exit" not in shell.__dict__


def test_a_watch_inside_a_watch_puts_everything_back(shell: InteractiveShell) -> None:
    before_cell(shell, is_nested=True)
    outer = shell.__dict__["ask_exit"]
    changes(shell, "exit()")
    assert shell.__dict__["ask_exit"] is outer
    assert after_cell(shell)["notes"] == []
    assert after_cell(shell) == {}


def test_a_closed_stdout_is_noted(shell: InteractiveShell) -> None:
    """K19."""
    stdout = sys.stdout
    found = changes(shell, "import sys, io; sys.stdout = io.StringIO()")
    sys.stdout = stdout
    assert "sys.stdout was replaced" in found["notes"][0]


def test_a_folder_that_was_removed_is_no_obstacle(shell: InteractiveShell, tmp_path: Path) -> None:
    """K34."""
    (tmp_path / "sub").mkdir()
    found = changes(shell, "import os\nos.chdir('sub')\nos.rmdir(os.getcwd())")
    assert found["cwd"] == ""
    assert changes(shell, "1")["files"] == []
    os.chdir(tmp_path)


def test_files_are_found_and_hidden_ones_are_not(shell: InteractiveShell, tmp_path: Path) -> None:
    for name in ("node_modules", "__pycache__", ".git", "data", "record"):
        (tmp_path / name).mkdir()
    code = (
        "for n in ('a.txt', 'data/b.txt', '.git/c', 'node_modules/d', '__pycache__/e', '.f',\n"
        "          'record/runs.sqlite', 'record/runs.sqlite-wal'):\n"
        "    open(n, 'w').close()"
    )
    names = [row["path"] for row in changes(shell, code)["files"]]
    assert names == ["a.txt", os.path.join("data", "b.txt")]


def test_a_folder_that_cannot_be_read_is_passed_over(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    changes(shell, "1")
    (tmp_path / "gone").mkdir()
    found: dict[str, tuple[int, int]] = {}
    cell_watch._scan(str(tmp_path / "missing"), str(tmp_path), [], found)
    assert found == {}


def test_the_kernels_own_notebook_is_saved_by_no_cell(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "work.ipynb"))
    code = "for n in ('work.ipynb', 'other.ipynb'):\n    open(n, 'w').close()"
    assert [row["path"] for row in changes(shell, code)["files"]] == ["other.ipynb"]


def test_in_a_crowded_folder_only_fresh_files_are_named(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    for n in range(2_100):
        (tmp_path / f"old{n}.txt").touch()
    os.utime(tmp_path / "old7.txt", (1, 1))
    found = changes(shell, "open('new.txt', 'w').close()")["files"]
    assert {row["path"] for row in found} <= {"new.txt"}


def test_files_of_other_folders_are_not_compared(shell: InteractiveShell, tmp_path: Path) -> None:
    changes(shell, "1")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "old.txt").touch()
    os.chdir(tmp_path / "elsewhere")
    assert changes(shell, "1")["files"] == []


class WatchedShell(InteractiveShell):
    """A shell that knows which request runs, as ipykernel's does."""

    parent: dict[str, Any] = {}

    def get_parent(self) -> dict[str, Any]:
        return self.parent


@pytest.fixture
def watched(shell: InteractiveShell) -> Iterator[WatchedShell]:
    found = WatchedShell(history_length=0, parent=None)
    cell_watch.install(found)
    cell_watch.install(found)
    yield found
    found.history_manager.end_session()  # type: ignore[union-attr]
    found.atexit_operations()
    atexit.unregister(found.atexit_operations)


def mark(shell: WatchedShell, message_id: str, **metadata: Any) -> None:
    shell.parent = {"header": {"msg_id": message_id}, "metadata": metadata}


def reports(shell: WatchedShell) -> list[dict[str, Any]]:
    payloads = shell.payload_manager
    assert payloads is not None
    found = [json.loads(payload["text"]) for payload in payloads.read_payload()]
    payloads.clear_payload()
    return found


def test_only_marked_cells_are_watched(watched: WatchedShell) -> None:
    mark(watched, "person")
    watched.run_cell("theirs = 1", store_history=True)
    assert reports(watched) == []
    mark(watched, "ours", cellwright={})
    watched.run_cell("ours = 1", store_history=True)
    (report,) = reports(watched)
    assert [row["name"] for row in report["changed"]] == ["ours"]
    assert answer("executed_cells", {}, watched)["value"] == ["theirs = 1"]


def test_a_cell_that_runs_cells_is_reported_once(watched: WatchedShell) -> None:
    mark(watched, "one", cellwright={})
    watched.run_cell("get_ipython().run_cell('inner = 1')\nouter = 2")
    (report,) = reports(watched)
    assert sorted(row["name"] for row in report["changed"]) == ["inner", "outer"]


def test_a_watch_that_was_not_ended_does_not_spoil_the_next(watched: WatchedShell) -> None:
    mark(watched, "lost", cellwright={})
    watched.events.trigger("pre_run_cell", None)
    mark(watched, "next", cellwright={})
    watched.run_cell("x = 1")
    assert len(reports(watched)) == 1
    after_cell(watched)


# Interrupts


def raised_by(action: Any) -> BaseException | None:
    try:
        action()
    except BaseException as error:
        return error
    return None


def test_interrupts_reach_the_code_and_are_remembered() -> None:
    before = signal.getsignal(signal.SIGINT)
    watch = InterruptWatch(is_nested=True)
    watch.start()
    try:
        kinds = [type(raised_by(lambda: signal.raise_signal(signal.SIGINT))) for _ in range(3)]
    finally:
        watch.stop()
    assert kinds == [KeyboardInterrupt, KeyboardInterrupt, StubbornCellError]
    assert watch.seen
    assert signal.getsignal(signal.SIGINT) is before


def test_a_command_that_was_interrupted_is_an_interrupt() -> None:
    watch = InterruptWatch(is_nested=True)
    watch.start()
    try:
        assert os.system("true") == 0
        assert os.system("exit 3") == 3 << 8
        assert isinstance(raised_by(lambda: os.system("kill -INT $$")), KeyboardInterrupt)
        assert watch.seen
    finally:
        watch.stop()


def test_a_command_that_says_itself_that_it_was_interrupted_is_no_interrupt() -> None:
    watch = InterruptWatch(is_nested=True)
    watch.start()
    try:
        assert os.system("exit 130") == 130 << 8
    finally:
        watch.stop()
    assert not watch.seen


def test_a_thread_is_watched_without_signals() -> None:
    before = signal.getsignal(signal.SIGINT)
    watch = InterruptWatch()

    def elsewhere() -> None:
        watch.start()
        watch.stop()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert not watch.seen


def test_while_a_cell_awaits_the_loops_own_handler_is_asked() -> None:
    handled: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: handled.append(number))
    watch = InterruptWatch()

    def run_code() -> None:
        signal.raise_signal(signal.SIGINT)

    async def cell() -> BaseException | None:
        watch.start()
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.25)
        found = raised_by(run_code)
        watch.stop()
        return found

    try:
        assert isinstance(asyncio.run(cell()), KeyboardInterrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert handled == [signal.SIGINT]


def test_an_idle_loop_is_turned_so_that_it_sees_an_interrupt() -> None:
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    turns = 0
    watch = InterruptWatch()

    async def cell() -> int:
        nonlocal turns
        loop: Any = asyncio.get_running_loop()
        original = loop._run_once

        def counted() -> None:
            nonlocal turns
            turns += 1
            original()

        loop._run_once = counted
        watch.start()
        started = time.monotonic()
        await asyncio.sleep(0.5)
        watch.stop()
        return round(time.monotonic() - started)

    try:
        asyncio.run(cell())
    finally:
        signal.signal(signal.SIGINT, before)
    assert turns >= 4


def test_an_interrupt_without_python_frames_is_not_in_a_cell() -> None:
    from cellwright.kernels.interrupt_watch import _is_in_cell

    assert not _is_in_cell(None)
