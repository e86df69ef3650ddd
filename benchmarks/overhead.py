"""What cellwright adds between a model's last byte and its next request, and what loading costs.

    python benchmarks/overhead.py [--steps 20] [--repeats 5] [--json]

Prints medians of one run on this machine. The server is a process of its own that answers at
once; a step runs ``x = 1`` in a folder of 100 files, for what a cell does to files is looked for.
"bare" is the openai SDK and jupyter_client with nothing in between.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clocked_service import ClockedService, Exchange
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from cellwright.record.events import CellOutput

TOOL = {
    "type": "function",
    "function": {
        "name": "run_cell",
        "description": "Run code.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
        },
    },
}


CLOCK = "import time; print(time.monotonic())"
Lane = Callable[[], list[str]]
"""Runs the agent once; what its cells printed, in order."""


@dataclass(frozen=True)
class Timed:
    """One run of a lane."""

    exchanges: list[Exchange]
    printed: list[str]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CELLWRIGHT_HOME"] = str(Path(folder, "store"))
        os.chdir(_project(folder))
        figures = _measure(options.steps, options.repeats)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<58} {value:>9.2f}")


def _project(folder: str) -> Path:
    """A folder as people have it: what a cell did to its files costs time to find out."""
    project = Path(folder, "project")
    for number in range(100):
        file = project / f"part-{number % 5}" / f"{number}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a,b\n1,2\n")
    return project


def _measure(steps: int, repeats: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    for lane, runs in _series(ClockedService(steps), repeats).items():
        gaps = [_gaps(run.exchanges) for run in runs]
        figures[f"{lane}: last byte to next request, ms"] = statistics.median(
            gap for one in gaps for gap in one
        )
        figures[f"{lane}: growth over {steps} steps, ms"] = statistics.median(
            _growth(one) for one in gaps
        )
    for lane, runs in _series(ClockedService(steps, CLOCK), repeats).items():
        waits = [wait for run in runs for wait in _waits(run)]
        figures[f"{lane}: last byte to the cell's first line, ms"] = statistics.median(waits)
    return figures | _load_figures(repeats)


def _series(clocked: ClockedService, repeats: int) -> dict[str, list[Timed]]:
    """Every lane in turn, so that a machine whose speed drifts is fair to all."""
    with (
        clocked as service,
        _bare_lane(service) as bare,
        _client_lane(service) as client,
        _shell_lane(service) as shell,
    ):
        lanes: dict[str, Lane] = {"bare": bare, "client": client, "shell": shell}
        for warm_up in lanes.values():
            warm_up()
        service.take()
        runs: dict[str, list[Timed]] = {lane: [] for lane in lanes}
        for _ in range(repeats):
            for lane, run in lanes.items():
                printed = run()
                runs[lane].append(Timed(service.take(), printed))
    return runs


def _waits(run: Timed) -> list[float]:
    """From the last byte of each answer to the moment its cell printed."""
    pairs = zip(run.exchanges, run.printed, strict=False)
    return [(float(printed) - exchange.sent) * 1_000 for exchange, printed in pairs]


def _gaps(exchanges: list[Exchange]) -> list[float]:
    pairs = zip(exchanges, exchanges[1:], strict=False)
    return [(after.received - before.sent) * 1_000 for before, after in pairs]


def _growth(gaps: list[float]) -> float:
    """How much longer the last steps take than the first, by a straight line through all."""
    slope = statistics.linear_regression(range(len(gaps)), gaps).slope
    return slope * (len(gaps) - 1)


@contextmanager
def _kernel() -> Iterator[BlockingKernelClient]:
    manager = KernelManager()
    manager.start_kernel(stderr=subprocess.DEVNULL)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@contextmanager
def _bare_lane(service: ClockedService) -> Iterator[Lane]:
    import openai

    sdk = openai.OpenAI(base_url=service.base_url, api_key="x", max_retries=0)
    with _kernel() as kernel:

        def run() -> list[str]:
            messages: list[Any] = [{"role": "user", "content": "go"}]
            printed: list[str] = []
            while True:
                name, call_id, arguments = "", "", ""
                stream = sdk.chat.completions.create(
                    model="clocked", messages=messages, tools=[TOOL], stream=True
                )
                for chunk in stream:
                    for call in chunk.choices[0].delta.tool_calls or [] if chunk.choices else []:
                        name = name or call.function.name or ""
                        call_id = call_id or call.id or ""
                        arguments += call.function.arguments or ""
                if not name:
                    return printed
                printed.append(_checked(kernel, json.loads(arguments)["code"]))
                function = {"name": name, "arguments": arguments}
                call = {"id": call_id, "type": "function", "function": function}
                messages.append({"role": "assistant", "tool_calls": [call]})
                messages.append({"role": "tool", "tool_call_id": call_id, "content": "(no output)"})

        yield run


@contextmanager
def _client_lane(service: ClockedService) -> Iterator[Lane]:
    from cellwright.kernels.fresh import start_kernel
    from cellwright.llm.openai import OpenAILM
    from cellwright.record.messages import Parameters
    from cellwright.session.conversation import Conversation
    from cellwright.session.questions import RunContext, RunRequest
    from cellwright.settings import Limits, ServiceSettings
    from cellwright.store.database import open_database
    from cellwright.store.runs import RunStore
    from cellwright.text.redaction import Redactor

    database = open_database(Path(os.environ["CELLWRIGHT_HOME"]) / "client.sqlite")
    model = OpenAILM(ServiceSettings(base_url=service.base_url, api_key="x"))
    kernel = start_kernel()
    redactor = Redactor.from_environment(os.environ, "x")
    place = RunContext(kernel, RunStore(database), redactor, "bench")

    def run() -> list[str]:
        question = RunRequest(
            "go", Parameters("clocked"), mode="auto", limits=Limits(step_limit=1_000)
        )
        events = Conversation(place).ask(question, model)
        return [_printed(event) for event in events if isinstance(event, CellOutput)]

    try:
        yield run
    finally:
        kernel.close()
        database.close()


@contextmanager
def _shell_lane(service: ClockedService) -> Iterator[Lane]:
    setup = f"""
        import os
        os.environ["CELLWRIGHT_BASE_URL"] = {service.base_url!r}
        os.environ["CELLWRIGHT_API_KEY"] = "x"
        os.environ["CELLWRIGHT_MODEL"] = "clocked"
        %load_ext cellwright
    """
    with _kernel() as kernel:
        _checked(kernel, textwrap.dedent(setup))

        def run() -> list[str]:
            _checked(kernel, "%agent reset")
            _checked(kernel, "%%agent --mode auto --max-steps 1000 --out run\ngo")
            listed = "print(*[o.text for c in run.cells for o in c.cell.outputs], sep='', end='')"
            return _checked(kernel, listed).split()

        yield run


def _printed(event: CellOutput) -> str:
    return event.message.text if event.message.kind == "stream" else ""


def _checked(kernel: BlockingKernelClient, code: str) -> str:
    lines: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "error":
            raise RuntimeError("\n".join(content["traceback"]))
        if message["msg_type"] == "stream":
            lines.append(content["text"])

    kernel.execute_interactive(code, output_hook=keep, timeout=120)
    return "".join(lines)


LOAD = """
import json, sys, time
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
before, started = resident(), time.perf_counter()
get_ipython().run_line_magic("load_ext", "cellwright")
seconds = time.perf_counter() - started
print(json.dumps([seconds * 1000, resident() - before, "openai" in sys.modules]))
"""


def _load_figures(repeats: int) -> dict[str, float]:
    rows = []
    for _ in range(max(3, repeats)):
        with _kernel() as kernel:
            rows.append(json.loads(_checked(kernel, LOAD)))
    return {
        "load_ext beyond IPython, ms": statistics.median(row[0] for row in rows),
        "load_ext adds to the kernel, MB": statistics.median(row[1] for row in rows),
        "openai imported by load_ext (0 is no)": float(any(row[2] for row in rows)),
    }


if __name__ == "__main__":
    sys.exit(main())
