"""Mode ``ask`` in a real kernel: the person sees the code, and what they type counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_service import text, tool_call
from kernels.test_sandbox import CAN_SANDBOX
from magics.live_kernel import LiveKernel

QUESTION = "Run it? [y]es / [n]o / [a]ll / [p]review / or what to do instead: "
pytestmark = pytest.mark.kernel
FIRST = tool_call("run_cell", {"code": "asked_1 = 1", "title": "Set a name"}, id="call_1")
SECOND = tool_call("run_cell", {"code": "asked_2 = 2"}, id="call_2")


def test_yes_runs_what_was_shown_and_shows_it_once(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent set it", [FIRST, text("Set.")], answers=["y"])
    assert shown.questions == [QUESTION]
    assert shown.markdown.count("asked_1 = 1") == 1
    assert "**Set a name**" in shown.displays[0]["text/markdown"]
    assert "✓ allowed" in shown.displays[0]["text/markdown"]
    assert fresh.value("asked_1") == "1"
    assert fresh.last_run.calls[0].decision == "allowed by person"


def test_the_code_and_the_reason_are_there_before_the_question(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent set it", [FIRST, text("Set.")], answers=["n"])
    drawn = [m["content"]["data"] for m in shown.messages if "data" in m["content"]]
    # A slow machine waits for the model first, in the same place.
    first = next(data for data in drawn if "asked_1 = 1" in data["text/markdown"])
    assert "runs code" in first["text/markdown"]


@pytest.mark.parametrize("answer", ["n", "no", ""])
def test_no_runs_nothing_and_the_model_is_told(fresh: LiveKernel, answer: str) -> None:
    fresh.run("asked_1 = 'untouched'")
    shown = fresh.run("%agent set it", [FIRST, text("All right.")], answers=[answer])
    assert "✗ not run" in shown.displays[0]["text/markdown"]
    assert "Refused" in fresh.service.requests[1].last_text
    assert fresh.value("asked_1") == "'untouched'"


def test_code_of_a_run_agrees_to_nothing_even_where_it_was_allowed(fresh: LiveKernel) -> None:
    """Each line is asked about in mode auto, and done only while no agent is at work."""
    for line in ("assistant new default 'Obey.'", "tool connect shop -- touch connected"):
        call = tool_call("run_cell", {"code": f"%agent {line}"})
        shown = fresh.run("%agent --mode auto go", [call, text("Done.")], answers=["y"])
        assert len(shown.questions) == 1
        assert "already at work" in fresh.service.requests[-1].last_text
    assert "default" not in str(fresh.run("%agent assistant").displays)


def test_other_words_are_what_to_do_instead(fresh: LiveKernel) -> None:
    fresh.run("%agent set it", [FIRST, text("All right.")], answers=["use the name total"])
    assert "use the name total" in fresh.service.requests[1].last_text


def test_all_asks_no_more_in_this_run_and_again_in_the_next(fresh: LiveKernel) -> None:
    script = [FIRST, SECOND, text("Set.")]
    assert len(fresh.run("%agent set them", script, answers=["a"]).questions) == 1
    assert fresh.value("asked_2") == "2"
    assert len(fresh.run("%agent set them", script, answers=["y", "y"]).questions) == 2


@pytest.mark.parametrize("options", ["", "--mode edits"])
def test_where_nobody_can_type_the_model_is_not_asked_and_nothing_is_paid(
    fresh: LiveKernel, options: str
) -> None:
    """Issue 13, 20: it was asked, its code refused, and the run counted as completed."""
    shown = fresh.run(f"%agent {options} set it", [FIRST, text("I may not.")])
    assert shown.reply["content"]["status"] == "error"
    assert "--mode auto" in shown.reply["content"]["evalue"]
    assert fresh.service.requests == []


def test_where_nobody_can_type_a_plan_and_mode_auto_are_answered(fresh: LiveKernel) -> None:
    for mode in ("plan", "auto"):
        fresh.run(f"%agent --mode {mode} hello", [text("Hello.")])
        assert fresh.last_run.answer == "Hello."


def test_where_nobody_can_type_a_run_in_mode_ask_is_not_asked_again(fresh: LiveKernel) -> None:
    fresh.run("%agent hello", [text("Hello.")], answers=[])
    shown = fresh.run("%agent rerun last -m other", [text("Again.")])
    assert "--mode auto" in shown.reply["content"]["evalue"]
    assert fresh.service.requests == []


def test_quiet_still_shows_what_is_asked(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent --quiet set it", [FIRST, text("Set.")], answers=["y"])
    assert "asked_1 = 1" in shown.displays[0]["text/markdown"]
    assert len(shown.displays) == 2  # the question and the run


def test_what_the_code_asks_with_input_is_answered(fresh: LiveKernel) -> None:
    """Issue 13, 20."""
    asks = tool_call("run_cell", {"code": "who = input('Who? ')"})
    shown = fresh.run("%agent --mode auto greet", [asks, text("Hello.")], answers=["Ada"])
    assert shown.questions == ["Who? "]
    assert fresh.value("who") == "'Ada'"


@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_a_preview_shows_what_the_code_does_and_then_the_same_is_asked_again(
    fresh: LiveKernel, tmp_path: Path
) -> None:
    fresh.run(f"rows = [1, 2]; import os; os.chdir({str(tmp_path)!r})")
    code = "rows.append(3); total = sum(rows)\nopen('out.txt', 'w').write('x')\ntotal"
    shown = fresh.run(
        "%agent add them", [tool_call("run_cell", {"code": code}), text("6.")], answers=["p", "n"]
    )
    assert shown.questions == [QUESTION, QUESTION.replace("[p]review", "[p]review / [k]eep result")]
    told = [data["text/plain"] for data in shown.displays if "text/markdown" not in data]
    assert told[:2] == ["Preview: nothing of this has happened.", "6"]
    assert told[2].splitlines() == ["Variables: rows, total", "Files: out.txt"]
    assert fresh.value("rows, 'total' in globals(), os.listdir()") == "([1, 2], False, [])"
    assert fresh.last_run.calls[0].decision == "refused by person after a preview"


@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_the_result_of_a_preview_is_kept_and_the_code_does_not_run_again(
    fresh: LiveKernel, tmp_path: Path
) -> None:
    fresh.run(f"rows = [1, 2]; same = rows; import os, time; os.chdir({str(tmp_path)!r})")
    code = "time.sleep(4); rows.append(3)\nopen('out.txt', 'w').write('x')\nprint('added')"
    began = time.monotonic()
    shown = fresh.run(
        "%agent add them", [tool_call("run_cell", {"code": code}), text("6.")], answers=["p", "k"]
    )
    assert time.monotonic() - began < 7.5
    assert len(shown.questions) == 2
    assert fresh.value("rows, same is rows, os.listdir()") == "([1, 2, 3], True, ['out.txt'])"
    ran = fresh.last_run
    assert ran.calls[0].decision == "allowed by person with the result of its preview"
    execution = ran.executions[0].execution
    assert execution is not None
    assert execution.note.startswith("Taken over from its preview")
    told = fresh.run(f"%agent show {ran.run_id}")
    assert "with the result of its preview" in json.dumps(told.displays)
    program = [str(Path(sys.executable).with_name("cellwright")), "show", ran.run_id]
    environment = {**os.environ, "CELLWRIGHT_HOME": str(fresh.home)}
    there = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    assert "Taken over from its preview; the code did not run again." in there.stdout


@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_of_a_moved_folder_it_is_said_what_stands_in_the_way_of_keeping_the_result(
    fresh: LiveKernel, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    fresh.run(f"import os, shutil; os.chdir({str(tmp_path)!r})")
    moves = tool_call("run_cell", {"code": "shutil.move('data', 'other')"})
    shown = fresh.run("%agent move it", [moves, text("Moved.")], answers=["p", "n"])
    told = str(shown.displays)
    assert "it deleted or replaced" in told
    assert "NotCarriedError" not in told


def test_where_there_can_be_no_preview_it_says_why_and_asks_again(fresh: LiveKernel) -> None:
    fresh.run("import threading; go = threading.Event()")
    fresh.run("threading.Thread(target=go.wait, name='feed').start()")
    shown = fresh.run("%agent set it", [FIRST, text("Set.")], answers=["preview", "y"])
    fresh.run("go.set()")
    told = [data["text/plain"] for data in shown.displays if "text/markdown" not in data]
    assert told[0].startswith("There is no preview. This kernel cannot be copied: ")
    assert fresh.value("asked_1") == "1"
