"""Going back in a live kernel, beside the other ways to get a lost state again.

    python benchmarks/snapshots.py sessions ds1000.jsonl.gz [--count 300] [--python PATH]
    python benchmarks/snapshots.py rounds [--count 500]
    python benchmarks/snapshots.py sizes [--gigabytes 1 2]
    python benchmarks/snapshots.py branches [--gigabytes 5]

``sessions`` takes the programs of DS-1000, a public set of data science tasks that is not ours
(see ``docs/how-to/bench.md`` for where to get it). The set-up of each makes the state of a session,
and a generator, a cursor in the middle of its rows, two names of one object and the state of
``random`` are added. A cell then runs the task's own solution, damages every variable in place,
deletes it and spoils a class of the library. Each way then brings the state back, and every
variable is compared: its type, its content, and which objects it shares with others. ``identical``
also asks that each object is the same one, at the same address.

- ``undo``: our snapshots.
- ``copy``: the damage is done in a copy of the kernel, as branches are; the kernel is compared, and
  so is the copy before the damage. The time is that of the copy until it has run a cell.
- ``rerun``: the kernel is restarted and the cells are run again.
- ``dill``: ``dump_module`` before and ``load_module`` after, where the kernel has ``dill``.
- ``kishu``: Kishu's checkpoints after each cell, and a checkout, where the kernel has ``kishu``.
  The time is that of the checkpoints, as it notes it, and of the checkout with the next cell.

``rounds`` goes back, and makes and ends a copy, again and again in one kernel, and tells what is
left: processes, open files, ports, files in the folder for temporary ones, memory. ``sizes`` times
it for kernels that hold so much. ``branches`` has three models work side by side on a table of so
much, with cellwright in the kernel: a service that thinks for a time fixed before, and cells that
read all of the table and write to it; beside one model alone. All other kernels are run with
``--python``, which needs ``ipykernel`` and, for all tasks, pandas, scipy, scikit-learn and
matplotlib. The exit status is 1 where sessions say less than 95 % restored by undo without a
refusal by name, or a kernel that was kept does not go on as ever.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from clocked_service import ClockedService
from jupyter_client.manager import KernelManager

from cellwright.errors import CellwrightError
from cellwright.kernels import CellRequest
from cellwright.kernels.copies import open_copy
from cellwright.kernels.fresh import FreshKernel, KernelProcess, open_kernel
from cellwright.kernels.going_back import explain_missing, find_before, go_to, keep_state
from cellwright.stopping import Stop

LIBRARIES = ("Pandas", "Numpy", "Scipy", "Sklearn", "Matplotlib")
WANTED_SHARE = 0.95
ENVIRON = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

HELPERS = '''
import gc as _gc, hashlib as _hashlib, io as _io, json as _json, pickle as _pickle, types as _types

def _digest(value):
    """A hash of the content, and of which objects in it are the same; of figures, of pictures."""
    if hasattr(value, "dtype") and value.dtype == object and hasattr(value, "ravel"):
        return [_digest(item) for item in value.ravel()]
    figure = getattr(value, "figure", value)
    try:
        if hasattr(figure, "savefig"):  # it is written in other bytes each time
            picture = _io.BytesIO()
            figure.savefig(picture, format="raw")
            return _hashlib.sha256(picture.getvalue()).hexdigest()
        return _hashlib.sha256(_pickle.dumps(value, 5)).hexdigest()
    except Exception:
        return type(value).__name__

def _own(names):
    kinds = (_types.ModuleType, _types.FunctionType, _types.BuiltinFunctionType, type)
    hidden = ("In", "Out", "exit", "quit", "open", "get_ipython")
    return {n: v for n, v in names.items()
            if n[:1] != "_" and n not in hidden and not isinstance(v, kinds)}

def _try(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__

def _state(names):
    import random, numpy
    own = _own(names)
    shared = sorted([a, b] for a in own for b in own if a < b and own[a] is own[b])
    return {
        "variables": {n: [type(v).__qualname__, _digest(v), id(v)] for n, v in own.items()},
        "shared": shared,
        "random": _digest(random.getstate()) + _digest(numpy.random.get_state()),
        "names": sorted(n for n in names if n[:1] != "_"),
    }
'''
SEEDS = """
import random as _random, numpy as _numpy
_random.seed(0), _numpy.random.seed(0)
"""
ADDED = """
import random, sqlite3
import numpy as np, pandas as pd
random.seed(7); np.random.seed(7)
lines = (number * number for number in range(100)); next(lines), next(lines)
rows = sqlite3.connect(":memory:").execute("select 1 union select 2 union select 3")
rows.fetchone()
first = {"kept": [1, 2, 3]}
second = first
"""
DAMAGE = """
import random, numpy as np, pandas as pd
try:
    exec(_solution, globals())
