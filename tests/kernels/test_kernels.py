"""What a cell does, in the person's own shell and over a client: one suite for both."""

from __future__ import annotations

import multiprocessing
import re
import time
from pathlib import Path

import pytest
from kernels.lanes import in_time, run, stopped_after

from cellwright.errors import ToolError
from cellwright.kernels import CellRequest, Kernel
from cellwright.record.events import CellOutput
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    FileChange,
    StreamOutput,
    VariableSummary,
    fold,
)
from cellwright.stopping import Stop

pytestmark = pytest.mark.kernel


def test_the_last_expression_is_a_result(kernel: Kernel) -> None:
    ran = run(kernel, "a = 20\na + 22")
    (result,) = ran.outputs
    assert isinstance(result, ExecuteResult)
    assert result.data == {"text/plain": "42"}
    assert ran.execution.status == "ok"
    assert ran.execution.error is None
    assert 0 < ran.execution.duration_seconds < 10


def test_a_last_semicolon_keeps_the_result_quiet(kernel: Kernel) -> None:
    assert run(kernel, "5;").outputs == ()
    assert run(kernel, "5 # ;").plain == ["5"]
    assert run(kernel, "%time 5\n").text


def test_text_displays_results_and_errors_come_in_order(kernel: Kernel) -> None:
    code = """
import sys
from IPython.display import display, HTML
print("one")
display(HTML("<b>two</b>"))
print("three", file=sys.stderr, flush=True)
print("four")
1 / 0
"""
    kinds = [(o.kind, getattr(o, "name", "")) for o in run(kernel, code).outputs]
    assert kinds == [
        ("stream", "stdout"),
        ("display_data", ""),
        ("stream", "stderr"),
        ("stream", "stdout"),
        ("error", ""),
    ]


def test_an_inline_figure_is_a_picture(kernel: Kernel) -> None:
    code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); print('drawn')"
    ran = run(kernel, code)
    (figure,) = [o for o in ran.outputs if isinstance(o, DisplayData)]
    assert figure.data["image/png"].startswith("iVBOR")
    assert ran.text == "drawn\n"


@pytest.mark.parametrize("shown", ["", "plt.show()", "figure", "display(figure)"])
def test_what_a_figure_says_is_told_however_it_is_shown(kernel: Kernel, shown: str) -> None:
    """A model may not see pictures."""
    code = (
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n"
        "axes.set(title='Units sold', xlabel='month', ylabel='units')\n"
        "axes.plot([1, 2, 3], label='north'); axes.bar([1, 2], [3, 4], label='south');\n" + shown
    )
    told = '"Units sold", x: month, y: units, 1 line of 3 (north), 1 bar series of 2 (south)'
    assert run(kernel, code).execution.figures == (told,)
    assert run(kernel, "1").execution.figures == ()


def test_showing_figures_is_left_as_it_was(kernel: Kernel) -> None:
    run(kernel, "1")
    code = "vars(get_ipython().display_formatter).get('format').__name__"
    assert run(kernel, code).plain == ["'_look_and_format'"], "while a cell of ours runs"
    nested = f"get_ipython().run_cell({code!r}); get_ipython().run_cell('1 / 0');"
    run(kernel, nested)
    assert run(kernel, code).plain == ["'_look_and_format'"]


def test_a_figure_drawn_before_an_error_still_shows(kernel: Kernel) -> None:
    code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1]);\nraise ValueError"
    ran = run(kernel, code)
    assert any(isinstance(o, DisplayData) and "image/png" in o.data for o in ran.outputs)
    assert [e.ename for e in ran.errors] == ["ValueError"]


def test_top_level_await_works(kernel: Kernel) -> None:
    """K35."""
    ran = run(kernel, "import asyncio\nawait asyncio.sleep(0.01)\nprint('slept')\n6 * 7")
    assert ran.text == "slept\n"
    assert ran.plain == ["42"]


def test_a_task_lasts_from_one_cell_to_the_next(kernel: Kernel) -> None:
    run(kernel, "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0.01, 'done'))\n"
        "await asyncio.sleep(0)")  # fmt: skip
    assert run(kernel, "await task").plain == ["'done'"]


