"""``%agent undo`` and ``redo``: variables as before a run, and as after it."""

from __future__ import annotations

import re
import time

import pytest
from fake_answers import text, tool_call
from magics.live_kernel import LiveKernel
from magics.painting_front_end import PaintingFrontEnd

from cellwright.record.run_record import Score
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture
def kernel(own_kernel: LiveKernel) -> LiveKernel:
    """Each test takes its kernel back, and a second try needs a new one."""
    return own_kernel


def ask(kernel: LiveKernel, code: str, said: str = "Done.") -> str:
    """The id of a run that runs a cell."""
    script = [tool_call("run_cell", {"code": code}), text(said)]
    shown = kernel.run("%agent --mode auto do it", script, answers=[])
    assert shown.reply["content"]["status"] == "ok", shown.stderr
    return kernel.last_run.run_id


def scores_of(kernel: LiveKernel, run_id: str) -> list[str]:
    return [score.name for score in given(kernel, run_id)]


def given(kernel: LiveKernel, run_id: str) -> tuple[Score, ...]:
    database = open_database(kernel.home / "runs.sqlite")
    try:
        return RunStore(database).scores.of(run_id)
    finally:
        database.close()


def test_undo_brings_variables_back_and_redo_forth_run_by_run(kernel: LiveKernel) -> None:
    kernel.run("import math\nrows = [1, 2, 3]\nsame = rows\nsteps = iter(rows)\nnext(steps)")
    first = ask(kernel, "rows.append(4); next(steps); del math")
    second = ask(kernel, "rows.clear(); rows = None; extra = 1")
    assert kernel.value("(rows, same, extra)") == "(None, [], 1)"

    shown = kernel.run("%agent undo", answers=[])
    assert shown.reply["content"]["status"] == "ok"
    (said,) = (data["text/plain"] for data in shown.displays)
    assert f"as they were before run {second}" in said
    assert (
        kernel.value("(rows, same is rows, 'extra' in globals())") == "([1, 2, 3, 4], True, False)"
    )
    assert scores_of(kernel, second) == ["undone"]

    kernel.run("%agent undo", answers=[])
    assert kernel.value("(rows, same is rows, next(steps), math.pi > 3)") == (
        "([1, 2, 3], True, 2, True)"
    )
    assert scores_of(kernel, first) == ["undone"]

    shown = kernel.run("%agent redo", answers=[])
    assert f"as run {first} and what followed" in shown.displays[0]["text/plain"]
    assert kernel.value("(rows, 'math' in globals())") == "([1, 2, 3, 4], False)"
    assert scores_of(kernel, first) == []


def test_a_run_that_was_asked_for_inside_a_capture_is_undone(kernel: LiveKernel) -> None:
    kernel.run("rows = [1]")
    script = [tool_call("run_cell", {"code": "rows.append(2)"}), text("Done.")]
    kernel.run("%%capture caught\n%agent --mode auto do it", script, answers=[])
    kernel.run("%agent undo", answers=[])
    shown = kernel.run("print('told'); display('shown'); rows", answers=[])
    assert (shown.stdout, shown.results) == ("told\n", ["[1]"])
    assert shown.displays[0]["text/plain"] == "'shown'"


def test_where_the_cell_goes_on_after_it_nothing_is_undone_or_redone(kernel: LiveKernel) -> None:
    kernel.run("rows = [1]")
    run_id = ask(kernel, "rows.append(2)")
    for cell in (
        "%agent undo\nprint(rows)",
        "kept = %agent undo",
        "for _ in range(2):\n    %agent undo",
        "%agent undo --files\n%agent undo",
    ):
        shown = kernel.run(cell, answers=[])
        assert "%agent undo has to be the last line of its cell" in shown.stderr, cell
        assert kernel.value("rows") == "[1, 2]"
    assert scores_of(kernel, run_id) == []
    kernel.run("extra = 1\n%agent undo", answers=[])
    assert kernel.value("rows, 'extra' in globals()") == "([1], False)"
    assert "%agent redo has to be" in kernel.run("%agent redo\nrows", answers=[]).stderr
    assert kernel.value("rows") == "[1]"


