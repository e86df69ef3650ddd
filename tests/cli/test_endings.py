"""How a command ends when it does not end well."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import COMMAND, Shell, keep
from recorded_runs import analysis_run

from cellwright.commands.terminal import stopping
from cellwright.stopping import Stop


def test_a_fault_of_ours_is_one_line_too(shell: Shell, tmp_path: Path) -> None:
    # A record that is a folder is nothing a person is told how to mend.
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import cellwright.commands.doctor\ndef checks(*a, **k): raise RuntimeError('lost')\n"
        "cellwright.commands.doctor.checks = checks\n"
    )
    there = Shell(shell.folder, {**shell.environ, "PYTHONPATH": str(broken)})
    done = there.run_process("doctor", "--json")
    assert done.code == 1
    assert done.err == (
        "cellwright: It failed with RuntimeError: lost. This is a fault of cellwright; "
        "CELLWRIGHT_DEBUG=1 shows where.\n"
    )
    assert done.document["error"]["type"] == "RuntimeError"


def test_a_reader_that_goes_away_is_no_reason_to_complain(shell: Shell) -> None:
    keep(shell, analysis_run())
    command = f'"{COMMAND}" schema | head -n 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=shell.folder,
        env={**os.environ, **shell.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.kernel
def test_ctrl_c_before_the_run_begins_leaves_no_run(
    shell: Shell, make_notebook: Callable[..., Path]
) -> None:
    make_notebook("print('begun')\nimport time\ntime.sleep(60)")
    process = shell.start("run", "Go", "-m", "cellwright-demo", "--mode", "auto", "--notebook",
                          "nb.ipynb", "--run-notebook", "--json")  # fmt: skip
    try:
        assert process.stderr is not None
        while "Running code cell" not in process.stderr.readline():
            pass
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "cellwright: It was interrupted.\n"
    assert '"type": "Interrupted"' in out
    assert shell.run("runs", "--json").document["total"] == 0


@pytest.mark.kernel
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_kernel_starts_ends_the_command(
    shell: Shell, tmp_path: Path, number: signal.Signals
) -> None:
    """The signal finds the command in the event loop that starts the kernel, or waiting for it."""
    spec = tmp_path / "jupyter" / "kernels" / "slow"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-c", "import time; time.sleep(60)", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "Slow", "language": "python"})
    )
    there = Shell(shell.folder, {**shell.environ, "JUPYTER_PATH": str(tmp_path / "jupyter")})
    process = there.start("run", "Go", "-m", "cellwright-demo", "--mode", "auto", "--kernel",
                          "slow", "--json")  # fmt: skip
    try:
        assert process.stderr is not None
        while "mode auto" not in process.stderr.readline():
            pass
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "cellwright: It was interrupted.\n"
    assert '"type": "Interrupted"' in out


@pytest.mark.kernel
def test_a_notebook_that_ends_its_kernel_is_named(
    shell: Shell, make_notebook: Callable[..., Path]
) -> None:
    make_notebook("import os\nos._exit(1)")
    done = shell.run("run", "Go", "-m", "cellwright-demo", "--mode", "auto", "--notebook",
                     "nb.ipynb", "--run-notebook")  # fmt: skip
    assert done.code == 2
    assert "The kernel ended while it ran cell 'cell-1' of the notebook." in done.err


def test_the_first_ctrl_c_asks_to_stop_and_the_second_insists() -> None:
    stop, before = Stop(), signal.getsignal(signal.SIGINT)
    with stopping(stop):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
