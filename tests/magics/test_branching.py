"""``%agent branch``: attempts in copies of the live kernel, of which one is kept or none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from fake_service import MODEL, Answer, Request, Wire, text, tool_call
from magics.live_kernel import LiveKernel

from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


@pytest.fixture
def kernel(own_kernel: LiveKernel) -> LiveKernel:
    """Each test lets a copy take its kernel's place, and a second try needs a new one."""
    return own_kernel


def by_model(codes: Mapping[str, str]) -> Answer:
    """A service whose models each run a cell of their own, then say so."""

    def answer(request: Request) -> Wire:
        model = str(request.body["model"])
        if any(message["role"] == "tool" for message in request.messages):
            return text(f"Done by {model}.")(request)
        return tool_call("run_cell", {"code": codes[model]})(request)

    return answer


def test_three_models_try_at_once_and_the_one_that_is_kept_is_the_kernel(
    fresh: LiveKernel,
) -> None:
    fresh.run("data = [3, 1, 2]; alias = data; number = id(data)")
    draw = (
        f"from IPython.display import Image; Image(data=__import__('base64').b64decode('{PIXEL}'))"
    )
    shown = fresh.run(
        '%agent branch "Sort it" --models a,b,c --mode auto',
        by_model({"a": "data.sort()", "b": f"data.reverse(); done = 'b'\n{draw}", "c": "1 / 0"}),
    )
    (table,) = shown.results
    assert "Done by a." in table
    assert "Done by b." in table
    for row, model in zip(table.split("\n")[3:], "abc", strict=True):
        assert row.split()[1] == model
    assert "done" in table
    pictures = [data["text/html"] for data in shown.displays if "text/html" in data]
    assert pictures[0].count("<img") == 1
    assert fresh.value("data, 'done' in globals()") == "([3, 1, 2], False)", "nothing happened"

    kept = fresh.run("%agent branch keep 2", answers=[])
    assert "Branch 2 was kept" in kept.displays[-1]["text/plain"]
    assert "Done by b." in kept.markdown
    assert fresh.value("data, alias is data, id(data) == number, done") == (
        "([2, 1, 3], True, True, 'b')"
    )
    fresh.run("%agent --mode auto and now?", [text("Well.")], answers=[])
    said = str(fresh.service.requests[-1].messages)
    assert said.index("Sort it") < said.index("Done by b.") < said.index("and now?")
    assert "Done by a." not in said
    refused = fresh.run("%agent branch keep 1")
    assert "There are no branches" in str(refused.of("error"))


def test_what_the_person_ran_meanwhile_is_said_to_be_set_back_and_undo_brings_it(
    fresh: LiveKernel,
) -> None:
    fresh.run('%agent branch 2 "Go" --mode auto', by_model({MODEL: "theirs = 1"}))
    fresh.run("mine = 2")
    fresh.run("mine += 1")
    kept = fresh.run("%agent branch keep 1", answers=[])
    assert "2 cells were run" in kept.displays[-1]["text/plain"]
    assert fresh.value("theirs, 'mine' in globals()") == "(1, False)"
    fresh.run("%agent undo", answers=[])
    assert fresh.value("mine, 'theirs' in globals()") == "(3, False)"


def test_branches_that_were_asked_for_inside_a_capture_can_be_kept(fresh: LiveKernel) -> None:
    answer = by_model({MODEL: "theirs = 1"})
    fresh.run('%%capture caught\n%agent branch 2 "Go" --mode auto', answer)
    fresh.run("%agent branch keep 1", answers=[])
    shown = fresh.run("print('told'); theirs")
    assert (shown.stdout, shown.results) == ("told\n", ["1"])


def test_branches_end_with_an_undo_and_a_redo_and_the_commands_say_so(fresh: LiveKernel) -> None:
    for line in ("keep 1", "list", "drop"):
        fresh.run('%agent branch 2 "Go" --mode auto', text("Nothing to do."))
        answer = [tool_call("run_cell", {"code": "x = 2"}), text("Done.")]
        fresh.run("%agent --mode auto Go", answer, answers=[])
        fresh.run("%agent undo", answers=[])
        assert "The branches have ended" in fresh.run(f"%agent branch {line}", answers=[]).stderr
        assert "There are no branches" in fresh.run(f"%agent branch {line}", answers=[]).stderr
    fresh.run('%agent branch 2 "Go" --mode auto', text("Nothing to do."))
    assert "Branch 2 was kept" in str(fresh.run("%agent branch keep 2", answers=[]).displays)


