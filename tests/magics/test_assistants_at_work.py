"""Assistants, scenes and usage in a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from assistant_files import write_assistant
from fake_service import error, text, tool_call
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel

REVIEWER = """
description = "Looks for mistakes"
instructions = "Check the units of {{what}} first."
model = "fake-careful"
temperature = 0.01
tools = ["list_variables", "read_*"]

[[scenes]]
label = "plot"
prompt = "Name the axes."
"""


@pytest.fixture
def folder(fresh: LiveKernel) -> Path:
    """The kernel's folder, with an assistant in it."""
    where = fresh.home.parent
    for left in (where / ".cellwright" / "assistants").glob("*"):
        left.unlink()
    write_assistant(where, "reviewer", REVIEWER)
    return where


def system(kernel: LiveKernel) -> str:
    return str(kernel.service.requests[-1].messages[0]["content"])


def asked(kernel: LiveKernel) -> str:
    return str(kernel.service.requests[-1].messages[-1]["content"])


def test_002_32_one_conversation_several_assistants(fresh: LiveKernel, folder: Path) -> None:
    """A, then B, then A: the history is shared, prompt, tools and model are each one's own."""
    fresh.run(
        "%agent --mode auto begin",
        [tool_call("run_cell", {"code": "x = 1"}), text("One.")],
        answers=[],
    )
    shown = fresh.run(
        "%agent --var what=x @reviewer plot it",
        [text("Two.")],
        answers=[],
    )
    request = fresh.service.requests[0]
    assert request.body["model"] == "fake-careful"
    assert request.body["temperature"] == 0.1
    assert "Check the units of x first." in system(fresh)
    assert "run_cell" not in {tool["function"]["name"] for tool in request.body["tools"]}
    assert asked(fresh).startswith("plot it\n")
    assert "how to answer this time (scene plot):\n  Name the axes." in asked(fresh)
    assert "Scene 'plot' of reviewer: the prompt says 'plot'." in shown.markdown.replace("\\", "")
    assert "One." in str(request.messages)
    assert "@reviewer" in shown.displays[-1]["text/plain"]
    record = fresh.last_run
    assert (record.assistant, record.prompt) == ("reviewer", "plot it")
    assert record.parameters.temperature == 0.1

    fresh.run("%agent and now?", [text("Three.")], answers=[])
    assert "Check the units" not in system(fresh)
    assert fresh.service.requests[0].body["model"] == "fake-model"
    assert "[said by 'reviewer']\nTwo." in [
        m["content"] for m in fresh.service.requests[0].messages
    ]
    assert fresh.last_run.assistant == ""


def test_002_32_a_rerun_asks_as_the_assistant_was_asked(fresh: LiveKernel, folder: Path) -> None:
    fresh.run("%agent --var what=x @reviewer look", [text("One.")], answers=[])
    fresh.run("%agent rerun last -m other", [text("Two.")], answers=[])
    request = fresh.service.requests[0]
    assert request.body["model"] == "other"
    assert system(fresh).endswith("Check the units of x first.")
    assert "run_cell" not in {tool["function"]["name"] for tool in request.body["tools"]}
    fresh.run("%agent hi", [text("Hi.")], answers=[])


def test_002_31_the_option_the_kernels_own_and_the_built_in_one(
    fresh: LiveKernel, folder: Path
) -> None:
    fresh.run("%agent -a reviewer hi", [text("Hi.")], answers=[])
    assert fresh.last_run.assistant == "reviewer"
    shown = fresh.run("%agent assistant use @reviewer", answers=[])
    assert "reviewer answers in this kernel" in shown.results[0]
    fresh.run("%agent -m mine hi", [text("Hi.")], answers=[])
    assert (fresh.last_run.assistant, fresh.last_run.parameters.model) == ("reviewer", "mine")
    fresh.run("%agent @cellwright hi", [text("Hi.")], answers=[])
    assert fresh.last_run.assistant == ""
    fresh.run("%agent assistant use cellwright", answers=[])
    fresh.run("%agent hi", [text("Hi.")], answers=[])
    assert fresh.last_run.assistant == ""


def test_002_32_a_leading_name_of_a_variable_stays_a_mention(
    fresh: LiveKernel, folder: Path
) -> None:
    fresh.run("frame_1 = {'a': 1}")
    fresh.run("%agent @frame_1 what is it?", [text("A dict.")], answers=[])
    assert fresh.last_run.prompt == "@frame_1 what is it?"
    assert "<variables>\n@frame_1: dict" in asked(fresh)
    shown = fresh.run("%agent @reviewr check", answers=[])
    assert "Did you mean @reviewer?" in shown.stderr
    assert fresh.service.requests == []


