"""``cellwright demo``: the main job from end to end, on shipped data and without a key."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation, KernelChoice
from cellwright.commands.notebook_files import (
    new_notebook,
    notebook_node,
    notebook_text,
    write_text,
)
from cellwright.commands.records import make_redactor, open_store
from cellwright.commands.terminal import Console, stopping, table
from cellwright.commands.workplace import make_place, open_kernel, run_document
from cellwright.errors import SetupError
from cellwright.exports import html, notebook
from cellwright.installation import missing_extra
from cellwright.record.run_record import RecordedExecution, RunRecord
from cellwright.record.values import from_dict, safe_json, to_dict
from cellwright.session.replaying import Difference, compare, replay
from cellwright.session.services import DEMO_MODEL
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore

# The demo's notebook: a question in each cell, executed in a real kernel.


DATA = "sales.csv"
NOTEBOOK = "demo.ipynb"
CELL_SECONDS = 300
INTRODUCTION = f"""# cellwright: the main job

A model works in **this** kernel: it writes cells, runs them, reads what they show and goes on.
Below, `%%agent` is asked three times about `{DATA}`. The last cell uses what it left behind.
"""
DEMO_NOTE = """
The answers come from the *demo model*: rules, not a language model. It needs no key and no network
and speaks to cellwright as a real service does. For a real model, set `OPENAI_API_KEY` and change
`-m cellwright-demo`.
"""
MAIN_PROMPT = "Which month had the best revenue, by region? Plot it and leave the table in `best`."
PROMPTS = (
    "Profile the data: what is in it, and what is missing?",
    MAIN_PROMPT,
    "Clean the missing values and leave the table in `clean`.",
)
LAST_CELL = "best.head()"


@dataclass(frozen=True)
class Executed:
    """The notebook after its execution."""

    error: str
    """What ended it early; empty when every cell ran."""
    has_result: bool
    """Whether the last cell, which needs the model's variable, showed something."""


def set_up(folder: Path, model: str, *, is_demo_model: bool) -> Any:
    """Put the data and the notebook into the folder; the notebook."""
    with as_file(files("cellwright.demo") / "data" / DATA) as data:
        shutil.copyfile(data, folder / DATA)
    introduction = INTRODUCTION + (DEMO_NOTE if is_demo_model else "")
    sources = ["%load_ext cellwright", *(_magic(prompt, model) for prompt in PROMPTS), LAST_CELL]
    cells = [_cell("introduction", "markdown", introduction)]
    cells += [_cell(f"cell-{n}", "code", source) for n, source in enumerate(sources, start=1)]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": spec},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    write_text(folder / NOTEBOOK, notebook_text(content))
    return notebook_node(content)


