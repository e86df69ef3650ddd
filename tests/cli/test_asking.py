import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import nbformat
import pexpect
import pytest
from command_line import COMMAND, Done, Shell, sources, without_forks
from fake_service import (
    FakeService,
    Pause,
    Script,
    chunk,
    error,
    raw_sse,
    spaced,
    text,
    tool_call,
)

pytestmark = pytest.mark.kernel

MakeNotebook = Callable[..., Path]


@contextmanager
def answering(shell: Shell, script: Script) -> Iterator[tuple[Shell, FakeService]]:
    with FakeService(script) as service:
        yield shell.asking(service), service


def asked(shell: Shell, script: Script, *arguments: str, typed: str = "") -> Done:
    with answering(shell, script) as (there, _):
        return there.run("run", *arguments, typed=typed)


def test_the_answer_is_on_stdout_and_the_progress_on_stderr(shell: Shell) -> None:
    script = [
        tool_call("run_cell", {"code": "x = 20 + 1\nprint('x is', x)", "title": "add"}),
        text("It is **21**."),
    ]
    done = asked(shell, script, "Add", "--mode", "auto")
    assert (done.code, done.out) == (0, "It is **21**.\n")
    assert "[1] add\n    x = 20 + 1\n    print('x is', x)\n  │ x is 21\n" in done.err
    assert "✓ completed · 2 steps · 1 cell" in done.err