def test_002_13_files_are_written_listed_and_changed(fresh: LiveKernel, folder: Path) -> None:
    made = fresh.run("%agent assistant new writer 'Be brief.'", answers=[])
    assert "Ask it: %agent @writer" in made.results[0]
    assert (folder / ".cellwright" / "assistants" / "writer.toml").is_file()
    added = fresh.run("%agent scene add 'long text' 'Sum up first.' @writer", answers=[])
    assert "writer has the scene 'long text' now." in added.results[0]
    listed = fresh.run("%agent scene list", answers=[]).results[0]
    assert "long text" in listed
    assert "the prompt speaks of plots" in listed
    assert "Sum up first." not in fresh.run("%agent scene list @reviewer", answers=[]).results[0]
    again = fresh.run("%agent scene add 'long text' 'x' @writer", answers=[])
    assert "there are two with the label 'long text'" in again.stderr
    whose = fresh.run("%agent scene add other x", answers=[])
    assert "It is not said whose scene it is." in whose.stderr
    assert "writer" in fresh.run("%agent assistant", answers=[]).results[0]
    assert "Be brief." in fresh.run("%agent assistant show writer", answers=[]).results[0]
    nobody = fresh.run("%agent assistant show nobody", answers=[])
    assert "There is no assistant 'nobody'" in nobody.stderr


def test_002_01_one_is_set_renamed_and_deleted_by_hand(fresh: LiveKernel, folder: Path) -> None:
    files = folder / ".cellwright" / "assistants"

    def told(line: str) -> str:
        shown = fresh.run(f"%agent {line}", answers=[])
        return shown.results[0] if shown.results else shown.stderr

    told("assistant use reviewer")
    assert "tools is changed." in told("assistant set reviewer tools read_*, run_cell")
    assert "model is changed." in told("assistant set @reviewer model auto")
    assert "reviewer: temperature is taken out." in told("assistant set reviewer temperature ''")
    assert "public is changed." in told("assistant set reviewer public yes")
    assert "reviewer has no scene 'plot' now." in told("scene remove plot")
    assert (files / "reviewer.toml").read_text() == (
        '\ndescription = "Looks for mistakes"\n'
        'instructions = "Check the units of {{what}} first."\n'
        'model = "auto"\ntools = ["read_*", "run_cell"]\npublic = true\n\n'
    )
    assert "temperature: 'hot' is not a number" in told("assistant set reviewer temperature hot")
    assert "'scenes' cannot be set. Set one of desc" in told("assistant set reviewer scenes x")
    meant = "Did you mean %agent assistant set reviewer temperature 1?"
    assert meant in told("assistant set reviewer temperatures 1")
    assert "It is not said what model is to be." in told("assistant set reviewer model")
    body = "%%agent assistant set reviewer instructions\nBe brief.\n\nThen stop.\n"
    assert "reviewer: instructions is changed." in fresh.run(body, answers=[]).results[0]
    fresh.run("%%agent assistant new author\nWrite.\nThen stop.", answers=[])
    assert (files / "author.toml").read_text() == 'instructions = """\nWrite.\nThen stop."""\n'
    assert "There is an assistant 'author' already" in told("assistant rename reviewer Author")
    assert "reviewer is called critic now" in told("assistant rename reviewer critic")
    assert "critic is called reviewer now" in told("assistant rename @critic @reviewer")
    fresh.run("%agent hi", [text("Hi.")], answers=[])
    assert fresh.last_run.assistant == "reviewer"
    assert system(fresh).endswith("Be brief.\n\nThen stop.")
    assert "It does not answer in this kernel any more." in told("assistant delete reviewer")
    assert "author is deleted" in told("assistant delete author")
    assert list(files.iterdir()) == []
    fresh.run("%agent hi again", [text("Hi.")], answers=[])
    assert fresh.last_run.assistant == ""


