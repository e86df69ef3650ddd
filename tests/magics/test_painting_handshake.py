"""Who is painted for: a front end that said so for this cell, and nobody else."""

from __future__ import annotations

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel, Shown
from magics.painting_front_end import PaintingFrontEnd

pytestmark = pytest.mark.kernel
ASK = "%%agent --mode auto\nAdd it up"
SCRIPT = [tool_call("run_cell", {"code": "print(41 + 1)"}), text("It is 42.")]


@pytest.fixture
def front_end(fresh: LiveKernel) -> PaintingFrontEnd:
    return PaintingFrontEnd(fresh)


def comm_messages(shown: Shown) -> list[str]:
    kinds = [m["header"]["msg_type"] for m in shown.messages]
    return [kind for kind in kinds if kind.startswith("comm")]


@pytest.mark.parametrize("metadata", [{}, {"cellId": "unannounced"}])
def test_a_front_end_that_announces_nothing_gets_no_comm_message(
    fresh: LiveKernel, metadata: dict[str, str]
) -> None:
    """Fault U10."""
    shown = fresh.run(ASK, SCRIPT, answers=[], metadata=metadata)
    assert comm_messages(shown) == []
    assert "41 + 1" in shown.markdown
    assert shown.stdout == "42\n"


def test_an_announcement_is_for_one_cell(front_end: PaintingFrontEnd) -> None:
    front_end.announce("calling")
    shown = front_end.kernel.run(ASK, SCRIPT, answers=[], metadata={"cellId": "other"})
    assert comm_messages(shown) == []
    assert "41 + 1" in shown.markdown


def test_an_announcement_is_for_one_execution(front_end: PaintingFrontEnd) -> None:
    painted = front_end.run(ASK, SCRIPT)
    assert "add" in painted.kinds
    shown = front_end.kernel.run(ASK, SCRIPT, answers=[], metadata={"cellId": "calling"})
    assert comm_messages(shown) == []


def test_two_runs_of_one_cell_are_both_painted(front_end: PaintingFrontEnd) -> None:
    code = "one = %agent --mode auto first\ntwo = %agent --mode auto second"
    painted = front_end.run(code, [*SCRIPT, *SCRIPT])
    assert painted.kinds == [*["start", "add", "begin", "end", "done"] * 2]
    assert len(painted.cells) == 2


def test_cells_that_another_client_has_executed_are_not_painted(
    front_end: PaintingFrontEnd,
) -> None:
    kernel = front_end.kernel
    mine = kernel.client.session
    kernel.client.session = mine.clone()
    kernel.client.session.session = "of-another-client"
    try:
        front_end.announce("calling")
    finally:
        kernel.client.session = mine
    shown = kernel.run(ASK, SCRIPT, answers=[], metadata={"cellId": "calling"})
    assert comm_messages(shown) == []


@pytest.mark.parametrize("data", [{"protocol": 2}, {"cell_id": ""}, {"cell_id": 7}])
def test_an_announcement_that_is_not_understood_is_closed(
    front_end: PaintingFrontEnd, data: dict[str, object]
) -> None:
    cell_id = data.pop("cell_id", "calling")
    painted = front_end.run(ASK, SCRIPT, cell_id=cell_id, **data)  # type: ignore[arg-type]
    assert painted.kinds == []
    assert "41 + 1" in painted.prose


def test_what_was_painted_before_is_told_apart_from_nonsense(front_end: PaintingFrontEnd) -> None:
    painted = front_end.run(ASK, SCRIPT, painted=["nonsense", {"cell_id": "a"}])
    assert "add" in painted.kinds


def test_a_sub_command_uses_no_comm(front_end: PaintingFrontEnd) -> None:
    front_end.run(ASK, SCRIPT)
    assert front_end.run("%agent show").kinds == []


def test_unloading_closes_what_was_announced(fresh: LiveKernel) -> None:
    front_end = PaintingFrontEnd(fresh)
    front_end.run("1")
    try:
        gone = fresh.run("%unload_ext cellwright")
        assert "comm_close" in comm_messages(gone)
        assert fresh.value("'cellwright' in get_ipython().kernel.comm_manager.targets") == "False"
    finally:
        fresh.run("%load_ext cellwright")


def test_a_cell_that_was_queued_and_painted_anew_does_not_run(front_end: PaintingFrontEnd) -> None:
    kernel = front_end.kernel
    painted = front_end.run(ASK, SCRIPT)
    old = {"cellId": "painted", "cellwright": {"run": "r", "replaced_by": painted.comm_id}}
    skipped = kernel.run("print('stale')\nstale = 1", metadata=old)
    assert skipped.stdout == ""
    assert skipped.reply["content"]["status"] == "ok"
    kernel.run(ASK, [text("Nothing.")], answers=[])
    assert "stale" not in kernel.service.requests[0].last_text


def test_a_queued_cell_runs_when_nothing_was_painted_anew(front_end: PaintingFrontEnd) -> None:
    announced = front_end.announce("calling")
    old = {"cellId": "painted", "cellwright": {"run": "r", "replaced_by": announced}}
    assert front_end.kernel.run("print('still there')", metadata=old).stdout == "still there\n"