def test_undo_brings_back_what_was_so_before_one_of_the_cells_of_the_run(
    kernel: LiveKernel,
) -> None:
    kernel.run("rows = [1]\nsame = rows")
    codes = (
        "rows.append(2); open('first.txt', 'w').close()",
        "rows.append(3)",
        "rows.clear(); rows = 'gone'; open('last.txt', 'w').close()",
    )
    script = [tool_call("run_cell", {"code": code}) for code in codes]
    kernel.run("%agent --mode auto do it", [*script, text("Done.")], answers=[])
    run_id = kernel.last_run.run_id
    assert kernel.value("(rows, same)") == "('gone', [])"

    shown = kernel.run("%agent undo 3", answers=[])
    assert shown.reply["content"]["status"] == "ok", shown.stderr
    (said,) = (data["text/plain"] for data in shown.displays)
    assert f"as they were before cell 3 of run {run_id}" in said
    assert "%agent undo --files puts 1 file back: last.txt (is removed)." in said
    assert kernel.value("(rows, same is rows)") == "([1, 2, 3], True)"
    assert scores_of(kernel, run_id) == ["undone"]
    shown = kernel.run("%agent undo 2", answers=[])
    assert "before cell 2 of run" in str(shown.displays), (shown.results, shown.stderr)
    assert kernel.value("(rows, same is rows)") == "([1, 2], True)"
    shown = kernel.run("%agent redo", answers=[])
    assert "before cell 3 of run" in shown.displays[0]["text/plain"]
    assert kernel.value("(rows, same is rows)") == "([1, 2, 3], True)"
    (score,) = given(kernel, run_id)
    assert score.explanation == "Undone by the user from cell 3 on.", "the first undo still holds"
    refused = kernel.run("%agent undo 7", answers=[]).stderr
    assert f"before cell 7 of run {run_id} is not kept" in refused
    assert "There are states before cell 1, cell 2." in refused

    kernel.run("%agent undo 2", answers=[])
    ask(kernel, "rows.append(9)")
    told = str(kernel.last_run.messages)
    assert told.index("rows.append(3)") < told.index(f"I have undone cell 2 of run {run_id}")
    assert kernel.last_run.status == "completed"
    assert kernel.value("(rows, same is rows)") == "([1, 2, 9], True)"
    kernel.run(f"%agent undo {run_id}", answers=[])
    assert kernel.value("(rows, same is rows)") == "([1], True)"


def test_the_record_knows_which_runs_are_undone_after_several_undos_and_redos(
    kernel: LiveKernel,
) -> None:
    first, second = ask(kernel, "total = 1"), ask(kernel, "total = 2")
    ran = [first, second]
    kernel.run("%agent undo", answers=[])
    kernel.run("%agent undo", answers=[])
    kernel.run("%agent redo", answers=[])
    assert kernel.value("total") == "1"
    assert [scores_of(kernel, run_id) for run_id in ran] == [[], ["undone"]]
    kernel.run("%agent redo", answers=[])
    assert [scores_of(kernel, run_id) for run_id in ran] == [[], []]

    kernel.run(f"%agent undo {first}", answers=[])
    assert [scores_of(kernel, run_id) for run_id in ran] == [["undone"], ["undone"]]
    kernel.run("%agent redo", answers=[])
    assert kernel.value("total") == "2"
    assert [scores_of(kernel, run_id) for run_id in ran] == [[], []]
    shown = kernel.run(f"%agent show {second}", answers=[])
    said = " ".join(data["text/plain"] for data in shown.displays)
    history = re.findall(r"(Undone|Redone) by the user", said)
    assert history == ["Undone", "Redone", "Undone", "Redone"]


def test_what_the_states_hold_is_told_with_the_context(kernel: LiveKernel) -> None:
    kernel.run("block = bytearray(b'x') * 64_000_000")
    ask(kernel, "del block")
    shown = kernel.run("%agent context", answers=[]).results[0]
    held = re.search(r"own: (\d+)\.\d MB, for \d states? that %agent undo", shown)
    assert held is not None, shown
    assert int(held[1]) >= 64


def test_the_model_is_told_what_was_undone_and_the_next_run_works(kernel: LiveKernel) -> None:
    kernel.run("total = 1")
    undone = ask(kernel, "total = 2", "It is two.")
    kernel.run("%agent undo", answers=[])
    later = ask(kernel, "total += 10; print(total)", "Eleven.")
    assert kernel.value("total") == "11"
    assert f"I have undone run {undone}" in str(kernel.last_run.messages)
    assert kernel.last_run.status == "completed"
    refused = kernel.run("%agent redo", answers=[]).stderr
    assert "nothing to redo: a restart or another run ends what an undo left" in refused
    assert "%agent cells puts the code of the last run into the next cell" in refused
    kernel.run(f"%agent undo {later}", answers=[])
    assert kernel.value("total") == "1"


