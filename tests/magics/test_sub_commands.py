"""The sub-commands, in a real kernel over real records."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel

from cellwright.bench.suites.folder import read_item

pytestmark = pytest.mark.kernel
FAILS = tool_call("run_cell", {"code": "print('first')\nint('x')", "title": "Try"}, id="call_1")
WORKS = tool_call("run_cell", {"code": "total = start + 1\ntotal"}, text="Again.", id="call_2")
ANSWER = text("It is **6**.")


@pytest.fixture
def recorded(fresh: LiveKernel) -> LiveKernel:
    """A kernel that has just had a run with an error and a repair."""
    fresh.run("start = 5")
    fresh.run("%agent --mode auto add one to @start", [FAILS, WORKS, ANSWER], answers=[])
    return fresh


def test_runs_lists_the_newest_first_and_finds_words(recorded: LiveKernel) -> None:
    run_id = recorded.last_run.run_id
    shown = recorded.run("runs = %agent runs 1")
    assert shown.results == []
    shown = recorded.run("runs")
    assert run_id in shown.displays[0]["text/markdown"]
    assert "add one to @start" in shown.results[0]
    assert recorded.value("len(runs), [run.run_id for run in runs]") == f"(1, ['{run_id}'])"
    assert "No run fits." in recorded.run("%agent runs --find nowhere").results[0]


def test_show_shows_a_run_again_without_running_it(recorded: LiveKernel) -> None:
    recorded.run("total = 'untouched'")
    shown = recorded.run("%agent show last")
    assert "first" in shown.stdout
    assert [data["text/plain"].split("\n")[0] for data in shown.displays] == [
        "Try",
        "✗ ValueError: invalid literal for int() with base 10: 'x'",
        "Again.",
        "total = start + 1",
        "6",
        "It is **6**.",
        shown.displays[-1]["text/plain"],
    ]
    assert shown.of("error") == []
    assert recorded.value("total") == "'untouched'"
    assert recorded.service.requests == []


def test_replay_runs_the_code_in_a_fresh_kernel_with_recorded_answers(recorded: LiveKernel) -> None:
    recorded.run("total = 'untouched'")
    run_id = recorded.last_run.run_id
    shown = recorded.run("replayed = %agent replay last -o again.ipynb")
    assert recorded.service.requests == []
    assert "It is **6**." in shown.markdown
    assert "first" in shown.stdout
    assert recorded.value("total") == "'untouched'"
    assert recorded.value("replayed.differences") == "()"
    assert recorded.run("replayed").results == ["2 cells, no differences."]
    again = "replayed.run.record"
    assert recorded.value(f"({again}.lane, {again}.source_run, {again}.status)") == repr(
        ("replay", run_id, "completed")
    )
    assert recorded.last_run.run_id == run_id, "the replay is not what is replayed next"
    recorded.run("import json\nwritten = json.load(open('again.ipynb'))['cells']")
    assert "total = start + 1" in recorded.value("written[-1]['source']")
    (missing,) = recorded.run("%agent replay last --cwd no-such-folder").of("error")
    assert "is not there" in str(missing)


def test_replay_tells_what_differs(recorded: LiveKernel) -> None:
    code = "import os\nos.getpid()"
    script = [tool_call("run_cell", {"code": code}), text("Done.")]
    recorded.run("%agent --mode auto say a number", script, answers=[])
    shown = recorded.run("%agent replay last")
    assert "output" in shown.results[0]
    assert shown.results[0].startswith("1 difference in 1 cell:\ncell 1: output")


def test_rerun_asks_another_model_from_the_same_start(recorded: LiveKernel) -> None:
    recorded.run("start = 'changed since'")
    run_id, tools = recorded.last_run.run_id, recorded.last_run.tools
    script = [tool_call("run_cell", {"code": "print(start * 2)"}), text("Ten.")]
    shown = recorded.run(f"again = %agent rerun {run_id} -m other", script)
    assert shown.stdout == "10\n"
    assert recorded.value("again.answer") == "'Ten.'"
    record = recorded.last_run
    assert (record.parameters.model, record.source_run) == ("other", run_id)
    assert record.tools == tools, "the same start has the same tools"
    assert recorded.service.requests == []
    assert recorded.value("start") == "'changed since'"


@pytest.mark.skipif("sys.platform != 'linux'")
def test_rerun_begins_in_the_very_state_of_the_run_while_that_is_kept(
    recorded: LiveKernel,
) -> None:
    recorded.run("import os; drawn = os.urandom(4).hex(); left = iter(range(9)); next(left)")
    recorded.run(
        "%agent --mode auto go on",
        [tool_call("run_cell", {"code": "next(left); drawn = 'gone'"}), text("Done.")],
        answers=[],
    )
    run_id, drawn = recorded.last_run.run_id, recorded.last_run.start_executed[-1]
    assert "urandom" in drawn
    look = [tool_call("run_cell", {"code": "print(drawn, next(left))"}), text("Seen.")]
    shown = recorded.run(f"%agent rerun {run_id} -m other", look)
    first, number = shown.stdout.split()
    assert (len(first), number) == (8, "1"), "the generator stands where it stood"
    assert "From the state that the run began in" in shown.markdown
    again = recorded.last_run
    assert again.start_executed[-1] == drawn
    assert any("From the state" in notice for notice in again.notices)
    assert recorded.run(f"%agent rerun {run_id} -m other", look).stdout.split() == [first, "1"]
    assert recorded.value("drawn, next(left)") == "('gone', 2)", "nothing of it happened here"

    fresh = recorded.run(f"%agent rerun {run_id} -m other --fresh", look)
    other, number = fresh.stdout.split()
    assert (other != first, number) == (True, "1")
    assert "From the state" not in fresh.markdown
    recorded.run("__import__('cellwright.kernels.snapshots').kernels.snapshots.drop()")
    later = recorded.run(f"%agent rerun {run_id} -m other", look)
    assert later.stdout.split()[0] not in (first, other), "the cells before it run again"


def test_undo_says_what_it_cannot_do_and_hands_over_the_cells_before(
    recorded: LiveKernel,
) -> None:
    recorded.run("__import__('cellwright.kernels.snapshots').kernels.snapshots.drop()")
    shown = recorded.run("%agent undo")
    assert "no snapshot from before it is kept" in shown.results[0]
    assert "changed: " in shown.results[0]
    assert "cannot be put back" in shown.results[0]
    assert "restart the kernel" in shown.results[0]
    (payload,) = shown.payload
    assert payload["source"] == "set_next_input"
    assert "start = 5" in payload["text"]
    assert "%agent" not in payload["text"]
    assert "load_ext cellwright" not in payload["text"]
    assert "are counted from 1" in recorded.run("%agent undo 0", answers=[]).stderr


def test_a_run_of_the_command_line_is_not_undone_in_a_kernel_that_ran_none(
    own_kernel: LiveKernel,
) -> None:
    own_kernel.run(
        "from cellwright.cli import main\nmain(['run', 'hi', '-m', 'demo', '--mode', 'auto'])"
    )
    told = own_kernel.run("%agent undo", answers=[]).stderr
    assert "No run was asked in this kernel" in told
    assert "restart" not in told


def test_cells_hands_over_the_code_that_ran(recorded: LiveKernel) -> None:
    (payload,) = recorded.run("%agent cells").payload
    assert payload["text"] == "print('first')\n\ntotal = start + 1\ntotal"
    recorded.run("%agent just talk", [text("Hi.")], answers=[])
    assert "ran no code" in recorded.run("%agent cells", answers=[]).stderr


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("--to ipynb", ".ipynb", "total = start + 1"),
        ("--to html", ".html", "<html"),
        ("--to agentbench", ".agentbench.json", "completed"),
        ("--to openai", ".jsonl", "add one to @start"),
    ],
)
def test_export_writes_a_file_and_names_it(
    recorded: LiveKernel, line: str, name: str, words: str
) -> None:
    path = Path(recorded.value("__import__('os').getcwd()").strip("'"))
    path /= f"{recorded.last_run.run_id}{name}"
    shown = recorded.run(f"%agent export last {line}")
    assert path.name in shown.results[0]
    assert words in path.read_text(encoding="utf-8")
    if name == ".ipynb":
        nbformat.validate(nbformat.read(path, as_version=4))


def test_an_export_to_stdout_is_printed_as_it_is(recorded: LiveKernel) -> None:
    shown = recorded.run("%agent export last --to html -o -")
    assert "<html" in shown.stdout
    assert not shown.displays


def test_a_run_can_be_pickled(recorded: LiveKernel) -> None:
    recorded.run("import pickle\nrun = %agent show last")
    assert recorded.value("pickle.loads(pickle.dumps(run)).id == run.id") == "True"


def test_export_to_a_place_that_cannot_be_written_names_it(recorded: LiveKernel) -> None:
    shown = recorded.run("%agent export last -o nowhere/x.ipynb", answers=[])
    assert shown.stderr.startswith("UsageError: There is no folder")


def test_a_run_is_saved_as_a_sample_of_a_suite(recorded: LiveKernel) -> None:
    folder = Path(recorded.value("__import__('os').getcwd()").strip("'")) / "tasks"
    shown = recorded.run('%agent save-sample last --check "total == 6" --to tasks --name one')
    assert "cellwright bench run tasks --agent oracle" in shown.results[0]
    item = read_item(folder / "one.yaml")
    assert "start = 5" in item.setup
    assert item.reference == ("print('first')", "total = start + 1\ntotal")
    refused = recorded.run("%agent save-sample --to tasks", answers=[])
    assert "A sample needs a check" in refused.stderr


def test_doctor_checks_everything_and_sends_nothing(recorded: LiveKernel) -> None:
    shown = recorded.run("%agent doctor")
    for name in ("key", "endpoint", "model", "tool calling", "kernel", "record"):
        assert name in shown.results[0]
    assert "| ✓ | endpoint |" in shown.displays[0]["text/markdown"]
    assert recorded.service.requests == []


def test_doctor_says_what_it_sends_and_probes_the_service(recorded: LiveKernel) -> None:
    shown = recorded.run("%agent doctor --provider --max-tokens 600", [text("One, two.")] * 12)
    assert "requests to http://127.0.0.1" in shown.stdout
    assert "no more than 600" in shown.stdout
    table = shown.displays[-1]["text/markdown"]
    assert "| long context | could not tell |" in table
    assert 0 < len(recorded.service.requests) < 12


def test_reset_says_what_stays(recorded: LiveKernel) -> None:
    assert "Variables and recorded runs stay" in recorded.run("%agent reset").results[0]
    assert recorded.value("start") == "5"