def execute(notebook: Any, folder: Path, environ: Mapping[str, str], console: Console) -> Executed:
    """Run the notebook from top to bottom and leave it executed, however it ends."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    told = _Told(console, len(notebook.cells))
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=told.begins,
        on_cell_complete=told.ended,
    )
    error = ""
    try:
        client.execute(env={**os.environ, **environ})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:
        error = str(failure).strip().splitlines()[-1]
    write_text(folder / NOTEBOOK, notebook_text(notebook))
    return Executed(error, bool(notebook.cells[-1].outputs))


class _Told:
    """Tells which cell runs, and how long each took."""

    def __init__(self, console: Console, count: int) -> None:
        self._console = console
        self._count = count
        self._started = 0.0

    def begins(self, cell: Any, cell_index: int) -> None:
        self._started = time.monotonic()
        if cell.cell_type == "code":
            asked = cell.source.splitlines()[-1]
            self._console.note(f"  cell {cell_index + 1} of {self._count}: {asked}")

    def ended(self, cell: Any, cell_index: int) -> None:
        seconds = time.monotonic() - self._started
        if cell.cell_type == "code" and seconds >= 2:
            self._console.note(f"    took {seconds:.1f} s")


def _magic(prompt: str, model: str) -> str:
    return f"%%agent -m {shlex.quote(model)} --mode auto --files {DATA}\n{prompt}"


def _cell(name: str, cell_type: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"id": name, "cell_type": cell_type, "metadata": {}, "source": source}
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def check_extras() -> None:
    """See that what the demo needs is installed.

    Raises:
        SetupError: Something is not.
    """
    from importlib.util import find_spec

    missing = [name for name in ("matplotlib", "nbclient") if find_spec(name) is None]
    if missing:
        raise missing_extra(f"The demo needs {' and '.join(missing)}.", "demo")


PICTURES = ("image/png", "image/svg+xml")
COLUMNS = ("RUN", "STATUS", "<STEPS>", "<CELLS>", "<REPAIRED>", "<TOKENS>", "<SECONDS>", "ASKED")


@dataclass(frozen=True)
class DemoResult:
    """What the demo came to."""

    folder: Path
    executed: Executed
    records: tuple[RunRecord, ...]
    main: RunRecord
    replayed: RunRecord
    differences: tuple[Difference, ...]


def demo(invocation: Invocation) -> int:
    """Ask in a notebook, then record, replay and export; tell what was made."""
    options, console = invocation.options, invocation.console
    check_extras()
    if options.lab and find_spec("jupyterlab") is None:
        raise SetupError(
            "JupyterLab is not installed.", hint="Run: pip install jupyterlab, or omit --lab"
        )
    folder = _make_folder(options.out)
    invocation = replace(invocation, settings=replace(invocation.settings, home=folder / "record"))
    model = options.model or DEMO_MODEL
    console.note(f"Writing {NOTEBOOK} and running it in a real kernel; {model} answers.")
    blank = set_up(folder, model, is_demo_model=model == DEMO_MODEL)
    home = {"CELLWRIGHT_HOME": str(folder.resolve() / "record")}
    executed = execute(blank, folder, home, console)
    made = _make(invocation, folder, executed)
    if made is None:
        reason = executed.error or "no run was recorded"
        missing = [f"{folder / NOTEBOOK} did not get to its main question: {reason}"]
        console.result({"ok": False, "missing": missing}, "")
    else:
        missing = _missing(made, is_demo_model=model == DEMO_MODEL)
        _report(invocation, made, missing)
    for complaint in missing:
        console.complain(f"cellwright: {complaint.rstrip('.')}.")
    has_opened = not options.lab or _open_lab(invocation, folder)
    return COMPLETED if has_opened and not missing else NOT_COMPLETED


def _make_folder(given: str | None) -> Path:
    name = given or f"demo-output/{time.strftime('%Y%m%d-%H%M%S')}"
    folder = Path(name).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"The folder {name!r} cannot be made: {error.strerror}.", hint="Choose another --out."
        ) from error
    if any(folder.iterdir()):
        raise SetupError(f"The folder {name!r} is not empty.", hint="Choose another --out.")
    return folder


def _make(invocation: Invocation, folder: Path, executed: Executed) -> DemoResult | None:
    """Replay and export what the notebook recorded; None where its main question was not asked."""
    console = invocation.console
    with open_store(invocation) as store:
        ids = [summary.run_id for summary in store.list(100)]
        records = tuple(store.record(run_id) for run_id in reversed(ids))
        main = next((record for record in records if MAIN_PROMPT in record.prompt), None)
        if main is None:
            return None
        console.note("Replaying the main run in a fresh kernel, without a model.")
        replayed = _replay(invocation, store, main, folder)
    made = DemoResult(folder, executed, records, main, replayed, compare(main, replayed))
    console.note("Writing the record and the reports.")
    _write_products(invocation, made)
    return made


def _replay(invocation: Invocation, store: RunStore, main: RunRecord, folder: Path) -> RunRecord:
    stop, blank = Stop(), new_notebook(main.start_cells)
    with open_kernel(KernelChoice(folder.resolve()), blank, stop) as kernel, stopping(stop):
        place = make_place(invocation, kernel, store, blank)
        for _ in replay(main, replace(place, lane="replay"), stop):
            pass
    return store.record(store.last_started)


def _write_products(invocation: Invocation, made: DemoResult) -> None:
    redactor, folder = make_redactor(invocation.settings), made.folder
    main, replayed = _portable(made.main, folder), _portable(made.replayed, folder)
    write_text(folder / "run.json", _json(to_dict(main)))
    write_text(folder / "run.ipynb", notebook.export(main, redactor))
    write_text(folder / "report.html", html.export(main, redactor))
    write_text(folder / "replayed.ipynb", notebook.export(replayed, redactor))
    result = {
        **run_document(replayed),
        "source_run": main.run_id,
        "differences": [to_dict(difference) for difference in made.differences],
    }
    write_text(folder / "replay.json", _json(result))


def _portable(record: RunRecord, folder: Path) -> RunRecord:
    """The record without the names of this machine's folders, which say nothing elsewhere."""
    places = {str(folder.resolve()): ".", sys.prefix: "python", sys.base_prefix: "python"}
    text = json.dumps(safe_json(to_dict(record)))
    for place, name in places.items():
        text = text.replace(json.dumps(place)[1:-1], name)
    portable: RunRecord = from_dict(RunRecord, json.loads(text))
    return portable