def test_an_error_in_awaited_code_is_an_error(kernel: Kernel) -> None:
    ran = run(kernel, "import asyncio\nawait asyncio.sleep(0)\n1 / 0")
    assert ran.execution.error is not None
    assert ran.execution.error.ename == "ZeroDivisionError"


def test_line_and_cell_magics_work(kernel: Kernel) -> None:
    assert "Wall time" in run(kernel, "%time x = 1").text
    assert run(kernel, "%%capture kept\nprint('hidden')").outputs == ()
    assert run(kernel, "kept.stdout").plain == ["'hidden\\n'"]
    assert run(kernel, "%%bash\necho from bash").text == "from bash\n"


def test_shell_commands_show_and_return_their_output(kernel: Kernel) -> None:
    assert run(kernel, "!echo hello").text.split() == ["hello"]
    assert run(kernel, "files = !echo a b\nfiles[0]").plain == ["'a b'"]


def test_output_of_a_child_process_belongs_to_its_cell(kernel: Kernel) -> None:
    code = "import subprocess, sys\nsubprocess.run(['echo', 'from a child']);"
    assert run(kernel, code, cell_id="one").text == "from a child\n"
    assert run(kernel, "import os; os.system('echo again');").text == "again\n"


def test_output_of_threads_is_seen(kernel: Kernel) -> None:
    code = """
import threading
threads = [threading.Thread(target=print, args=(f"thread {n}",)) for n in range(3)]
[t.start() for t in threads]; [t.join() for t in threads];
"""
    text = run(kernel, code).text
    # print writes the line's end by itself, so the lines of threads may run into each other.
    assert sorted(re.findall(r"thread \d", text)) == ["thread 0", "thread 1", "thread 2"]


@pytest.mark.parametrize("code", ["input('name?')", "import getpass; getpass.getpass()"])
def test_asking_for_input_says_that_there_is_no_keyboard(kernel: Kernel, code: str) -> None:
    """K11."""
    error = run(kernel, code).execution.error
    assert error is not None
    assert error.ename == "EOFError"
    assert "no keyboard" in error.evalue


@pytest.mark.parametrize("code", ["exit()", "quit()", "exit"])
def test_exit_does_not_end_the_kernel(kernel: Kernel, code: str) -> None:
    """K3."""
    run(kernel, "kept = 1")
    ran = run(kernel, code)
    assert "exit() and quit() did nothing" in ran.execution.note
    time.sleep(0.4)
    assert run(kernel, "kept").plain == ["1"]


def test_sys_exit_is_an_error_and_the_kernel_lives(kernel: Kernel) -> None:
    """K4."""
    error = run(kernel, "import sys\nsys.exit('over')").execution.error
    assert error is not None
    assert (error.ename, error.evalue) == ("SystemExit", "over")
    assert run(kernel, "1").plain == ["1"]


def test_a_keyboard_interrupt_that_the_code_raises_is_its_own_error(kernel: Kernel) -> None:
    """Issue 13, 20: it ended the run as interrupted by the user."""
    error = run(kernel, "raise KeyboardInterrupt('mine')").execution.error
    assert error is not None
    assert (error.ename, error.evalue) == ("KeyboardInterrupt", "mine")
    assert run(kernel, "1").plain == ["1"]


def test_an_error_tells_name_text_and_lines(kernel: Kernel) -> None:
    ran = run(kernel, "def half(x):\n    return x / 0\nhalf(4)")
    assert ran.execution.status == "error"
    error = ran.execution.error
    assert error is not None
    assert error == ran.errors[0]
    assert (error.ename, error.evalue) == ("ZeroDivisionError", "division by zero")
    assert "half" in "".join(error.traceback)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("x = = 1", "SyntaxError"),
        ("if True:\nx = 1", "IndentationError"),
        ("x = 'a\x00b'", "SyntaxError"),
        ("x = 1 \ufeff+ 1", "SyntaxError"),
        ("if True:\n\tx = 1\n        y = 2", "TabError"),
    ],
)
def test_code_that_cannot_be_read_is_an_error(kernel: Kernel, code: str, name: str) -> None:
    """K22."""
    ran = run(kernel, code)
    assert ran.execution.status == "error"
    assert ran.execution.error is not None
    assert ran.execution.error.ename in (name, "ValueError")
    assert run(kernel, "1").plain == ["1"]


