"""What a model is given of a cell."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import pytest
from PIL import Image

from cellwright.record.messages import ImagePart, TextPart
from cellwright.record.outputs import (
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    Execution,
    ExecutionStatus,
    FileChange,
    Output,
    OutputMessage,
    StreamOutput,
    VariableSummary,
    fold,
)
from cellwright.text.truncation import estimate_tokens
from cellwright.tools import ToolLimits
from cellwright.tools.summaries import OutputSummary, summarise

LIMITS = ToolLimits()
OK = Execution("ok", 0.1)


def figure(width: int = 547) -> DisplayData:
    buffer = io.BytesIO()
    Image.new("L", (width, 413)).save(buffer, "PNG")
    data = base64.b64encode(buffer.getvalue()).decode()
    return DisplayData({"image/png": data, "text/plain": "<Figure size 640x480 with 1 Axes>"})


def read(*outputs: Output, execution: Execution | None = OK) -> str:
    return words(summarise(outputs, execution, LIMITS, name="c1"))


def words(summary: OutputSummary) -> str:
    (first, *_) = summary.parts
    assert isinstance(first, TextPart)
    return first.text


def test_a_model_that_sees_no_pictures_is_told_what_figures_say() -> None:
    drawn = replace(OK, figures=('"Sales", 2 lines (north; south)',))
    line = '[figure, which you cannot see: "Sales", 2 lines (north; south)]'
    assert line in read(figure(), execution=drawn)
    seeing = summarise([figure()], drawn, LIMITS, sees_images=True, name="c1")
    assert "cannot see" not in words(seeing)


def test_prints_results_and_displays_come_in_order() -> None:
    shown = read(
        StreamOutput("stdout", "a\n"),
        DisplayData({"text/plain": "b", "text/html": "<b>b</b>"}),
        StreamOutput("stderr", "careful\n"),
        ExecuteResult({"text/plain": "4"}),
    )
    assert shown == "a\nb\n[stderr] careful\n4"


def test_a_cell_that_says_nothing_tells_what_it_changed() -> None:
    changed = (
        VariableSummary("best", "DataFrame", "12 rows x 3 columns"),
        VariableSummary("pd", "module", "pandas"),
        VariableSummary("x", "int", "3"),
    )
    files = (
        FileChange("plot.png", "created", 12_300),
        FileChange("old.csv", "deleted"),
    )
    shown = read(execution=replace(OK, changed=changed, removed=("tmp",), files=files))
    assert shown == (
        "(no output)\n"
        "changed: best DataFrame 12 rows x 3 columns; x int 3\n"
        "removed: tmp\n"
        "files: created plot.png (12.3 kB); deleted old.csv"
    )


def test_many_changes_are_counted_and_long_values_cut() -> None:
    changed = tuple(VariableSummary(f"v{n}", "str", "x" * 500) for n in range(30))
    shown = read(execution=replace(OK, changed=changed))
    assert shown.endswith("; … 18 more")
    assert estimate_tokens(shown) < 300


def test_the_summary_of_a_large_value_is_preferred_for_the_result_alone() -> None:
    table = {"text/plain": "   a  ...  z\n0  1  ...  2", "text/html": "<table/>"}
    shown = read(
        DisplayData(table),
        ExecuteResult(table),
        execution=replace(OK, result_summary="DataFrame 3 rows x 26 columns"),
    )
    assert shown == f"{table['text/plain']}\nDataFrame 3 rows x 26 columns"
    long = {"text/plain": "[" + "1, " * 1_000 + "]"}
    assert read(ExecuteResult(long), execution=replace(OK, result_summary="list of 1000")) == (
        "list of 1000"
    )


def test_a_small_value_is_given_whole_whatever_its_summary() -> None:
    values = "north    3\nsouth    5\nname: the end..., dtype: int64"
    execution = replace(OK, result_summary="Series 2 values")
    assert read(ExecuteResult({"text/plain": values}), execution=execution) == values


@pytest.mark.parametrize(
    ("bundle", "token_limit"),
    [
        (
            {
                "text/plain": "<IPython.lib.display.Audio object>",
                "text/html": "<audio><source src='data:" + "A" * 100_000 + "'></audio>",
            },
            5,
        ),
        (
            {
                "text/plain": "Pipeline(steps=[])",
                "text/html": "<style>" + "x" * 50_000 + "</style>",
            },
            8,
        ),
        ({"text/plain": "<Figure>", "image/png": "QUJD" * 5_000}, 8),
    ],
)
def test_what_flooded_other_agents_costs_next_to_nothing(
    bundle: dict[str, str], token_limit: int
) -> None:
    assert estimate_tokens(read(ExecuteResult(bundle))) <= token_limit


def test_a_long_output_is_cut_once_and_can_be_read_on() -> None:
    printed = "\n".join(f"line {n}" for n in range(10_000))
    summary = summarise(
        [StreamOutput("stdout", "first\n"), StreamOutput("stderr", printed)], OK, LIMITS, name="c1"
    )
    assert estimate_tokens(words(summary)) < LIMITS.output_tokens + 50
    ((name, text),) = ((cut.name, cut.text) for cut in summary.cut)
    assert name == "c1"
    assert text == f"first\n[stderr] {printed}"
    line = int(words(summary).partition('read_output("c1", ')[2].partition(")")[0])
    kept = words(summary).partition("\n[…")[0].splitlines()
    assert kept == text.splitlines()[: line - 1]


def test_many_outputs_together_keep_within_the_step() -> None:
    outputs = [StreamOutput("stdout", f"{n} " + "x" * 3_000) for n in range(20)]
    summary = summarise(outputs, OK, LIMITS, name="c1")
    assert estimate_tokens(words(summary)) < LIMITS.step_tokens + 50
    assert words(summary).startswith("0 x")
    assert "19 x" in words(summary)
    assert summary.cut[0].text.count("\n") == 19


def test_nothing_is_kept_for_reading_on_without_a_name() -> None:
    long = StreamOutput("stdout", "x" * 100_000)
    assert summarise([long], OK, LIMITS).cut == ()


def test_equal_outputs_are_said_once() -> None:
    assert read(*[DisplayData({"text/plain": "again"})] * 5) == "again (repeated 5×)"
    assert read(*[DisplayData({"text/plain": "again"})] * 2) == "again\nagain"


def test_the_error_is_whole_however_much_was_printed() -> None:
    message = "m" * 1_900
    summary = summarise(
        [StreamOutput("stdout", "x" * 500_000), ErrorOutput("ValueError", message)],
        Execution("error", 0.1),
        LIMITS,
        name="c1",
    )
    assert f"ValueError: {message}" in words(summary)


def test_an_overlong_message_can_be_read_on() -> None:
    error = ErrorOutput("ValueError", "m" * 5_000, ("\x1b[31mtrace\x1b[0m",))
    summary = summarise([error], Execution("error", 0.1, error), LIMITS, name="c1")
    assert "3,000 more characters of the message" in words(summary)
    assert summary.cut[0].text == f"ValueError: {'m' * 5_000}\ntrace"


def test_an_error_that_was_not_shown_is_taken_from_the_execution() -> None:
    execution = Execution("error", 0.1, ErrorOutput("SyntaxError", "bad"))
    assert read(execution=execution) == "SyntaxError: bad"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("timeout", "larger timeout_seconds"),
        ("interrupted", "interrupted by the person"),
        ("died", "All variables are lost"),
        ("aborted", "did not run"),
    ],
)
def test_a_cell_that_did_not_finish_says_what_to_do(status: ExecutionStatus, said: str) -> None:
    shown = read(StreamOutput("stdout", "half\n"), execution=Execution(status, 3.0))
    assert shown.startswith("half\n[")
    assert said in shown


def test_the_kernels_own_note_is_used() -> None:
    timed_out = Execution("timeout", 120.0, note="stopped after 120 s.")
    assert "[stopped after 120 s. What it printed" in read(execution=timed_out)
    assert read(execution=replace(OK, note="stdout was rebound")).endswith("[stdout was rebound]")


def test_pictures_are_words_for_a_model_that_does_not_see() -> None:
    summary = summarise([figure()], OK, LIMITS, name="c1")
    assert summary.parts == (TextPart("[image/png 547x413] <Figure size 640x480 with 1 Axes>"),)


def test_a_model_that_sees_gets_the_first_pictures_and_the_number_of_the_others() -> None:
    outputs = [figure(500 + n) for n in range(5)]
    summary = summarise(outputs, OK, LIMITS, sees_images=True, name="c1")
    assert [type(part) for part in summary.parts] == [TextPart, ImagePart, ImagePart]
    assert words(summary).endswith("[3 of 5 pictures not sent to you]")
    assert len(summarise(outputs[:1], OK, LIMITS, sees_images=True).parts) == 2


def test_an_updated_display_is_given_in_its_final_state_only() -> None:
    messages: list[OutputMessage] = [
        DisplayData({"text/plain": "0 %"}, {}, "bar"),
        DisplayUpdate("bar", {"text/plain": "50 %"}),
        DisplayUpdate("bar", {"text/plain": "100 %"}),
    ]
    assert read(*fold(messages)) == "100 %"


def test_cells_that_are_only_looked_at_have_no_ending() -> None:
    assert read(StreamOutput("stdout", "x"), execution=None) == "x"


def test_text_can_always_be_encoded() -> None:
    shown = read(StreamOutput("stdout", "a\ud800"), ErrorOutput("E", "b\udfff"))
    assert shown == "a\ufffd\nE: b\ufffd"
