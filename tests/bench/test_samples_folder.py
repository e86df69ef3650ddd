"""Folders of samples: what a process that was killed leaves behind is removed by the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif("sys.platform == 'win32'")

HOLD = """
import sys, tempfile
from cellwright.bench.environments import own_samples_folder
made = tempfile.mkdtemp(dir=own_samples_folder())
print(made, flush=True)
sys.stdin.read()
"""


def hold(place: Path) -> subprocess.Popen[str]:
    """A process with a folder of a sample, until its standard input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(
    tmp_path: Path,
) -> None:
    with ExitStack() as processes:
        killed, living = (processes.enter_context(hold(tmp_path)) for _ in range(2))
        left, kept = folder_of(killed), folder_of(living)
        (left / "data.csv").write_text("n\n1\n")
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
        assert left.is_dir()
        third = processes.enter_context(hold(tmp_path))
        own = folder_of(third)
        assert not left.parent.exists()
        assert kept.is_dir()
        for process in (living, third):
            process.communicate(timeout=30)
        assert list(own.parent.parent.iterdir()) == []
