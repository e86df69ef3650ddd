"""The demo's notebook: a question in each cell, executed in a real kernel."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from cellwright.commands.notebook_files import notebook_node, notebook_text, write_text
from cellwright.commands.terminal import Console
from cellwright.errors import SetupError

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
        raise SetupError(
            f"The demo needs {' and '.join(missing)}.", hint="Run: pip install 'cellwright[demo]'"
        )
