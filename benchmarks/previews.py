"""Whether a preview shows what a cell then does, and leaves the kernel and its files alone.

    python benchmarks/previews.py ds1000.jsonl.gz [--count 400] [--python PATH]

The programs of DS-1000, a public set of data science tasks that is not ours, set up the state of a
session (``benchmarks/snapshots.py``). A cell with the task's own solution, which also draws random
numbers, reads on in a generator and writes a file, is previewed and then run. What the preview
showed is compared with what the cell shows: outputs, a hash of every variable, the end, the names
that changed; and the kernel with what it was before the preview. The exit status is 1 where a
preview changed anything.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from snapshots import LIBRARIES, Bench, CellError, set_up

from cellwright.errors import KernelError
from cellwright.kernels import CellRequest, GoingCell
from cellwright.record.events import ToolStarted
from cellwright.record.outputs import Execution, fold
from cellwright.session.previewing import Preview, PreviewOutput, preview, show_output
from cellwright.stopping import Stop

MADE = "made_by_the_cell.txt"
CELL = """{solution}
print(sorted((n, _digest(v)) for n, v in _own(globals()).items() if n not in ("lines", "rows")))
print(random.random(), np.random.rand(), next(lines))
open({made!r}, "w").write("x")
"""
FRAME = re.compile(r"ipykernel_\d+|/ipykernel/\d+")
"""Names a cell's file by the process, in warnings."""


def shown(outputs: tuple[PreviewOutput, ...], execution: Execution) -> tuple[Any, ...]:
    """What is compared of a cell."""
    texts = [(FRAME.sub("ipykernel", output.text), output.picture) for output in outputs]
    return texts, execution.status, [variable.name for variable in execution.changed]


def run(bench: Bench, code: str) -> tuple[Any, ...]:
    """Run the cell in the kernel itself."""
    cell = GoingCell(bench.kernel, CellRequest("cell", code), Stop(), lambda output: output)
    cell.wait(Stop())
    return shown(tuple(map(show_output, fold(cell.messages))), cell.execution())


def main() -> int:
    """Compare, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("data")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with gzip.open(options.data, "rt", encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    tasks = [task for task in tasks if task["metadata"]["library"] in LIBRARIES]
    chosen = tasks[:: max(1, len(tasks) // options.count)][: options.count]
    seconds: list[float] = []
    same = touched = refused = left_out = 0
    with Bench(options.python) as bench:
        made = Path(bench.folder, MADE)
        for task in chosen:
            index = task["metadata"]["problem_id"]
            try:
                bench.run(*set_up(task))
                before = bench.ask("_state(globals())")
            except CellError:
                left_out += 1
                bench.begin_anew()
                continue
            code = CELL.format(solution=task["reference_code"], made=MADE)
            call = ToolStarted("call", "run_cell", {"code": code}, "", "execute")
            began = time.perf_counter()
            try:
                tried: Preview = preview(call, bench.kernel.ask_snapshots, Stop())
            except KernelError as error:
                print(f"{index}: refused: {error}")
                refused += 1
                bench.begin_anew()
                continue
            seconds.append(time.perf_counter() - began)
            if made.exists() or bench.ask("_state(globals())") != before:
                print(f"{index}: the preview changed something")
                touched += 1
            if shown(tried.outputs, tried.execution) == run(bench, code):
                same += 1
            else:
                print(f"{index}: the cell showed something else")
            made.unlink(missing_ok=True)
            bench.run("for _name in _own(globals()): del globals()[_name]")
    print(
        f"{len(seconds)} previews: {same} showed what the cell then did, {touched} changed "
        f"anything, {refused} refused, median {statistics.median(seconds):.2f} s; "
        f"{left_out} of {len(chosen)} tasks cannot be set up with this interpreter"
    )
    return 1 if touched else 0


if __name__ == "__main__":
    sys.exit(main())
