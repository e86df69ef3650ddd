"""Cells painted under the calling cell, in a real kernel, for a front end that announces itself."""

from __future__ import annotations

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel, Message
from magics.painting_front_end import PaintingFrontEnd

from cellwright.record.outputs import source_hash

pytestmark = pytest.mark.kernel
CODE = "print('hello')\nbest = 41 + 1\nbest"
SCRIPT = [
    tool_call("run_cell", {"code": CODE, "title": "Add it up"}, text="I add."),
    text("It is **42**."),
]


@pytest.fixture
def front_end(fresh: LiveKernel) -> PaintingFrontEnd:
    return PaintingFrontEnd(fresh)


def test_code_becomes_a_cell_and_its_outputs_come_between_begin_and_end(
    front_end: PaintingFrontEnd,
) -> None:
    painted = front_end.run("%%agent --mode auto\nAdd it up", SCRIPT)
    assert painted.kinds == ["start", "add", "begin", "end", "done"]
    (cell,) = painted.cells
    record = front_end.kernel.last_run
    assert cell.told == {
        "op": "add",
        "asks": True,
        "run": record.run_id,
        "call": record.calls[0].call_id,
        "cell_id": record.cells[0].cell.id,
        "hash": source_hash(CODE),
        "cell_type": "code",
        "after": "calling",
        "source": CODE,
    }
    assert [m["header"]["msg_type"] for m in cell.messages] == ["stream", "execute_result"]
    assert cell.stdout == "hello\n"
    assert cell.execution is not None
    assert cell.execution["status"] == "ok"
    reply = painted.shown.reply["content"]
    assert cell.execution["execution_count"] == reply["execution_count"]
    assert reply["status"] == "ok"


def test_the_calling_cell_keeps_the_prose_and_does_not_repeat_the_code(
    front_end: PaintingFrontEnd,
) -> None:
    painted = front_end.run("%%agent --mode auto\nAdd it up", SCRIPT)
    assert "I add." in painted.prose
    assert "Add it up" in painted.prose
    assert "It is **42**." in painted.prose
    assert "41 + 1" not in painted.prose
    assert "hello" not in str(painted.in_calling_cell)


def test_an_error_of_the_code_stands_in_its_cell_in_full_and_the_run_goes_on(
    front_end: PaintingFrontEnd,
) -> None:
    script = [
        tool_call("run_cell", {"code": "def f():\n    return {}['nope']\nf()", "title": "Look"}),
        tool_call("run_cell", {"code": "print('second')"}, id="call_2"),
        text("There is no such key."),
    ]
    painted = front_end.run("%%agent --mode auto\nlook", script)
    first, second = painted.cells
    assert [m["content"].get("ename") for m in first.messages] == ["KeyError"]
    assert first.execution is not None
    assert first.execution["status"] == "error"
    assert second.told["after"] == first.told["cell_id"]
    assert second.stdout == "second\n"
    assert "✗ Look" in painted.prose
    assert "KeyError" not in str(painted.in_calling_cell)
    assert painted.shown.reply["content"]["status"] == "ok"


def test_clear_output_of_the_code_clears_its_own_cell(front_end: PaintingFrontEnd) -> None:
    code = (
        "from IPython.display import clear_output\n"
        "print('gone')\nclear_output(wait=True)\nprint('kept')"
    )
    script = [tool_call("run_cell", {"code": code}), text("Done.")]
    painted = front_end.run("%%agent --mode auto\nclear", script)
    assert painted.cells[0].stdout == "kept\n"
    assert painted.kinds == ["start", "add", "begin", "clear", "end", "done"]
    assert painted.operations[3]["wait"] is True
    assert painted.shown.of("clear_output") == []


def test_output_of_threads_and_child_processes_comes_before_the_end(
    front_end: PaintingFrontEnd,
) -> None:
    code = (
        "import threading\n"
        "t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
        "!echo child"
    )
    script = [tool_call("run_cell", {"code": code}), text("Done.")]
    painted = front_end.run("%%agent --mode auto\nrun it", script)
    assert sorted(painted.cells[0].stdout.split()) == ["child", "thread"]


def test_what_was_printed_before_the_run_stays_in_the_calling_cell(
    front_end: PaintingFrontEnd,
) -> None:
    code = "print('before', end='')\nrun = %agent --mode auto add it up\nprint('after')"
    painted = front_end.run(code, SCRIPT)
    kept = "".join(m["content"].get("text", "") for m in painted.in_calling_cell)
    assert kept == "beforeafter\n"
    assert painted.cells[0].stdout == "hello\n"