except Exception:
    pass
def _damage(value):
    if isinstance(value, pd.DataFrame):
        value.drop(value.index, inplace=True)
    elif isinstance(value, (pd.Series, np.ndarray)):
        value[:] = 0
    elif isinstance(value, (list, dict, set, bytearray)):
        value.clear()
    elif isinstance(value, _types.GeneratorType):
        list(value)
    elif hasattr(value, "fetchall"):
        value.close()
    elif hasattr(value, "__dict__"):
        value.__dict__.clear()
for _name, _value in list(_own(globals()).items()):
    try:
        _damage(_value)
    except Exception:
        pass
    del globals()[_name]
random.seed(); np.random.seed()
pd.DataFrame.sum = None
del np.mean
"""
AFTER = """{
    "state": _state(globals()),
    "lines": _try(lambda: next(lines)),
    "row": _try(lambda: rows.fetchone()[0]),
    "sum": _try(lambda: int(pd.DataFrame({"a": [1, 2]}).sum().iloc[0])),
    "mean": _try(lambda: float(np.mean([1]))),
}"""
KISHU = """
def _start():
    import os
    os.environ.update(ENV_KISHU_TEST_MODE="1", KISHU_PATH_ROOT=os.getcwd())
    from pathlib import Path
    import nbformat
    import kishu.jupyterint as made
    from kishu.notebook_id import NotebookId
    made.enclosing_platform = lambda: "jupyternb"  # there is no front end that could be asked
    nbformat.write(nbformat.v4.new_notebook(), {0!r})
    tool = made.KishuForJupyter(NotebookId("key", Path({0!r}), "kernel"), ip=get_ipython())
    tool.install_kishu_hooks()
    tool.pre_run_cell(None)  # the hook of this cell, whose end it is told of
_start()
"""
KISHU_HEAD = """(lambda head, commits: (head, sum(c.checkpoint_runtime_s or 0 for c in commits)))(
    _kishu._kishu_branch.get_head().commit_id,
    _kishu._kishu_commit.get_commits(_kishu._kishu_commit.keys_like("")).values(),
)"""
EXPECTED = {"lines": 4, "row": 2, "sum": 3, "mean": 1.0}


class CellError(Exception):
    """A cell of a session ended with an error."""


@dataclass
class Way:
    """How one way did over all sessions."""

    tried: int = 0
    variables: int = 0
    """Sessions of which every variable that is data came back."""
    restored: int = 0
    """Sessions of which the generator, the cursor, random states and the library did, too."""
    identical: int = 0
    """Sessions of which each object is the same one, at its address."""
    seconds: list[float] = field(default_factory=list)
    """From the wish to go back until the next cell has run, and what was done for it before."""
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, task: int, before: dict[str, Any], found: dict[str, Any]) -> None:
        """Compare what came back with what was there."""
        after = found["state"]
        rest = {name: found[name] for name in EXPECTED}
        self.identical += after == before and rest == EXPECTED
        self.variables += _data(after) == _data(before)
        if _content(after) == _content(before) and rest == EXPECTED:
            self.restored += 1
        else:
            names = [n for n in before["variables"] if _differs(n, before, after)]
            names += [key for key in after if key != "variables" and after[key] != before[key]]
            names += [key for key in EXPECTED if rest[key] != EXPECTED[key]]
            self.wrong.append(f"{task}: {', '.join(names)}")


def _data(state: dict[str, Any]) -> Any:
    content, shared, *_ = _content(state)
    return {n: value for n, value in content.items() if n not in ("lines", "rows")}, shared


def _content(state: dict[str, Any]) -> Any:
    kept = {name: value[:2] for name, value in state["variables"].items()}
    return kept, state["shared"], state["random"], state["names"]


def _differs(name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    return after["variables"].get(name, [])[:2] != before["variables"][name][:2]


class Bench:
    """Kernels of one interpreter, in a folder that goes at the end."""

    def __init__(self, python: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="cw-bench-")
        self._python = python
        self.is_set_up = False
        """Whether the session that runs now has come to its damage."""
        self.kernel = self._start()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.kernel.close(now=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def begin_anew(self) -> None:
        """Another kernel, with nothing of the one before."""
        self.kernel.close(now=True)
        self.kernel = self._start()

    def run(self, *cells: str, kernel: FreshKernel | None = None) -> None:
        """Run cells.

        Raises:
            CellError: One ended with an error.
        """
        for code in cells:
            running = (kernel or self.kernel).execute(
                CellRequest("cell", code), Stop(), lambda output: output
            )
            while True:
                try:
                    next(running)
                except StopIteration as finished:
                    ended = finished.value
                    break
            if ended.status != "ok":
                error = ended.error
                raise CellError(f"{error.ename}: {error.evalue}" if error else ended.note)

    def ask(self, expression: str, kernel: FreshKernel | None = None) -> Any:
        """The value of an expression in the kernel, through JSON."""
        path = Path(self.folder, "answer.json")
        self.run(f"open({str(path)!r}, 'w').write(_json.dumps({expression}))", kernel=kernel)
        return json.loads(path.read_text("utf-8"))

    def _start(self) -> FreshKernel:
        process = KernelProcess("python3", self._python)
        kernel = open_kernel(process, self.folder, {**os.environ, **ENVIRON})
        # IPython draws the tip of its banner with the person's own ``random``, when it is asked.
        kernel.describe()
        return kernel


def set_up(task: dict[str, Any]) -> list[str]:
    """The cells that make a task's state."""
    given = "test_input, expected_result = generate_test_case(1)\n"
    given += "exec(exec_context.split('[insert]')[0], globals())"
    code = task["reference_code"]
    return [HELPERS, SEEDS, task["code_context"], given, ADDED, f"_solution = {code!r}"]


