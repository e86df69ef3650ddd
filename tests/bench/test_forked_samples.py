"""Samples in forked kernels: the same scores, and nothing of one is left in the next."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright.bench.agents import Agent, open_agent
from cellwright.bench.checks import Assertion
from cellwright.bench.environments import InterpreterChoice, Rooms
from cellwright.bench.results import ResultFiles
from cellwright.bench.runner import (
    Equipment,
    Job,
    Laboratory,
    Runner,
    RunnerOptions,
    attempt,
    equipped,
)
from cellwright.bench.suites import Item, Suite
from cellwright.bench.suites.opening import open_suite
from cellwright.exports.sample import SampleRecord
from cellwright.kernels.provisioner import warmed_processes
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]
EXAMPLES = Path(__file__).parents[2] / "examples" / "bench"
CHOICE = InterpreterChoice(modules=("numpy", "pandas"))
DIRT = """
import builtins, json, os, random, sys, threading, time, warnings
import numpy, pandas
pandas.read_csv = json.loads = len = None
pandas.options.display.max_rows = 3
builtins.dirt = sys.dirt = numpy.dirt = 1
os.environ["DIRT"] = "1"
random.seed(1); numpy.random.seed(1)
warnings.simplefilter("error", BytesWarning); sys.setrecursionlimit(500); numpy.seterr(all="raise")
sys.path.insert(0, "/nowhere"); sys.modules["decimal"] = None
kept = open("left.txt", "w")
threading.Thread(target=time.sleep, args=(60,), name="dirt", daemon=True).start()
get_ipython().events.register("pre_run_cell", lambda info: 1 / 0)
os.chdir("/"); os.umask(0)
"""
LOOK = """
import builtins, decimal, json, os, random, sys, threading, warnings
import numpy, pandas
found = [name for name, is_dirty in {
    "modules": None in (pandas.read_csv, json.loads) or hasattr(numpy, "dirt"),
    "options": pandas.options.display.max_rows == 3, "numpy": numpy.geterr()["divide"] == "raise",
    "builtins": hasattr(builtins, "dirt") or hasattr(sys, "dirt"), "names": "kept" in globals(),
    "environment": "DIRT" in os.environ, "folder": os.getcwd() == "/", "files": os.listdir(),
    "path": "/nowhere" in sys.path, "umask": os.umask(0o22) == 0,
    "warnings": any(entry[0] == "error" and entry[2] is BytesWarning for entry in warnings.filters),
    "recursion": sys.getrecursionlimit() == 500,
    "threads": any(thread.name == "dirt" for thread in threading.enumerate()),
    "open files": any("left.txt" in os.readlink(f"/proc/self/fd/{number}")
        for number in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{number}")),
}.items() if is_dirty]
print([found, random.random(), float(numpy.random.random())])
"""


@pytest.fixture(scope="module")
def forked() -> Iterator[Rooms]:
    with equipped(Equipment(CHOICE), {}) as (rooms, notice):
        assert notice == ""
        yield rooms
    warmed_processes.close()


def test_nothing_of_one_sample_is_left_in_the_next(forked: Rooms, tmp_path: Path) -> None:
    codes = (LOOK, DIRT, LOOK, DIRT, LOOK)
    items = tuple(Item(number, "x", reference=(code,)) for number, code in enumerate(codes))
    suite, oracle, laboratory = Suite("dirty", items), open_agent("oracle"), Laboratory(forked)
    runner = Runner(tmp_path, lambda job, stop: attempt(job, laboratory, stop), RunnerOptions(2))
    ended = runner.run([Job(suite, item, oracle) for item in items])
    assert (ended.done, ended.failures) == (5, 0)
    samples = list(ResultFiles(tmp_path, "oracle", "dirty").samples())
    assert {sample.env["kernel_way"] for sample in samples} == {"forked"}
    errors = [cell.error for sample in samples for cell in sample.cells]
    assert errors == [""] * 5
    looks = [printed(sample) for sample in samples if sample.target == LOOK]
    assert [look[0] for look in looks] == [[]] * 3
    assert len({look[1] for look in looks}) == len({look[2] for look in looks}) == 3


def printed(sample: SampleRecord) -> list[object]:
    found: list[object] = ast.literal_eval(str(sample.cells[0].outputs[0]["text"]))
    return found


@pytest.mark.parametrize("agent", [open_agent("oracle"), open_agent("noop")], ids=lambda a: a.name)
def test_a_suite_scores_the_same_in_forked_and_started_kernels(agent: Agent, forked: Rooms) -> None:
    suite = open_suite(str(EXAMPLES))
    found = [
        [attempt(Job(suite, item, agent), Laboratory(rooms), Stop()).scores for item in suite.items]
        for rooms in (forked, Rooms({}))
    ]
    assert found[0] == found[1]


def test_a_folder_that_hides_a_warmed_module_gets_a_started_kernel(
    forked: Rooms, tmp_path: Path
) -> None:
    hiding = tmp_path / "pandas.py"
    hiding.write_text("mine = 1\n")
    item = Item(
        1,
        "x",
        files={"pandas.py": hiding},
        reference=("import pandas",),
        checks=(Assertion("assert pandas.mine"),),
    )
    found = attempt(
        Job(Suite("s", (item,)), item, open_agent("oracle")), Laboratory(forked), Stop()
    )
    assert (found.passed, found.env["kernel_way"]) == (True, "started")


def test_what_cannot_be_forked_is_told_and_started(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import threading, time; threading.Thread(target=time.sleep, args=[9], daemon=True).start()"
    )
    choice = InterpreterChoice(sys.executable, modules=("noisy",))
    with equipped(Equipment(choice), {"PYTHONPATH": str(tmp_path)}) as (rooms, notice):
        assert "are started, not forked: A warmed module started threads" in notice
        with rooms.open(Item(1, "x"), Stop()) as room:
            assert room.run("print(1)", 30).status == "ok"
            assert room.kernel.way == "started"
