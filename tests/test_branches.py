"""What is planned before a kernel is copied, and what is said where that cannot be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cellwright.errors import KernelError, SetupError
from cellwright.kernels.copies import open_copy
from cellwright.kernels.going_back import (
    ChangedFile,
    ChangedFiles,
    Snapshot,
    explain_missing,
    find_before,
    find_files,
    find_later,
    keep_state,
    missing_step,
    news_of,
    note_for_model,
    note_of_files,
    put_files_back,
    redone_text,
    undone_text,
    with_recorded,
)
from cellwright.record.events import CellStarted, Event, ToolStarted
from cellwright.record.run_record import RecordedEvent, calls_from
from cellwright.session.branches import check_memory, plan_branches
from cellwright.session.questions import RunRequest

ASKED = RunRequest("Sort it.")


def test_a_question_is_asked_three_times_where_nothing_else_is_said() -> None:
    plans = plan_branches(ASKED)
    marks = [plan.request.branch for plan in plans]
    assert [mark and (mark.number, mark.count, mark.label) for mark in marks] == [
        (1, 3, ""),
        (2, 3, ""),
        (3, 3, ""),
    ]
    assert {plan.request.prompt for plan in plans} == {"Sort it."}


def test_models_and_approaches_are_tried_each_with_each() -> None:
    plans = plan_branches(ASKED, models=("a", "b"), approaches=("quick", "safe"))
    asked = [(p.label, p.request.parameters.model, p.request.prompt[-5:]) for p in plans]
    assert asked == [
        ("a · quick", "a", "quick"),
        ("a · safe", "a", " safe"),
        ("b · quick", "b", "quick"),
        ("b · safe", "b", " safe"),
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"count": 1}, "1 branches cannot be compared"),
        ({"count": 9}, "9 branches cannot be compared"),
        ({"count": 2, "models": ("a", "b", "c")}, "3 models and approaches do not fit into 2"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SetupError, match=why):
        plan_branches(ASKED, **given)


def test_memory_is_looked_at_before_anything_is_copied() -> None:
    check_memory(3, 4_000_000_000, 3_000_000_000)
    with pytest.raises(SetupError, match="memory for 2 copies of this kernel, not for 3"):
        check_memory(3, 4_000_000_000, 2_900_000_000)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"obstacles": ["polars holds threads", "a timer runs"]}, "polars holds threads; a timer"),
        ({"refused": "the copy did not answer"}, "the copy did not answer"),
    ],
)
def test_what_stands_in_the_way_of_a_copy_is_named(
    answer: Mapping[str, Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KernelError, match=why):
        open_copy(lambda function, arguments: answer)
    assert list(tmp_path.iterdir()) == []


class Forking:
    """A kernel that answers what it is told to."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.asked = answers, list[str]()

    def ask_snapshots(self, function: str, arguments: Mapping[str, Any]) -> Any:
        self.asked.append(function)
        answer = self.answers[function]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_state_is_found_by_the_run_that_came_next() -> None:
    row = {"id": "a", "label": "Sort", "run_id": "run-1", "step": 0, "is_later": False}
    row.update(at=1.0, changes={})
    kernel = Forking(list=[row, {**row, "id": "b", "is_later": True}])
    before, later = find_before(kernel, "run-1"), find_later(kernel)
    assert before is not None
    assert later is not None
    assert (before.snapshot_id, later.snapshot_id) == ("a", "b")
    assert find_before(kernel, "run-2") is None


def test_no_snapshot_is_never_the_reason_that_a_run_fails() -> None:
    kernel = Forking(take=KernelError("It is busy."), list=KernelError("It is busy."))
    keep_state(kernel, 3, "run-1", "Sort it.")
    assert kernel.asked == ["take"]
    assert find_before(kernel, "run-1") is None
    keep_state(kernel, 0, "run-1", "Sort it.")
    keep_state(object(), 3, "run-1", "Sort it.")
    assert kernel.asked == ["take", "list"]
    assert find_later(object()) is None


@pytest.mark.parametrize(
    ("kernel", "kept", "why"),
    [
        (Forking(), 0, "CELLWRIGHT_SNAPSHOTS is 0"),
        (object(), 3, "this kernel cannot be forked"),
        (Forking(obstacles={"obstacles": ["polars holds threads"]}), 3, "polars holds threads"),
        (Forking(obstacles={"obstacles": []}), 3, "no snapshot from before it is kept"),
        (Forking(obstacles=KernelError("It is busy.")), 3, "It is busy."),
    ],
)
def test_an_undo_that_cannot_be_done_says_why(kernel: object, kept: int, why: str) -> None:
    assert explain_missing(kernel, kept) == why


