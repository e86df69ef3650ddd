"""The checks of a sample of one's own, out of what its file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cellwright.bench.checks import Check, RestartAndRunAll
from cellwright.bench.figure_check import Figure
from cellwright.bench.judge_check import Judge
from cellwright.bench.kernel_checks import Assertion, NamespaceIntact, Variable
from cellwright.bench.text_checks import Answer, File, Stdout
from cellwright.bench.thumb_check import Thumb

VARIABLE_OPTIONS = frozenset(
    {"tolerance", "check_dtype", "ignore_row_order", "ignore_column_order", "ignore_index"}
)
MARK_KEYS = frozenset({"kind", "x", "y", "label"})


def check_of(given: Any, wrong: list[str]) -> Check | None:
    """The check that an entry of ``checks`` means; None: it is wrong.

    Args:
        given: The entry.
        wrong: Gets what is wrong with it.
    """
    if isinstance(given, str):
        given = {given: True}
    if isinstance(given, Mapping):
        for name, make in MAKERS.items():
            if name in given:
                try:
                    return make(given)
                except (TypeError, ValueError) as error:
                    wrong.append(f"the check {name!r} is wrong: {error}")
                    return None
    wrong.append(f"{given!r} is no check; there are {', '.join(MAKERS)}")
    return None


def listed(given: Any) -> list[Any]:
    """A list, of one where there is no list."""
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def _variable(given: Mapping[str, Any]) -> Variable:
    rest = {key: value for key, value in given.items() if key != "variable"}
    options = {key: rest.pop(key) for key in list(rest) if key in VARIABLE_OPTIONS}
    if ("equals" in rest) == ("expression" in rest):
        raise ValueError("it needs either equals or expression")
    return Variable(str(given["variable"]), options=options, **rest)


def _answer(given: Mapping[str, Any]) -> Answer:
    wanted = given["answer"]
    answer = Answer(**wanted) if isinstance(wanted, Mapping) else Answer(exact=str(wanted))
    if not answer.name and answer.exact is None and answer.regex is None:
        raise ValueError("it needs exact, regex or name")
    return answer


def _file(given: Mapping[str, Any]) -> File:
    rest = {key: value for key, value in given.items() if key != "file"}
    return File(str(given["file"]), **rest)


def _figure(given: Mapping[str, Any]) -> Figure:
    name = given["figure"]
    rest = {key: value for key, value in given.items() if key != "figure"}
    marks = tuple(listed(rest.pop("marks", None)))
    for mark in marks:
        if not isinstance(mark, Mapping) or not MARK_KEYS.issuperset(mark):
            raise ValueError(f"the mark {mark!r} needs {', '.join(sorted(MARK_KEYS))}")
    if not marks and not rest:
        raise ValueError("it needs marks, title, x_label or y_label")
    return Figure("" if name in (True, None) else str(name), marks, **rest)


def _judge(given: Mapping[str, Any]) -> Judge:
    rest = {key: value for key, value in given.items() if key != "judge"}
    if not isinstance(given["judge"], str) or not given["judge"].strip():
        raise ValueError("it needs a rubric in words")
    return Judge(given["judge"].strip(), **rest)


def _thumb(given: Mapping[str, Any]) -> Thumb:
    question = given["thumb"]
    return Thumb("" if question in (True, None) else str(question))


def _namespace(given: Mapping[str, Any]) -> NamespaceIntact:
    return NamespaceIntact(tuple(str(name) for name in listed(given.get("but"))))


MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "variable": _variable,
    "answer": _answer,
    "file": _file,
    "stdout": lambda given: Stdout(str(given["stdout"])),
    "assert": lambda given: Assertion(str(given["assert"])),
    "figure": _figure,
    "judge": _judge,
    "thumb": _thumb,
    "namespace_intact": _namespace,
    "restart_and_run_all": lambda given: RestartAndRunAll(),
}
