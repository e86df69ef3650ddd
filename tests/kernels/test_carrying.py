"""The result of a previewed cell takes the place of running it, in real kernels."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kernels.lanes import kernel_environment
from kernels.test_copies import run
from kernels.test_sandbox import CAN_SANDBOX

from cellwright.errors import KernelError
from cellwright.kernels import CellRequest
from cellwright.kernels.carrying import NOTE
from cellwright.kernels.copies import CarriedResult, open_copy
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.events import CellOutput, ToolStarted
from cellwright.record.outputs import Execution, Output, OutputMessage, fold, to_nbformat
from cellwright.session.previewing import Preview, Previews
from cellwright.stopping import Stop

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]
SETUP = """\
import os, random, time
import numpy as np, pandas as pd
runs = []
df = pd.DataFrame({"a": [1, 2, 3], "s": list("xyz")})
alias, holder, other = df, [1, df], {"k": [1]}
number = id(df)
"""


@dataclass(frozen=True)
class Ran:
    """A cell that was run, or whose result took its place."""

    execution: Execution
    outputs: tuple[Output, ...]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[FreshKernel]:
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        run(kernel, SETUP)
        yield kernel


def call(code: str) -> ToolStarted:
    return ToolStarted("call_1", "run_cell", {"code": code}, "", "execute")


def run_for_real(kernel: FreshKernel, code: str) -> Ran:
    messages: list[OutputMessage] = []

    def keep(output: CellOutput) -> CellOutput:
        messages.append(output.message)
        return output

    running = kernel.execute(CellRequest("cell", code), Stop(), keep)
    while True:
        try:
            next(running)
        except StopIteration as ended:
            return Ran(ended.value, fold(messages))


def look(kernel: FreshKernel, code: str) -> tuple[Preview, Previews]:
    previews = Previews(kernel.ask_snapshots)
    return previews.look(call(code), Stop()), previews


def adopt(kernel: FreshKernel, code: str) -> Ran:
    """Preview a cell and put its result in place."""
    found, previews = look(kernel, code)
    assert found.obstacle == ""
    previews.keep(call(code))
    previews.drop()
    ran = run_for_real(kernel, code)
    assert ran.execution.note == NOTE
    return ran


def obstacle(kernel: FreshKernel, code: str) -> str:
    found, previews = look(kernel, code)
    with pytest.raises(KernelError, match="not there any more"):
        previews.keep(call(code))
    return found.obstacle


def test_a_slow_cell_is_taken_over_at_once_with_outputs_variables_and_files(
    kernel: FreshKernel,
) -> None:
    code = (
        "time.sleep(3)\ntable = df.assign(b=df.a * 2)\ndel runs\nprint('made')\n"
        "open('made.csv', 'w').write('x')\nos.environ['MADE'] = '1'\ntable"
    )
    found, previews = look(kernel, code)
    assert found.obstacle == ""
    began = time.monotonic()
    previews.keep(call(code))
    ran = run_for_real(kernel, code)
    assert time.monotonic() - began < 1
    previews.drop()
    assert ran.execution.status == "ok"
    assert [variable.name for variable in ran.execution.changed] == ["table"]
    assert ran.execution.removed == ("runs",)
    assert [file.path for file in ran.execution.files] == ["made.csv"]
    text, value = map(to_nbformat, ran.outputs)
    assert text["text"] == "made\n"
    assert value["output_type"] == "execute_result"
    assert value["execution_count"] == ran.execution.execution_count
    assert "<table" in value["data"]["text/html"]
    assert run(kernel, "print(_ is table, Out[max(Out)] is table, os.environ['MADE'])") == (
        "True True 1"
    )
    assert run(kernel, f"print(In[-3] == {code!r}, 'runs' in globals())") == "True False"
    assert run(kernel, "print(df is alias, id(df) == number)") == "True True"
    again = run_for_real(kernel, "runs = [1]")
    assert again.execution.note == "", "one cell is taken over, and no more"


def test_what_is_changed_within_is_changed_for_all_who_have_it(kernel: FreshKernel) -> None:
    adopt(kernel, "df['c'] = 1; mine = other; other['k'].append(2)")
    told = run(kernel, "print(df is alias is holder[1], list(df), mine is other, other)")
    assert told == "True ['a', 's', 'c'] True {'k': [1, 2]}"


def test_what_is_as_it_was_stays_the_object_that_it_was(kernel: FreshKernel) -> None:
    run(kernel, "old = [[1], df]; inner = old[0]")
    adopt(kernel, "df.describe(); df.loc[1]; new = [inner, df, old]")
    told = run(kernel, "print(new[0] is inner, new[1] is df, new[2] is old, id(df) == number)")
    assert told == "True True True True"


def test_arrays_go_on_to_share_their_memory_and_frames_to_be_copied_on_write(
    kernel: FreshKernel,
) -> None:
    run(kernel, "a = np.arange(10.0); part, back = a[2:5], a[::-2]")
    adopt(kernel, "a[:] = 7; new = a[1:3]; grid = np.arange(12).reshape(3, 4).T; row = grid[1]")
    told = run(
        kernel,
        "a[:] = 1; row[0] = -1\n"
        "print(part.sum(), back.sum(), new.sum(), grid[1, 0], grid.shape, grid.strides)",
    )
    assert told == "3.0 5.0 2.0 -1 (4, 3) (8, 32)"
    adopt(kernel, "view, wide, index = df[:], df.assign(z=3), pd.Index(df['a'])")
    told = run(
        kernel,
        "view.iloc[0, 0] = 99; wide.loc[0, 'a'] = 98; df.loc[1, 'a'] = -5\n"
        "print(*(list(t['a']) for t in (df, view, wide)), list(index))",
    )
    assert told == "[1, -5, 3] [99, 2, 3] [98, 2, 3] [1, 2, 3]"


def test_of_large_arrays_it_is_seen_where_they_were_written_to(kernel: FreshKernel) -> None:
    run(
        kernel,
        "large = {n: np.arange(1_000_000.0) for n in range(6)}; whole = list(large.values())\n"
        "table = pd.DataFrame({'x': np.arange(1_000_000.0)}); at = id(large[0])",
    )
    code = (
        "large[1][0] = large[2][-1] = large[3][500_000] = -1; large[4].sort()\n"
        "large[5][::100_000] = -1; total = table.x.sum() + large[0].sum()"
    )
    adopt(kernel, code)
    told = run(
        kernel,
        "print([int((large[n] == -1).sum()) for n in range(6)], id(large[0]) == at, "
        "all(a is b for a, b in zip(whole, large.values())))",
    )
    assert told == "[0, 1, 1, 1, 0, 10] True True"
    found, previews = look(kernel, "x = 1")
    previews.drop()
    assert found.obstacle == ""


def test_functions_and_classes_of_cells_are_the_kernels_own(kernel: FreshKernel) -> None:
    run(kernel, "class A:\n    n = 0\n    def f(self): return A.n\na = A()\ndef g(): return a.f()")
    code = """\