def test_a_cell_that_waits_for_a_program_is_interrupted_after_an_undo(kernel: LiveKernel) -> None:
    ask(kernel, "total = 2")
    kernel.run("%agent undo", answers=[])
    code = "import os; os.system('sleep 50')"
    script = [tool_call("run_cell", {"code": code}), text("Slept.")]
    began = time.monotonic()
    kernel.run("%agent --mode auto --timeout 0.5 sleep", script, answers=[])
    assert time.monotonic() - began < 20
    (ran,) = kernel.last_run.executions
    assert ran.execution is not None
    assert ran.execution.status == "timeout"


def test_the_cells_of_the_run_go_where_the_front_end_paints(kernel: LiveKernel) -> None:
    front_end = PaintingFrontEnd(kernel)
    kernel.run("total = 1")
    script = [tool_call("run_cell", {"code": "total = 2"}), text("Two.")]
    painted = front_end.run("%agent --mode auto do it", script)
    (cell,) = painted.cells
    undone = front_end.run("%agent undo", cell_id="below")
    assert undone.kinds == ["start", "remove", "done"]
    removed = undone.operations[1]
    assert removed["cell_id"] == cell.told["cell_id"]
    assert removed["previous_hash"] == cell.told["hash"]
    assert "as they were before run" in undone.shown.displays[0]["text/plain"]
    assert kernel.value("total") == "1"
    again = front_end.run("%agent --mode auto do it", script)
    assert again.kinds == ["start", "add", "begin", "end", "done"]


def test_the_cells_from_one_on_go_where_the_front_end_paints(kernel: LiveKernel) -> None:
    front_end = PaintingFrontEnd(kernel)
    kernel.run("total = 1")
    script = [tool_call("run_cell", {"code": f"total = {number}"}) for number in (2, 3, 4)]
    painted = front_end.run("%agent --mode auto do it", [*script, text("Four.")])
    first, *rest = painted.cells
    undone = front_end.run("%agent undo 2", cell_id="below")
    removed = [step["cell_id"] for step in undone.operations if step.get("op") == "remove"]
    assert removed == [cell.told["cell_id"] for cell in reversed(rest)]
    assert first.told["cell_id"] not in removed
    assert kernel.value("total") == "2"


def test_what_stands_in_the_way_is_named_and_the_way_round_it_is_offered(
    kernel: LiveKernel,
) -> None:
    kernel.run(
        "import threading\ngo = threading.Event()\n"
        "waiter = threading.Thread(target=go.wait, name='my waiter'); waiter.start()\nkept = 1"
    )
    ask(kernel, "kept = 2")
    shown = kernel.run("%agent undo", answers=[])
    assert "thread 'my waiter'" in shown.results[0]
    assert "restart the kernel" in shown.results[0]
    assert kernel.value("kept") == "2"
    shown = kernel.run("%agent undo 2", answers=[])
    assert "ran no cell 2" in shown.stderr
    script = [tool_call("run_cell", {"code": f"kept = {number}"}) for number in (3, 4)]
    kernel.run("%agent --mode auto do it", [*script, text("Four.")], answers=[])
    shown = kernel.run("%agent undo 2", answers=[])
    assert "from cell 2 on, changed: kept" in shown.results[0]
    assert "thread 'my waiter'" in shown.results[0]
    (payload,) = shown.reply["content"]["payload"]
    assert "kept = 1" in payload["text"]
    assert payload["text"].endswith("\n\nkept = 3")
    kernel.run("go.set(); waiter.join()")


def test_an_undo_that_leaves_no_redo_says_so(kernel: LiveKernel) -> None:
    ask(
        kernel,
        "import threading\ngo = threading.Event()\n"
        "waiter = threading.Thread(target=go.wait, name='my waiter'); waiter.start()",
    )
    shown = kernel.run("%agent undo", answers=[])
    said = shown.displays[0]["text/plain"]
    assert "There is no redo: " in said
    assert said.endswith("could not be kept, as thread 'my waiter' runs.")
    assert "There is nothing to redo" in kernel.run("%agent redo", answers=[]).stderr


