"""The command line with streams that are no terminal: in this process, or as people start it.

Most tests ask what a command answers, and a process of its own tells nothing more of that; it
takes a second or two. What processes alone can show (the entry point, signals, what comes out at
the end) is started as one. Kernels of commands in this process are forked from a warmed one, which
``tests/kernels`` shows to be the same.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake_service import MODEL, FakeService
from quick_kernels import kernels_forked, without_forks

from cellwright.cli import main
from cellwright.record.events import Event
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

COMMAND = Path(sysconfig.get_path("scripts")) / "cellwright"


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What stdout holds, all of it one JSON document."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Starts commands in a folder, with settings of their own."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, typed: str = "") -> Done:
        """Run a command to its end, in this process."""
        streams = [_stream(typed), _stream(), _stream()]
        with kernels_forked(), pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name, value in self.environ.items():
                patch.setenv(name, value)
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            try:
                code = main(arguments)
            except SystemExit as ended:  # the parser's way to end
                code = int(ended.code or 0)
        return Done(code, *(_written(stream) for stream in streams[1:]))

    def run_process(self, *arguments: str, typed: str = "", seconds: float = 90) -> Done:
        """Run a command to its end, as a process."""
        done = subprocess.run(
            [str(COMMAND), *arguments],
            cwd=self.folder,
            env={**without_forks(), **self.environ},
            input=typed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            [str(COMMAND), *arguments],
            cwd=self.folder,
            env={**without_forks(), **self.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def asking(self, service: FakeService) -> Shell:
        """The same with a service that answers."""
        settings = {
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_API_KEY": "no-key",
            "CELLWRIGHT_MODEL": MODEL,
        }
        return Shell(self.folder, {**self.environ, **settings})


def _stream(content: str = "") -> io.TextIOWrapper:
    """A stream that is no terminal and, as those of a process do, speaks UTF-8."""
    return io.TextIOWrapper(io.BytesIO(content.encode()), "utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def notebook(*cells: Mapping[str, Any] | str, **metadata: Any) -> dict[str, Any]:
    """The content of a notebook file; text stands for a code cell."""
    made = [
        {
            "id": f"cell-{number}",
            "cell_type": "code",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": cell,
        }
        if isinstance(cell, str)
        else cell
        for number, cell in enumerate(cells, start=1)
    ]
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def sources(path: Path) -> Sequence[str]:
    """The sources of the cells of a notebook file."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells]


def keep(shell: Shell, events: Iterable[Event]) -> str:
    """Put a run with these events into the shell's record; its id."""
    database = open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        return RunStore(database).start(*events).run_id
    finally:
        database.close()