from dataclasses import dataclass, field
from functools import lru_cache, cached_property
from collections import namedtuple
Pair = namedtuple("Pair", "left right")
pair = Pair(1, 2)
A.n = 5
class B(A):
    __slots__ = ("x",)
    def f(self): return super().f() + 1
    @property
    def twice(self): return self.f() * 2
    @classmethod
    def make(cls): return cls()
def counter():
    count = 0
    def up():
        nonlocal count
        count += 1
        return count
    def seen(): return count
    return up, seen
@dataclass
class Point:
    x: int
    tags: list = field(default_factory=list)
@lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
b, (up, seen), point = B.make(), counter(), Point(3)
up(); fib(9)"""
    adopt(kernel, code)
    told = run(
        kernel,
        "up(); print(g(), type(a) is A, b.f(), b.twice, type(b) is B, seen(), point == Point(3), "
        "fib(10), pair, pair == Pair(1, 2)); A.n = 7; print(g(), b.f())",
    )
    assert told == "5 True 6 12 True 2 True 55 Pair(left=1, right=2) True\n7 8"
    assert run(kernel, "import inspect; print(inspect.getsource(seen))").startswith("def seen()")


def test_models_and_generators_of_random_numbers_go_on_from_where_they_were(
    kernel: FreshKernel,
) -> None:
    model = """\
class Model:
    def fit(self, x):
        self.mean_, self.rng_ = x.mean(), np.random.default_rng(1)
        return self