def test_the_document_says_what_came_of_it(shell: Shell) -> None:
    script = [
        tool_call("run_cell", {"code": "1/0"}),
        tool_call("run_cell", {"code": "1"}),
        text("One."),
    ]
    done = asked(shell, script, "Divide", "--mode", "auto", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert (document["status"], document["answer"]) == ("completed", "One.")
    assert (document["steps"], document["cells"], document["errors"]) == (3, 2, 1)
    assert document["usage"]["prompt_tokens"] > 0
    assert document["notebook"] is None
    assert shell.run("show", document["id"], "--json").document["answer"] == "One."


def test_the_notebook_is_written_elsewhere_and_the_input_left_alone(
    shell: Shell, make_notebook: MakeNotebook
) -> None:
    path = make_notebook("# my work\nx = 1", "y = 2")
    before = path.read_bytes()
    script = [
        tool_call("run_cell", {"code": "z = 3\nz"}),
        text('Done. <img src="http://example.invalid/x.png">'),
    ]
    done = asked(
        shell, script, "Add z", "--notebook", "nb.ipynb", "-o", "out.ipynb", "--mode", "auto"
    )
    assert done.code == 0, done.err
    assert path.read_bytes() == before
    written = shell.folder / "out.ipynb"
    nbformat.validate(nbformat.read(written, as_version=4))
    *own, answer = sources(written)
    assert own == ["# my work\nx = 1", "y = 2", "z = 3\nz"]
    assert answer.startswith("Done.")
    assert "<img" not in answer


def test_a_notebook_that_cannot_be_written_does_not_take_the_answer_with_it(shell: Shell) -> None:
    makes_folder = {"code": "import os\nos.mkdir('out.ipynb')"}
    for command in (("run", "Add z", "--mode", "auto"), ("rerun", "last", "--mode", "auto")):
        script = [tool_call("run_cell", makes_folder), text("The answer is 42.")]
        with answering(shell, script) as (there, _):
            done = there.run(*command, "-o", "out.ipynb")
        (shell.folder / "out.ipynb").rmdir()
        assert done.code == 2
        assert "The answer is 42." in done.out
        assert "'out.ipynb' cannot be written" in done.err
        assert "Notebook: out.ipynb" not in done.err
    assert len(shell.run("runs", "--json").document["runs"]) == 2


def test_the_input_is_replaced_only_where_it_is_named(
    shell: Shell, make_notebook: MakeNotebook
) -> None:
    path = make_notebook("x = 1")
    done = asked(shell, [text("Nothing to do.")], "Look", "--notebook", "nb.ipynb",
                 "-o", "nb.ipynb", "--mode", "auto")  # fmt: skip
    assert done.code == 0, done.err
    assert sources(path) == ["x = 1", "Nothing to do."]


def test_the_notebooks_cells_run_only_when_asked_for(
    shell: Shell, make_notebook: MakeNotebook
) -> None:
    make_notebook("given = 41", "given + 1")
    look = tool_call("run_cell", {"code": "print('given' in globals())"})
    options = ("--notebook", "nb.ipynb", "--mode", "auto", "-o", "out.ipynb")
    plain = asked(shell, [look, text("Done.")], "Look", *options)
    assert "  │ False\n" in plain.err
    after = asked(shell, [look, text("Done.")], "Look", "--run-notebook", *options)
    assert "  │ True\n" in after.err
    cells = json.loads((shell.folder / "out.ipynb").read_text())["cells"]
    assert cells[1]["outputs"][0]["data"]["text/plain"] == ["42"]


def test_a_failing_cell_of_the_notebook_ends_its_run_but_not_the_question(
    shell: Shell, make_notebook: MakeNotebook
) -> None:
    make_notebook("", "a = 1", "boom", "b = 2")
    with answering(shell, [text("The name is not defined.")]) as (there, service):
        done = there.run("run", "Why?", "--notebook", "nb.ipynb", "--run-notebook",
                         "--mode", "auto")  # fmt: skip
        assert done.code == 0
        assert "code cell 3 of 4 failed; those after it were not run." in done.err
        assert "NameError" in done.err
        assert "NameError" in service.requests[0].last_text


def test_files_are_named_from_where_the_code_runs(
    shell: Shell, make_notebook: MakeNotebook
) -> None:
    (shell.folder / "sub").mkdir()
    make_notebook("1", name="sub/nb.ipynb")
    (shell.folder / "sub" / "in.csv").write_text("a,b\n1,2\n")
    (shell.folder / "out.csv").write_text("c,d\n1,2\n")
    (shell.folder / "sub" / "there.csv").write_text("e,f\n")
    with answering(shell, [text("Seen.")]) as (there, service):
        done = there.run("run", "Look", "--notebook", "sub/nb.ipynb", "--mode", "auto",
                         "--files", "sub/in.csv", "out.csv", "there.csv")  # fmt: skip
        assert done.code == 0, done.err
        question = service.requests[0].last_text
    names = shell.run("show", "last", "--json").document["files"]
    assert sorted(names) == sorted(
        ["in.csv", str((shell.folder / "out.csv").resolve()), "there.csv"]
    )
    assert "a,b" in question
    assert "c,d" in question


def test_a_prompt_comes_from_stdin_in_any_language(shell: Shell) -> None:
    with answering(shell, [text("六月最好。")]) as (there, service):
        done = there.run_process("run", "-", "--mode", "auto", typed="哪个月最好?\n第二行\n")
        assert (done.code, done.out) == (0, "六月最好。\n")
        assert "哪个月最好?\n第二行" in service.requests[0].last_text


def test_without_a_terminal_mode_ask_says_what_to_do(shell: Shell) -> None:
    with answering(shell, []) as (there, service):
        done = there.run("run", "Add")
        assert (done.code, done.out) == (2, "")
        assert "Use --mode auto" in done.err
        assert done.err.count("\n") == 1
        assert service.requests == []


def test_at_a_terminal_code_that_asks_is_answered(shell: Shell) -> None:
    """Issue 13, 20."""
    code = "import getpass\nprint('hello', input('Who? '), len(getpass.getpass('Word? ')))"
    script = [tool_call("run_cell", {"code": code}), text("Greeted.")]
    with FakeService(script) as service:
        there = shell.asking(service)
        child = pexpect.spawn(
            str(COMMAND),
            ["run", "Greet", "--mode", "auto"],
            cwd=str(there.folder),
            env={**without_forks(), **there.environ},
            encoding="utf-8",
            timeout=60,
        )
        for question, answer in {"Who? ": "Ada", "Word? ": "secret"}.items():
            child.expect_exact(question)
            child.sendline(answer)
        child.expect_exact("hello Ada 6")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0


def test_without_a_terminal_mode_edits_says_that_nothing_will_run(shell: Shell) -> None:
    done = asked(shell, [text("Nothing to do.")], "Look", "--mode", "edits")
    assert "runs none" in done.err.splitlines()[0]


def test_without_a_terminal_what_needs_asking_is_refused(shell: Shell) -> None:
    script = [tool_call("install_package", {"name": "left-pad"}), text("Not installed.")]
    done = asked(shell, script, "Install", "--mode", "auto")
    assert done.code == 0
    assert "refused by mode" in done.err
    assert "nobody could be asked: install_package" in done.err


def test_what_is_no_package_is_refused_before_anything_runs(shell: Shell) -> None:
    done = shell.run("run", "Install", "--mode", "auto", "--allow-install", "not a package!")
    assert done.code == 2
    assert "'not a package!' is not a package name" in done.err


def test_packages_of_a_list_are_installed_where_nobody_is_asked(shell: Shell) -> None:
    script = [
        tool_call("install_package", {"name": "PANDAS"}),
        tool_call("install_package", {"name": "left-pad"}),
        tool_call("run_cell", {"code": "%pip install pandas"}),
        text("pandas is there."),
    ]
    allowing = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_ALLOW_INSTALL": "polars numpy>=2"})
    arguments = ("Install", "--mode", "auto", "--allow-install", "pandas", "-o", "out.ipynb")
    with answering(allowing, script) as (asking, service):
        done = asking.run("run", *arguments)
    assert done.code == 0, done.err
    told = [
        str(message)
        for message in service.requests[-1].body["messages"]
        if message["role"] == "tool"
    ]
    assert "is installed" in told[0]
    for refused in told[1:]:
        assert "install_package may install: pandas, polars, numpy>=2." in refused
    notebook = json.loads(Path(shell.folder, "out.ipynb").read_text())
    assert "pip install" in "".join(notebook["cells"][0]["source"])


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["--files", "x.csv", "--mode", "auto"], "No prompt is given."),
        ([" ", "--mode", "auto"], "is empty"),
        (["x", "--run-notebook", "--mode", "auto"], "--run-notebook has no notebook"),
        (["x", "--notebook", "no.ipynb", "--mode", "auto"], "'no.ipynb' cannot be read"),
        (["x", "-o", "no/out.ipynb", "--mode", "auto"], "There is no folder"),
        (["x", "--files", "no.csv", "--mode", "auto"], "'no.csv'"),
        (["x", "--kernel", "klingon", "--mode", "auto"], "'klingon'"),
        (["x", "--budget", "1", "--mode", "auto"], "The budget of $1 cannot be kept"),
    ],
)
def test_what_cannot_work_is_told_before_a_model_is_asked(
    arguments: list[str], culprit: str, shell: Shell
) -> None:
    with answering(shell, []) as (there, service):
        done = there.run("run", *arguments)
        assert (done.code, done.out) == (2, "")
        assert culprit in done.err.splitlines()[-1]
        assert service.requests == []


