import pytest

from cellwright.record.messages import Parameters
from cellwright.record.outputs import (
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    Output,
    StreamOutput,
)
from cellwright.record.run_record import RecordedExecution, RunRecord
from cellwright.session.replaying import compare


def record(*outputs: Output, status: str = "ok", cells: int = 1) -> RunRecord:
    ended = Execution(status, 0.1)  # type: ignore[arg-type]
    execution = RecordedExecution("a", "x", "agent", tuple(outputs), ended)
    return RunRecord("r", "completed", "p", Parameters("m"), executions=(execution,) * cells)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (StreamOutput("stdout", "at 0x7f1234abcdef"), StreamOutput("stdout", "at 0x7f99999999aa")),
        (
            ExecuteResult({"text/plain": "1"}, {}, 3),
            ExecuteResult({"text/plain": "1"}, {}, 9),
        ),
        (
            DisplayData({"image/png": "AAAA", "text/plain": "<Figure>"}),
            DisplayData({"image/png": "BBBB", "text/plain": "<Figure>"}),
        ),
        (ErrorOutput("E", "v", ("a",)), ErrorOutput("E", "v", ("b",))),
    ],
)
def test_what_differs_between_two_runs_of_the_same_code_is_no_difference(
    old: Output, new: Output
) -> None:
    assert compare(record(old), record(new)) == ()


def test_another_text_is_a_difference_with_both_texts() -> None:
    (found,) = compare(record(StreamOutput("stdout", "1")), record(StreamOutput("stdout", "2")))
    assert (found.cell_number, found.what, found.recorded, found.replayed) == (
        1,
        "output",
        "1",
        "2",
    )


def test_another_status_is_a_difference() -> None:
    (found,) = compare(record(), record(status="error"))
    assert (found.what, found.recorded, found.replayed) == ("status", "ok", "error")


def test_a_picture_that_is_missing_is_a_difference() -> None:
    old = record(DisplayData({"image/png": "AAAA"}))
    assert [d.what for d in compare(old, record(DisplayData({})))] == ["output"]


def test_cells_that_are_missing_or_new_are_differences() -> None:
    assert [d.what for d in compare(record(cells=3), record())] == ["missing cell"] * 2
    assert [d.what for d in compare(record(), record(cells=2))] == ["extra cell"]


def test_long_texts_are_cut_for_people() -> None:
    (found,) = compare(record(StreamOutput("stdout", "x" * 900)), record())
    assert len(found.recorded) < 400
