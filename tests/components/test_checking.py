"""The linter (requirements 000-54 to 000-56): each rule has one fixture that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from component_samples import OnlyRun, component

from cellwright.llm.signatures import Signature
from cellwright.record.content import ComponentOutput, Content, text
from cellwright.tools import Component, ToolContext
from cellwright.tools.checking import (
    CheckInfo,
    check_outputs,
    check_tool,
    checks_table,
    docstring_problems,
)
from cellwright.tools.functions import tool
from cellwright.tools.standard import standard_tools


class Good(Component):
    """A tool with nothing to mend."""

    name = "good"

    def tool_eval(self, context: ToolContext, word: str) -> Iterator[ComponentOutput]:
        """Say a word.

        Args:
            word: Which one.

        Yields:
            The word.
        """
        yield self.create_output("text", word)
        yield self.create_output(type="code", text={"code": "x"}, visible_scope="user")


class BadOutput(Good):
    """Says what fits no type."""

    def tool_eval(self, context: ToolContext, word: str) -> Iterator[ComponentOutput]:
        """Say a word.

        Args:
            word: Which one.
        """
        yield self.create_output("hologram", word)
        yield self.create_output("chart", {"type": "bar"})
        yield self.create_output("text", "hello", "user")
        yield self.create_output(self.name, word)


class NeedsArguments(Good):
    """Cannot be made without arguments."""

    def __init__(self, where: str) -> None:
        self.where = where


class TakesMore(Good):
    """Can be made with more than it knows."""

    def __init__(self, where: str, **kwargs: Any) -> None:
        self.where = where


def reserved(context: Any, _sys_traceid: str) -> None:
    """Trace it.

    Args:
        _sys_traceid: A system name.
    """


def undescribed(context: Any, word: str) -> None:
    """Say it."""


def without_context(word: str) -> str:
    """Say it.

    Args:
        word: What is said.
    """
    return word


def result_of(made: Component, rule: str) -> CheckInfo:
    (found,) = (item for item in check_tool(made) if item.rule == rule)
    return found


def test_000_56_a_good_tool_passes_every_rule() -> None:
    assert {item.result for item in check_tool(Good())} == {"ok"}
    assert {item.result for item in check_tool(tool(documented))} == {"ok"}
    assert len(check_tool(Good())) == 7


def documented(word: str) -> str:
    """Say it.

    Args:
        word: What is said.

    Returns:
        It.
    """
    return word


SCHEMA = {"type": "object", "properties": {"a": {"type": "int", "description": "A."}}}
WRITTEN = {"name": "sample", "description": "Do it.", "parameters": SCHEMA}


@pytest.mark.parametrize(
    ("rule", "made", "detail"),
    [
        ("ManifestValid", component(undescribed), "'word' has no description"),
        ("ManifestValid", component(lambda a: a, manifests=[WRITTEN]), "no JSON Schema"),
        ("ManifestMatchesToolEval", component(undescribed, manifests=[WRITTEN]), "'a'"),
        ("ToolEvalInputName", component(reserved), "'_sys_traceid' cannot be a parameter"),
        ("ToolEvalOutputJson", BadOutput(), "unknown type 'hologram'"),
        ("ToolEvalOutputJson", BadOutput(), "type 'chart' has no 'data'"),
    ],
)
def test_000_56_what_fails_is_said_with_a_fix(rule: str, made: Component, detail: str) -> None:
    found = result_of(made, rule)
    assert found.result == "failed"
    assert detail in found.detail
    assert found.fix


@pytest.mark.parametrize(
    ("rule", "make", "detail"),
    [
        ("InitKwargs", lambda: NeedsArguments("here"), "__init__ needs 'where'"),
        ("ToolEvalKwargs", lambda: component(without_context), "neither a context nor **kwargs"),
        ("Docstring", lambda: component(undescribed), "'word' is not described"),
        ("ManifestValid", lambda: tool(bare), "it has no docstring"),
    ],
)
def test_000_56_what_is_only_advice_is_a_warning(
    rule: str, make: Callable[[], Component], detail: str
) -> None:
    found = result_of(make(), rule)
    assert (found.result, detail in found.detail, bool(found.fix)) == ("warning", True, True)


def bare(word: str) -> str:
    return word


def test_000_56_a_component_that_takes_more_than_it_knows_is_fine() -> None:
    assert result_of(TakesMore("here"), "InitKwargs").result == "ok"
    assert result_of(component(lambda **kwargs: None), "ToolEvalKwargs").result == "ok"


def test_x_01_a_tool_that_speaks_for_the_person_is_told_of() -> None:
    assert "role 'user'" in result_of(BadOutput(), "ToolEvalOutputJson").detail


def test_000_56_what_has_no_tool_eval_or_no_source_can_be_checked_too() -> None:
    assert {item.result for item in check_tool(OnlyRun())} <= {"ok", "warning"}
    namespace: dict[str, Any] = {}
    exec("def hidden(word: str) -> str:\n    'Hide.'\n    return content(word)", namespace)
    assert result_of(tool(namespace["hidden"]), "ToolEvalOutputJson").result == "ok"


def test_000_41_several_tools_in_one_are_not_compared_with_one_signature() -> None:
    schema = {"type": "object", "properties": {}}
    both = [{"name": name, "description": "D.", "parameters": schema} for name in ("a", "b")]
    made = component(lambda name, **kwargs: name, manifests=both)
    assert result_of(made, "ManifestMatchesToolEval").result == "ok"


def test_000_56_outputs_are_held_to_the_schema_of_their_type() -> None:
    assert check_outputs([text("x")]).result == "ok"
    wrong = ComponentOutput((Content("chart", {"type": "bar"}),))
    found = check_outputs([text("x"), wrong])
    assert (found.rule, found.result) == ("SchemaAgainstOutput", "failed")
    assert "'chart' does not fit" in found.detail
    assert found.fix == "It needs 'type', 'data'."


def test_000_56_the_table_shows_a_fix_under_what_is_wrong() -> None:
    rows = [CheckInfo("A"), CheckInfo("LongName", "failed", "it is bad", "Mend it.")]
    assert checks_table("t", rows) == ("t:\n  ✓ A\n  ✗ LongName  it is bad\n              Mend it.")


def test_000_42_the_tools_that_are_shipped_have_nothing_to_mend() -> None:
    for made in standard_tools(None):
        failed = [item for item in check_tool(made) if item.result == "failed"]
        assert failed == []


GOOGLE = """Divide one number by another.

