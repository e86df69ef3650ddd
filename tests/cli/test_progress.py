import io

from recorded_runs import WRONG, WRONG_ERROR, analysis_run, called, replied, result

from cellwright.commands.terminal import Console
from cellwright.commands.workplace import (
    CODE_LINES,
    OUTPUT_LINES,
    StreamedReply,
    TerminalProgress,
    code_lines,
)
from cellwright.record.events import (
    ApprovalAnswered,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelRetrying,
    ModelSilent,
    Notice,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.outputs import Execution, StreamOutput


def shown(*events: Event) -> list[str]:
    err = io.StringIO()
    progress = TerminalProgress(Console(io.StringIO(), io.StringIO(), err))
    for event in events:
        progress.show(event)
    return err.getvalue().splitlines()


def test_a_run_is_told_call_by_call_with_code_and_what_came_of_it() -> None:
    assert shown(*analysis_run()) == [
        "I load the file.",
        "[1] run a cell",
        "    import pandas as pd",
        "    df = pd.read_csv('sales.csv')",
        "  │ 320 rows",
        "[2] run a cell",
        f"    {WRONG}",
        f"  ✗ KeyError: {WRONG_ERROR.evalue}",
        "[3] run a cell",
        "    best = df.groupby('region')['revenue'].sum()",
        "    best",
        "  │ region",
        "  │ north 10",
        "  │ [image/png 1x1]",
        "i One file was read. See the list.",
    ]


def test_waiting_is_told() -> None:
    silences = [ModelSilent(float(seconds)) for seconds in (*range(2, 24, 2), *range(2, 13, 2))]
    assert shown(ModelRetrying(2, 4.0, "429"), *silences) == [
        "! Asking again in 4 s: 429",
        "… still waiting for the model, 10 s",
        "… still waiting for the model, 20 s",
        "… still waiting for the model, 10 s",
    ]


def test_000_34_a_tool_says_how_far_it_is() -> None:
    assert shown(ToolProgress("c1", "loading", 0.5), ToolProgress("c1", "indexing")) == [
        "  … loading 50%",
        "  … indexing",
    ]


def test_a_notice_shows_how_serious_it_is() -> None:
    assert shown(Notice("error", "No key.", "Set one.")) == ["✗ No key. Set one."]


def test_a_refusal_is_told_with_its_reason() -> None:
    events: list[Event] = [
        ToolStarted("c", "install_package", {"name": "x"}, "install x"),
        ApprovalAnswered("c", False, "person", "not now"),
        ApprovalAnswered("c", True, "person"),
    ]
    assert shown(*events) == ["[1] install x", "  refused by person. not now"]


def test_the_failure_of_a_tool_without_a_cell_is_told() -> None:
    events: list[Event] = [
        ToolStarted("c", "inspect_variable", {"name": "x"}, "look at x"),
        ToolFinished("c", "inspect_variable", result("c", "There is no variable 'x'."), "error"),
    ]
    assert shown(*events) == ["[1] look at x", "  ✗ There is no variable 'x'."]


def test_the_failure_of_a_cell_is_told_once() -> None:
    events: list[Event] = [
        ToolStarted("c", "run_cell", {"code": "1"}, "run"),
        CellStarted("a"),
        CellFinished("a", Execution("timeout", 2.0, note="stopped after 2 s")),
        ToolFinished("c", "run_cell", result("c", "It took too long."), "error"),
    ]
    assert shown(*events) == ["[1] run", "    1", "  ✗ timeout stopped after 2 s"]


def test_long_output_shows_its_start_and_its_end() -> None:
    text = "\n".join(f"row {number}" for number in range(100))
    lines = shown(
        CellStarted("a"),
        CellOutput("a", StreamOutput("stdout", text)),
        CellFinished("a", Execution("ok", 0.1)),
    )
    assert len(lines) == OUTPUT_LINES
    assert (lines[0], lines[-1]) == ("  │ row 0", "  │ row 99")
    assert "93 more lines" in lines[4]


def test_long_code_shows_its_start_and_its_end() -> None:
    lines = code_lines("\n".join(f"x{number}" for number in range(100)))
    assert len(lines) == CODE_LINES
    assert (lines[0], lines[-1]) == ("    x0", "    x99")
    assert "71 more lines" in "".join(lines)


def test_nothing_is_told_of_a_reply_that_only_calls_tools() -> None:
    assert shown(replied(called("c"))) == []


def test_a_reply_that_takes_long_is_shown_line_by_line() -> None:
    reply = StreamedReply()
    assert reply.add("First the ", 100.0) == []
    assert reply.add("sums.\nThen the plot", 109.0) == []
    assert reply.add(" of all.\nAnd", 111.0) == ["First the sums.", "Then the plot of all."]
    assert reply.add(" so on" * 40, 112.0) == ["And" + " so on" * 40]
    assert reply.add(" to the end", 113.0) == []
    assert reply.end() == [" to the end"]
    quick = StreamedReply()
    assert (quick.add("It is 21.\n", 1.0), quick.is_shown, quick.end()) == ([], False, [])
