"""run_cell, add_cell, edit_cell, read_notebook and read_output."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from fakes import FakeKernel, FakeNotebook, Played, make_context
from PIL import Image

from cellwright.errors import (
    KernelDiedError,
    KernelNotReadyError,
    KernelRestartedError,
    RunCancelled,
    ToolError,
)
from cellwright.record.content import ComponentOutput, for_model, for_person
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellEvent,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
)
from cellwright.record.messages import ImagePart, TextPart
from cellwright.record.outputs import (
    Cell,
    DisplayData,
    ErrorOutput,
    Execution,
    StreamOutput,
    source_hash,
)
from cellwright.tools import Component, ToolContext, ToolLimits, ToolYield
from cellwright.tools.cell_running import CODE_LIMIT_CHARACTERS, SeenCells
from cellwright.tools.notebook import AddCell, ArrangeCell, EditCell, ReadNotebook, RunCell
from cellwright.tools.standard import ReadOutput, Submit


@dataclass(frozen=True)
class Outcome:
    """What a call came to."""

    events: list[CellEvent]
    outputs: list[ComponentOutput]

    @property
    def text(self) -> str:
        """What the model reads."""
        contents = tuple(content for output in self.outputs for content in output.content)
        return "\n".join(part.text for part in for_model(contents) if isinstance(part, TextPart))


def call(tool: Component, context: ToolContext, **arguments: object) -> Outcome:
    """Run a tool as the loop does: cell events change the notebook at once."""
    outcome = Outcome([], [])
    for item in tool.tool_eval(context, **arguments):
        if isinstance(item, ComponentOutput):
            outcome.outputs.append(item)
        else:
            outcome.events.append(item)
            if context.notebook is not None:
                context.notebook.apply(item)
    return outcome


def collect_until_raised(items: Iterator[ToolYield], into: list[ToolYield]) -> None:
    for item in items:
        into.append(item)


def test_running_code_adds_a_cell_starts_it_shows_its_output_and_finishes_it() -> None:
    hello = StreamOutput("stdout", "hello\n")
    context = make_context(FakeKernel({"print('hello')": Played((hello,))}))
    outcome = call(RunCell(SeenCells()), context, code="print('hello')")
    assert outcome.events == [
        CellAdded("c1", "print('hello')", call_id="call_1"),
        CellStarted("c1"),
        CellOutput("c1", hello),
        CellFinished("c1", Execution("ok", 0.01)),
    ]
    assert outcome.text == "hello"
    assert for_person(outcome.outputs[0].content) == ""


def test_the_model_reads_what_the_sink_let_through() -> None:
    context = make_context(FakeKernel({"x": Played((StreamOutput("stdout", "secret"),))}))

    def hide(output: CellOutput) -> CellOutput:
        is_end = output.message == StreamOutput("stdout", "")
        return output if is_end else CellOutput(output.cell_id, StreamOutput("stdout", "[hidden]"))

    context = replace(context, on_output=hide)
    assert call(RunCell(SeenCells()), context, code="x").text == "[hidden]"


def test_late_output_of_another_cell_is_passed_on_but_not_given_to_the_model() -> None:
    context = make_context(FakeKernel({"x": Played((StreamOutput("stdout", "late"),))}))
    context = replace(context, on_output=lambda output: CellOutput("c0", output.message))
    outcome = call(RunCell(SeenCells()), context, code="x")
    assert CellOutput("c0", StreamOutput("stdout", "late")) in outcome.events
    assert outcome.text == "(no output)"


def test_a_failed_cell_is_an_error_result_with_the_way_out() -> None:
    error = ErrorOutput("ModuleNotFoundError", "No module named 'sklearn'")
    played = Played((error,), Execution("error", 0.1, error))
    outcome = call(
        RunCell(SeenCells()),
        make_context(FakeKernel({"import sklearn": played})),
        code="import sklearn",
    )
    assert outcome.text == (
        "ModuleNotFoundError: No module named 'sklearn'\n"
        'install_package("scikit-learn") would add it.'
    )
    assert any(content.is_error for content in outcome.outputs[0].content)


def test_a_cell_that_asks_for_input_is_told_that_nobody_can_type() -> None:
    error = ErrorOutput("StdinNotImplementedError", "raw_input was called")
    played = Played((error,), Execution("error", 0.1, error))
    outcome = call(
        RunCell(SeenCells()), make_context(FakeKernel({"input()": played})), code="input()"
    )
    assert outcome.text.endswith("Ask the person in your answer.")


def test_what_is_cut_is_put_on_the_shelf_and_can_be_paged() -> None:
    printed = "\n".join(f"row {n}" for n in range(1, 9_001))
    context = make_context(FakeKernel({"x": Played((StreamOutput("stdout", printed),))}))
    outcome = call(RunCell(SeenCells()), context, code="x")
    assert 'read_output("c1", ' in outcome.text
    page = call(ReadOutput(), context, name="c1", start_line=4_000, line_count=2).text
    assert page == "[lines 4000 to 4001 of 9000; go on with start_line=4002]\nrow 4000\nrow 4001"


def test_pictures_go_to_a_model_that_sees() -> None:
    buffer = io.BytesIO()
    Image.new("L", (50, 40)).save(buffer, "PNG")
    data = base64.b64encode(buffer.getvalue()).decode()
    kernel = FakeKernel({"plot()": Played((DisplayData({"image/png": data}),))})
    context = make_context(kernel, sees_images=True)
    outcome = call(RunCell(SeenCells()), context, code="plot()")
    assert for_model(outcome.outputs[0].content) == (
        TextPart("[image/png 50x40]"),
        ImagePart("image/png", data, "[image/png 50x40]"),
    )


@pytest.mark.parametrize(
    ("asked", "used"), [(None, 120.0), (300, 300.0), (10_000_000, 1_200.0), (-5, 1.0)]
)
def test_the_time_limit_is_kept_within_bounds(asked: float | None, used: float) -> None:
    kernel = FakeKernel()
    call(RunCell(SeenCells()), make_context(kernel), code="x", timeout_seconds=asked)
    assert kernel.requests[0].timeout_seconds == used


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (RunCancelled("stopped by the user"), "interrupted"),
        (KernelDiedError("The kernel died."), "died"),
        (KernelNotReadyError("It does not answer."), "aborted"),
    ],
)
def test_a_cell_is_finished_whatever_ends_it(raised: BaseException, status: str) -> None:
    kernel = FakeKernel({"x": Played((StreamOutput("stdout", "half"),), raises=raised)})
    items: list[ToolYield] = []
    with pytest.raises(type(raised)):
        collect_until_raised(RunCell(SeenCells()).tool_eval(make_context(kernel), "x"), items)
    finished = items[-1]
    assert isinstance(finished, CellFinished)
    assert finished.execution.status == status
    assert finished.execution.note == getattr(raised, "reason", "") or str(raised)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [("  \n", "The code is empty"), ("x" * (CODE_LIMIT_CHARACTERS + 1), "at most 200,000")],
)
def test_empty_and_endless_code_is_refused_before_a_cell_is_added(
    code: str, complaint: str
) -> None:
    """Fault M25."""
    with pytest.raises(ToolError, match=complaint):
        next(iter(RunCell(SeenCells()).tool_eval(make_context(), code)))


def test_a_call_is_labelled_by_its_title_or_its_first_telling_line() -> None:
    tool = RunCell(SeenCells())
    assert tool.label(code="x = 1", title="Count rows") == "Count rows"
    assert tool.label(code="import os\n# note\n\ndf.describe()\nx") == "run df.describe()"
    assert tool.label(code="import os") == "run import os"
    assert tool.label(code="rows = [\n    1,\n]") == "run rows = […]"
    assert tool.label(code="y" * 90) == f"run {'y' * 59}…"
    assert tool.label() == "run "


def test_the_cells_name_is_told_where_it_can_be_edited() -> None:
    outcome = call(RunCell(SeenCells()), make_context(notebook=FakeNotebook()), code="x")
    assert outcome.text == "[cell c1]\n(no output)"


def test_a_note_is_added_after_a_cell() -> None:
    context = make_context(notebook=FakeNotebook(Cell("a", "code", "1")))
    outcome = call(AddCell(SeenCells()), context, source="# Title", after="a")
    assert outcome.events == [CellAdded("c1", "# Title", "markdown", "a", "call_1")]
    assert outcome.text == "Added markdown cell c1."
    assert AddCell(SeenCells()).label(source="# Title") == "add a markdown cell: Title"


def test_a_cell_cannot_be_added_after_one_that_is_gone() -> None:
    context = make_context(notebook=FakeNotebook())
    with pytest.raises(ToolError, match="There is no cell 'gone'"):
        call(AddCell(SeenCells()), context, source="x", after="gone")
    assert call(AddCell(SeenCells()), make_context(), source="x", after="gone").events


def test_the_model_edits_and_runs_a_cell_it_wrote() -> None:
    seen = SeenCells()
    kernel = FakeKernel({"2": Played((StreamOutput("stdout", "two"),))})
    context = make_context(kernel, notebook=FakeNotebook())
    call(RunCell(seen), context, code="1")
    outcome = call(EditCell(seen), context, cell_id="c1", source="2", run=True)
    assert outcome.events[0] == CellEdited("c1", "2", source_hash("1"), "call_1")
    assert outcome.text == "[cell c1]\ntwo"
    assert call(EditCell(seen), context, cell_id="c1", source="3").text == "Edited cell c1."


def test_the_persons_edit_wins_and_the_model_reads_it() -> None:
    seen = SeenCells()
    notebook = FakeNotebook(Cell("a", "code", "x = 1"))
    context = make_context(notebook=notebook)
    call(ReadNotebook(seen), context)
    notebook.apply(CellEdited("a", "x = 2  # mine", ""))
    with pytest.raises(ToolError, match=r"Nothing was changed(.|\n)*x = 2  # mine"):
        call(EditCell(seen), context, cell_id="a", source="x = 3")
    assert notebook.cells()[0].source == "x = 2  # mine"
    assert call(EditCell(seen), context, cell_id="a", source="x = 3  # mine").events


def test_a_cell_the_model_has_not_read_cannot_be_edited_blindly() -> None:
    context = make_context(notebook=FakeNotebook(Cell("a", "code", "x = 1")))
    with pytest.raises(ToolError, match=r"read cell 'a' first(.|\n)*x = 1"):
        call(EditCell(SeenCells()), context, cell_id="a", source="")


def test_edits_that_cannot_be_made_say_why() -> None:
    seen = SeenCells()
    context = make_context(notebook=FakeNotebook(Cell("a", "markdown", "# Hi")))
    call(ReadNotebook(seen), context)
    with pytest.raises(ToolError, match="only code can run"):
        call(EditCell(seen), context, cell_id="a", source="# Ho", run=True)
    with pytest.raises(ToolError, match="There is no cell 'b'"):
        call(EditCell(seen), context, cell_id="b", source="")
    with pytest.raises(ToolError, match="There is no notebook here"):
        call(EditCell(seen), make_context(), cell_id="a", source="")


def test_a_cell_that_the_person_changed_while_it_waited_does_not_run() -> None:
    seen, kernel = SeenCells(), FakeKernel()
    notebook = FakeNotebook()
    notebook.person_does = (CellEdited("c1", "x = 2  # mine", ""),)
    context = make_context(kernel, notebook=notebook)
    happened: list[ToolYield] = []

    def run() -> None:
        for item in RunCell(seen).tool_eval(context, code="x = 1"):
            happened.append(item)
            notebook.apply(item)  # type: ignore[arg-type]

    with pytest.raises(ToolError, match=r"changed cell 'c1'(.|\n)*x = 2  # mine"):
        run()
    assert [type(item) for item in happened] == [CellAdded]
    assert kernel.requests == []
    assert seen.is_current("c1", "x = 2  # mine"), "the model has read it"
    notebook.person_does = ()
    assert call(EditCell(seen), context, cell_id="c1", source="x = 3", run=True).events


def test_a_cell_that_the_person_deleted_while_it_waited_does_not_run() -> None:
    kernel, notebook = FakeKernel(), FakeNotebook()
    notebook.person_does = (CellRemoved("c1", ""),)
    with pytest.raises(ToolError, match="the person deleted cell 'c1'"):
        call(RunCell(SeenCells()), make_context(kernel, notebook=notebook), code="x = 1")
    assert kernel.requests == []


def test_the_notebook_knows_the_message_that_will_carry_the_cell() -> None:
    kernel, notebook = FakeKernel(), FakeNotebook()
    context = make_context(kernel, notebook=notebook)
    call(RunCell(SeenCells()), context, code="1")
    call(RunCell(SeenCells()), context, code="2")
    assert notebook.confirmed == [request.message_id for request in kernel.requests]
    assert len(set(notebook.confirmed)) == 2
    assert all(notebook.confirmed)


def test_nothing_starts_in_a_kernel_that_was_restarted_since_the_run_began() -> None:
    kernel, notebook = FakeKernel(), FakeNotebook()
    context = replace(make_context(kernel, notebook=notebook), kernel_session="first")
    call(RunCell(SeenCells()), context, code="1")
    kernel.session = "second"
    happened: list[ToolYield] = []
    with pytest.raises(KernelRestartedError, match="restarted"):
        collect_until_raised(RunCell(SeenCells()).tool_eval(context, code="2"), happened)
    assert [type(item) for item in happened] == [CellAdded]
    assert len(kernel.requests) == 1


def test_a_cell_the_model_knows_is_deleted() -> None:
    seen = SeenCells()
    notebook = FakeNotebook(Cell("a", "code", "x = 1"))
    context = make_context(notebook=notebook)
    call(ReadNotebook(seen), context)
    outcome = call(ArrangeCell(seen), context, cell_id="a", action="delete")
    assert outcome.events == [CellRemoved("a", source_hash("x = 1"), "call_1")]
    assert outcome.text == "Deleted cell a."
    assert notebook.cells() == ()


def test_a_cell_the_person_changed_is_not_deleted() -> None:
    seen = SeenCells()
    context = make_context(notebook=FakeNotebook(Cell("a", "code", "x = 1")))
    seen.note("a", "x = 0")
    with pytest.raises(ToolError, match=r"not as you last saw it(.|\n)*still to be deleted"):
        call(ArrangeCell(seen), context, cell_id="a", action="delete")
    assert call(ArrangeCell(seen), context, cell_id="a", action="delete").events


def test_a_cell_is_moved_behind_another_one_or_to_the_top() -> None:
    context = make_context(notebook=FakeNotebook(Cell("a", "code", "1"), Cell("b", "code", "2")))
    tool = ArrangeCell(SeenCells())
    outcome = call(tool, context, cell_id="a", action="move", after="b")
    assert outcome.events == [CellMoved("a", "b", "call_1")]
    assert outcome.text == "Moved cell a."
    assert call(tool, context, cell_id="b", action="move").events == [CellMoved("b", "", "call_1")]


def test_arrangements_that_cannot_be_made_say_why() -> None:
    context = make_context(notebook=FakeNotebook(Cell("a", "code", "1")))
    tool = ArrangeCell(SeenCells())
    with pytest.raises(ToolError, match="There is no cell 'b'"):
        call(tool, context, cell_id="b", action="delete")
    with pytest.raises(ToolError, match="There is no cell 'b'"):
        call(tool, context, cell_id="a", action="move", after="b")
    with pytest.raises(ToolError, match="cannot follow itself"):
        call(tool, context, cell_id="a", action="move", after="a")
    with pytest.raises(ToolError, match="There is no notebook here"):
        call(tool, make_context(), cell_id="a", action="move")


def test_deleting_is_for_good_and_moving_is_an_edit() -> None:
    tool = ArrangeCell(SeenCells())
    assert tool.risk_for(cell_id="a", action="delete") == "destroy"
    assert tool.risk_for(cell_id="a", action="move") == "edit"
    assert tool.label(cell_id="a", action="move") == "move cell a"


def test_an_edit_that_runs_is_as_risky_as_running() -> None:
    tool = EditCell(SeenCells())
    assert tool.risk_for(cell_id="a", source="x") == "edit"
    assert tool.risk_for(cell_id="a", source="x", run=True) == "execute"
    assert tool.code_for(source="rm()") == "rm()"
    assert tool.label(cell_id="a", run=True) == "edit cell a and run it"


def test_the_notebook_is_read_with_ids_counts_and_the_gist_of_outputs() -> None:
    long = StreamOutput("stdout", "\n".join(f"row {n}" for n in range(1_000)))
    context = make_context(
        notebook=FakeNotebook(
            Cell("a", "markdown", "# Sales"),
            Cell("b", "code", "show()", (long,), execution_count=3),
        )
    )
    outcome = call(ReadNotebook(SeenCells()), context)
    assert outcome.text.startswith("Cells 1 to 2 of 2.\n--- a markdown\n# Sales\n--- b code [3]\n")
    assert "=> row 0\n" in outcome.text
    assert 'read_output("b.output", ' in outcome.text
    assert context.shelf.get("b.output") == long.text


def test_a_long_notebook_is_read_in_pages() -> None:
    cells = [Cell(f"k{n}", "code", f"x = {n}") for n in range(30)]
    context = make_context(notebook=FakeNotebook(*cells))
    assert call(ReadNotebook(SeenCells()), context).text.startswith(
        "Cells 1 to 20 of 30. Go on with start=20."
    )
    assert call(ReadNotebook(SeenCells()), context, start=99).text == (
        "The notebook has 30 cells; none after the first 99."
    )
    few = make_context(notebook=FakeNotebook(*cells), limits=ToolLimits(step_tokens=10))
    assert call(ReadNotebook(SeenCells()), few, start=-1, count=0).text.startswith("Cells 1 to 1")
    assert call(ReadNotebook(SeenCells()), few).text.startswith("Cells 1 to 2 of 30.")


def test_a_source_too_long_to_show_counts_as_not_seen() -> None:
    seen = SeenCells()
    source = "\n".join(f"x{n} = {n}" for n in range(2_000))
    context = make_context(notebook=FakeNotebook(Cell("a", "code", source)))
    assert 'read_output("a.source", ' in call(ReadNotebook(seen), context).text
    assert not seen.is_current("a", source)


def test_reading_without_a_notebook_says_so() -> None:
    with pytest.raises(ToolError, match="There is no notebook here"):
        call(ReadNotebook(SeenCells()), make_context())


def test_cut_output_is_searched_by_pattern() -> None:
    context = make_context()
    context.shelf.keep("c1", "\n".join(f"row {n} {'ODD' if n % 2 else 'even'}" for n in range(50)))
    found = call(ReadOutput(), context, name="c1", pattern="row 4[13] odd").text
    assert found == "[lines 1 to 50 of 50]\n42: row 41 ODD\n44: row 43 ODD"
    none = call(ReadOutput(), context, name="c1", pattern="nothing", start_line=5).text
    assert none == "No lines match 'nothing' from line 5 on; there are 50."
    assert call(ReadOutput(), context, name="c1", start_line=99).text.startswith("No lines from")


@pytest.mark.parametrize("pattern", ["(a+)+$", "((a+b?))*$", "(a|a)*$", "[broken", "(a{2,})*"])
def test_a_broken_or_endless_pattern_is_looked_for_as_text(pattern: str) -> None:
    context = make_context()
    context.shelf.keep("c1", "a" * 900 + f"!\nthe pattern {pattern} itself")
    found = call(ReadOutput(), context, name="c1", pattern=pattern).text
    assert found.splitlines()[1:] == [f"2: the pattern {pattern} itself"]


def test_a_page_keeps_within_the_limit_of_one_output() -> None:
    context = make_context(limits=ToolLimits(output_tokens=50))
    context.shelf.keep("c1", "\n".join("y" * 90 for _ in range(10)))
    assert call(ReadOutput(), context, name="c1").text.startswith(
        "[lines 1 to 2 of 10; go on with start_line=3]"
    )
    assert call(ReadOutput(), context, name="c1", line_count=0).text.startswith("[lines 1 to 1 ")


def test_an_unknown_output_is_answered_with_the_names_there_are() -> None:
    context = make_context()
    with pytest.raises(ToolError, match="Nothing has been cut so far"):
        call(ReadOutput(), context, name="c9")
    context.shelf.keep("c1", "x")
    with pytest.raises(ToolError, match="There are: c1"):
        call(ReadOutput(), context, name="c9")


def test_submitting_ends_the_run_with_the_answer() -> None:
    outcome = call(Submit(), make_context(), answer="**42**")
    assert outcome.outputs[0].final
    assert outcome.text == "**42**"