def _json(document: object) -> str:
    return json.dumps(safe_json(document), ensure_ascii=False, indent=1) + "\n"


def repaired_errors(record: RunRecord) -> int:
    """How many failed executions were followed by one that went well."""
    failed = waiting = 0
    for run in record.executions:
        status = run.execution.status if run.execution is not None else ""
        if status == "error":
            waiting += 1
        elif status == "ok":
            failed, waiting = failed + waiting, 0
    return failed


def _missing(made: DemoResult, *, is_demo_model: bool) -> list[str]:
    """What the demo should have shown and did not."""
    complaints = {
        f"the notebook ended early: {made.executed.error}": bool(made.executed.error),
        f"the main run ended with {made.main.status}": made.main.status != "completed",
        "no plot was drawn": not any(_has_picture(run) for run in made.main.executions),
        "the variable 'best' was not left behind": not made.executed.has_result,
        f"the replay differs in {len(made.differences)} places": bool(made.differences),
        # Another model may well make no mistake.
        "no error came up and was repaired": is_demo_model
        and not any(map(repaired_errors, made.records)),
    }
    return [text for text, is_so in complaints.items() if is_so]


def _has_picture(run: RecordedExecution) -> bool:
    bundles = (output.data for output in run.outputs if hasattr(output, "data"))
    return any(mime in bundle for bundle in bundles for mime in PICTURES)


def _report(invocation: Invocation, made: DemoResult, missing: list[str]) -> None:
    paths = {name: str(made.folder / file) for name, file in _products()}
    runs = [
        {**run_document(record), "repaired": repaired_errors(record), "prompt": record.prompt}
        for record in (*made.records, made.replayed)
    ]
    document = {
        "ok": not missing,
        "missing": missing,
        "runs": runs,
        "main_run": made.main.run_id,
        "replay": made.replayed.run_id,
        "differences": len(made.differences),
        "paths": paths,
    }
    lines = [table(COLUMNS, [_row(record) for record in (*made.records, made.replayed)]), ""]
    lines += [f"{name:<18}{path}" for name, path in paths.items()]
    invocation.console.result(document, "\n".join(lines))


def _products() -> Iterator[tuple[str, str]]:
    yield "notebook", NOTEBOOK
    yield "recorded run", "run.json"
    yield "run as notebook", "run.ipynb"
    yield "report", "report.html"
    yield "replay", "replay.json"
    yield "replayed notebook", "replayed.ipynb"
    yield "record", "record"


def _row(record: RunRecord) -> tuple[str, ...]:
    asked = "(replay, no model)" if record.source_run else record.prompt.splitlines()[0]
    return (
        record.run_id,
        record.status,
        str(len(record.steps)),
        str(len(record.cells)),
        str(repaired_errors(record)),
        f"{record.usage.total_tokens:,}",
        f"{record.duration_seconds:.1f}",
        asked,
    )


def _open_lab(invocation: Invocation, folder: Path) -> bool:
    """Open the notebook in JupyterLab until the person ends it; whether that worked."""
    environ = {**os.environ, "CELLWRIGHT_HOME": str(invocation.settings.home.resolve())}
    # Not `jupyter lab`, which takes the first one on the path, perhaps another Python's.
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", NOTEBOOK]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # In a container the person is often root; JupyterLab would refuse to start.
        command.append("--allow-root")
    with subprocess.Popen(command, cwd=folder, env=environ) as lab:
        code = None
        while code is None:
            # JupyterLab has the same Ctrl-C and asks about it; it ends when the person says so.
            with contextlib.suppress(KeyboardInterrupt):
                code = lab.wait()
    if code > 0:
        invocation.console.complain(f"cellwright: JupyterLab ended with code {code}.")
    return code <= 0
