"""The checks of a sample as cells of a notebook, which can be made again without cellwright.

What needs a model, a person, DSEval's reference or a function of the suite's has no cell, and
``any_of`` has none either: such a score counts as recorded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cellwright.bench import comparing, figure_check, figure_data, value_data
from cellwright.bench.checks import (
    ANSWER_NAME,
    AnswerCheck,
    Assertion,
    Check,
    Figure,
    File,
    NamespaceIntact,
    RestartAndRunAll,
    Solution,
    Stdout,
    Variable,
)
from cellwright.bench.suites import Item
from cellwright.exports.notebook import RunMaterial, assertion_cell, check_cell
from cellwright.exports.sample import SampleRecord, Score

SHOWN_CHARACTERS = 300


def with_cells(sample: SampleRecord, item: Item) -> SampleRecord:
    """The sample whose scores say what was expected, and carry the cells that make them again."""
    taken: set[str] = set()
    scores = []
    checks = {number: check for number, check in enumerate(item.checks)}
    for number, score in enumerate(sample.scores):
        check = checks.get(number)
        if check is None or score.name not in (check.score_name, check.kind):
            scores.append(score)  # a thumb, or a check that the suite does not have any more
            continue
        name = _unique(score.name, taken)
        scores.append(_with_cell(replace(score, name=name), check))
    return replace(sample, scores=tuple(scores))


def material_of(item: Item) -> RunMaterial:
    """The files of a sample and what its checks call, to be carried by its notebook."""
    contents = {name: Path(path).read_bytes() for name, path in item.files.items()}
    return RunMaterial(contents, program=_program(item))


def _program(item: Item) -> str:
    kinds = {type(check) for check in item.checks}
    if not kinds & {Variable, AnswerCheck, NamespaceIntact, Figure}:
        return ""
    needs = "LARGEST_COUNT=_values.LARGEST_COUNT, unpack=_values.unpack"
    compares = _carried("_comparing", comparing, needs)
    made = [CARRY, _carried("_values", value_data), compares, COMPARES]
    if Figure in kinds:
        needs = "difference=_comparing.difference, ValueWriter=_values.ValueWriter"
        made += [_carried("_figures", figure_data)]
        made += [_carried("_drawn", figure_check, f"TEXTS=_figures.TEXTS, {needs}"), DRAWN]
    return "\n\n".join(made)


CARRY = """
import types


def carry(source, **names):
    module = types.ModuleType("carried")
    vars(module).update(names)
    exec(source, vars(module))
    return module
"""
"""The modules keep their own namespaces, as here."""
COMPARES = """
evaluate = _values.value_of


def difference(actual, expected, options):
    found, wanted = (_values.ValueWriter().write(value) for value in (actual, expected))
    return _comparing.difference(found, wanted, options)


def fingerprints(variables):
    return _values.fingerprints({}, variables)
"""
DRAWN = """
def figure_difference(user, arguments):
    return _drawn.figure_difference(_figures.describe_figure(arguments, user), arguments)
"""


def _carried(name: str, module: ModuleType, names: str = "") -> str:
    lines = inspect.getsource(module).splitlines()
    source = "\n".join(line for line in lines if not line.startswith("from cellwright."))
    return f"{name} = carry({source!r}, {names})"


def _unique(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} {number}"
    taken.add(found)
    return found


def _with_cell(score: Score, check: Check) -> Score:
    if isinstance(check, Assertion):
        return assertion_cell(score, check.code)
    write = CELLS.get(type(check))
    if write is None:
        return score
    expected, lines = write(check)
    return check_cell(replace(score, expected=expected[:SHOWN_CHARACTERS]), lines)


Lines = tuple[str, str]
"""What is expected, and the body of the cell."""


def _options(options: Mapping[str, Any]) -> str:
    if all(name.isidentifier() for name in options):
        return "".join(f", {name}={value!r}" for name, value in options.items())
    return f", **{dict(options)!r}"


def _variable(check: Variable) -> Lines:
    value = check.name if check.name.isidentifier() else f"globals()[{check.name!r}]"
    wanted = f"grading.evaluate({check.expression!r})" if check.expression else repr(check.equals)
    expected = check.expression or repr(check.equals)
    return expected, f"check.same({value}, {wanted}{_options(check.options)})"


def _answer(check: AnswerCheck) -> Lines:
    if check.name:
        text = ", is_text=True" if isinstance(check.value, str) else ""
        value, wanted = f"grading.answer_value({check.name!r}{text})", check.value
        if text and check.ignore_case:
            value, wanted = f"{value}.casefold()", wanted.strip().casefold()
        return (
            f"@{check.name}[{check.value}]",
            f"check.same({value}, {wanted!r}, tolerance={check.tolerance!r}, "
            f"relative_tolerance={check.relative_tolerance!r})",
        )
    if check.regex is not None:
        case = f", ignore_case={check.ignore_case!r}"
        return f"matches {check.regex}", f"check.matches({check.regex!r}, grading.answer{case})"
    wanted = (check.exact or "").strip()
    fold = ".casefold()" if check.ignore_case else ""
    wanted = wanted.casefold() if check.ignore_case else wanted
    return repr(check.exact), f"check.same(grading.answer.strip(){fold}, {wanted!r})"


def _file(check: File) -> Lines:
    options: dict[str, Any] = {"regex": check.regex, "exact": check.exact}
    kept: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if not check.is_there:
        kept["is_there"] = False
    says = f" matches {check.regex}" if check.regex else f" is {check.exact!r}"
    told = says if check.regex or check.exact else " is there" if check.is_there else " is gone"
    return f"{check.path}{told}", f"check.file({check.path!r}{_options(kept)})"


def _figure(check: Figure) -> Lines:
    arguments = {"name": check.name, **check.wanted}
    said = {key: value for key, value in arguments.items() if value}
    return repr(said), f"check.holds(grading.figure_difference(globals(), {arguments!r}))"


def _solution(check: Solution) -> Lines:
    shared = "**globals(), " if check.shares_variables else ""
    space = f"{{{shared}'__name__': '__main__', {ANSWER_NAME!r}: grading.answer_code()}}"
    return "the program raises nothing", f"exec({check.program!r}, {space})"


CELLS: dict[type[Any], Callable[[Any], Lines]] = {
    Variable: _variable,
    AnswerCheck: _answer,
    File: _file,
    Figure: _figure,
    Solution: _solution,
    Stdout: lambda check: (
        f"what was printed matches {check.regex}",
        f"check.matches({check.regex!r}, grading.printed())",
    ),
    NamespaceIntact: lambda check: (
        "the variables of the set-up are as they were",
        f"check.unchanged(globals(), but={check.but!r})",
    ),
    RestartAndRunAll: lambda check: (
        "run anew, the other checks pass",
        "check.others()",
    ),
}
