"""What DSEval's validators ask of a cell, held against the reference's cell.

This source is sent to the kernel that the agent never touched, after ``dseval_matching``.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from typing import Any, Callable, NamedTuple  # noqa: UP035  # kernels may have Python 3.8

from cellwright.bench.dseval_matching import comparison, run_code
from cellwright.bench.value_data import retell

YES, PARTLY, NO = "yes", "partial", "no"
FENCE = "```\n"


class DsevalCell(NamedTuple):
    """What code did."""

    source: str
    stream: str
    result: Any
    """The value of the last line."""
    error: str
    """``Name: text``; empty: it ran to its end."""
    names: Any
    """The variables after it; the agent's are ``dseval_state.AgentNames``."""
    changes: Any
    """Name of a variable, and ``added``, ``updated``, ``replaced`` or ``deleted``."""


class Finding(NamedTuple):
    """What one validator found, or several of them together."""

    grade: str
    """``yes``, ``partial`` or ``no``."""
    category: str
    reason: str
    parts: Any = ()


def validate(configuration: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    """All validators of a question.

    Args:
        configuration: Each validator's name with its settings.
        reference: What the reference did.
        submission: What the agent did.

    Raises:
        ValueError: A validator is not known, or cannot be made.
    """
    return _all(configuration, reference, submission)


def _all(configuration: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    parts = _each_of(configuration, reference, submission)
    return Finding(_worst(parts), "and", "", parts)


def _any(configuration: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    parts = _each_of(configuration, reference, submission)
    grades = {part.grade for part in parts}
    best = next((grade for grade in (YES, PARTLY) if grade in grades), NO)
    return Finding(best, "or", "", parts)


def _each_of(
    configuration: Any, reference: DsevalCell, submission: DsevalCell
) -> tuple[Finding, ...]:
    unknown = [name for name in configuration if name not in VALIDATORS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no validator")
    return tuple(
        VALIDATORS[name](settings, reference, submission)
        for name, settings in configuration.items()
    )


def _worst(parts: Any) -> str:
    grades = {part.grade for part in parts}
    return next((grade for grade in (NO, PARTLY) if grade in grades), YES)


def _crash(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    if not submission.error:
        return Finding(YES, "crash", "")
    shown = _shown_in_code(submission.source, reference.result)
    return Finding(PARTLY if shown else NO, "crash", shown or submission.error)


def _shown_in_code(source: str, expected: Any) -> str:
    if expected is None:
        return ""
    found = re.search(rf"\b{re.escape(str(expected))}\b", source)
    return "The answer stands in the code." if found else ""


def _intact(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    given = settings or {}
    is_alike = given.get("treat_replacement_as_update")
    if is_alike is None:
        is_alike = given.get("replacement") is None
    wanted = _changes(reference.changes, is_alike)
    for name, change in _changes(submission.changes, is_alike).items():
        key = {"added": "addition", "updated": "update", "replaced": "replacement"}
        allowed = given.get(key.get(change, "deletion"), True if change == "added" else None)
        if allowed is None:
            allowed = [other for other, kind in wanted.items() if kind == change]
        if allowed is False or (isinstance(allowed, list) and name not in allowed):
            return Finding(NO, "namespace_intact", f"The variable {name} was {change}.")
    return Finding(YES, "namespace_intact", "")


def _changes(changes: Any, is_alike: bool) -> dict[str, str]:
    return {
        name: "updated" if is_alike and change == "replaced" else change
        for name, change in changes.items()
    }


def _result(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    expected, found = reference.result, submission.result
    if expected is None:
        return Finding(YES, "result", "")
    is_inferred = found is None
    if is_inferred:
        shown = _shown_in_code(submission.source, expected)
        if shown:
            return Finding(PARTLY, "result", shown)
        try:
            found = _inferred(submission.source, submission.names, expected)
        except Exception as error:  # the agent's own code, run once more
            return Finding(NO, "result", f"There is no result, and none can be guessed: {error!r}")
    if found is None:
        return Finding(NO, "result", "There is no result.")
    given = settings.get("compare_fn", settings) if isinstance(settings, dict) else settings
    graded = _graded(given, expected, found, "result")
    if is_inferred and graded.grade != NO:
        return Finding(PARTLY, "result", "The result is there, but it is not returned.")
    return graded


def _graded(given: Any, expected: Any, found: Any, category: str, where: str = "") -> Finding:
    """How well two values go together: as asked for, loosely, or not.

    What is found has been told as data: what that leaves out of a value, such as where a table
    keeps its columns, is left out of what is expected as well.
    """
    strictly, loosely = comparison(given), comparison(given, is_loose=True)
    try:
        expected = retell(expected)
        if strictly(expected, found).equal:
            return Finding(YES, category, "")
        matched = loosely(expected, found)
    except Exception as error:  # values that cannot be compared are not equal
        return Finding(NO, category, f"{where}{type(error).__name__}: {error}"[:2_000])
    if matched.equal:
        return Finding(PARTLY, category, f"{where}It is right but for its form. {matched.note}")
    return Finding(NO, category, where + matched.note)


def _inferred(source: str, names: Any, expected: Any) -> Any:
    """What was meant as the result: what is printed, or else what was assigned last."""
    body = ast.parse(source).body
    texts = [text for line in body if _is_print(line) for text in _printed(line)] or _assigned(body)
    values = names.evaluate(texts)
    if len(values) < 2:
        return values[0] if values else None
    if isinstance(expected, (tuple, list)):
        return tuple(values) if isinstance(expected, tuple) else values
    if isinstance(expected, dict):
        missing = [None] * (len(expected) - len(values))
        return dict(zip(expected, [*missing, *values[-len(expected) :]]))  # noqa: B905
    return values[-1]


def _is_print(line: Any) -> bool:
    call = getattr(line, "value", None) if isinstance(line, ast.Expr) else None
    function = getattr(call, "func", None)
    return isinstance(function, ast.Name) and function.id == "print"


def _printed(line: Any) -> list[str]:
    return [text for argument in line.value.args for text in _values_in(argument)]


def _values_in(node: Any) -> list[str]:
    """The outermost expressions that are no texts themselves."""
    is_text = isinstance(node, (ast.Constant, ast.FormattedValue, ast.JoinedStr))
    if isinstance(node, ast.expr) and not is_text:
        return [ast.unparse(node)]
    return [text for child in ast.iter_child_nodes(node) for text in _values_in(child)]


def _assigned(body: Any) -> list[str]:
    for line in reversed(body):
        if isinstance(line, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            target: Any = line.targets[0] if isinstance(line, ast.Assign) else line.target
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                target = target.value
            return [ast.unparse(target)]
    return []


def _names(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    parts = tuple(
        _name(name, given, reference, submission) for name, given in (settings or {}).items()
    )
    return Finding(_worst(parts), "namespace_check", "", parts)


def _name(name: str, given: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    if name not in reference.names:
        raise ValueError(f"the reference has no variable {name!r}")
    if name not in submission.names:
        return Finding(NO, "namespace_check", f"There is no variable {name}.")
    values = reference.names[name], submission.names[name]
    return _graded(given, *values, "namespace_check", f"Variable {name}: ")


def _stream(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    same = reference.stream == submission.stream
    why = f"It printed {submission.stream!r:.300}, not {reference.stream!r:.300}."
    return Finding(YES if same else NO, "stream", "" if same else why)


def _model(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    name = settings["model_name"]
    inputs, labels = (reference.names[settings[key]] for key in ("inputs_name", "labels_name"))
    wanted = reference.names[name].predict(inputs)
    if name not in submission.names:
        return Finding(NO, "model", f"There is no model {name}.")
    kinds, allowed = settings["metric_type"], settings.get("tolerance", 0.0)
    kinds = kinds if isinstance(kinds, list) else [kinds]
    allowed = allowed if isinstance(allowed, list) else [allowed] * len(kinds)
    try:
        found = submission.names[name].predict(inputs)
        for kind, tolerance in zip(kinds, allowed):  # noqa: B905  # Python 3.8 as well
            metrics = _metric(kind, labels, wanted), _metric(kind, labels, found)
            if not _is_enough(*metrics, tolerance):
                return Finding(NO, "model", f"{kind} is {metrics[1]}, the reference's {metrics[0]}")
    except Exception as error:  # the agent's model
        return Finding(NO, "model", f"{name}: {error!r:.500}")
    return Finding(YES, "model", "")


def _metric(kind: str, labels: Any, predicted: Any) -> float:
    metrics = __import__("sklearn.metrics", fromlist=["metrics"])
    if kind == "rmse":
        return float(metrics.mean_squared_error(labels, predicted) ** 0.5)
    names = {"r2": "r2_score", "mse": "mean_squared_error", "roc_auc": "roc_auc_score"}
    return float(getattr(metrics, names.get(kind, f"{kind}_score"))(labels, predicted))


def _is_enough(wanted: float, found: float, tolerance: float) -> bool:
    """A positive tolerance is for what should be small, a negative one for what should be large."""
    if tolerance == 0:
        return bool(__import__("numpy").isclose(found, wanted))
    limit = (1 + tolerance) * wanted
    return found <= limit if tolerance > 0 else found >= limit


def _table_test(settings: Any, reference: DsevalCell, submission: DsevalCell) -> Finding:
    name = settings["function_name"]
    if name not in reference.names:
        raise ValueError(f"the reference has no function {name!r}")
    cases = _cases(settings)
    if name not in submission.names:
        return Finding(NO, "table_test", f"There is no function {name}.")
    for number, case in enumerate(cases, start=1):
        found = _tested_with(case, reference.names[name], submission.names[name], settings)
        if found.grade != YES:
            reason = f"{name}, test case {number}: {found.reason}"
            return Finding(found.grade, found.category, reason)
    return Finding(YES, "table_test", "")


def _tested_with(case: Any, function: Any, other: Any, settings: Any) -> Finding:
    given, again = copy.deepcopy(case), copy.deepcopy(case)
    expected = _called(function, given)
    try:
        found = _called(other, again)
    except Exception as error:  # the agent's function
        return Finding(NO, "crash", f"{type(error).__name__}: {error}")
    checker = settings.get("input_checker")
    if checker is not False:
        rules = None if checker is True else checker
        inputs = _graded(rules, given, again, "table_test", "what it was given afterwards: ")
        if inputs.grade != YES:
            return inputs
    return _graded(settings.get("output_checker"), expected, found, "table_test")


def _called(function: Any, case: Any) -> Any:
    return function(**case) if isinstance(case, dict) else function(*case)


def _cases(settings: Any) -> list[Any]:
    """The test cases; each is made with a seed of its own, its place."""
    check: Callable[..., Any] = lambda *one, **other: None  # noqa: E731
    if settings.get("input_validator"):
        check = run_code(settings["input_validator"], "_validate")
    cases: list[Any] = []
    before: Any = None
    for seed, given in enumerate(settings["test_cases"]):
        random.seed(seed)
        __import__("numpy").random.seed(seed)
        before = before if given == "//" else given
        case = _case(tuple(before) if isinstance(before, list) else before)
        if not isinstance(case, (tuple, dict)) or _called(check, case) is False:
            raise ValueError(f"test case {seed + 1} is wrong: {case!r:.300}")
        cases.append(case)
    return cases


def _case(given: Any) -> Any:
    """A test case, or an argument of one: as it is, or what its code gives."""
    if isinstance(given, tuple):
        return tuple(_case(item) for item in given)
    if not isinstance(given, str):
        return given
    text = given.strip()
    if text.startswith(FENCE) and text.endswith("```"):
        return _generated(text[len(FENCE) : -3])
    if given.startswith("`") and given.endswith("`"):
        return run_code(given[1:-1], "")
    return given


def _generated(code: str) -> Any:
    space = run_code(f"{code}\n_space = dict(globals())", "_space")
    return space["_test_case"] if "_test_case" in space else space["_generate"]()


VALIDATORS: dict[str, Callable[[Any, DsevalCell, DsevalCell], Finding]] = {
    "and": _all,
    "or": _any,
    "crash": _crash,
    "namespace_intact": _intact,
    "result": _result,
    "namespace_check": _names,
    "stream": _stream,
    "model": _model,
    "table_test": _table_test,
}