def test_none_is_kept_where_they_are_switched_off(kernel: LiveKernel) -> None:
    kernel.run("import os; os.environ['CELLWRIGHT_SNAPSHOTS'] = '0'; kept = 1")
    ask(kernel, "kept = 2")
    shown = kernel.run("%agent undo", answers=[])
    assert "CELLWRIGHT_SNAPSHOTS is 0" in shown.results[0]
    assert kernel.value("kept") == "2"
    kernel.run("os.environ['CELLWRIGHT_SNAPSHOTS'] = 'many'")
    assert "CELLWRIGHT_SNAPSHOTS is 'many'" in kernel.run("%agent undo", answers=[]).stderr
    kernel.run("del os.environ['CELLWRIGHT_SNAPSHOTS']")


def test_undo_puts_the_files_back_with_the_variables_and_redo_forth(kernel: LiveKernel) -> None:
    folder = kernel.home.parent
    (folder / "rows.csv").write_text("1\n2\n")
    kernel.run("rows = [1, 2]")
    run_id = ask(
        kernel, "open('rows.csv', 'w').write('gone'); open('new.txt', 'w').close(); rows = None"
    )
    shown = kernel.run("%agent undo --files", answers=[])
    (said,) = (data["text/plain"] for data in shown.displays)
    assert f"as they were before run {run_id}" in said
    assert "These files are put back: new.txt (is removed), rows.csv. Databases" in said
    assert kernel.value("rows") == "[1, 2]"
    assert (folder / "rows.csv").read_text() == "1\n2\n"
    assert not (folder / "new.txt").exists()

    shown = kernel.run("%agent redo --files", answers=[])
    assert "put forth: new.txt (comes back), rows.csv." in shown.displays[0]["text/plain"]
    assert kernel.value("rows") == "None"
    assert (folder / "rows.csv").read_text() == "gone"

    kernel.run("%agent undo --files", answers=[])
    shown = kernel.run("%agent redo", answers=[])
    assert "%agent redo --files puts 2 files forth" in shown.displays[0]["text/plain"]
    assert (folder / "rows.csv").read_text() == "1\n2\n"
    shown = kernel.run("%agent redo --files", answers=[])
    assert "put forth: new.txt (comes back), rows.csv." in shown.results[0]
    assert (folder / "rows.csv").read_text() == "gone"
    assert "nothing to redo" in kernel.run("%agent redo --files", answers=[]).stderr


def test_files_are_put_back_after_an_undo_that_offered_them(kernel: LiveKernel) -> None:
    folder = kernel.home.parent
    (folder / "a.txt").write_text("0")
    kernel.run("total = 0")
    first = ask(kernel, "total = 1; open('a.txt', 'w').write('1')")
    codes = ("total = 2; open('a.txt', 'w').write('2')", "total = 3; open('a.txt', 'w').write('3')")
    script = [tool_call("run_cell", {"code": code}) for code in codes]
    kernel.run("%agent --mode auto do it", [*script, text("Done.")], answers=[])
    second = kernel.last_run.run_id
    shown = kernel.run("%agent undo 2", answers=[])
    assert "before cell 2 of run" in str(shown.displays), (shown.results, shown.stderr)
    assert kernel.value("total") == "2"
    assert (folder / "a.txt").read_text() == "3"
    said = kernel.run("%agent undo --files", answers=[]).results[0]
    assert said == ("These files are put back: a.txt. %agent redo --files puts them forth again.")
    assert kernel.value("total") == "2", "the variables were there already"
    assert (folder / "a.txt").read_text() == "2"

    ask(kernel, "total += 10", "Ten more.")
    told = str(kernel.last_run.messages)
    assert f"put these files back as they were before cell 2 of run {second}: a.txt" in told
    shown = kernel.run(f"%agent show {second}", answers=[])
    assert "Undone by the user from cell 2 on." in str(shown.displays)
    assert "The user put files back: a.txt." in str(shown.displays)
    for run_id, left in ((second, "1"), (first, "0")):
        kernel.run(f"%agent undo {run_id} --files", answers=[])
        assert kernel.value("total") == left
        assert (folder / "a.txt").read_text() == left


def test_files_of_a_run_that_was_just_undone_are_none_where_it_changed_none(
    kernel: LiveKernel,
) -> None:
    folder = kernel.home.parent
    (folder / "a.txt").write_text("0")
    ask(kernel, "total = 1; open('a.txt', 'w').write('1')")
    second = ask(kernel, "total = 2")
    kernel.run("%agent undo", answers=[])
    said = kernel.run("%agent undo --files", answers=[]).results[0]
    assert f"Run {second}, which you have undone, changed no files that were noticed." in said
    assert "%agent undo --files once more goes one run further back." in said
    assert (kernel.value("total"), (folder / "a.txt").read_text()) == ("1", "1")
    kernel.run("%agent undo --files", answers=[])
    assert kernel.value("'total' in globals()") == "False"
    assert (folder / "a.txt").read_text() == "0"
    refused = kernel.run("%agent undo", answers=[]).reply["content"]
    assert "is undone already, and no earlier state is kept" in refused["evalue"]
    assert "%agent redo" in refused["evalue"]


