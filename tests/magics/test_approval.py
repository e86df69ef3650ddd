"""What the person types, as an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from IPython.core.error import StdinNotImplementedError
from magics.shown_events import call

from cellwright.agent.policy import ApprovalAnswer
from cellwright.record.events import NamedCell, ToolStarted
from cellwright_magics.approval import NOBODY, StdinApprover


def typed(*lines: str) -> tuple[StdinApprover, list[str]]:
    waiting, questions = [*lines], []

    def read(question: str) -> str:
        questions.append(question)
        return waiting.pop(0)

    return StdinApprover(read), questions


@pytest.mark.parametrize("line", ["y", "Y", "yes", " yes. ", "OK!"])
def test_a_yes_allows_this_call(line: str) -> None:
    approver, questions = typed(line)
    assert approver.ask(call(), "It runs code.") == ApprovalAnswer(True)
    assert questions == ["Run it? [y]es / [n]o / [a]ll / or what to do instead: "]


@pytest.mark.parametrize("line", ["", "n", "No", "no."])
def test_a_no_or_nothing_refuses(line: str) -> None:
    approver, _ = typed(line)
    assert approver.ask(call(), "It runs code.") == ApprovalAnswer(False)


def test_other_words_refuse_and_are_handed_on() -> None:
    approver, _ = typed("use polars instead")
    assert approver.ask(call(), "") == ApprovalAnswer(False, reason="use polars instead")


def test_all_counts_for_this_run_and_not_for_greater_risks() -> None:
    approver, questions = typed("a", "n", "n")
    assert approver.ask(call(), "").allowed
    assert approver.ask(call(), "").allowed
    assert not approver.ask(call("install_package", "install"), "").allowed
    assert approver.ask(call(), "").allowed
    approver.new_run()
    assert not approver.ask(call(), "").allowed
    assert len(questions) == 3


CELL = NamedCell("id-1", "code", "x = 1\ny = 2", 4, 3)


@pytest.mark.parametrize(
    ("name", "arguments", "risk", "asked"),
    [
        ("edit_cell", {"cell_id": "id-1", "source": "x = 2"}, "edit", "Change it? "),
        (
            "edit_cell",
            {"cell_id": "id-1", "source": "x = 2", "run": True},
            "execute",
            "Change and run it? ",
        ),
        ("arrange_cell", {"cell_id": "id-1", "action": "delete"}, "destroy", "Delete it? "),
        ("arrange_cell", {"cell_id": "id-1", "action": "move"}, "edit", "Move it? "),
        ("add_cell", {"source": "# Note"}, "edit", "Insert it? "),
        ("install_package", {"name": "polars"}, "install", "Install it? "),
    ],
)
def test_the_question_says_what_a_yes_does(
    name: str, arguments: dict[str, object], risk: str, asked: str
) -> None:
    approver, questions = typed("n")
    approver.ask(ToolStarted("c1", name, arguments, "", risk, (CELL,)), "")
    assert questions[0].startswith(asked)
    assert ("[a]ll" in questions[0]) == (risk in ("edit", "execute"))


def test_all_said_to_a_deletion_covers_nothing_else() -> None:
    approver, questions = typed("a", "n")
    assert approver.ask(call("arrange_cell", "destroy"), "").allowed
    assert not approver.ask(call(), "").allowed
    assert len(questions) == 2


@pytest.mark.parametrize("error", [EOFError, StdinNotImplementedError])
def test_where_nobody_can_type_it_is_refused_with_what_to_do(error: type[Exception]) -> None:
    def read(question: str) -> str:
        raise error

    reader: Callable[[str], str] = read
    assert StdinApprover(reader).ask(call(), "") == ApprovalAnswer(False, "batch", NOBODY)
    assert "--mode auto" in NOBODY
