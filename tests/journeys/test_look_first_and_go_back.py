"""An analyst looks before she allows, changes her mind, and tries several ways, in one kernel.

A preview, files, undo, redo, the best of several attempts and a rerun each have tests of their own;
here each finds the kernel as the one before left it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import Answer, Request, Wire, text, tool_call
from kernels.test_sandbox import CAN_SANDBOX
from magics.live_kernel import LiveKernel, loaded

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone"),
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]

BEST = re.compile(r"best = (\d)")
CLEAN = """\
sales = sales[sales.amount > 0]
sales.to_csv('sales.csv', index=False)
total = int(sales.amount.sum())
total"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[LiveKernel]:
    with loaded(tmp_path) as live:
        yield live


def run_cell(code: str) -> Answer:
    return tool_call("run_cell", {"code": code})


def totals(*found: int) -> Answer:
    """A model whose attempts each find another total."""
    left = list(found)

    def answer(request: Request) -> Wire:
        last = request.messages[-1]
        if last["role"] == "tool":
            return text(f"Found.\n{BEST.findall(str(request.messages))[-1]}")(request)
        return run_cell(f"best = {left.pop(0)}; print(best)")(request)

    return answer


def test_what_was_looked_at_allowed_undone_and_tried_again_leaves_kernel_and_files_right(
    kernel: LiveKernel, tmp_path: Path
) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("region,amount\nNorth,3\nSouth,-1\nEast,4\n")
    before = file.read_bytes()
    kernel.run(
        "import pandas as pd; sales = pd.read_csv('sales.csv'); same = sales; steps = iter('abc')"
    )

    # She looks, and does not like it.
    looked = kernel.run(
        "%agent Clean the file", [run_cell(CLEAN), text("All right.")], answers=["p", "keep South"]
    )
    shown = [data["text/plain"] for data in looked.displays if "text/markdown" not in data]
    assert shown == [
        "Preview: nothing of this has happened.",
        "7",
        "Variables: sales, total\nFiles: sales.csv (changed)",
    ]
    assert file.read_bytes() == before
    assert kernel.value("len(sales), same is sales, 'total' in globals()") == "(3, True, False)"

    # She looks again, allows it, and what happens is what she saw.
    kernel.run(
        "%agent Clean it all the same",
        [run_cell(CLEAN), text("It is clean.")],
        answers=["preview", "y"],
    )
    assert kernel.value("total, len(sales), same is sales, next(steps)") == "(7, 2, False, 'a')"
    cleaned = file.read_bytes()
    assert cleaned == b"region,amount\nNorth,3\nEast,4\n"

    # She changes her mind, with the file, and back.
    undone = kernel.run("%agent undo --files", answers=[])
    assert "sales.csv" in undone.displays[-1]["text/plain"]
    assert file.read_bytes() == before
    assert kernel.value("len(sales), same is sales, 'total' in globals()") == "(3, True, False)"
    kernel.run("%agent redo --files", answers=[])
    assert file.read_bytes() == cleaned
    assert kernel.value("total, len(sales), same is sales") == "(7, 2, False)"
    kernel.run("%agent undo --files", answers=[])
    assert kernel.value("len(sales), next(steps), next(steps)") == "(3, 'a', 'b')"

    # Several ways at once, of which two agree.
    kernel.run(
        "%agent --best-of 3 --choose vote --mode auto What is the total?",
        totals(6, 7, 7),
        answers=[],
    )
    assert kernel.value("best, len(sales), same is sales, next(steps)") == "(7, 3, True, 'c')"
    assert file.read_bytes() == before
    kept = kernel.last_run.run_id

    # A look, in the kernel that was a copy a moment ago.
    looked = kernel.run(
        "%agent And now?", [run_cell("best += 1; best"), text("No.")], answers=["p", "n"]
    )
    assert [d["text/plain"] for d in looked.displays if "text/markdown" not in d][1] == "8"
    assert kernel.value("best") == "7"
    kernel.run(f"%agent show {kept}")
    for _ in range(2):  # the question that she refused, and the attempts
        assert kernel.value("best") == "7"
        kernel.run("%agent undo", answers=[])
    assert kernel.value("'best' in globals(), len(sales), same is sales") == "(False, 3, True)"
    assert file.read_bytes() == before

    # Nothing is lost of what was said, and each run that was begun has its end.
    listed = kernel.run("%agent runs")
    assert "running" not in str(listed.results)