def test_a_question_shows_the_code_until_it_is_answered(front_end: PaintingFrontEnd) -> None:
    painted = front_end.run("%%agent\nAdd it up", SCRIPT, answers=["y"])
    assert len(painted.shown.questions) == 1
    assert painted.kinds == ["start", "add", "begin", "end", "done"]
    shown = [
        m["content"]["data"]["text/markdown"]
        for m in painted.in_calling_cell
        if "data" in m["content"] and "text/markdown" in m["content"]["data"]
    ]
    assert any("41 + 1" in markdown for markdown in shown)
    assert "41 + 1" not in painted.prose
    assert "allowed" in painted.prose


def test_a_refused_call_paints_nothing_and_keeps_its_code_in_view(
    front_end: PaintingFrontEnd,
) -> None:
    painted = front_end.run("%%agent\nAdd it up", SCRIPT, answers=["no, use a loop"])
    assert painted.kinds == ["start", "done"]
    assert "41 + 1" in painted.prose
    assert "not run" in painted.prose


def test_the_model_adds_text_and_mends_its_own_cell_in_place(front_end: PaintingFrontEnd) -> None:
    script = [
        tool_call("add_cell", {"source": "# Sums"}),
        tool_call("run_cell", {"code": "print(1 / 0)"}, id="call_2"),
    ]
    painted = front_end.run("%%agent --mode auto\nsum", [*script, text("So far.")])
    heading, sums = painted.operations[1], painted.operations[2]
    assert (heading["cell_type"], heading["source"]) == ("markdown", "# Sums")
    assert sums["after"] == heading["cell_id"]
    assert "# Sums" not in painted.prose
    known = [{"cell_id": sums["cell_id"], "source": sums["source"], "painted_by": "calling"}]
    mended = {"cell_id": sums["cell_id"], "source": "print(1 / 1)", "run": True}
    again = front_end.run(
        "%%agent --mode auto\nmend it",
        [tool_call("edit_cell", mended), text("Done.")],
        cell_id="other",
        painted=known,
    )
    assert again.kinds == ["start", "edit", "begin", "end", "done"]
    assert again.operations[1]["previous_hash"] == source_hash("print(1 / 0)")
    assert again.cells[0].stdout == "1.0\n"


def test_an_edit_of_a_cell_that_the_person_changed_is_refused(front_end: PaintingFrontEnd) -> None:
    script = [tool_call("run_cell", {"code": "x = 1"}), text("Done.")]
    painted = front_end.run("%%agent --mode auto\nset", script)
    cell_id = painted.operations[1]["cell_id"]
    edit = {"cell_id": cell_id, "source": "x = 3", "run": True}
    for known, words in (
        ([{"cell_id": cell_id, "source": "x = 2", "painted_by": "calling"}], "x = 2"),
        ([], "no cell"),
    ):
        again = front_end.run(
            "%%agent --mode auto\nedit",
            [tool_call("edit_cell", edit), text("I see.")],
            cell_id="other",
            painted=known,
        )
        assert again.kinds == ["start", "done"]
        assert words in front_end.kernel.service.requests[1].last_text


@pytest.mark.parametrize("way", ["--inline", "--quiet"])
def test_painting_can_be_left_out_for_one_cell(front_end: PaintingFrontEnd, way: str) -> None:
    painted = front_end.run(f"%%agent {way} --mode auto\nAdd it up", SCRIPT)
    assert painted.kinds == []
    assert ("41 + 1" in painted.prose) is (way == "--inline")


def test_painting_can_be_switched_off(front_end: PaintingFrontEnd) -> None:
    front_end.kernel.run("%config AgentMagics.paint = False")
    try:
        painted = front_end.run("%%agent --mode auto\nAdd it up", SCRIPT)
    finally:
        front_end.kernel.run("%config AgentMagics.paint = True")
    assert painted.kinds == []
    assert "41 + 1" in painted.prose


def test_a_run_that_does_not_begin_replaces_nothing(front_end: PaintingFrontEnd) -> None:
    painted = front_end.run("%agent --files gone.csv look")
    assert "start" not in painted.kinds


def test_an_interrupted_cell_gets_its_end(front_end: PaintingFrontEnd) -> None:
    code = "import time\nprint('begun', flush=True)\ntime.sleep(30)"
    kernel = front_end.kernel

    def interrupt(message: Message) -> None:
        if message["header"]["msg_type"] == "stream":
            kernel.manager.interrupt_kernel()

    front_end.announce("calling")
    script = [tool_call("run_cell", {"code": code})]
    shown = kernel.run(
        "%%agent --mode auto\nwait", script, answers=[], watch=interrupt,
        metadata={"cellId": "calling"},
    )  # fmt: skip
    operations = [c["data"] for c in shown.of("comm_msg")]
    assert [o["op"] for o in operations] == ["start", "add", "begin", "end", "done"]
    assert operations[3]["execution"]["status"] == "interrupted"