Args:
    a: What is divided.
    b: By what.

Returns:
    The quotient.

Examples:

.. code-block:: python

    divide(1, 2)
"""


@pytest.mark.parametrize(
    ("docstring", "detail", "fix"),
    [
        ("", "there is no docstring", "Say in one sentence"),
        ("Args:\n    a: A.\n    b: B.", "it has no summary", "Begin with one sentence"),
        (GOOGLE.replace("    b: By what.\n", ""), "'b' is not described", "'b: …' under Args:"),
        (GOOGLE.replace("    b:", "    c: C.\n    b:"), "'c' is no parameter", "Take it out"),
        (GOOGLE.replace("Args:", "参数:"), "the heading is '参数'", "Write 'Args:'"),
        (GOOGLE.replace("Returns:", "返回："), "the heading is '返回'", "Write 'Returns:'"),
        (GOOGLE.replace("::", ":"), "Examples: is not followed", "'.. code-block:: python'"),
    ],
)
def test_000_55_and_x_06_what_a_docstring_lacks_is_said(
    docstring: str, detail: str, fix: str
) -> None:
    found = list(docstring_problems(docstring, ["a", "b"]))
    assert any(detail in problem.detail and fix in problem.fix for problem in found)


def test_000_55_a_google_docstring_has_no_problem() -> None:
    assert list(docstring_problems(GOOGLE, ["a", "b"])) == []
    assert replace(CheckInfo("A"), result="warning").result == "warning"


def test_000_56_a_meta_and_a_manifest_that_cannot_be_made_are_looked_at() -> None:
    made = component(lambda word: word, meta=Signature.parse("word: str -> answer", "Say it."))
    assert result_of(made, "ManifestMatchesToolEval").result == "ok"
    assert result_of(component(undescribed), "ManifestMatchesToolEval").result == "failed"


def test_000_56_a_call_whose_type_only_running_would_tell_is_left_alone() -> None:
    def says(kind: str, words: str) -> ComponentOutput:
        return Component().create_output(kind, words)

    assert result_of(tool(says), "ToolEvalOutputJson").result == "ok"
    assert says("text", "x").content[0].text == {"info": "x"}