def undo(bench: Bench, cells: list[str], way: Way, task: int) -> None:
    """Take a snapshot, do the damage, go back."""
    bench.run(*cells)
    before = bench.ask("_state(globals())")
    bench.is_set_up = True
    began = time.perf_counter()
    keep_state(bench.kernel, 3, f"run-{task}", "the damage")
    taken = time.perf_counter() - began
    bench.run(DAMAGE)
    snapshot = find_before(bench.kernel, f"run-{task}")
    if snapshot is None:
        way.refused[explain_missing(bench.kernel, 3)] += 1
        bench.begin_anew()
        return
    began = time.perf_counter()
    go_to(bench.kernel, snapshot)
    bench.run("pass")
    way.seconds.append(taken + time.perf_counter() - began)
    way.count(task, before, bench.ask(AFTER))
    bench.run("for _name in _own(globals()): del globals()[_name]")


def copy(bench: Bench, cells: list[str], way: Way, task: int) -> None:
    """Do the damage in a copy."""
    bench.run(*cells)
    before = bench.ask("_state(globals())")
    bench.is_set_up = True
    began = time.perf_counter()
    with open_copy(bench.kernel.ask_snapshots) as other:
        bench.run("pass", kernel=other)
        way.seconds.append(time.perf_counter() - began)
        there = bench.ask("_state(globals())", kernel=other)
        bench.run(DAMAGE, kernel=other)
    found = bench.ask(AFTER)
    way.count(task, before, found if there == before else {**found, "state": there})
    bench.run("for _name in _own(globals()): del globals()[_name]")


def rerun(bench: Bench, cells: list[str], way: Way, task: int) -> None:
    """Do the damage, restart the kernel, run all cells again."""
    bench.begin_anew()
    bench.run(*cells)
    before = bench.ask("_state(globals())")
    bench.is_set_up = True
    bench.run(DAMAGE)
    began = time.perf_counter()
    bench.begin_anew()
    bench.run(*cells)
    way.seconds.append(time.perf_counter() - began)
    way.count(task, before, bench.ask(AFTER))