model = Model(); rng = np.random.default_rng(5); random.seed(3); np.random.seed(3)
draw = random.random"""
    run(kernel, model)
    code = "drawn = [draw(), np.random.rand(), rng.random()]; model.fit(np.ones(3)); print(drawn)"
    adopted = adopt(kernel, code)
    after = "drawn + [draw(), np.random.rand(), rng.random()] + [model.mean_, model.rng_.random()]"
    first = run(kernel, f"print({after}, draw.__self__ is random._inst)")
    run(kernel, model)
    assert to_nbformat(run_for_real(kernel, code).outputs[0]) == to_nbformat(adopted.outputs[0])
    assert run(kernel, f"print({after}, True)") == first


def test_a_fitted_scikit_learn_model_is_carried(kernel: FreshKernel) -> None:
    pytest.importorskip("sklearn")
    run(
        kernel,
        "from sklearn.ensemble import RandomForestRegressor\n"
        "forest = RandomForestRegressor(5, random_state=0); kept = forest\n"
        "x = np.arange(40.0).reshape(20, 2); y = x.sum(1)",
    )
    adopt(kernel, "fitted = forest.fit(x, y); said = forest.predict(x)")
    assert run(kernel, "print(fitted is forest is kept, (kept.predict(x) == said).all())") == (
        "True True"
    )


def test_figures_settings_and_updates_of_displays_are_carried(kernel: FreshKernel) -> None:
    code = """\
import matplotlib.pyplot as plt
from IPython.display import HTML, display
handle = display(HTML("<b>1</b>"), display_id=True)
handle.update(HTML("<b>2</b>"))
pd.set_option("display.max_rows", 7); plt.rcParams["font.size"] = 17
fig, ax = plt.subplots(); ax.plot([1, 2]); ax.set_title("Growth"); plt.show()"""
    ran = adopt(kernel, code)
    html, figure = map(to_nbformat, ran.outputs)
    assert html["data"]["text/html"] == "<b>2</b>"
    assert figure["data"]["image/png"]
    assert "Growth" in ran.execution.figures[0]
    told = run(
        kernel,
        "print(pd.get_option('display.max_rows'), plt.rcParams['font.size'], ax.get_title(), "
        "ax.figure is fig)",
    )
    assert told == "7 17.0 Growth True"


def test_files_are_made_changed_and_deleted_and_links_and_folders_too(
    kernel: FreshKernel, tmp_path: Path
) -> None:
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "gone.txt").write_text("gone")
    (tmp_path / "kept").mkdir()
    code = """\