def test_002_03_tools_are_bound_and_unbound(fresh: LiveKernel, folder: Path) -> None:
    bound = fresh.run("%agent tool bind run_cell @reviewer", answers=[])
    assert "reviewer may use run_cell now." in bound.results[0]
    twice = fresh.run("%agent tool bind run_cell @reviewer", answers=[])
    assert "may use 'run_cell' already" in twice.stderr
    fresh.run("%agent @reviewer hi", [text("Hi.")], answers=[])
    offered = {tool["function"]["name"] for tool in fresh.service.requests[0].body["tools"]}
    assert "run_cell" in offered
    taken = fresh.run("%agent tool unbind run_cell @reviewer", answers=[])
    assert "reviewer no longer has run_cell." in taken.results[0]
    missing = fresh.run("%agent tool unbind run_cell @reviewer", answers=[])
    assert "is not among the tools of reviewer" in missing.stderr


@pytest.mark.parametrize(
    "line",
    [
        "assistant of mine",
        "scene of the crime",
        "tool bind it all",
        "assistant set up my data",
        "assistant rename all of the columns",
    ],
)
def test_lines_that_only_begin_like_a_command_are_prompts(fresh: LiveKernel, line: str) -> None:
    fresh.run(f"%agent {line}", [text("Hm.")], answers=[])
    assert fresh.last_run.prompt == line


def test_002_51_a_mistyped_model_is_an_error_with_suggestions(fresh: LiveKernel) -> None:
    refusal = error(404, "The model does not exist.", code="model_not_found")
    shown = fresh.run("%agent -m fake-modle hi", [refusal], answers=[])
    assert "There is no model 'fake-modle'" in shown.markdown.replace("\\", "")
    assert "Did you mean fake-model?" in shown.markdown
    assert fresh.last_run.status == "task error"
    other = fresh.run("%agent -m zzzzzz hi", [refusal], answers=[])
    assert "does not list a model of such a name" in other.markdown


def test_002_81_usage_is_told_drawn_and_held_to_a_budget(fresh: LiveKernel, folder: Path) -> None:
    fresh.run("%agent hi", [text("Hi.")], answers=[])
    fresh.run("%agent @reviewer hi", [text("Hi.")], answers=[])
    table = fresh.run("%agent usage --by assistant", answers=[])
    assert "reviewer" in table.results[0]
    assert "no assistant" in table.results[0]
    assert table.of("execute_result")[0]["data"]["text/markdown"].startswith("| assistant | runs")
    plot = fresh.run("%agent usage model --plot", answers=[])
    (drawn,) = plot.of("execute_result")
    assert drawn["data"]["image/png"].startswith("iVBOR")
    assert "fake-careful" in plot.results[0]
    fresh.run("usage = %agent usage --by assistant", answers=[])
    assert "reviewer" in fresh.value("list(usage.to_dataframe()['label'])")
    assert fresh.value("len(usage), len(list(usage))") == "(2, 2)"
    shown = fresh.run("%agent usage --budget-tokens 1", answers=[])
    assert "of 1 tokens used" in shown.results[0]
    stopped = fresh.run("%agent hi again", answers=[])
    record = fresh.last_run
    assert (record.status, record.cause) == ("task limit reached", "month_budget")
    assert "usage --budget-tokens N" in stopped.markdown.replace("\\", "")
    assert fresh.service.requests == []
    fresh.run("%agent usage --budget-tokens off", answers=[])
    fresh.run("%agent hi again", [text("Hi.")], answers=[])
    assert fresh.last_run.status == "completed"
    wrong = fresh.run("%agent usage --budget -3", answers=[])
    assert "--budget" in wrong.stderr


def test_one_whose_file_has_a_misspelt_key_answers_nothing(fresh: LiveKernel, folder: Path) -> None:
    write_assistant(folder, "strict", 'tols = ["read_*"]')
    told = "strict.toml: tols: is not known, did you mean 'tools'"
    for line in ("@strict look", "-a strict look", "assistant use strict", "assistant show strict"):
        shown = fresh.run(f"%agent {line}", [text("never")], answers=[])
        assert told in shown.stderr, line
        assert fresh.service.requests == []
    fresh.run("%agent assistant use reviewer", answers=[])
    write_assistant(folder, "reviewer", f"disable_memry = true\n{REVIEWER}")
    shown = fresh.run("%agent look", [text("never")], answers=[])
    assert "disable_memry" in shown.stderr
    assert fresh.service.requests == []
    fresh.run("%agent @cellwright look", [text("Yes.")], answers=[])
    assert len(fresh.service.requests) == 1
    fresh.run("%agent assistant use cellwright", answers=[])