def test_the_state_before_a_cell_is_found_and_one_that_is_not_kept_is_named() -> None:
    row = {"id": "a", "label": "Sort", "run_id": "run-1", "step": 0, "is_later": False}
    row.update(at=1.0, changes={})
    kernel = Forking(list=[row, {**row, "id": "b", "step": 3}, {**row, "id": "c", "run_id": "x"}])
    found = [find_before(kernel, "run-1", step) for step in (0, 1, 3, 2)]
    assert [each and each.snapshot_id for each in found] == ["a", "a", "b", None]
    assert missing_step(kernel, "run-1", 2, 3).hint == "There are states before cell 1, cell 3."
    threads = Forking(list=[], obstacles={"obstacles": ["polars holds threads"]})
    assert "polars holds threads" in missing_step(threads, "run-1", 2, 3).message
    snapshot = found[2]
    assert snapshot is not None
    news = {"run_id": "run-1", "is_undone": True, "step": 3, "files": ["a.csv"]}
    assert news_of(snapshot, [ChangedFile("a.csv")]) == news
    assert "cell 3 of run run-1 and what came" in note_for_model("run-1", is_undone=True, step=3)
    assert "I have undone run run-1" in note_for_model("run-1", is_undone=True)
    assert news_of(snapshot)["files"] is None
    redone = note_for_model("run-1", is_undone=False, step=3)
    assert "I have redone run run-1 up to its cell 3" in redone
    assert "until I run them again" in note_for_model("run-1", is_undone=False, by_cells=True)


def test_files_that_can_be_put_back_are_offered_and_the_others_named() -> None:
    snapshot = Snapshot("a", "Sort", "run-1", 0, is_later=False, taken_at=1.0)
    names = [f"{number}.csv" for number in range(7)]
    stays = with_recorded(ChangedFiles(), names)
    assert "4.csv and 2 more. Databases" in undone_text(snapshot, stays)
    assert "files" not in undone_text(snapshot, ChangedFiles())
    assert undone_text(snapshot, stays).endswith("%agent redo goes forth again.")
    lost = undone_text(snapshot, stays, lost="polars holds threads")
    assert lost.endswith(
        "There is no redo: what was there until now could not be kept, as polars holds threads."
    )
    back = (ChangedFile("a", "changed"), ChangedFile("b", "deleted"), ChangedFile("c", "made"))
    files = ChangedFiles(back, (ChangedFile("d", why="it is larger than 50 MB"),))
    assert with_recorded(files, ["a", "d"]) == files
    named = "a, b (comes back), c (is removed). "
    left = "These files stay as they are now: d (it is larger than 50 MB). "
    offer = f"%agent undo --files puts 3 files back: {named}{left}Databases"
    assert offer in undone_text(snapshot, files)
    done = f"These files are put back: {named}{left}Databases"
    assert done in undone_text(snapshot, files, are_back=True)
    one = ChangedFiles(back[1:2])
    later = replace(snapshot, is_later=True)
    assert "%agent redo --files puts 1 file forth: b (comes back)." in redone_text(later, one)
    assert "put forth: a, b" in redone_text(later, files, are_back=True)
    assert redone_text(later, ChangedFiles()).endswith("had left them.")
    partly = [replace(later, changes={"run-1": step}) for step in (3, 0)]
    assert [redone_text(each, ChangedFiles()) for each in partly] == [
        "Variables are as they were before cell 3 of run run-1, which stays undone.",
        "Variables are as they were before run run-1, which stays undone.",
    ]
    told = note_for_model("run-1", is_undone=True, files=["a", "b"])
    assert "So are these files: a, b. Others are not taken back." in told
    assert "so are these files: a" in note_for_model("run-1", is_undone=False, files=["a"])
    alone = ChangedFiles(back[:2], run_id="run-1", step=2)
    assert "before cell 2 of run run-1: a, b" in note_of_files(alone)
    assert "forth, as cell 2 of run run-1 and" in note_of_files(alone, is_forth=True)


def test_a_kernel_that_does_not_answer_or_keeps_none_has_no_files_to_put_back() -> None:
    row = {"path": "a", "was": "made"}
    answer = {"back": [row], "stays": [], "run_id": "run-1", "step": 0}
    kernel = Forking(describe_files=answer, put_back=KernelError("Busy."))
    found = ChangedFiles((ChangedFile("a", "made"),), run_id="run-1")
    assert find_files(kernel, "run-1", 1) == found
    with pytest.raises(KernelError, match="Busy"):
        put_files_back(kernel, "run-1")
    assert find_files(Forking(describe_files=KernelError("Busy.")), "run-1") == ChangedFiles()
    assert find_files(object()) == put_files_back(object()) == ChangedFiles()


def test_the_calls_from_one_of_the_cells_on() -> None:
    events: list[Event] = [
        ToolStarted("a", "run_cell", {}),
        CellStarted("1"),
        ToolStarted("b", "read_notebook", {}),
        ToolStarted("c", "run_cell", {}),
        CellStarted("2"),
        CellStarted("1"),
    ]
    recorded = [RecordedEvent("r", n, 0.0, event) for n, event in enumerate(events)]
    assert [calls_from(recorded, step) for step in (0, 1, 2, 3)] == [
        {"a", "b", "c"},
        {"a", "b", "c"},
        {"c"},
        {"c"},
    ]