def test_what_is_offered_after_a_restart_is_without_the_cells_that_were_undone(
    kernel: LiveKernel,
) -> None:
    kernel.run("rows = [0]")
    codes = ("rows.append(1)", "rows.append(2)", "rows.append(3)")
    script = [tool_call("run_cell", {"code": code}) for code in codes]
    kernel.run("%agent --mode auto do it", [*script, text("Done.")], answers=[])
    kernel.run("%agent undo 2", answers=[])
    kernel.run(
        "import threading\ngo = threading.Event()\n"
        "waiter = threading.Thread(target=go.wait, name='my waiter'); waiter.start()"
    )
    ask(kernel, "rows.clear()")
    shown = kernel.run("%agent undo", answers=[])
    assert "thread 'my waiter'" in shown.results[0]
    (payload,) = shown.reply["content"]["payload"]
    assert "rows = [0]\n\nrows.append(1)\n\nimport threading" in payload["text"]
    assert "rows.append(2)" not in payload["text"]
    kernel.run("go.set(); waiter.join()")


def test_the_cells_that_are_offered_for_after_a_restart_can_run_as_one(kernel: LiveKernel) -> None:
    kernel.run("a = 1")
    kernel.run("%%capture caught\nprint('told')")
    kernel.run("this is no Python")
    ask(kernel, "%agent undo\nb = 2")
    kernel.run("exit = print\nexit()")
    kernel.run(
        "import threading\ngo = threading.Event()\n"
        "waiter = threading.Thread(target=go.wait, name='my waiter'); waiter.start()"
    )
    ask(kernel, "a = b = caught = None")
    (payload,) = kernel.run("%agent undo", answers=[]).reply["content"]["payload"]
    assert "%agent" not in payload["text"]
    assert "exit()" not in payload["text"]
    kernel.run("go.set(); waiter.join()")
    shown = kernel.run(payload["text"], answers=[])
    assert shown.reply["content"]["status"] == "ok", shown.of("error")
    assert kernel.value("a, b, caught.stdout") == r"(1, 2, 'told\n')"
    kernel.run("go.set()")


def test_files_are_put_back_where_the_variables_cannot_be(kernel: LiveKernel) -> None:
    folder = kernel.home.parent
    (folder / "a.txt").write_text("0")
    kernel.run(
        "import threading\ngo = threading.Event()\n"
        "waiter = threading.Thread(target=go.wait, name='my waiter'); waiter.start()\nkept = 1"
    )
    run_id = ask(kernel, "kept = 2; open('a.txt', 'w').write('1')")
    said = kernel.run("%agent undo", answers=[]).results[0]
    assert "thread 'my waiter'" in said
    assert f"%agent undo {run_id} --files puts 1 file back: a.txt." in said
    said = kernel.run(f"%agent undo {run_id} --files", answers=[]).results[0]
    assert "left as they are: thread 'my waiter' runs. These files are put back: a.txt." in said
    assert (folder / "a.txt").read_text() == "0"
    assert kernel.value("kept") == "2"
    kernel.run("go.set(); waiter.join()")


def test_the_demo_model_answers_the_questions_around_an_undo_and_a_redo(
    kernel: LiveKernel,
) -> None:
    kernel.run("open('rooms.csv', 'w').write('room,guests\\nred,3\\nblue,4\\ngreen,\\n')")
    asks = "%%agent -m cellwright-demo --mode auto\n"
    first = kernel.run(f"{asks}What is the total of guests in rooms.csv?", answers=[])
    assert "**7**" in first.markdown
    kernel.run("%agent undo", answers=[])
    assert kernel.value("'rooms' in globals()") == "False"
    again = kernel.run(f"{asks}Which room has the most guests?", answers=[])
    assert "**blue**" in again.markdown
    kernel.run("%agent undo", answers=[])
    kernel.run("%agent redo", answers=[])
    last = kernel.run(f"{asks}How many missing values are there in guests?", answers=[])
    assert "**1**" in last.markdown
