"""What a kernel forked from a warmed process costs, beside one that is started as usual.

    python benchmarks/forked_kernels.py [--repeats 20] [--python PATH] [--json]

Starts kernels of three kinds in turn with cellwright's own client: as usual, forked by way of
jupyter_client's manager, and forked without one, as samples of a benchmark are. Prints medians of
this machine: milliseconds until the kernel answers, until a cell with ``import pandas`` has
ended, and until it is gone again; the time of ten small cells; its processor time and its
own memory. The goal is a kernel with pandas in 120 ms. Other work on the machine spoils all but
the processor time and the memory; the fastest of all starts is given too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psutil

from cellwright.kernels import CellRequest
from cellwright.kernels.forks import Forks
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.provisioner import warm_up
from cellwright.record.outputs import Execution
from cellwright.stopping import Stop

PROVISIONERS = {"normal": "local-provisioner", "forked": "cellwright-fork"}
KINDS = (*PROVISIONERS, "bench")
WARM_CELL = "import pandas as pd; pd.DataFrame({'a': [1, 2]}).sum();"
SMALL_CELLS = tuple(f"x = {number}" for number in range(10))


@dataclass(frozen=True)
class Start:
    """One kernel's life; times in milliseconds."""

    answers: float
    has_pandas: float
    """From the same beginning."""
    ten_cells: float
    closed: float
    processor: float
    """Of the kernel until pandas was there."""
    own_megabytes: float
    """Shared with no other process."""


@contextmanager
def kernelspecs(python: str) -> Iterator[None]:
    """Kernelspecs for as long as they are needed."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, provisioner in PROVISIONERS.items():
            spec = Path(folder, "kernels", kind)
            spec.mkdir(parents=True)
            content = {
                "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": kind,
                "language": "python",
                "metadata": {"kernel_provisioner": {"provisioner_name": provisioner}},
            }
            spec.joinpath("kernel.json").write_text(json.dumps(content))
        os.environ["JUPYTER_PATH"] = folder
        yield


def run(kernel: FreshKernel, code: str) -> None:
    """Run one cell; it must not fail."""
    running = kernel.execute(CellRequest("cell", code), Stop(), lambda output: output)
    ended: Execution | None = None
    while ended is None:
        try:
            next(running)
        except StopIteration as finished:
            ended = finished.value
    if ended.status != "ok":
        raise SystemExit(f"{code!r} failed: {ended.error}")


def start(kind: str, python: str) -> FreshKernel:
    """A kernel of this kind."""
    if kind in PROVISIONERS:
        return start_kernel(tempfile.gettempdir(), kernel_name=kind)
    return Forks((python,)).start(tempfile.gettempdir(), os.environ)


def measure(kind: str, python: str) -> Start:
    """Start a kernel, use it, end it."""
    marks = [time.perf_counter()]
    with start(kind, python) as kernel:
        marks.append(time.perf_counter())
        run(kernel, WARM_CELL)
        marks.append(time.perf_counter())
        process = psutil.Process(kernel.describe().process_id)
        spent, memory = process.cpu_times(), process.memory_full_info()
        marks.append(time.perf_counter())
        for code in SMALL_CELLS:
            run(kernel, code)
        marks.append(time.perf_counter())
    marks.append(time.perf_counter())
    began, answers, has_pandas, looked, small, closed = (1000 * mark for mark in marks)
    return Start(
        answers - began,
        has_pandas - began,
        small - looked,
        closed - small,
        1000 * (spent.user + spent.system),
        memory.uss / 1e6,
    )


def summary(starts: list[Start]) -> dict[str, float]:
    """The median of every figure, and the fastest start with pandas."""
    rows = [asdict(start) for start in starts]
    found = {f.name: statistics.median(row[f.name] for row in rows) for f in fields(Start)}
    return {**found, "fastest_has_pandas": min(start.has_pandas for start in starts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the kernels")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with kernelspecs(options.python):
        began = time.perf_counter()
        warm_up(options.python)
        warming = 1000 * (time.perf_counter() - began)
        starts: dict[str, list[Start]] = {kind: [] for kind in KINDS}
        for kind in KINDS:
            measure(kind, options.python)  # reads every file once
        for _ in range(options.repeats):
            for kind, found in starts.items():
                found.append(measure(kind, options.python))
    report = {kind: summary(found) for kind, found in starts.items()}
    if options.json:
        print(json.dumps({"warming": warming, "load": os.getloadavg()[0], **report}))
        return
    print(f"medians of {options.repeats}; warming took {warming:.0f} ms, "
          f"the load of the machine is {os.getloadavg()[0]:.1f}")  # fmt: skip
    for name in report["normal"]:
        values = "  ".join(f"{kind} {report[kind][name]:7.1f}" for kind in KINDS)
        print(f"{name:20} {values}")


if __name__ == "__main__":
    main()
