"""DSEval's validators on a question, in this process: state before, answer, finding, verdict."""

from __future__ import annotations

import ast
import json
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from cellwright.bench.dseval_check import Verdict, state_cell, verdict_of
from cellwright.bench.dseval_state import HELD, answer_question, begin_question, go_on
from cellwright.bench.scenes import CheckError

START = """
import pandas as pd
df = pd.DataFrame({'a': [3, 1, 2], 'b': list('xyz')})
also = df
names = ['p', 'q']
secret = 7
class Line:
    def __init__(self, slope): self.slope = slope
    def predict(self, values): return [self.slope * value for value in values]
"""
USUAL: dict[str, Any] = {"crash": None, "namespace_intact": None, "result": None}


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    sys.modules.pop(HELD, None)


def ask(reference: str, answer: str, validator: Any = None, forbidden: tuple[str, ...] = ()) -> Any:
    """What the validators say of an answer, given in kernels that are only dictionaries."""
    (clean, held), (space, by_agent) = start(forbidden), start(forbidden)
    tree, error, value, printed = ast.parse(answer), "", None, []
    space["print"] = lambda *values: printed.append(" ".join(map(str, values)) + "\n")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(compile(tree, "<answer>", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<answer>", "eval"), space)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    del space["print"]
    space["_oh"] = {1: value}
    told = {
        "reference": reference,
        "validator": USUAL if validator is None else validator,
        "forbidden": list(forbidden),
        "source": answer,
        "stream": "".join(printed),
        "error": error,
        "count": 1,
    }
    sys.modules[HELD] = held
    request = begin_question(json.loads(json.dumps(told)), clean)
    sys.modules[HELD] = by_agent
    while "ended" not in request:
        reply = answer_question(json.loads(json.dumps(request)), space)
        request = go_on(json.loads(json.dumps(reply)), clean)
    if request["ended"] == "crashed":
        raise CheckError(request["text"])
    return json.loads(json.dumps(request["found"]))


def start(forbidden: tuple[str, ...]) -> tuple[dict[str, Any], types.ModuleType]:
    """A kernel before the question, and the state that it holds."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(START, space)
    exec(state_cell(forbidden), space)
    return space, sys.modules.pop(HELD)


def verdict(*given: Any) -> Verdict:
    return verdict_of(ask(*given))


RIGHT: list[tuple[Any, ...]] = [
    ("df.a.sum()", "total = df.a.sum()\ntotal"),
    ("x = 1", "x = 2\nx"),
    ("df['c'] = 1", "df['c'] = 1", {"namespace_intact": None, "namespace_check": {"df": None}}),
    ("names.append('r')", "names = [*names, 'r']"),
    ("1", "del names\n1", {"result": None}),
    ("1", "df['c'] = 1\n1", {"namespace_intact": {"update": ["df"]}, "result": None}),
    ("1", "2", {"or": {"result": None, "crash": None}}),
    ("1", "2", {"and": {"crash": None}}),
    ("print('hi')", "print('hi')", {"stream": None}),
    ("df.a.mean()", "2.1", {"result": {"atol": 0.2}}),
    ("df.a.mean()", "2.1", {"result": {"compare_fn": {"atol": 0.2}}}),
    ("7", "3 + 4", None, ("secret",)),
]
WRONG: list[tuple[str, str, Any, str]] = [
    ("df.a", "1 / 0", None, "CRASH"),
    ("1", "df['nothing']", None, "CRASH KEY_ERROR"),
    ("2", "1 / 0 + 2", None, "PRESENTATION_ERROR NON_CODE"),
    ("1", "df['c'] = 1\n1", None, "INTACT_VIOLATION"),
    ("1", "del names\n1", None, "INTACT_VIOLATION"),
    ("1", "new = 1\n1", {"namespace_intact": {"addition": False}}, "INTACT_VIOLATION"),
    (
        "names.append('r')",
        "names = ['p', 'q', 'r']",
        {"namespace_intact": {"replacement": False, "treat_replacement_as_update": False}},
        "INTACT_VIOLATION",
    ),
    ("df.a.max()", "4", None, "WRONG_OUTPUT VALUE_MISMATCH"),
    ("df.a.max()", "'three'", None, "WRONG_OUTPUT UNEXPECTED_TYPE"),
    ("df[['a']]", "df[['b']]", {"result": None}, "WRONG_OUTPUT"),
    ("df.a.max()", "pass", None, "WRONG_OUTPUT"),
    ("df.a.max()", "print(nothing)", {"result": None}, "WRONG_OUTPUT"),
    ("df.a.max()", "print(df.a.max())", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("(3, 1)", "print(df.a.max(), f'{df.a.min()}')", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("[3, 1]", "print(df.a.max(), df.a.min())", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("{'a': 1}", "print(df.a.max(), df.a.min())", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("{'a': 3, 'b': 1}", "print(df.a.max(), df.a.min())", None, "PRESENTATION_ERROR"),
    ("1", "print('so:', df.a.max(), df.a.min())", None, "PRESENTATION_ERROR"),
    ("df.a.max()", "m = df.a.max()", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("df.a.sum()", "m = 0\nm += df.a.sum()", None, "PRESENTATION_ERROR MISSING_RETURN"),
    ("df.a", "new = df[['a']].copy()\nnew['a'] = df.a", {"result": None}, "PRESENTATION_ERROR"),
    ("df.a.max()", "'3.'\n[].append(1)", {"result": None}, "PRESENTATION_ERROR NON_CODE"),
    ("df.a", "(2, 4)\nimport math", {"result": None}, "WRONG_OUTPUT"),
    ("df.a", "df", None, "PRESENTATION_ERROR PARTIAL_MATCH"),
    ("df.a", "df.a.sort_values()", None, "PRESENTATION_ERROR INDEX_MISMATCH"),
    ("m = 1", "n = 1", {"namespace_check": {"m": None}}, "WRONG_VARIABLES"),
    ("m = 1", "m = 2", {"namespace_check": {"m": None}}, "WRONG_VARIABLES VALUE_MISMATCH"),
    ("m = df", "m = df.assign(c=1)", {"namespace_check": {"m": None}}, "PRESENTATION_ERROR"),
    ("print('hi')", "print('ho')", {"stream": None}, "UNKNOWN"),
]


@pytest.mark.parametrize("given", RIGHT)
def test_what_does_as_the_reference_is_correct(given: tuple[Any, ...]) -> None:
    assert verdict(*given) == Verdict("CORRECT")


@pytest.mark.parametrize(("reference", "answer", "validator", "word"), WRONG)
def test_what_does_not_gets_the_verdict_of_dseval(
    reference: str, answer: str, validator: Any, word: str
) -> None:
    assert str(verdict(reference, answer, validator)).startswith(word)


def test_a_forbidden_variable_cannot_be_used_and_is_there_again_afterwards() -> None:
    assert verdict("3 + 4", "secret + 0", None, ("secret",)).word == "CRASH"
    assert verdict("1", "1", {"namespace_intact": None}, ("secret", "not_there")).word == "CORRECT"


def test_the_answer_does_not_change_what_the_reference_works_on() -> None:
    assert verdict("len(names)", "names.append(1)\n1 + 1", {"result": None}).word == "CORRECT"


def test_two_names_of_one_value_are_two_values() -> None:
    assert verdict("df['c'] = 1", "df['c'] = 1").word == "CORRECT"


TABLE = {"function_name": "f", "test_cases": [["`pd.DataFrame({'n': [1, 2]})`"]]}
HALF = "def f(t):\n    return t.assign(n=t.n / 2)"


@pytest.mark.parametrize(
    ("answer", "settings", "word"),
    [
        (HALF, {}, "CORRECT"),
        ("f = lambda t: t / 2", {}, "CORRECT"),
        ("f = lambda t: t / 3", {}, "UNIT_TEST_FAILURE VALUE_MISMATCH"),
        ("f = lambda t: t.m", {}, "CRASH ATTRIBUTE_ERROR"),
        ("g = 1", {}, "UNIT_TEST_FAILURE"),
        ("f = lambda t: (t / 2).iloc[::-1]", {}, "PRESENTATION_ERROR"),
        ("f = lambda t: (t / 2).iloc[::-1]", {"output_checker": {"ignore_order": True}}, "CORRECT"),
        ("def f(t):\n    t['n'] = t.n / 2\n    return t", {}, "UNIT_TEST_FAILURE"),
        ("def f(t):\n    t['n'] = t.n / 2\n    return t", {"input_checker": False}, "CORRECT"),
        (HALF, {"input_checker": True}, "CORRECT"),
        (HALF, {"input_validator": "def _validate(t):\n    assert len(t) == 2"}, "CORRECT"),
        (HALF, {"test_cases": [{"t": 1}]}, None),
    ],
)
def test_functions_are_tried_on_the_test_cases(
    answer: str, settings: Any, word: str | None
) -> None:
    validator = {"table_test": {**TABLE, **settings}}
    if word is None:
        with pytest.raises(CheckError, match="AttributeError"):  # the reference cannot do it
            ask(HALF, answer, validator)
        return
    assert str(verdict(HALF, answer, validator)).startswith(word)


GENERATED = "```\ndef _generate():\n    return random.random(),\n```"


def test_test_cases_are_code_with_a_seed_of_their_own() -> None:
    record = "seen = []\ndef f(value):\n    seen.append(value)\n    return value"
    given = {
        "function_name": "f",
        "test_cases": [GENERATED, "//", "```\n_test_case = (1,)\n```", [[1]], "`({1: 2},)`", ["a"]],
    }
    validator = {"table_test": given, "namespace_check": {"seen": None}}
    assert verdict(record, record, validator).word == "CORRECT"
    seen = sys.modules[HELD]
    assert isinstance(seen, types.SimpleNamespace)


def test_generated_cases_differ_and_are_the_same_each_time() -> None:
    code = "def f(*values):\n    return round(values[0], 6)"
    wanted = "def f(*values):\n    return {0.844422: 1, 0.134364: 2}[round(values[0], 6)]"
    given = {"table_test": {"function_name": "f", "test_cases": [GENERATED, "//"]}}
    found = verdict(wanted, code, given)
    assert (found.word, "test case 1" in found.why) == ("UNIT_TEST_FAILURE", True)


METRICS = types.SimpleNamespace(
    accuracy_score=lambda wanted, found: sum(a == b for a, b in zip(wanted, found, strict=True)),
    mean_squared_error=lambda wanted, found: sum(
        (a - b) ** 2 for a, b in zip(wanted, found, strict=True)
    ),
)


@pytest.mark.parametrize(
    ("answer", "metric", "tolerance", "word"),
    [
        ("m = Line(1)", "accuracy", 0, "CORRECT"),
        ("m = Line(2)", "accuracy", 0, "BAD_MODEL"),
        ("m = Line(2)", "accuracy", -0.9, "BAD_MODEL"),
        ("m = Line(1)", "accuracy", -0.1, "CORRECT"),
        ("m = Line(2)", ["mse", "accuracy"], [0.5, -0.5], "BAD_MODEL"),
        ("m = Line(1)", ["rmse"], 0.5, "CORRECT"),
        ("m = 3", "mse", 0, "BAD_MODEL"),
        ("n = 3", "mse", 0, "BAD_MODEL"),
    ],
)
def test_models_are_held_against_the_references_metric(
    answer: str, metric: Any, tolerance: Any, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", types.ModuleType("sklearn"))
    monkeypatch.setitem(sys.modules, "sklearn.metrics", METRICS)
    monkeypatch.setattr(sys.modules["sklearn"], "metrics", METRICS, raising=False)
    settings = {
        "model_name": "m",
        "inputs_name": "inputs",
        "labels_name": "labels",
        "metric_type": metric,
        "tolerance": tolerance,
    }
    reference = "inputs = [1, 2]\nlabels = [1, 2]\nm = Line(1)"
    assert verdict(reference, answer, {"model": settings}).word == word


@pytest.mark.parametrize(
    ("reference", "validator", "error"),
    [
        ("1", {"vis": None}, "'vis' is no validator"),
        ("1", {"namespace_check": {"m": None}}, "the reference has no variable 'm'"),
        ("1", {"table_test": TABLE}, "the reference has no function 'f'"),
        (HALF, {"table_test": {"function_name": "f", "test_cases": [1]}}, "test case 1 is wrong"),
        (HALF, {"table_test": {"function_name": "f", "test_cases": ["//"]}}, "test case 1"),
    ],
)
def test_a_question_that_is_wrong_itself_is_an_error(
    reference: str, validator: Any, error: str
) -> None:
    with pytest.raises(CheckError, match=f"ValueError: .*{error}"):
        ask(reference, "1", validator)


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("SyntaxError: invalid syntax", "SYNTAX_ERROR"),
        ("TimeLimitError: 12 s", "TIMEOUT"),
        ("ModuleNotFoundError: No module", "CRASH MODULE_NOT_FOUND"),
        ("died", "CRASH"),
    ],
)
def test_a_crash_is_told_by_its_error(reason: str, word: str) -> None:
    found = verdict_of(["no", "and", "", [["no", "crash", reason, []]]])
    assert str(found).startswith(word)
    assert found.value == 0.0


def test_what_is_right_but_for_its_form_is_worth_half() -> None:
    assert Verdict("PRESENTATION_ERROR").value == 0.5
    assert str(Verdict("CORRECT")) == "CORRECT"
