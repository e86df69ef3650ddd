"""What cellwright's runner costs, side by side with inspect_ai and nbclient.

    python benchmarks/runner.py [--rounds 3] [--samples 200] [--python PATH] [--only NAME] [--json]

Each measurement runs in a process of its own, the rivals in turn with ours, and medians of the
rounds are printed. Processor time is of the measuring process; kernels are counted apart. The
services are stand-ins that answer at once and report usage; kernels are real. A rival that is not
installed is passed over. Other work on the machine spoils the samples a second and the start of a
kernel, hardly the processor time.

Goals: 5 ms a trivial sample, 8 ms a tool turn, 12 samples of ten cells a second in forked kernels
on two cores and 4 in started ones, a forked kernel with pandas in 120 ms, a record of 3 kB, and
150 MB for 5,000 samples.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured_samples import (
    ANSWER,
    CELLS,
    TURNS,
    WORKERS,
    Setting,
    family_seconds,
    own_seconds,
    spent,
    timed,
)
from rival_runners import inspect_trivial, inspect_turns, nbclient_cells

MANY_SAMPLES = 5_000
NEEDS = {"inspect_ai": "inspect_ai", "nbclient": "nbclient"}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    label: str
    figure: str
    unit: str
    goal: str


ROWS = (
    Row("processor time of a trivial sample", "trivial_ms", "ms", "≤ 5"),
    Row("processor time of a tool turn", "turn_ms", "ms", "≤ 8"),
    Row("  the kernel's own, for the same", "turn_kernel_ms", "ms", ""),
    Row("samples of 10 cells a second, forked", "forked_a_second", "", "≥ 12"),
    Row("  processor time of all, a sample", "forked_ms", "ms", ""),
    Row("  by an agent, checked and recorded", "agent_a_second", "", ""),
    Row("samples of 10 cells a second, started", "fresh_a_second", "", "≥ 4"),
    Row("  processor time of all, a sample", "fresh_ms", "ms", ""),
    Row("a forked kernel with pandas", "fork_pandas_ms", "ms", "≤ 120"),
    Row("  fastest", "fork_pandas_fastest_ms", "ms", ""),
    Row("record of a trivial sample", "record_bytes", "bytes", "≤ 3000"),
    Row("memory at 5,000 trivial samples", "memory_megabytes", "MB", "≤ 150"),
)


class AnsweringLM:
    """Says the same in each run: first so many tool calls, one a reply, then the answer."""

    def __init__(self, codes: tuple[str, ...] = ()) -> None:
        self._codes = codes

    def stream(self, prompt: Any, stop: Any) -> Generator[Any, None, Any]:
        from cellwright.record.events import TextDelta
        from cellwright.record.messages import AssistantMessage, Reply, ToolCall, ToolMessage, Usage

        done = sum(isinstance(message, ToolMessage) for message in prompt.messages)
        usage = Usage(100, 10)
        if done < len(self._codes):
            call = ToolCall(f"call_{done}", "run_cell", json.dumps({"code": self._codes[done]}))
            return Reply(AssistantMessage("", (call,)), "tool_calls", usage, "mock")
        yield TextDelta(ANSWER)
        return Reply(AssistantMessage(ANSWER), "stop", usage, "mock")

    def capabilities(self, model: str) -> Any:
        from cellwright.llm import Capabilities

        return Capabilities()


def run_ours(count: int, root: Path, how: Any, codes: tuple[str, ...] = ()) -> None:
    """Run so many samples; all of them must pass."""
    from cellwright.bench.agents import model_agent
    from cellwright.bench.checks import AnswerCheck
    from cellwright.bench.runner import Job, Laboratory, Runner, RunnerOptions, attempt
    from cellwright.bench.suites import Item, Suite
    from cellwright.settings import Limits

    limits = Limits(step_limit=len(codes) + 2)
    checks = (AnswerCheck(name="answer", value=42),)
    items = tuple(Item(n, "What is it?", limits=limits, checks=checks) for n in range(count))
    suite = Suite("measured", items)
    agent = model_agent(AnsweringLM(codes), "mock")
    laboratory = Laboratory(how.rooms)
    runner = Runner(
        root, lambda job, stop: attempt(job, laboratory, stop), RunnerOptions(workers=how.workers)
    )
    ended = runner.run(Job(suite, item, agent) for item in items)
    if ended.passed != count:
        raise SystemExit(f"{ended.passed} of {count} samples passed")


@dataclass(frozen=True)
class How:
    """With which kernels, and how many at a time."""

    rooms: Any
    workers: int = 1


@contextmanager
def our_rooms(python: str, *, forked: bool) -> Iterator[Any]:
    from cellwright.bench.environments import InterpreterChoice
    from cellwright.bench.runner import Equipment, equipped

    with equipped(Equipment(InterpreterChoice(python, is_forked=forked)), {}) as (rooms, notice):
        if notice:
            raise SystemExit(notice)
        yield rooms


def ours_trivial(setting: Setting) -> dict[str, float]:
    from cellwright.bench.environments import Rooms

    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run_ours(10, Path(folder, "first"), How(Rooms({})))
        with spent(own_seconds, found):
            run_ours(setting.samples, Path(folder, "second"), How(Rooms({})))
        files = Path(folder, "second").rglob("*.jsonl")
        size = sum(file.stat().st_size for file in files)
    return {
        "trivial_ms": 1000 * found[0] / setting.samples,
        "record_bytes": size / setting.samples,
    }


def ours_turns(setting: Setting) -> dict[str, float]:
    count = max(2, setting.samples // 20)
    codes = tuple(f"x = {number}" for number in range(TURNS))
    own: list[float] = []
    family: list[float] = []
    with our_rooms(setting.python, forked=True) as rooms, tempfile.TemporaryDirectory() as folder:
        run_ours(2, Path(folder, "first"), How(rooms), codes)
        for turns in (1, TURNS):
            with spent(family_seconds, family), spent(own_seconds, own):
                run_ours(count, Path(folder, str(turns)), How(rooms), codes[:turns])
    turns = count * (TURNS - 1)
    ours = (own[1] - own[0]) / turns
    return {
        "turn_ms": 1000 * ours,
        "turn_kernel_ms": 1000 * ((family[1] - family[0]) / turns - ours),
    }


def ours_cells(setting: Setting, *, forked: bool) -> dict[str, float]:
    """As many cells as a notebook has, run one after the other in a fresh kernel each time."""
    from cellwright.bench.suites import Item
    from cellwright.stopping import Stop

    name = "forked" if forked else "fresh"
    count = max(WORKERS, setting.samples // (4 if forked else 12))
    item = Item(1, "x", setup=tuple(f"x = {number}" for number in range(CELLS)))
    with our_rooms(setting.python, forked=forked) as rooms:

        def run(number: int) -> None:
            with rooms.open(item, Stop()):
                pass

        return timed(run, count, name)


def ours_agent(setting: Setting) -> dict[str, float]:
    """The same cells, each the tool call of a reply; with a check, and written down."""
    count = max(WORKERS, setting.samples // 4)
    codes = tuple(f"x = {number}" for number in range(CELLS))
    with our_rooms(setting.python, forked=True) as rooms, tempfile.TemporaryDirectory() as folder:
        run_ours(2, Path(folder, "first"), How(rooms), codes)
        began = time.perf_counter()
        run_ours(count, Path(folder, "second"), How(rooms, WORKERS), codes)
        return {"agent_a_second": count / (time.perf_counter() - began)}


def ours_fork(setting: Setting) -> dict[str, float]:
    from cellwright.bench.suites import Item
    from cellwright.stopping import Stop

    item = Item(1, "x", setup=("import pandas as pd; pd.DataFrame({'a': [1]}).sum();",))
    found = []
    with our_rooms(setting.python, forked=True) as rooms:
        for _ in range(12):
            began = time.perf_counter()
            with rooms.open(item, Stop()):
                found.append(1000 * (time.perf_counter() - began))
    return {
        "fork_pandas_ms": statistics.median(found[2:]),
        "fork_pandas_fastest_ms": min(found),
    }


def ours_memory(setting: Setting) -> dict[str, float]:
    from cellwright.bench.environments import Rooms

    with tempfile.TemporaryDirectory() as folder:
        run_ours(MANY_SAMPLES, Path(folder), How(Rooms({}), WORKERS))
    return {"memory_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}


MEASUREMENTS: dict[str, Callable[[Setting], dict[str, float]]] = {
    "cellwright trivial": ours_trivial,
    "inspect_ai trivial": inspect_trivial,
    "cellwright turns": ours_turns,
    "inspect_ai turns": inspect_turns,
    "cellwright forked": lambda setting: ours_cells(setting, forked=True),
    "cellwright agent": ours_agent,
    "cellwright fresh": lambda setting: ours_cells(setting, forked=False),
    "nbclient fresh": nbclient_cells,
    "cellwright fork": ours_fork,
    "cellwright memory": ours_memory,
}
ONCE = ("cellwright memory",)


def measured(name: str, options: argparse.Namespace) -> dict[str, float]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, "--samples", str(options.samples)]
    if options.python:
        command += ["--python", options.python]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stdout}{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def gathered(options: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """The figures of every round: contender, figure, values."""
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(options.rounds):
        for name in MEASUREMENTS:
            contender = name.partition(" ")[0]
            needed = NEEDS.get(contender)
            if options.only and options.only not in name or (number and name in ONCE):
                continue
            if needed and importlib.util.find_spec(needed) is None:
                if not number:
                    print(f"{needed} is not installed; {name!r} is left out", file=sys.stderr)
                continue
            for figure, value in measured(name, options).items():
                found.setdefault(contender, {}).setdefault(figure, []).append(value)
    return found


def show(medians: dict[str, dict[str, float]]) -> None:
    names = list(medians)
    print(f"{'':40}" + "".join(f"{name:>14}" for name in names) + f"{'goal':>10}")
    for row in ROWS:
        values = [medians[name].get(row.figure) for name in names]
        if any(value is not None for value in values):
            shown = "".join(f"{'–' if v is None else format(v, '.1f'):>14}" for v in values)
            print(f"{row.label + (f' ({row.unit})' if row.unit else ''):40}{shown}{row.goal:>10}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--python", default="", help="interpreter of our kernels")
    parser.add_argument("--only", default="", help="only measurements with this in their name")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        setting = Setting(options.samples, options.python)
        print(json.dumps(MEASUREMENTS[options.measure](setting)))
        return
    figures = gathered(options)
    medians = {
        contender: {figure: statistics.median(values) for figure, values in found.items()}
        for contender, found in figures.items()
    }
    if options.json:
        print(json.dumps({"load": os.getloadavg()[0], **medians}))
        return
    print(f"medians of {options.rounds}; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    show(medians)


if __name__ == "__main__":
    main()