def test_a_model_without_an_endpoint_is_told(shell: Shell) -> None:
    done = shell.run("run", "x", "-m", "no-such-model", "--mode", "auto")
    assert done.code == 2
    assert "There is no endpoint for the model 'no-such-model'." in done.err


def test_limits_end_a_run_with_another_code(shell: Shell) -> None:
    script = [tool_call("run_cell", {"code": "1"}), text("I ran a cell.")]
    done = asked(shell, script, "Go", "--mode", "auto", "--max-steps", "1", "--json")
    assert done.code == 1
    assert done.document["cause"] == "step_limit"
    assert done.document["exit_code"] == 1


def test_a_reply_past_the_time_of_the_run_is_cut_and_kept_as_far_as_it_came(shell: Shell) -> None:
    script = [
        tool_call("run_cell", {"code": "x = 1"}, text="First a cell."),
        spaced(text(pieces=[f"word{number} " for number in range(100)]), 0.2),
    ]
    done = asked(shell, script, "Go", "--mode", "auto", "--max-seconds", "5", "--json")
    assert done.code == 1
    document = done.document
    assert document["seconds"] < 15
    assert (document["status"], document["cause"]) == ("task limit reached", "time_limit")
    assert document["answer"] == "First a cell."
    assert "Raise it with --max-seconds" in document["reason"]
    record = shell.run("show", "last").out
    assert "word1" in record
    assert "word99" not in record
    replayed = shell.run("replay", "last", "--json")
    ends = ("status", "cause", "reason", "answer")
    assert replayed.code == 0, replayed.err
    assert [replayed.document[name] for name in ends] == [document[name] for name in ends]


def test_a_cell_past_its_time_is_stopped(shell: Shell) -> None:
    script = [tool_call("run_cell", {"code": "import time\ntime.sleep(60)"}), text("Too slow.")]
    started = time.monotonic()
    done = asked(shell, script, "Go", "--mode", "auto", "--timeout", "1", "--max-seconds", "50",
                 "--max-tokens", "100000")  # fmt: skip
    assert done.code == 0
    assert "✗ timeout" in done.err
    assert time.monotonic() - started < 50


def test_a_service_that_fails_has_its_own_code(shell: Shell) -> None:
    with answering(shell, [error(401, "Bad key.")]) as (there, _):
        done = there.run_process("run", "Go", "--mode", "auto", "--json")
    assert done.code == 3
    assert done.document["exit_code"] == 3
    assert done.document["cause"] == "LMAccessError"


