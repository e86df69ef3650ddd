"""Undo over the protocol of kernels: where it can be done, and where it says why not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from kernels.lanes import kernel_environment, run
from kernels.test_client import make_spec

from cellwright.errors import KernelError, SetupError
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.going_back import (
    Snapshot,
    explain_missing,
    find_before,
    find_later,
    go_to,
    keep_state,
    list_snapshots,
)
from cellwright.kernels.obstacles import find_obstacles

pytestmark = pytest.mark.kernel
linux = pytest.mark.skipif("sys.platform != 'linux'")


@linux
def test_who_asks_a_kernel_for_the_first_time_leaves_no_error_of_the_persons(
    fresh: FreshKernel,
) -> None:
    keep_state(fresh, 3, "run-1", "first prompt")
    assert fresh.probe("last_error", {}) is None
    run(
        fresh, "import sys; del sys.modules['_cellwright.probe']; sys.modules['_cellwright'] = None"
    )
    assert fresh.probe("last_error", {}) is None, "asked anew, as after a restart"


@linux
def test_a_client_keeps_states_goes_back_and_forth_and_goes_on(fresh: FreshKernel) -> None:
    run(fresh, "rows = [1]; same = rows")
    keep_state(fresh, 3, "run-1", "first\nprompt")
    run(fresh, "rows.append(2)")
    keep_state(fresh, 3, "run-2", "second prompt")
    run(fresh, "rows = None")
    assert [(s.run_id, s.label) for s in list_snapshots(fresh)] == [
        ("run-1", "first prompt"),
        ("run-2", "second prompt"),
    ]
    first = find_before(fresh, "run-1")
    assert first is not None
    session = fresh.session
    go_to(fresh, first)
    assert run(fresh, "print(rows, same is rows)").text == "[1] True\n"
    assert fresh.session == session, "to its clients it is the kernel that it was"
    assert [row["name"] for row in fresh.probe("list_variables", {"pattern": "row*"})] == ["rows"]
    later = find_later(fresh)
    assert later is not None
    go_to(fresh, later)
    assert run(fresh, "print(rows, same)").text == "None [1, 2]\n"
    again = find_before(fresh, "run-1")
    assert again is not None
    assert again.snapshot_id != first.snapshot_id
    with pytest.raises(SetupError, match="not there any more"):
        go_to(fresh, first)
    keep_state(fresh, 3, "run-3", "another run")
    assert find_later(fresh) is None
    assert explain_missing(fresh, 0) == "CELLWRIGHT_SNAPSHOTS is 0"
    assert explain_missing(fresh, 3) == "no snapshot from before it is kept"


def test_a_kernel_of_another_language_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = str(Path(__file__).parent / "echo_kernel.py")
    make_spec(tmp_path, "echo", [sys.executable, module, "-f", "{connection_file}"], "echo")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with start_kernel(tmp_path, kernel_environment(), "echo") as kernel:
        keep_state(kernel, 3, "run-1", "prompt")
        assert run(kernel, "hello").text == "hello"
        assert list_snapshots(kernel) == ()
        assert "cannot be forked" in explain_missing(kernel, 3)
        with pytest.raises(KernelError, match="cannot be forked"):
            go_to(kernel, Snapshot("1", "", "run-1", 0, is_later=False, taken_at=0.0))


@pytest.mark.parametrize(
    ("platform", "reason"),
    [("linux", "not a kernel of ipykernel"), ("darwin", "darwin cannot fork a running kernel")],
)
def test_where_there_is_no_such_kernel_it_is_said(
    platform: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    (found,) = find_obstacles()
    assert reason in found
    assert explain_missing(object(), 3) == "this kernel cannot be forked"
    assert explain_missing(None, 3) == "no snapshot from before it is kept", "nothing ran in it yet"