def test_a_byte_order_mark_before_the_code_does_no_harm(kernel: Kernel) -> None:
    """K22."""
    ran = run(kernel, "\ufeffprint('read')")
    assert ran.execution.status in ("ok", "error")
    assert ran.text == "read\n" or ran.errors[0].ename == "SyntaxError"


def test_a_raising_repr_is_reported_as_what_it_raised(kernel: Kernel) -> None:
    """K23."""
    code = "class Bad:\n    def __repr__(self):\n        raise ValueError('no repr')\nBad()"
    ran = run(kernel, code)
    assert ran.execution.status == "error"
    assert ran.execution.error is not None
    assert (ran.execution.error.ename, ran.execution.error.evalue) == ("ValueError", "no repr")


def test_an_exception_that_cannot_say_what_it_is_is_an_error_all_the_same(kernel: Kernel) -> None:
    code = (
        "class Mute(Exception):\n    def __str__(self):\n        raise TypeError('mute')\n"
        "raise Mute()"
    )
    ran = run(kernel, code)
    assert ran.execution.status == "error"
    assert ran.execution.error is not None
    assert ran.execution.error.ename in ("Mute", "TypeError")
    assert run(kernel, "1").plain == ["1"]


def test_display_updates_change_what_was_shown(kernel: Kernel) -> None:
    """K27."""
    code = """
from IPython.display import display
handle = display("start", display_id=True)
for n in range(200):
    handle.update(n)
"""
    ran = run(kernel, code)
    assert ran.plain == ["199"]
    updates = [m for m in ran.raw if isinstance(m, DisplayUpdate)]
    assert 0 < len(updates) < 100


def test_clear_output_clears_only_this_cell(kernel: Kernel) -> None:
    """K27."""
    code = """
from IPython.display import clear_output, display
for n in range(3):
    clear_output(wait=True)
    print("frame", n)
display("after")
"""
    ran = run(kernel, code)
    assert any(isinstance(m, ClearOutput) for m in ran.raw)
    assert ran.text == "frame 2\n"
    assert ran.plain == ["'after'"]


def test_a_widget_is_shown_with_a_text_in_its_place(kernel: Kernel) -> None:
    """K29."""
    ran = run(kernel, "import ipywidgets\nipywidgets.IntSlider(value=3)")
    (result,) = [o for o in ran.outputs if isinstance(o, ExecuteResult)]
    assert "application/vnd.jupyter.widget-view+json" in result.data
    assert "IntSlider" in str(result.data["text/plain"])


def test_what_json_cannot_hold_does_no_harm(kernel: Kernel) -> None:
    """K28."""
    code = """
from IPython.display import display
display({"application/json": {"a": float("nan")}, "text/plain": "x"}, raw=True)
"""
    shown = run(kernel, code).outputs[0]
    assert isinstance(shown, DisplayData)
    assert shown.data["application/json"] in ({"a": None}, {"a": "nan"})


def test_variables_that_a_cell_made_changed_and_removed_are_named(kernel: Kernel) -> None:
    run(kernel, "rows = [1]\nname = 'a'\ngone = 0\nsame = {}")
    ended = run(kernel, "rows.append(2)\nname = 'b'\ndel gone\nfresh = 2.5\nimport os").execution
    assert sorted(ended.changed, key=lambda v: v.name) == [
        VariableSummary("fresh", "float", "2.5"),
        VariableSummary("name", "str", "'b'"),
        VariableSummary("rows", "list", "[1, 2]"),
    ]
    assert ended.removed == ("gone",)