from pathlib import Path
Path("a/b").mkdir(parents=True); Path("empty").mkdir()
Path("a/b/c.txt").write_text("c"); Path("old.txt").write_text("new")
Path("gone.txt").unlink(); os.symlink("a", "link"); os.chmod("old.txt", 0o600)
Path(".cache").mkdir(); Path(".cache/d.txt").write_text("d"); os.mkdir("mine", 0o700)
os.chmod("kept", 0o500)"""
    adopt(kernel, code)
    assert (tmp_path / "link" / "b" / "c.txt").read_text() == "c"
    assert (tmp_path / "empty").is_dir()
    assert (tmp_path / "old.txt").read_text() == "new"
    assert (tmp_path / "old.txt").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "gone.txt").exists()
    assert (tmp_path / ".cache" / "d.txt").read_text() == "d"
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("mine", "kept")]
    assert modes == [0o700, 0o500]


def test_a_file_that_only_begins_like_ipythons_folder_is_carried(tmp_path: Path) -> None:
    environment = {**kernel_environment(), "IPYTHONDIR": str(tmp_path / "ip")}
    with start_kernel(tmp_path, environment) as kernel:
        run(kernel, SETUP)
        adopt(kernel, "n = open('ipsum.csv', 'w').write('x')")
        assert (tmp_path / "ipsum.csv").read_text() == "x"
        code = "n = open('ip/profile_default/startup/a.py', 'w').write('1')"
        assert "a.py, which IPython keeps" in obstacle(kernel, code)


@pytest.mark.parametrize(
    ("before", "code", "why"),
    [
        ("", "f = open('x.txt', 'w')", "`f` cannot be carried over: it holds an open file"),
        ("", "os.open('x.txt', os.O_CREAT)", "x.txt open"),
        ("", "import socket; s = socket.socket()", "`s` cannot be carried over: it holds a socket"),
        ("", "g = (n for n in [1])", "`g` cannot be carried over: it holds a generator"),
        ("g = (n for n in [1, 2])", "next(g)", "`g` cannot be carried over: it holds a generator"),
        ("", "os.chdir('/')", "it changed the working directory"),
        (
            "import threading",
            "threading.Thread(target=threading.Event().wait, name='feed', daemon=True).start()",
            "thread 'feed' runs",
        ),
        (
            "",
            "import subprocess; p = subprocess.Popen(['sleep', '60'])",
            "it started a program that still runs (sleep 60)",
        ),
        (
            "",
            "import urllib.request\ntry: urllib.request.urlopen('http://example.org', timeout=1)\n"
            "except OSError: pass",
            "it tried to reach example.org:80",
        ),
        ("", "1 / 0", "the code did not end well"),
        ("", "from ipywidgets import IntSlider; IntSlider()", "it shows a widget"),
        (
            "open('helper.py', 'w').write('seen = []\\ndef note(): seen.append(1)')\n"
            "import sys; sys.path.insert(0, ''); import helper",
            "helper.note()",
            "it changed what the module helper keeps",
        ),
        (
            "open('helper.py', 'w').write('seen = []')\nimport sys; sys.path.insert(0, '')",
            "import helper; helper.seen.append(1)",
            "it imported helper, a module of the working folder",
        ),
        ("", "%load_ext autoreload", "it changed the extensions of IPython"),
        (
            "import sqlite3; c = sqlite3.connect(':memory:')\n"
            "def ask(): return c.execute('select 1')",
            "ask().fetchall()",
            "it cannot be told whether the cell changed `c`",
        ),
        (
            "import enum",
            "class Colour(enum.Enum):\n    RED = 1",
            "`Colour` cannot be carried over: the class Colour, which a cell defines, is made by "
            "EnumType",
        ),
        ("", "import shutil; os.mkdir('d'); os.rmdir('keep')", "it deleted or replaced"),
        ("", "os.rmdir('keep'); os.mkdir('keep')", "it replaced the folder"),
        ("", "open('a', 'w').close(); os.link('a', 'b')", "it made a hard link of"),
        ("many = [[] for _ in range(150_000)]", "x = 1", "more than 100,000 objects"),
    ],
)
def test_what_stands_in_the_way_is_named(
    kernel: FreshKernel, tmp_path: Path, before: str, code: str, why: str
) -> None:
    (tmp_path / "keep").mkdir()
    run(kernel, before)
    assert why in obstacle(kernel, code)
    assert run(kernel, "print(df is alias, list(df))") == "True ['a', 's']"


def test_what_cannot_be_compared_and_is_not_used_stands_in_nobodys_way(kernel: FreshKernel) -> None:
    run(kernel, "import sqlite3; connection = sqlite3.connect(':memory:'); lines = iter('abc')")
    adopt(kernel, "total = df.a.sum()")
    assert run(kernel, "print(total, next(lines), connection.total_changes)") == "6 a 0"


@pytest.mark.parametrize(
    ("since", "why"),
    [
        ("other['k'].append(3)", "something has run since"),
        ("pass", "something has run since"),
    ],
)
def test_after_another_cell_nothing_is_taken_over(
    kernel: FreshKernel, since: str, why: str
) -> None:
    _, previews = look(kernel, "new = 1; other['k'] = 5")
    run(kernel, since)
    with pytest.raises(KernelError, match=why):
        previews.keep(call("new = 1; other['k'] = 5"))
    assert run(kernel, "print('new' in globals(), other['k'] == 5)") == "False False"
    ran = run_for_real(kernel, "new = 1; other['k'] = 5")
    assert ran.execution.note == "", "it ran"


def test_after_a_file_was_changed_meanwhile_nothing_is_taken_over(
    kernel: FreshKernel, tmp_path: Path
) -> None:
    code = "open('sum.txt', 'w').write('1'); new = 1"
    _, previews = look(kernel, code)
    (tmp_path / "sum.txt").write_text("mine")
    with pytest.raises(KernelError, match=r"sum.txt has changed since"):
        previews.keep(call(code))
    assert (tmp_path / "sum.txt").read_text() == "mine"


def test_what_fails_to_be_read_changes_nothing(kernel: FreshKernel, tmp_path: Path) -> None:
    run(
        kernel,
        "class Odd:\n    def __reduce__(self): return (make_odd, ())\n"
        f"def make_odd():\n    assert not os.path.exists({str(tmp_path / 'flag')!r}), 'odd'\n"
        "    return Odd()",
    )
    code = "first = 1; odd = Odd(); df['c'] = 1; open('new.txt', 'w').write('x')"
    found, previews = look(kernel, code)
    assert found.obstacle == ""
    (tmp_path / "flag").touch()
    with pytest.raises(KernelError, match="AssertionError: odd"):
        previews.keep(call(code))
    told = run(kernel, "print('first' in globals(), list(df), os.path.exists('new.txt'))")
    assert told == "False ['a', 's'] False"


def test_where_a_file_cannot_be_put_in_place_nothing_changes(
    kernel: FreshKernel, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("old")
    code = "open('a.txt', 'w').write('new'); os.mkdir('d'); open('d/b.txt', 'w').write('b'); n = 1"
    _, previews = look(kernel, code)
    previews.keep(call(code))
    previews.drop()
    (tmp_path / "d").write_text("in the way")
    ran = run_for_real(kernel, code)
    assert ran.execution.status == "error"
    assert ran.execution.error is not None
    assert ran.execution.error.ename == "AdoptionError"
    assert (tmp_path / "a.txt").read_text() == "old"
    assert run(kernel, "print('n' in globals())") == "False"


def test_a_cell_of_yours_between_keep_and_the_call_runs_nothing_in_its_place(
    kernel: FreshKernel,
) -> None:
    code = "open('ran.txt', 'w').write('x'); n = 1"
    _, previews = look(kernel, code)
    previews.keep(call(code))
    run(kernel, "other['k'].append(3)")
    ran = run_for_real(kernel, code)
    assert ran.execution.error is not None
    assert ran.execution.error.ename == "AdoptionError"
    assert "Something has run since the preview" in ran.execution.error.evalue
    assert run(kernel, "print('n' in globals(), os.path.exists('ran.txt'))") == "False False"
    assert run_for_real(kernel, code).execution.status == "ok", "asked for again, it runs"
    assert run(kernel, "print(n)") == "1"


def test_the_files_of_a_result_can_be_undone(kernel: FreshKernel, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    code = "open('a.txt', 'w').write('new'); open('b.txt', 'w').write('b')"
    _, previews = look(kernel, code)
    previews.keep(call(code))
    kernel.ask_snapshots("take", {"run_id": "run_1"})
    run_for_real(kernel, code)
    assert (tmp_path / "a.txt").read_text() == "new"
    kernel.ask_snapshots("put_back", {"run_id": "run_1", "step": 0})
    assert (tmp_path / "a.txt").read_text() == "old"
    assert not (tmp_path / "b.txt").exists()


def test_what_was_taken_over_is_undone_and_the_next_result_is_taken_over_again(
    kernel: FreshKernel,
) -> None:
    snapshot = kernel.ask_snapshots("take", {"run_id": "run_1"})["id"]
    adopt(kernel, "other['k'].append(2); new = other")
    assert run(kernel, "print(other, new is other)") == "{'k': [1, 2]} True"
    back = {"snapshot_id": snapshot, "reply": {"user_expressions": {"answer": None}}}
    kernel.ask_snapshots("go_back", back)
    assert run(kernel, "print(other, 'new' in globals())") == "{'k': [1]} False"
    adopt(kernel, "other['k'].append(3); new = other")
    assert run(kernel, "print(other, new is other)") == "{'k': [1, 3]} True"


def test_a_copy_that_is_killed_leaves_no_result(kernel: FreshKernel) -> None:
    found = obstacle(kernel, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert found == "the code did not end well"
    copy = open_copy(kernel.ask_snapshots, is_sandboxed=True)
    try:
        copy.begin_carrying()
        ran = run_for_real(copy, "made = 1")
        assert copy.pack() == ()
        result = CarriedResult.of(copy, kernel.ask_snapshots, "made = 1", (), ran.execution)
        os.kill(copy.process._process_id, signal.SIGKILL)  # type: ignore[attr-defined]
        result.arm()
        result.close()
    finally:
        copy.close(now=True)
    assert run_for_real(kernel, "made = 1").execution.note == NOTE, "it was packed before"
    assert run(kernel, "print(made)") == "1"