def dill(bench: Bench, cells: list[str], way: Way, task: int) -> None:
    """Write the namespace to a file, do the damage, read it.

    The generator and the cursor are left out: they cannot be written.
    """
    bench.begin_anew()
    bench.run(*cells, "del lines, rows")
    before = bench.ask("_state(globals())")
    bench.is_set_up = True
    path = os.path.join(bench.folder, "state.dill")
    began = time.perf_counter()
    try:
        bench.run(f"import dill as _dill; _dill.dump_module({path!r})")
    except CellError as failed:
        way.refused[str(failed)[:80]] += 1
        return
    spent = time.perf_counter() - began
    bench.run(DAMAGE)
    began = time.perf_counter()
    bench.run(f"_dill.load_module({path!r})")
    way.seconds.append(spent + time.perf_counter() - began)
    way.count(task, before, bench.ask(AFTER))
    bench.begin_anew()  # the library stays spoiled


def kishu(bench: Bench, cells: list[str], way: Way, task: int) -> None:
    """Let Kishu write a checkpoint after each cell, do the damage, check one out."""
    bench.begin_anew()
    try:
        bench.run(KISHU.format(f"session-{task}.ipynb"))
    except CellError as failed:
        way.refused[str(failed)[:80]] += 1
        return
    bench.run(*cells)
    before = bench.ask("_state(globals())")
    bench.is_set_up = True
    commit, spent = bench.ask(KISHU_HEAD)
    bench.run(DAMAGE)
    began = time.perf_counter()
    bench.run(f"_kishu.checkout({commit!r}, skip_notebook=True)", "pass")
    way.seconds.append(spent + time.perf_counter() - began)
    way.count(task, before, bench.ask(AFTER))
    bench.begin_anew()  # the library stays spoiled


WAYS = {"undo": undo, "copy": copy, "rerun": rerun, "dill": dill, "kishu": kishu}
EVERY = ("undo", "copy")
"""Ways that each task is taken in."""


