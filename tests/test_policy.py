"""Which calls run, which are asked about, which are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.agent.command_risks import CodeRisk
from cellwright.agent.policy import RISKS, ApprovalAnswer, Assessment, Policy, assess, decide
from cellwright.record.content import text
from cellwright.record.events import ToolStarted
from cellwright.settings import Mode
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.notebook import AddCell, EditCell, RunCell
from cellwright.tools.standard import InstallPackage, Submit

Kind = Literal["allow", "ask", "refuse"]
GUARDED = CodeRisk("destroy", "touches guarded files", always_ask=True)
MODES: tuple[Mode, ...] = ("ask", "edits", "auto")
"""Those in which something can happen."""


@pytest.mark.parametrize(
    ("risk", "ask", "edits", "auto"),
    [
        ("read", "allow", "allow", "allow"),
        ("edit", "ask", "allow", "allow"),
        ("execute", "ask", "ask", "allow"),
        ("install", "ask", "ask", "ask"),
        ("destroy", "ask", "ask", "ask"),
    ],
)
def test_the_mode_and_the_risk_decide(risk: Risk, ask: Kind, edits: Kind, auto: Kind) -> None:
    for mode, kind in zip(MODES, (ask, edits, auto), strict=True):
        assert decide(mode, Assessment(risk)).kind == kind
        alone = decide(mode, Assessment(risk), someone=False)
        assert alone.kind == ("allow" if kind == "allow" else "refuse")


@pytest.mark.parametrize(
    ("risk", "kind"),
    [("edit", "allow"), ("execute", "allow"), ("install", "ask"), ("destroy", "ask")],
)
def test_what_was_allowed_for_the_session_covers_no_greater_risk(risk: Risk, kind: Kind) -> None:
    assert decide("ask", Assessment(risk), trusted=True).kind == kind


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trusted", [False, True])
def test_guarded_files_are_asked_about_in_every_mode(mode: Mode, trusted: bool) -> None:
    assessment = Assessment("edit", (GUARDED,))
    assert decide(mode, assessment, trusted=trusted).kind == "ask"
    assert decide(mode, assessment, trusted=trusted, someone=False).kind == "refuse"


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("someone", [False, True])
def test_a_plan_only_reads_and_nobody_is_asked(risk: Risk, someone: bool) -> None:
    decision = decide("plan", Assessment(risk), trusted=True, someone=someone)
    assert decision.kind == ("allow" if risk == "read" else "refuse")
    if risk != "read":
        assert "Mode 'plan' only looks" in decision.reason
        assert "Describe in your answer what you would do" in decision.reason


def test_a_plan_does_not_read_guarded_files_either() -> None:
    assert decide("plan", Assessment("read", (GUARDED,))).kind == "refuse"


def test_a_refusal_says_why_and_what_else_to_do() -> None:
    decision = decide("auto", Assessment("install"), someone=False)
    assert decision.reason == (
        "It installs software. Nobody can be asked here and mode 'auto' does not allow it. "
        "Do it another way, or tell the person."
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "risk"),
    [
        (RunCell(SeenCells()), {"code": "df.head()"}, "execute"),
        (RunCell(SeenCells()), {"code": "!ls"}, "execute"),
        (RunCell(SeenCells()), {"code": "%pip install x"}, "install"),
        (RunCell(SeenCells()), {"code": "os.remove('x'); %pip install y"}, "destroy"),
        (AddCell(SeenCells()), {"source": "# note"}, "edit"),
        (EditCell(SeenCells()), {"cell_id": "a", "source": "os.remove('x')"}, "edit"),
        (
            EditCell(SeenCells()),
            {"cell_id": "a", "source": "os.remove('x')", "run": True},
            "destroy",
        ),
        (EditCell(SeenCells()), {"cell_id": "a", "source": "open('~/.ssh/x')"}, "destroy"),
        (InstallPackage(SeenCells()), {"name": "x"}, "install"),
        (Submit(), {"answer": "rm -rf /"}, "read"),
    ],
)
def test_the_risk_of_a_call_is_its_tools_raised_by_its_code(
    tool: Component, arguments: dict[str, object], risk: Risk
) -> None:
    assert assess(tool, arguments).risk == risk
    assert Policy("ask").risk_of(tool, arguments) == risk


class Coded(Component):
    """A tool of any risk that runs its code."""

    name = "coded"

    def __init__(self, own: Risk) -> None:
        self.own = own

    def risk_for(self, **arguments: object) -> Risk:
        return self.own

    def code_for(self, **arguments: object) -> str:
        return str(arguments["code"])

    def tool_eval(self, context: ToolContext, code: str) -> Iterator[ToolYield]:
        yield text(code)


@given(st.sampled_from(RISKS), st.text() | st.sampled_from(["!ls", "%pip install x", "!rm x"]))
def test_code_never_lowers_a_risk(own: Risk, code: str) -> None:
    assert RISKS.index(assess(Coded(own), {"code": code}).risk) >= RISKS.index(own)


def test_the_person_reads_what_gave_a_call_away() -> None:
    assessment = assess(RunCell(SeenCells()), {"code": "!rm x"})
    assert assessment.reason == (
        "It deletes or changes things for good: deletes files, runs a shell command."
    )


class Person:
    """Answers what was prepared and remembers what was asked."""

    def __init__(self, answer: ApprovalAnswer) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """The prepared answer."""
        self.asked.append(f"{call.name}: {reason}")
        return self.answer


CALL = ToolStarted("1", "run_cell", {"code": "x"}, "run x", "execute")


def test_the_person_is_asked_with_the_reason() -> None:
    person = Person(ApprovalAnswer(True))
    policy = Policy("ask", person)
    tool = RunCell(SeenCells())
    decision = policy.decide(tool, {"code": "x"})
    assert decision.kind == "ask"
    assert policy.ask(CALL, decision.reason).allowed
    assert person.asked == ["run_cell: It runs code."]
    assert policy.decide(tool, {"code": "x"}).kind == "ask"


def test_allowing_for_the_session_is_remembered_across_runs() -> None:
    trusted: set[str] = set()
    tool = RunCell(SeenCells())
    Policy("ask", Person(ApprovalAnswer(True, for_session=True)), trusted).ask(CALL, "")
    later = Policy("ask", Person(ApprovalAnswer(False)), trusted)
    assert later.decide(tool, {"code": "x"}).kind == "allow"
    assert later.decide(tool, {"code": "!rm x"}).kind == "ask"


def test_allowing_edits_for_the_session_allows_no_runs() -> None:
    trusted: set[str] = set()
    tool = EditCell(SeenCells())
    edit = {"cell_id": "a", "source": "x = 1"}
    call = ToolStarted("1", "edit_cell", edit, "edit cell", "edit")
    Policy("ask", Person(ApprovalAnswer(True, for_session=True)), trusted).ask(call, "")
    later = Policy("ask", Person(ApprovalAnswer(False)), trusted)
    assert later.decide(tool, edit).kind == "allow"
    assert later.decide(tool, {**edit, "run": True}).kind == "ask"


@pytest.mark.parametrize("risk", ["install", "destroy"])
def test_allowing_what_is_asked_about_alone_allows_nothing_else(risk: Risk) -> None:
    policy = Policy("ask", Person(ApprovalAnswer(True, for_session=True)))
    assert policy.ask(replace(CALL, risk=risk), "").allowed
    assert policy.decide(RunCell(SeenCells()), {"code": "x"}).kind == "ask"


def test_a_refusal_is_never_remembered_as_trust() -> None:
    policy = Policy("ask", Person(ApprovalAnswer(False, for_session=True)))
    assert not policy.ask(CALL, "").allowed
    assert policy.trusted == set()


def test_where_nobody_can_be_asked_the_answer_is_no() -> None:
    policy = Policy("auto")
    assert policy.decide(InstallPackage(SeenCells()), {"name": "x"}).kind == "refuse"
    answer = policy.ask(CALL, "")
    assert (answer.allowed, answer.by) == (False, "batch")
