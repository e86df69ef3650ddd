import io
import json
from pathlib import Path

import pytest
from kernels.lanes import kernel_environment
from kernels.test_sandbox import CAN_SANDBOX

from cellwright.agent.policy import ApprovalAnswer
from cellwright.commands.terminal import Console, cut, one_line, table
from cellwright.commands.workplace import TerminalApprover, TerminalProgress
from cellwright.kernels.fresh import start_kernel
from cellwright.record.asked_calls import spelled_out
from cellwright.record.events import ToolStarted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def console(typed: str = "", out: io.TextIOWrapper | None = None) -> tuple[Console, io.StringIO]:
    err = Terminal()
    return Console(Terminal(typed), out or io.TextIOWrapper(io.BytesIO(), "utf-8"), err), err


def written(encoding: str, document: object) -> str:
    raw = io.BytesIO()
    to_file = Console(io.StringIO(), io.TextIOWrapper(raw, encoding), io.StringIO())
    to_file.as_json = True
    to_file.result(document, "")
    return raw.getvalue().decode(encoding)


def test_text_for_a_terminal_cannot_move_its_cursor() -> None:
    assert one_line("a\x1b[2J\x1b]0;title\x07b\r\nc\x9b1md") == "ab cd"


def test_wide_characters_count_twice() -> None:
    assert cut("月度收入", 8) == "月度收入"
    assert cut("月度收入", 7) == "月度收…"
    assert cut("revenue", 4) == "rev…"


def test_a_table_lines_up_with_numbers_to_the_right() -> None:
    shown = table(("NAME", "<N>", "TEXT"), [("月", "7", "a"), ("North", "1,200", "b")])
    assert shown.splitlines() == [
        "NAME       N  TEXT",
        "月         7  a",
        "North  1,200  b",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_a_document_is_json_in_every_encoding(encoding: str) -> None:
    document = {"text": "é 月 😀", "number": float("nan")}
    assert json.loads(written(encoding, document)) == {"text": "é 月 😀", "number": None}


def test_words_that_a_terminal_cannot_show_do_not_stop_a_command() -> None:
    raw = io.BytesIO()
    narrow = Console(io.StringIO(), io.TextIOWrapper(raw, "ascii"), io.StringIO())
    narrow.result({}, "✓ done")
    assert raw.getvalue() == b"? done\n"


def test_quiet_silences_progress_but_not_complaints() -> None:
    quiet, err = console()
    quiet.is_quiet = True
    quiet.note("progress")
    quiet.complain("trouble")
    assert err.getvalue() == "trouble\n"


CALL = ToolStarted("c1", "run_cell", {"code": "print(1)"}, "print", "execute")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", ApprovalAnswer(True)),
        ("YES\n", ApprovalAnswer(True)),
        ("a\n", ApprovalAnswer(True, for_session=True)),
        ("n\n", ApprovalAnswer(False)),
        ("\n", ApprovalAnswer(False)),
        ("", ApprovalAnswer(False)),
        ("use polars instead\n", ApprovalAnswer(False, reason="use polars instead")),
    ],
)
def test_the_person_answers_yes_no_all_or_why_not(typed: str, answer: ApprovalAnswer) -> None:
    there, err = console(typed)
    assert TerminalApprover(there).ask(CALL, "It runs code.") == answer
    assert "It runs code. Run it? [y]es, [n]o, [a]ll" in err.getvalue()


@pytest.mark.kernel
@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_the_person_looks_at_what_the_code_does_and_then_answers(tmp_path: Path) -> None:
    there, err = console("p\ny\n")
    call = ToolStarted("c", "run_cell", {"code": "total = 41 + 1\nprint(total)"})
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        answer = TerminalApprover(there, kernel).ask(call, "It runs code.")
        assert kernel.probe("list_variables", {"pattern": "total"}) == []
    assert answer == ApprovalAnswer(True, previewed=True)
    assert err.getvalue().count("[p]review") == 2
    assert "Preview: nothing of this has happened.\n42\nVariables: total\n" in err.getvalue()


@pytest.mark.kernel
@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_the_person_keeps_what_came_of_the_preview(tmp_path: Path) -> None:
    there, err = console("k\n")
    call = ToolStarted("c", "run_cell", {"code": "total = 41 + 1"})
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        refused = TerminalApprover(there, kernel).ask(call, "It runs code.")
        assert refused == ApprovalAnswer(False, reason="k"), "there is nothing to keep yet"
        there, err = console("p\nk\n")
        answer = TerminalApprover(there, kernel).ask(call, "It runs code.")
    assert answer == ApprovalAnswer(True, previewed=True, adopted=True)
    assert err.getvalue().count("[k]eep result") == 1


def test_code_that_the_progress_has_shown_is_not_shown_again() -> None:
    there, err = console("y\n")
    TerminalApprover(there).ask(CALL, "It runs code.")
    assert "print(1)" not in err.getvalue()


@pytest.mark.parametrize(
    "code",
    [
        'print("hello")  # \x1b]0;\nimport os; os.remove("precious")\n# \x07',
        'is_ok = "user\u202e" or evil()\u2066  # check\u2069',
        "pass\u200bword = 1",
    ],
)
def test_code_of_which_the_progress_showed_less_is_shown_with_its_signs(code: str) -> None:
    there, err = console("y\n")
    call = ToolStarted("c", "run_cell", {"code": code}, "print", "execute")
    TerminalProgress(there).show(call)
    TerminalApprover(there).ask(call, "It runs code.")
    for line in spelled_out(code).split("\n"):
        assert f"    {line}\n" in err.getvalue()


def test_code_is_shown_whole_before_it_is_allowed() -> None:
    there, err = console("y\n")
    code = "\n".join(f"line_{number} = {number}" for number in range(100))
    TerminalApprover(there).ask(ToolStarted("c", "run_cell", {"code": code}), "It runs code.")
    assert all(f"line_{number} = {number}\n" in err.getvalue() for number in range(100))


def test_a_quiet_person_still_sees_what_they_allow() -> None:
    there, err = console("y\n")
    there.is_quiet = True
    TerminalApprover(there).ask(CALL, "It runs code.")
    assert "    print(1)\n" in err.getvalue()


def test_a_call_without_code_shows_its_arguments() -> None:
    there, err = console("n\n")
    call = ToolStarted("c", "install_package", {"name": "polars"}, "install polars", "install")
    TerminalApprover(there).ask(call, "It installs software.")
    assert '"name": "polars"' in err.getvalue()
