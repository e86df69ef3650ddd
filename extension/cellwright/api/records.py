"""Recorded runs for programs: opened, replayed, asked of another model, exported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from cellwright.api.answers import Answer
from cellwright.api.session import RunSettings, Session, StrPath, record_of, run_again
from cellwright.commands.notebook_files import check_target, new_notebook
from cellwright.commands.records import make_redactor
from cellwright.errors import SetupError
from cellwright.exports.formats import FORMAT_TABLE, find_format_of_file, write_run
from cellwright.llm.keys import load_settings
from cellwright.record.events import Event
from cellwright.record.run_record import RunRecord
from cellwright.session.questions import RunContext
from cellwright.session.replaying import Difference, choose_other, compare
from cellwright.session.replaying import replay as start_replay
from cellwright.session.replaying import rerun as start_rerun
from cellwright.session.run import Run
from cellwright.settings import checked_mode
from cellwright.stopping import Stop


@dataclass(frozen=True)
class Replay:
    """A recorded run that ran again, held against its record. Stability: provisional."""

    run: Run
    """The new run."""
    differences: tuple[Difference, ...]
    """Where it did not do what the record says; each has ``what``, ``recorded``, ``replayed``."""

    @property
    def is_same(self) -> bool:
        """Whether the code did again what it did then."""
        return not self.differences


def load_run(run_id: str = "last") -> Run:
    """A recorded run. Stability: stable.

    Args:
        run_id: Its id, a part of it, or ``last``.

    Raises:
        SetupError: There is no such run, or there are several.
    """
    return Run(record_of(run_id))


def replay(run: str | Run | Answer, *, folder: StrPath | None = None, kernel: str = "") -> Replay:
    """Run a recorded run's code again in a fresh kernel; no model is asked. Stability: stable.

    The code was allowed to run then, so nobody is asked now; what was refused stays refused.

    Args:
        run: A run, its id or a part of it, or ``last``.
        folder: Where the kernel works; None: where the run did.
        kernel: Name of an installed kernel; empty: ``python3``.

    Raises:
        SetupError: There is no such run, its folder is gone, or it holds no answers.
        KernelError: The kernel does not start.
        KeyboardInterrupt: Ctrl-C.
    """
    old = record_of(run)
    with Session(mode="auto", kernel=kernel, folder=_folder(old, folder)) as session:

        def start(place: RunContext, stop: Stop) -> Iterator[Event]:
            return start_replay(old, replace(_as_it_was(place, old), lane="replay"), stop)

        new = run_again(session, start).run
    return Replay(new, compare(old, new.record))


def rerun(run: str | Run | Answer, model: str = "", **options: Unpack[RunSettings]) -> Answer:
    """Ask the same question from the same start again, of any model. Stability: stable.

    Cells that had run before the question run again first.

    Args:
        run: A run, its id or a part of it, or ``last``.
        model: Who answers; empty: the model of the run.
        **options: As for ``Session``. Mode and folder are the run's unless they are given.

    Raises:
        SetupError: There is no such run, no such model, or its folder is gone.
        KernelError: The kernel does not start.
        KeyboardInterrupt: Ctrl-C.
    """
    old = record_of(run)
    mode = options.get("mode") or checked_mode(old.mode or "ask", "the run's mode")
    old = replace(old, mode=mode)
    folder = _folder(old, options.get("folder"))
    options["mode"], options["folder"] = mode, folder
    with Session(model or old.parameters.model, **options) as session:
        resources = session._resources
        choice = choose_other(old, resources.options.model, resources.options.settings, folder)
        service = resources.service(choice.model)

        def start(place: RunContext, stop: Stop) -> Iterator[Event]:
            return start_rerun(old, _as_it_was(place, old), service, stop, choice)

        return run_again(session, start)


def export(run: str | Run | Answer, target: StrPath) -> Path:
    """Write a run as a file; the file's path. Stability: stable.

    Args:
        run: A run, its id or a part of it, or ``last``.
        target: A file whose end says the format (``.ipynb``, ``.html``, ``.eval``, ``.jsonl``,
            ``.agentbench.json``, ``.otlp.jsonl``, ``.csv``, ``.parquet``), or the name of a
            format (``ipynb``, ``html``, ``inspect``, ``openai``, ``agentbench``, ``otel``,
            ``csv``, ``parquet``) for a file in the current folder that has the run's id.

    Raises:
        SetupError: There is no such run or format, or the file cannot be written.
    """
    record = record_of(run)
    name = os.fspath(target)
    if name in FORMAT_TABLE:
        name = record.run_id + FORMAT_TABLE[name].ending
    format_name = find_format_of_file(name)
    path = check_target(name)
    redactor = make_redactor(load_settings())
    return write_run(record, format_name, path, redactor)[0]


def _folder(old: RunRecord, given: StrPath | None) -> Path:
    folder = Path(given or old.cwd or ".").expanduser()
    if folder.is_dir():
        return folder
    raise SetupError(
        f"The folder {str(folder)!r} that the run was in is not there.",
        hint="Name another one with its files: folder=….",
    )


def _as_it_was(place: RunContext, old: RunRecord) -> RunContext:
    return replace(place, notebook=new_notebook(old.start_cells).memory)