def test_a_table_that_grew_in_place_is_seen(kernel: Kernel) -> None:
    run(kernel, "import pandas as pd\ndf = pd.DataFrame({'a': range(100)})")
    ended = run(kernel, "df['b'] = 1").execution
    assert ended.changed == (VariableSummary("df", "DataFrame", "100 rows x 2 columns"),)


def test_a_variable_changed_before_an_error_is_named_too(kernel: Kernel) -> None:
    """K36."""
    ended = run(kernel, "early = 1\n1 / 0\nlate = 2").execution
    assert [v.name for v in ended.changed] == ["early"]


def test_a_table_comes_with_a_summary(kernel: Kernel) -> None:
    ran = run(kernel, "import pandas as pd\npd.DataFrame({'price': range(1000)})")
    assert "DataFrame 1000 rows x 1 columns" in ran.execution.result_summary
    assert "price int 0/499.5/999" in ran.execution.result_summary
    assert run(kernel, "print(1)\n'short'").execution.result_summary == ""


def test_x_21_files_that_a_cell_wrote_changed_and_removed_are_found_without_a_model(
    kernel: Kernel, tmp_path: Path
) -> None:
    (tmp_path / "old.txt").write_text("x")
    (tmp_path / "gone.txt").write_text("x")
    code = """
import os
open("new.csv", "w").write("12345")
open("old.txt", "a").write("yy")
os.remove("gone.txt")
os.mkdir("deep"); open("deep/er.txt", "w").close()
open(".hidden", "w").close()
"""
    assert run(kernel, code).execution.files == (
        FileChange("deep/er.txt", "created", 0),
        FileChange("gone.txt", "deleted", 0),
        FileChange("new.csv", "created", 5),
        FileChange("old.txt", "modified", 3),
    )
    assert run(kernel, "1").execution.files == ()