def test_where_no_undo_can_bring_back_what_the_person_ran_meanwhile_it_is_said(
    fresh: LiveKernel,
) -> None:
    fresh.run('%agent branch 2 "Go" --mode auto', by_model({MODEL: "theirs = 1"}))
    fresh.run(
        "import threading\n"
        "wait = threading.Event().wait\n"
        "threading.Thread(target=wait, name='mine', daemon=True).start()"
    )
    said = fresh.run("%agent branch keep 1", answers=[]).displays[-1]["text/plain"]
    assert "no undo brings it forth: " in said
    assert said.endswith("could not be kept, as thread 'mine' runs.")


def test_what_was_kept_can_be_branched_again_and_undone_one_by_one(fresh: LiveKernel) -> None:
    fresh.run("rows = [1]; same = rows")
    for number in (2, 3):

        def answer(request: Request, number: int = number) -> Wire:
            if request.messages[-1]["role"] == "tool":
                return text("Done.")(request)
            return tool_call("run_cell", {"code": f"rows.append({number})"})(request)

        fresh.run('%agent branch 2 "Go" --mode auto', answer)
        fresh.run("%agent branch keep 2", answers=[])
    assert fresh.value("rows, same is rows") == "([1, 2, 3], True)"
    fresh.run("%agent undo", answers=[])
    assert fresh.value("rows, same is rows") == "([1, 2], True)"
    fresh.run("%agent undo", answers=[])
    assert fresh.value("rows, same is rows") == "([1], True)"


def test_what_was_undone_before_a_branch_was_kept_cannot_be_redone(fresh: LiveKernel) -> None:
    fresh.run("rows = [1]")
    answer = [tool_call("run_cell", {"code": "rows.append(2)"}), text("Done.")]
    fresh.run("%agent --mode auto Go", answer, answers=[])
    fresh.run("%agent undo", answers=[])
    fresh.run('%agent branch 2 "Go" --mode auto', by_model({MODEL: "rows.append(3)"}))
    fresh.run("%agent branch keep 1", answers=[])
    assert "There is nothing to redo" in fresh.run("%agent redo", answers=[]).stderr
    assert fresh.value("rows") == "[1, 3]"
    fresh.run("%agent undo", answers=[])
    assert fresh.value("rows") == "[1]"


def test_the_record_names_each_attempt(fresh: LiveKernel) -> None:
    fresh.run('%agent branch 2 "Go" --approaches "sort | count" --mode auto', text("."))
    fresh.run("%agent branch drop")
    database = open_database(fresh.home / "runs.sqlite")
    store = RunStore(database)
    records = [store.record(run.run_id) for run in store.list(2)]
    database.close()
    marks = sorted((r.branch.number, r.branch.label) for r in records if r.branch is not None)
    assert marks == [(1, "sort"), (2, "count")]
    assert len({r.branch.group for r in records if r.branch is not None}) == 1
    assert {record.lane for record in records} == {"branch"}
    assert records[0].prompt.startswith("Go\n\nApproach: ")


def test_each_attempt_asks_before_it_runs_code(fresh: LiveKernel) -> None:
    shown = fresh.run('%agent branch 2 "Go"', by_model({MODEL: "x = 1"}), answers=["y", "n"])
    assert len(shown.questions) == 2
    assert "x = 1" in shown.markdown
    changed = [row.split("  ") for row in shown.results[-1].split("\n")[3:]]
    assert sorted("nothing" in str(row) for row in changed) == [False, True]
    assert fresh.run("%agent branch drop").results[0].startswith("The branches are gone")
    assert fresh.value("'x' in globals()") == "False"


def test_what_cannot_be_done_is_refused_before_a_model_is_asked(fresh: LiveKernel) -> None:
    fresh.run("import threading; go = threading.Event()")
    fresh.run("threading.Thread(target=go.wait, name='loader').start()")
    refused = fresh.run('%agent branch 2 "Go" --mode auto')
    assert "thread 'loader' runs" in str(refused.of("error"))
    fresh.run("go.set()")
    for line, why in (
        ('%agent branch 9 "Go"', "cannot be compared"),
        ('%agent branch 2 "Go" --models a,b,c', "do not fit"),
        ("%agent branch keep 1", "There are no branches"),
        ('%agent branch 2 "Go" --mode ask', "nobody can be asked"),
    ):
        assert why in str(fresh.run(line).of("error")), line
    assert fresh.service.requests == []