def sessions(options: argparse.Namespace) -> int:
    """Bring the state of many sessions back, in each way."""
    with gzip.open(options.data, "rt", encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    tasks = [task for task in tasks if task["metadata"]["library"] in LIBRARIES]
    # Every library in the share it has, the same tasks each time.
    chosen = tasks[:: max(1, len(tasks) // options.count)][: options.count]
    report = Report({name: Way() for name in WAYS})
    with Bench(options.python) as bench:
        for number, task in enumerate(chosen):
            for name in WAYS:
                if name in EVERY or number % options.others == 0:
                    report.try_one(bench, name, task)
    report.show(len(chosen), options.shown)
    mine = report.ways["undo"]
    return 0 if mine.restored >= WANTED_SHARE * mine.tried else 1


@dataclass
class Report:
    """What came of all sessions."""

    ways: dict[str, Way]
    left_out: list[str] = field(default_factory=list)
    """Tasks whose set-up fails with this interpreter."""

    def try_one(self, bench: Bench, name: str, task: dict[str, Any]) -> None:
        """One session in one way."""
        index, way = int(task["metadata"]["problem_id"]), self.ways[name]
        bench.is_set_up = False
        try:
            WAYS[name](bench, set_up(task), way, index)
        except CellError as error:
            if not bench.is_set_up:
                self.left_out += [f"{index}: {error}"] if name == "undo" else []
                bench.begin_anew()
                return
            way.wrong.append(f"{index}: {error}")
            bench.begin_anew()
        except CellwrightError as error:
            way.wrong.append(f"{index}: {error.message}")
            bench.begin_anew()
        way.tried += 1

    def show(self, count: int, shown: int) -> None:
        """Print it."""
        for text in self.left_out[:shown]:
            print("set-up fails:", text)
        for name, way in self.ways.items():
            usual = statistics.median(way.seconds or [float("nan")])
            print(
                f"{name:6} {way.tried:4} sessions: {way.variables} with their variables, "
                f"{way.restored} whole, {way.identical} identical, "
                f"{sum(way.refused.values())} refused by name, {len(way.wrong)} not whole, "
                f"median {1000 * usual:.0f} ms"
            )
            for text, times in way.refused.most_common(shown):
                print(f"       refused {times}: {text}")
            for text in way.wrong[:shown]:
                print(f"       not whole {text}")
        print(f"{len(self.left_out)} of {count} tasks cannot be set up with this interpreter")


def left(bench: Bench) -> dict[str, float]:
    """What the kernel and its processes hold."""
    kernel = psutil.Process(int(bench.ask("__import__('os').getpid()")))
    root = kernel.parent() if "supervis" in " ".join(kernel.parent().cmdline()) else kernel
    processes = [root, *root.children(recursive=True)]
    return {
        "processes": len({process.pid for process in processes}),
        "open files": kernel.num_fds(),
        "ports": len([c for c in kernel.net_connections() if c.status == "LISTEN"]),
        "files": len(os.listdir(tempfile.gettempdir())),
        "threads": kernel.num_threads(),
        # All that it uses: what it alone uses leaves out what the sleeping states have, too.
        "megabytes": kernel.memory_info().rss / 1e6,
    }


def rounds(options: argparse.Namespace) -> int:
    """Go back, and try in a copy, again and again; tell what is left of it."""
    with Bench(options.python) as bench:
        bench.run("import json as _json, numpy as np\nx = np.zeros(1_000_000)")
        rows = []
        for number in range(options.count + 1):
            if number in (1, 10) or number % max(1, options.count // 5) == 0:
                rows.append((number, left(bench)))
            keep_state(bench.kernel, 3, f"run-{number}", "round")
            bench.run("x[:] += 1")
            snapshot = find_before(bench.kernel, f"run-{number}")
            if snapshot is None:
                raise SystemExit(f"round {number}: {explain_missing(bench.kernel, 3)}")
            go_to(bench.kernel, snapshot)
            if bench.ask("float(x.sum())"):
                raise SystemExit(f"round {number}: the kernel was not brought back")
            with open_copy(bench.kernel.ask_snapshots) as copy:
                bench.run("x[:] = 5", kernel=copy)
            if bench.ask("float(x.sum())"):
                raise SystemExit(f"round {number}: a copy changed the kernel")
    for number, row in rows:
        print(f"round {number:4}", "  ".join(f"{k} {v:.0f}" for k, v in row.items()))
    return 0


def sizes(options: argparse.Namespace) -> int:
    """Time snapshots and undo of kernels that hold so much."""
    for size in options.gigabytes:
        with Bench(options.python) as bench:
            bench.run(
                "import json as _json, numpy as np\n"
                f"x = np.random.default_rng(0).random(int({size} * 2**27))"
            )
            taken, undone = [], []
            for number in range(options.count):
                began = time.perf_counter()
                keep_state(bench.kernel, 3, f"run-{number}", "round")
                taken.append(time.perf_counter() - began)
                bench.run("x[:1000] += 1")
                snapshot = find_before(bench.kernel, f"run-{number}")
                assert snapshot is not None
                began = time.perf_counter()
                go_to(bench.kernel, snapshot)
                bench.run("pass")
                undone.append(time.perf_counter() - began)
        print(
            f"{size:g} GB: snapshot median {1000 * statistics.median(taken):.0f} ms, most "
            f"{1000 * max(taken):.0f}; undo and the next cell median "
            f"{1000 * statistics.median(undone):.0f} ms, most {1000 * max(undone):.0f}"
        )
    return 0


BRANCHED = """
value = table["value"]
parts = range(0, len(table), 10_000_000)
answer = max(float(value.iloc[at : at + 10_000_000].std()) for at in parts)
del value
table.iloc[:1_000, 1] = -1.0
"""
TABLE = """
%load_ext cellwright
import ipywidgets, numpy as np, pandas as pd
rows = int({gigabytes} * 2**26)
table = pd.DataFrame({{"key": np.arange(rows), "value": np.arange(rows, dtype=float)}})
slider = ipywidgets.IntSlider(3); seen = []
slider.observe(lambda change: seen.append(change.new), "value")
"""


class Notebook:
    """A kernel under jupyter_client's manager, in which ``%agent`` is used."""

    def __init__(self, folder: str, base_url: str) -> None:
        self.manager = KernelManager()
        settings = {"BASE_URL": base_url, "API_KEY": "none", "MODEL": "clocked"}
        environ = {f"CELLWRIGHT_{name}": value for name, value in settings.items()}
        environ["CELLWRIGHT_HOME"] = os.path.join(folder, "record")
        work = os.path.join(folder, "work")
        os.mkdir(work)
        self.manager.start_kernel(cwd=work, env={**os.environ, **ENVIRON, **environ})
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str) -> str:
        """How a cell ended."""
        reply = self.client.execute_interactive(
            code, allow_stdin=False, output_hook=lambda message: None, timeout=600
        )
        return str(reply["content"].get("ename", reply["content"]["status"]))

    def time(self, code: str) -> float:
        """Seconds that a cell takes.

        Raises:
            CellError: It ended with an error.
        """
        began = time.perf_counter()
        ended = self.run(code)
        if ended != "ok":
            raise CellError(f"{code[:60]}: {ended}")
        return time.perf_counter() - began

    @property
    def processes(self) -> list[psutil.Process]:
        """The kernel, and what came of it."""
        root = psutil.Process(self.manager.provisioner.process.pid)
        return [root, *root.children(recursive=True)]

    def processor_seconds(self) -> float:
        """What the processes that live have worked."""
        times = [process.cpu_times() for process in self.processes]
        return sum(each.user + each.system for each in times)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def branches(options: argparse.Namespace) -> int:
    """Three models side by side, and one alone."""
    service = ClockedService(2, BRANCHED, options.delay_seconds)
    with service as clocked, tempfile.TemporaryDirectory() as folder:
        notebook = Notebook(folder, clocked.base_url)
        try:
            return _branch(notebook, options.gigabytes)
        finally:
            notebook.close()


def _branch(notebook: Notebook, gigabytes: float) -> int:
    notebook.time(TABLE.format(gigabytes=gigabytes))
    notebook.time("%agent --mode auto read the table")  # loads what talks to the service
    notebook.time("%agent undo")
    spent = notebook.processor_seconds()
    alone = notebook.time("%agent --mode auto read the table")
    spent_alone = notebook.processor_seconds() - spent
    notebook.time("%agent undo")
    untouched = "assert table.iloc[0, 1] == 0.0 and 'answer' not in globals()"
    notebook.time(untouched)
    free, spent = psutil.virtual_memory().available, notebook.processor_seconds()
    beside = notebook.time('%agent branch "Read the table" --models a,b,c --mode auto')
    held = free - psutil.virtual_memory().available
    spent_beside = notebook.processor_seconds() - spent
    notebook.time(untouched)
    kept = notebook.time("%agent branch keep 2")
    notebook.time("assert table.iloc[0, 1] == -1.0 and answer > 0")
    goes_on = {
        "widgets": notebook.run("slider.value = 5; assert seen == [5]") == "ok",
        "load_ext": notebook.run("%load_ext cellwright") == "ok",
        "undo": (notebook.run("%agent undo"), notebook.run(untouched)) == ("ok", "ok"),
    }
    timer = threading.Timer(1, notebook.manager.interrupt_kernel)
    timer.start()
    goes_on["interrupt"] = notebook.run("__import__('time').sleep(60)") == "KeyboardInterrupt"
    processes = notebook.processes
    notebook.manager.restart_kernel()
    notebook.client.wait_for_ready(timeout=60)
    goes_on["restart"] = notebook.run("assert 'table' not in globals()") == "ok"
    _, living = psutil.wait_procs(processes, timeout=10)
    goes_on["all ended"] = not living
    print(
        f"{gigabytes:g} GB: one model {alone:.1f} s, three side by side {beside:.1f} s "
        f"({beside / alone:.2f} times), of the processor {spent_alone:.1f} s and "
        f"{spent_beside:.1f} s on {os.cpu_count()} cores; kept in {kept:.1f} s; "
        f"{held / 1e9:.1f} GB more memory in use with three open; goes on: {goes_on}"
    )
    return 0 if all(goes_on.values()) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the kernels")
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("sessions")
    part.set_defaults(run=sessions)
    part.add_argument("data", type=Path, help="the suite's ds1000.jsonl.gz")
    part.add_argument("--count", type=int, default=300)
    part.add_argument("--others", type=int, default=10, help="the other ways take each n-th task")
    part.add_argument("--shown", type=int, default=5, help="lines for each kind of failure")
    part = parts.add_parser("rounds")
    part.set_defaults(run=rounds)
    part.add_argument("--count", type=int, default=500)
    part = parts.add_parser("sizes")
    part.set_defaults(run=sizes)
    part.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 1, 2])
    part.add_argument("--count", type=int, default=9)
    part = parts.add_parser("branches")
    part.set_defaults(run=branches)
    part.add_argument("--gigabytes", type=float, default=5)
    part.add_argument("--delay-seconds", type=float, default=4, help="before each of 3 answers")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    return int(options.run(options))


if __name__ == "__main__":
    raise SystemExit(main())