def test_notebooks_that_jupyter_saves_meanwhile_are_no_change_of_the_cell(
    kernel: Kernel, tmp_path: Path
) -> None:
    """Another process saves two notebooks while a cell waits for it, and one before it."""
    for name in ("edited", "read", "other"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    run(kernel, "1")
    (tmp_path / "other.ipynb").write_text("saved between two cells")
    code = """
import os, pathlib, time
pathlib.Path("edited.ipynb").write_text("by the cell")
pathlib.Path("read.ipynb").read_text()
pathlib.Path("whole.tmp").write_text("x"); os.replace("whole.tmp", "renamed.ipynb")
pathlib.Path("go.txt").write_text("x")
while not os.path.exists("saved.txt"):
    time.sleep(0.01)
"""

    def save_as_jupyter_does() -> None:
        while not (tmp_path / "go.txt").exists():
            time.sleep(0.01)
        for name in ("read", "other", "new"):
            (tmp_path / f"{name}.ipynb").write_text("saved while the cell runs")
        (tmp_path / "saved.txt").write_text("x")

    jupyter = multiprocessing.get_context("fork").Process(target=save_as_jupyter_does)
    jupyter.start()
    found = run(kernel, code).execution.files
    jupyter.join()
    assert {file.path for file in found} == {
        *("edited.ipynb", "renamed.ipynb"),
        *("go.txt", "saved.txt"),
    }


def test_a_notebook_that_a_child_of_the_cell_writes_is_told(kernel: Kernel, tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.run(['cp', 'a.ipynb', 'b.ipynb'], check=True)"
    (tmp_path / "a.ipynb").write_text("{}")
    assert run(kernel, code).execution.files == (FileChange("b.ipynb", "created", 2),)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "c.ipynb").write_text("{}")
    moved = run(kernel, "import os; os.rename('folder', 'elsewhere')").execution.files
    assert "elsewhere/c.ipynb" in {file.path for file in moved}


def test_a_change_of_folder_is_told(kernel: Kernel, tmp_path: Path) -> None:
    """K34."""
    (tmp_path / "sub").mkdir()
    assert run(kernel, "%cd -q sub").execution.cwd == str(tmp_path / "sub")
    assert kernel.describe().cwd == str(tmp_path / "sub")


def test_a_replaced_stdout_is_noticed(kernel: Kernel) -> None:
    """K19."""
    ran = run(kernel, "import sys, io\nold, sys.stdout = sys.stdout, io.StringIO()\nprint('lost')")
    assert "sys.stdout was replaced" in ran.execution.note
    run(kernel, "sys.stdout = old")
    assert run(kernel, "print('back')").text == "back\n"


def test_lone_surrogates_do_not_break_the_output(kernel: Kernel) -> None:
    """K24."""
    ran = run(kernel, "print('a'); print('\\ud83d'); print('b')\n'last'")
    assert ran.execution.status in ("ok", "error")
    ran.text.encode()
    assert run(kernel, "1").plain == ["1"]


def test_bytes_written_past_the_text_layer_do_no_harm(kernel: Kernel) -> None:
    """K24."""
    run(kernel, "import os; os.write(1, b'raw \\xff bytes\\n');")
    assert run(kernel, "import sys; sys.stdout.buffer.write(b'x')").execution.status in (
        "ok",
        "error",
    )
    assert run(kernel, "1").plain == ["1"]


def test_a_recursion_error_has_a_traceback_of_readable_length(kernel: Kernel) -> None:
    """K21."""
    # IPython takes seconds to show the usual thousands of frames, of which it says the same
    run(kernel, "import sys\nusual = sys.getrecursionlimit()\nsys.setrecursionlimit(200)")
    ran = run(kernel, "def f(n):\n    return f(n + 1)\nf(0)")
    run(kernel, "sys.setrecursionlimit(usual)")
    assert ran.execution.error is not None
    assert ran.execution.error.ename == "RecursionError"
    assert sum(map(len, ran.execution.error.traceback)) < 61_000


def test_underscore_names_and_internals_are_not_listed(kernel: Kernel) -> None:
    run(kernel, "import os\nvisible = 1\n_private = 2\ndef f(a, b=2): ...")
    rows = kernel.probe("list_variables", {})
    assert rows == [
        {"name": "visible", "type": "int", "text": "1"},
        {"name": "f", "type": "function", "text": "f(a, b=2)"},
    ]
    assert kernel.probe("list_variables", {"pattern": "v*"}) == rows[:1]


def test_a_part_of_a_variable_can_be_inspected_but_nothing_is_called(kernel: Kernel) -> None:
    run(kernel, "d = {'a': [1, 2, 3]}")
    assert kernel.probe("inspect_variable", {"name": "d['a'][-1]"}) == "int: 3"
    with pytest.raises(ToolError, match="is not a name"):
        kernel.probe("inspect_variable", {"name": "d.clear()"})
    with pytest.raises(ToolError, match="there is no 'dd'; there is d"):
        kernel.probe("inspect_variable", {"name": "dd"})


def test_the_kernel_describes_itself(kernel: Kernel, tmp_path: Path) -> None:
    described = kernel.describe()
    assert described.language == "python"
    assert described.cwd == str(tmp_path)
    assert kernel.is_alive()


def test_what_the_sink_returns_is_what_is_yielded(kernel: Kernel) -> None:
    seen: list[CellOutput] = []
    clean = CellOutput("c", StreamOutput("stdout", "redacted"))

    def redacting(output: CellOutput) -> CellOutput:
        seen.append(output)
        is_end = output.message == StreamOutput("stdout", "")
        return output if is_end else clean

    running = kernel.execute(CellRequest("c", "print('secret')"), Stop(), redacting)
    assert list(running) == [clean]
    assert seen[0] == CellOutput("c", StreamOutput("stdout", "secret\n"))


# Limits


def test_two_hundred_thousand_prints_come_in_few_pieces(kernel: Kernel) -> None:
    """K10."""
    ran = run(kernel, "for n in range(200_000): print(n)")
    assert ran.text == "".join(f"{n}\n" for n in range(200_000))
    assert len(ran.messages) <= 20 * ran.seconds + 5


def test_flushed_prints_come_in_few_pieces(kernel: Kernel) -> None:
    """K10."""
    ran = run(kernel, "for n in range(3_000): print(n, flush=True)")
    assert ran.text == "".join(f"{n}\n" for n in range(3_000))
    assert len(ran.messages) <= 21 * ran.seconds + 5


def test_of_too_much_output_head_and_tail_are_kept(kernel: Kernel) -> None:
    """K9."""
    ran = run(
        kernel,
        "print('head'); print('x' * 3_000_000); print('y' * 3_000_000); print('tail')",
        output_limit_bytes=1_000_000,
    )
    assert ran.execution.status == "ok"
    sent = "".join(m.text for m in ran.raw if isinstance(m, StreamOutput))
    assert 900_000 < len(sent) < 1_001_000
    assert sent.startswith("head\n")
    assert sent.endswith("tail\n")
    assert "characters of output are left out" in sent


def test_endless_output_is_stopped(kernel: Kernel) -> None:
    """K8."""
    ran = run(kernel, "while True: print('x' * 1000)", output_limit_bytes=100_000)
    assert ran.execution.status == "interrupted"
    assert "sent far more output than is allowed" in ran.execution.note
    assert ran.seconds < 10


def test_a_thousand_pictures_are_captured(kernel: Kernel) -> None:
    """K26."""
    code = """
from IPython.display import display
for n in range(1000):
    display({"image/png": "iVBOR" + "A" * 1000, "text/plain": str(n)}, raw=True)
"""
    assert run(kernel, code).plain == [str(n) for n in range(1000)]


# Time and interrupts


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('begun'); time.sleep(30)",
        "print('begun')\nwhile True: pass",
        "import asyncio; print('begun'); await asyncio.sleep(30)",
        "import asyncio, time; print('begun'); await asyncio.sleep(0); time.sleep(30)",
    ],
    ids=["sleep", "loop", "await", "sleep after await"],
)
def test_a_cell_that_takes_too_long_is_stopped_and_its_output_kept(
    kernel: Kernel, code: str
) -> None:
    """K5."""
    ran = in_time(1.6, lambda: run(kernel, code, timeout_seconds=0.4))
    assert ran.execution.status == "timeout"
    assert "Stopped after 0.4 s" in ran.execution.note
    assert ran.execution.error is None
    assert ran.text == "begun\n"
    assert ran.seconds < 1.6
    assert run(kernel, "1").plain == ["1"]


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('begun'); time.sleep(30)",
        "print('begun')\nwhile True: pass",
        "import asyncio; print('begun'); await asyncio.sleep(30)",
        "import subprocess; print('begun'); subprocess.run(['sleep', '30'])",
        "import os; print('begun'); os.system('sleep 30')",
        "print('begun')\n!sleep 30",
    ],
    ids=["sleep", "loop", "await", "subprocess", "os.system", "shell command"],
)
def test_stop_ends_a_cell_within_a_second(kernel: Kernel, code: str) -> None:
    """K12."""
    ran = in_time(1.6, lambda: stopped_after(kernel, code, 0.6))
    assert ran.cancelled is not None
    assert ran.seconds < 1.6
    assert ran.text.startswith("begun\n")
    assert run(kernel, "1").plain == ["1"]


def test_a_stop_that_was_set_before_runs_nothing(kernel: Kernel) -> None:
    stop = Stop()
    stop.set("not today")
    assert run(kernel, "ran = 1", stop=stop).cancelled is not None
    assert kernel.probe("list_variables", {}) == []


def test_a_cell_without_a_time_limit_runs(kernel: Kernel) -> None:
    assert run(kernel, "import time; time.sleep(0.3); 1", timeout_seconds=None).plain == ["1"]


def test_history_does_not_take_cells_of_ours_for_the_persons(kernel: Kernel) -> None:
    run(kernel, "ours = 1")
    assert "ours = 1" not in kernel.probe("executed_cells", {})


def test_outputs_fold_as_the_cell_shows_them(kernel: Kernel) -> None:
    ran = run(kernel, "import sys\nfor n in range(50): sys.stdout.write(f'\\r{n}%')")
    assert fold(ran.raw) == (StreamOutput("stdout", "49%"),)
    assert not [m for m in ran.raw if isinstance(m, ErrorOutput)]
