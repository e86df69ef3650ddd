"""``%agent`` and ``%%agent`` in a real kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_service import error, text, tool_call, tool_calls
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel
RUN = {"code": "print('hello')\nbest = 41 + 1\nbest", "title": "Add *it* up"}


def test_a_cell_runs_code_in_this_kernel_and_shows_it_in_order(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", RUN, text="I add."), text("It is **42**.")]
    shown = fresh.run("%%agent --mode auto\nAdd it up", script, answers=[])
    kinds = [
        next(iter(c["data"])) if "data" in c else c["text"]
        for m in shown.messages
        if (c := m["content"])
        and m["header"]["msg_type"] in ("display_data", "stream", "execute_result")
    ]
    assert kinds[0] == "text/markdown"
    assert kinds.index("hello\n") == 2
    assert shown.displays[0]["text/markdown"] == "I add."
    assert shown.displays[1]["text/markdown"] == (
        "**Add &#42;it&#42; up**\n\n```python\nprint('hello')\nbest = 41 + 1\nbest\n```"
    )
    assert shown.displays[2]["text/plain"] == "42"
    assert shown.displays[3]["text/markdown"] == "It is **42**."
    assert "✓ completed · 2 steps · 1 cell" in shown.displays[4]["text/plain"]
    assert fresh.value("best") == "42"
    assert fresh.last_run.answer == "It is **42**."


def test_every_display_has_markdown_and_plain_text(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": "1 / 0"}), text("It failed.")]
    shown = fresh.run("%%agent --mode auto\nDivide", script, answers=[])
    for data in shown.displays:
        assert data["text/markdown"].strip()
        assert data["text/plain"].strip()


@pytest.mark.parametrize(
    "prompt",
    [
        'it\'s {best} of $HOME and "quotes" `x` %d \\n {not a name',
        "按地区统计收入，画图",
        "- list\n- of things\n\n  indented",
    ],
)
def test_a_prompt_goes_out_as_it_stands(fresh: LiveKernel, prompt: str) -> None:
    fresh.run(f"%%agent\n{prompt}", [text("ok")], answers=[])
    assert fresh.service.requests[0].messages[1]["content"].startswith(f"{prompt}\n")
    one_line = prompt.splitlines()[0]
    fresh.run("%agent reset", answers=[])
    fresh.run(f"%agent {one_line}", [text("ok")], answers=[])
    assert fresh.service.requests[0].messages[1]["content"].startswith(f"{one_line}\n")


def test_a_line_hands_back_the_run(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", RUN), text("Done.")]
    shown = fresh.run("run = %agent --mode auto add it up", script, answers=[])
    assert shown.results == ["42"]
    assert fresh.value("run.status, run.answer, len(run.cells), run.usage.total_tokens > 0") == (
        "('completed', 'Done.', 1, True)"
    )
    assert fresh.value("list(run.to_dataframe()['status'])") == "['ok']"
    again = fresh.run("run")
    assert "✓ completed" in again.results[0]


def test_the_cell_does_not_show_its_run_twice(fresh: LiveKernel) -> None:
    shown = fresh.run("%%agent\nhello", [text("Hi.")], answers=[])
    assert shown.results == []
    count = shown.reply["content"]["execution_count"]
    assert fresh.value(f"Out[{count}].answer") == "'Hi.'"


def test_the_run_can_be_given_a_name(fresh: LiveKernel) -> None:
    fresh.run("%%agent -o mine\nhello", [text("Hi.")], answers=[])
    assert fresh.value("mine.answer") == "'Hi.'"


def test_quiet_shows_nothing_but_the_run(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", RUN, text="I add."), text("Done.")]
    shown = fresh.run("%%agent --quiet --mode auto\nadd", script, answers=[])
    assert shown.stdout == ""
    assert len(shown.displays) == 1
    assert "✓ completed" in shown.results[0]
    record = fresh.last_run
    assert [output.kind for output in record.cells[0].cell.outputs] == ["stream", "execute_result"]


def test_a_semicolon_silences_the_run_and_is_no_part_of_the_prompt(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent --quiet say hi;", [text("Hi.")], answers=[])
    assert shown.results == []
    assert fresh.last_run.prompt == "say hi"


def test_an_error_is_shown_in_brief_and_the_run_goes_on(fresh: LiveKernel) -> None:
    code = "def f():\n    return {}['nope']\n\nf()"
    script = [tool_call("run_cell", {"code": code}), text("There is no such key.")]
    shown = fresh.run("%%agent --mode auto\nlook", script, answers=[])
    assert shown.of("error") == []
    assert "✗ KeyError: 'nope'" in shown.markdown
    assert "return {}['nope']" in shown.markdown
    assert shown.reply["content"]["status"] == "ok"
    assert "nope" in fresh.service.requests[1].last_text


def test_full_errors_are_the_kernels_own(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": "1 / 0"}), text("No.")]
    fresh.run("%config AgentMagics.errors = 'full'")
    try:
        shown = fresh.run("%%agent --mode auto\ndivide", script, answers=[])
    finally:
        fresh.run("%config AgentMagics.errors = 'short'")
    assert [content["ename"] for content in shown.of("error")] == ["ZeroDivisionError"]
    assert "✗ ZeroDivisionError" not in shown.markdown


def test_code_can_be_left_out(fresh: LiveKernel) -> None:
    fresh.run("%config AgentMagics.show_code = False")
    try:
        script = [tool_call("run_cell", RUN), text("Done.")]
        shown = fresh.run("%%agent --mode auto\nadd", script, answers=[])
    finally:
        fresh.run("%config AgentMagics.show_code = True")
    assert "```python" not in shown.markdown


def test_model_text_loads_nothing(fresh: LiveKernel) -> None:
    answer = "![x](http://evil.test/x.png) <img src=http://evil.test/y> \x1b]52;c;eA==\x07 end"
    shown = fresh.run("%%agent\nhello", [text(answer)], answers=[])
    assert "evil.test/x.png" not in shown.markdown
    assert "<img" not in shown.markdown
    assert "\x1b" not in str(shown.displays)


@pytest.mark.parametrize("line", ["%agent is it best?", "run = %agent is it best?"])
def test_a_question_is_a_prompt_and_no_call_for_help(fresh: LiveKernel, line: str) -> None:
    fresh.run(line, [text("Yes.")], answers=[])
    assert fresh.last_run.prompt == "is it best?"


def test_files_are_named_and_attached(fresh: LiveKernel) -> None:
    fresh.run("open('a b.csv', 'w').write('x,y\\n1,2\\n'); open('c.csv', 'w').write('z\\n3\\n')")
    fresh.run("%agent --files 'a b.csv', c.csv what is in them?", [text("Numbers.")], answers=[])
    assert fresh.last_run.prompt == "what is in them?"
    assert set(fresh.last_run.files) == {"a b.csv", "c.csv"}


def test_a_file_that_is_not_there_is_named_in_one_line(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent --files gone.csv look", answers=[])
    assert shown.stderr.startswith("UsageError:")
    assert "gone.csv" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    "line", ["%agent", "%agent ?", "%agent --help", "%agent help", "%%agent -h\nx"]
)
def test_nothing_asked_and_help_show_the_options(fresh: LiveKernel, line: str) -> None:
    shown = fresh.run(line, answers=[])
    assert "--max-steps N" in shown.stdout
    assert "--to FORMAT" in shown.stdout
    assert shown.reply["content"]["status"] == "ok"
    assert fresh.service.requests == []


def test_the_question_mark_shows_the_options(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent?", answers=[])
    assert "--max-steps N" in shown.payload[0]["data"]["text/plain"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%agent --quite hi", "Did you mean --quiet?"),
        ("%agent --mode fast hi", "invalid choice: 'fast'"),
        ("%agent --max-steps 0 hi", "'0' is not above zero"),
        ("%agent -o 1x hi", "'1x' cannot be a variable's name"),
        ("%agent -m", "expected one argument"),
        ("%agent export last --to pdf", "invalid choice: 'pdf'"),
        ("%agent show 20200101-000000-abcdef", "There is no run '20200101-000000-abcdef'"),
    ],
)
def test_wrong_options_are_told_in_one_line(fresh: LiveKernel, line: str, words: str) -> None:
    fresh.run("%agent hi", [text("Hi.")], answers=[])
    shown = fresh.run(line, answers=[])
    assert shown.stderr.startswith("UsageError:")
    assert words in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_a_model_that_fails_ends_the_run_with_what_to_do(fresh: LiveKernel) -> None:
    shown = fresh.run(
        "%agent -o failed hi", [error(401, "bad key", code="invalid_api_key")], answers=[]
    )
    assert shown.markdown.count("✗") == 2  # the notice and the last line, not the reason again
    assert shown.reply["content"]["status"] == "ok"
    assert fresh.value("failed.status") == "'task error'"


def test_a_run_cannot_start_another(fresh: LiveKernel) -> None:
    code = "get_ipython().run_line_magic('agent', 'and you?')"
    script = [tool_call("run_cell", {"code": code}), text("No.")]
    shown = fresh.run("%%agent --mode auto\nask yourself", script, answers=[])
    assert "An agent is already at work" in shown.stderr + shown.markdown
    assert fresh.last_run.status == "completed"


def test_small_tools_share_one_line(fresh: LiveKernel) -> None:
    script = [
        tool_calls([("list_variables", {}), ("inspect_variable", {"name": "nope"})]),
        text("Nothing."),
    ]
    shown = fresh.run("%%agent\nlook", script, answers=[])
    first = shown.displays[0]["text/plain"].split("\n")
    assert first[0].startswith("▸ ")
    assert first[1].startswith("✗ ")
    assert "nope" in first[1]


def test_the_metadata_of_the_cell_chooses_the_model_and_never_the_mode(fresh: LiveKernel) -> None:
    metadata = {"cellwright": {"model": "other", "mode": "auto", "max_steps": 3, "base_url": "x"}}
    shown = fresh.run("%%agent\nhello", [text("Hi.")], answers=[], metadata=metadata)
    record = fresh.last_run
    assert (record.parameters.model, record.mode, record.limits["step_limit"]) == (
        "other",
        "ask",
        3,
    )
    assert "cannot set base_url, mode" in shown.displays[0]["text/plain"]
    fresh.run("%agent -m mine hello", [text("Hi.")], answers=[], metadata=metadata)
    assert fresh.last_run.parameters.model == "mine"


def test_config_counts_more_than_the_environment_and_less_than_an_option(fresh: LiveKernel) -> None:
    fresh.run("%config AgentMagics.model = 'configured'")
    try:
        fresh.run("%agent hello", [text("Hi.")], answers=[])
        assert fresh.last_run.parameters.model == "configured"
        fresh.run("%agent -m mine --max-steps 2 --temperature 0.5 hello", [text("Hi.")], answers=[])
        assert fresh.last_run.parameters.model == "mine"
        assert fresh.service.requests[0].body["temperature"] == 0.5
    finally:
        fresh.run("%config AgentMagics.model = ''")
    fresh.run("%agent hello", [text("Hi.")], answers=[])
    assert fresh.last_run.parameters.model == "fake-model"


def test_the_conversation_goes_on_and_reset_ends_it(fresh: LiveKernel) -> None:
    fresh.run("%agent first", [text("One.")], answers=[])
    fresh.run("%agent second", [text("Two.")], answers=[])
    assert [m["role"] for m in fresh.service.requests[0].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    fresh.run("%agent reset", answers=[])
    fresh.run("%agent third", [text("Three.")], answers=[])
    assert len(fresh.service.requests[0].messages) == 2


def test_a_variable_named_with_an_at_sign_is_described(fresh: LiveKernel) -> None:
    fresh.run("frame_1 = {'a': 1}")
    fresh.run("%agent what is @frame_1?", [text("A dict.")], answers=[])
    content = fresh.service.requests[0].messages[1]["content"]
    assert "<variables>\n@frame_1: dict" in content


def test_a_front_end_that_reads_slowly_misses_no_output(fresh: LiveKernel, tmp_path: Path) -> None:
    """13.16: nobody reads until all is sent."""
    os.mkfifo(tmp_path / "sent")
    code = (
        "from IPython.display import display, update_display\n"
        "display('start', display_id='d')\n"
        "for n in range(6_000): update_display(f'value {n} {\"x\" * 500}', display_id='d')\n"
        f"print('last line', flush=True); open({str(tmp_path / 'sent')!r}, 'w').close()"
    )
    fresh.service.script = [tool_call("run_cell", {"code": code}), text("Done.")]
    message_id = fresh.client.execute("%%agent --mode auto\nflood", allow_stdin=False)
    (tmp_path / "sent").read_bytes()
    shown = [fresh.client.get_iopub_msg(timeout=30)]
    while not (
        shown[-1]["parent_header"].get("msg_id") == message_id
        and shown[-1]["content"].get("execution_state") == "idle"
    ):
        shown.append(fresh.client.get_iopub_msg(timeout=30))
    updates = [m["content"]["data"] for m in shown if m["msg_type"] == "update_display_data"]
    values = [data["text/plain"] for data in updates if "value" in data["text/plain"]]
    assert (len(values), values[-1].split()[1]) == (6_000, "5999")
    assert any(m["content"].get("text") == "last line\n" for m in shown)
    assert fresh.value("1 + 1") == "2"