def test_ctrl_c_stops_within_a_second_and_keeps_what_was_done(shell: Shell) -> None:
    code = "print('begun', flush=True)\nimport time\ntime.sleep(60)"
    with answering(shell, [tool_call("run_cell", {"code": code})]) as (there, _):
        process = there.start("run", "Wait", "--mode", "auto", "-o", "out.ipynb", "--json")
        try:
            assert process.stderr is not None
            wait_for_line(process.stderr, "time.sleep(60)")
            time.sleep(1)
            pressed = time.monotonic()
            process.send_signal(signal.SIGINT)
            wait_for_line(process.stderr, "interrupted")
            taken = time.monotonic() - pressed
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert taken < 2  # one second, on a machine that has other things to do as well
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "cancelled"
    assert sources(shell.folder / "out.ipynb") == [code]
    record = shell.run("show", "last", "--json").document
    assert (record["status"], record["cause"]) == ("cancelled", "stopped")


def wait_for_line(stream: IO[str], words: str) -> None:
    for line in stream:
        if words in line:
            return
    pytest.fail(f"{words!r} was never said")


class Typist:
    """A person at a real terminal."""

    def __init__(self, shell: Shell, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [str(COMMAND), *arguments],
            cwd=shell.folder,
            env={**os.environ, **shell.environ, "COLUMNS": "200"},
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, words: str) -> None:
        while words not in self.seen:
            self.seen += os.read(self._master, 65_536).decode("utf-8", "replace")

    def type(self, words: str) -> None:
        os.write(self._master, words.encode())

    def end(self) -> tuple[int, str]:
        out, _ = self.process.communicate(timeout=60)
        os.close(self._master)
        return self.process.returncode, out.decode()


def test_at_a_terminal_the_person_decides(shell: Shell) -> None:
    script = [
        tool_call("run_cell", {"code": "print('first')"}),
        tool_call("run_cell", {"code": "print('second')"}),
        text("Only the first."),
    ]
    with answering(shell, script) as (there, service):
        person = Typist(there, "run", "Go")
        person.wait_for("or why not: ")
        person.type("y\n")
        person.wait_for("│ first")
        person.wait_for("[2]")
        person.seen = person.seen.partition("[2]")[2]
        person.wait_for("or why not: ")
        person.type("use a loop\n")
        code, out = person.end()
        assert (code, out) == (0, "Only the first.\n")
        assert "use a loop" in service.requests[2].last_text


def test_ctrl_c_at_a_question_ends_the_run(shell: Shell) -> None:
    with answering(shell, [tool_call("run_cell", {"code": "1"})]) as (there, _):
        person = Typist(there, "run", "Go")
        person.wait_for("or why not: ")
        person.process.send_signal(signal.SIGINT)
        code, _ = person.end()
    assert code == 130
    assert shell.run("show", "last", "--json").document["status"] == "cancelled"


def test_an_answer_that_was_cut_is_no_success(shell: Shell) -> None:
    usage = {"prompt_tokens": 1_900, "completion_tokens": 50}
    cut = text("The sum of", finish="length", usage=usage)
    done = asked(shell, [cut], "Add", "--mode", "auto", "--max-output", "50")
    assert (done.code, done.out) == (1, "The sum of\n")
    assert "cellwright: The answer was cut at the limit of 50 tokens." in done.err
    assert "task limit reached" in done.err


def test_a_reason_in_several_lines_is_told_whole(shell: Shell) -> None:
    """As LiteLLM ends its errors: github.com/BerriAI/litellm/issues/10976, read 2026-11-23."""
    words = (
        "litellm.BadRequestError: OpenAIException - the template has no such role. "
        "Received Model Group=fake-model\nAvailable Model Group Fallbacks=None"
    )
    done = asked(shell, [error(400, words, code="400")], "Add", "--mode", "auto")
    assert done.code == 3
    (told,) = [line for line in done.err.splitlines() if line.startswith("cellwright: ")]
    assert "the template has no such role" in told


def test_what_came_of_an_unfinished_reply_is_kept_and_shown(shell: Shell) -> None:
    begins = [chunk({"reasoning_content": "Hm. "}), chunk({"content": "The sum of all "})]
    there = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_DEADLINE_SECONDS": "3"})
    # On a busy machine the first one may begin too late.
    slow = [raw_sse([*begins, Pause(60)])] * 2
    done = asked(there, slow, "Add", "--mode", "auto", "--json")
    assert done.code == 3
    assert "What came of it:\n\nThe sum of all\n" in done.err
    assert "0 steps and a reply that broke off" in done.err
    assert " 0 tokens" not in done.err
    run_id = done.document["id"]
    shown = shell.run("show", run_id)
    assert "The sum of all" in shown.out
    assert "a reply that broke off" in shown.out
    for form, name in (("html", "a.html"), ("ipynb", "a.ipynb"), ("agentbench", "a.json")):
        shell.run("export", run_id, "--to", form, "-o", name)
        assert "The sum of all" in (shell.folder / name).read_text(encoding="utf-8"), form
