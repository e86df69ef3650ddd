"""What scores a sample. Each check is a value; ``score`` makes it in a ``Scene``.

A check that crashes is an error, not a failure: its score has no value.

What this does not protect against: checks run in the kernel in which the agent's code ran, which
may have changed what Python's own functions do. Restart-and-run-all is no defence either.
"""

from __future__ import annotations

import contextlib
import fnmatch
import inspect
import json
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from cellwright.bench import comparing
from cellwright.bench.answer_text import code_in, named_value
from cellwright.bench.sample import SampleCell, Score
from cellwright.errors import KernelError

__all__ = [
    "Answer",
    "Assertion",
    "Check",
    "File",
    "NamespaceIntact",
    "RestartAndRunAll",
    "Scene",
    "Solution",
    "Stdout",
    "Variable",
    "score",
    "score_all",
]

MARK = "cellwright-check:"
ANSWER_NAME = "cellwright_answer"
"""No name that a task would use itself: HumanEval has a function called solution."""


class CheckError(Exception):
    """The check itself failed; nothing is known of what it checks."""


class Scene(Protocol):
    """A sample after its run, with the kernel it ran in."""

    @property
    def answer(self) -> str:
        """What the agent said last."""
        ...

    @property
    def cells(self) -> tuple[SampleCell, ...]:
        """What the agent ran, in order."""
        ...

    @property
    def folder(self) -> Path:
        """Where it ran."""
        ...

    def run(self, code: str, timeout_seconds: float) -> SampleCell:
        """Run code in the kernel.

        Raises:
            KernelError: The kernel died or does not answer.
        """
        ...

    def anew(self, *, with_cells: bool) -> AbstractContextManager[Scene]:
        """The same in a fresh kernel: the setup, then the run's cells in order.

        Raises:
            CellFailedError: One of them failed.
        """
        ...


class CellFailedError(Exception):
    """A cell failed when the notebook was run anew."""


@dataclass(frozen=True)
class Variable:
    """A variable has a value."""

    name: str
    equals: Any = None
    """Plain data."""
    expression: str = ""
    """Python for the value instead; ``pd`` and ``np`` can be used in it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """``tolerance``, ``check_dtype``, ``ignore_row_order``, ``ignore_column_order``,
    ``ignore_index``."""
    kind: Literal["variable"] = field(default="variable", init=False)


@dataclass(frozen=True)
class Answer:
    """The agent's last words say it: exactly, by a pattern, or as ``@name[value]``."""

    exact: str | None = None
    regex: str | None = None
    name: str = ""
    value: Any = None
    tolerance: float = 1e-9
    ignore_case: bool = True
    kind: Literal["answer"] = field(default="answer", init=False)


@dataclass(frozen=True)
class File:
    """A file is there and holds something."""

    path: str
    regex: str | None = None
    exact: str | None = None
    is_there: bool = True
    kind: Literal["file"] = field(default="file", init=False)


@dataclass(frozen=True)
class Stdout:
    """What the agent's cells printed, all together."""

    regex: str
    kind: Literal["stdout"] = field(default="stdout", init=False)


@dataclass(frozen=True)
class Assertion:
    """Code that runs in the kernel and asserts."""

    code: str
    timeout_seconds: float = 60.0
    kind: Literal["assertion"] = field(default="assertion", init=False)


@dataclass(frozen=True)
class Solution:
    """A program that tests code, as public suites have them: any exception is a failure.

    It runs in a namespace of its own. ``cellwright_answer`` is the code in the agent's answer.
    """

    program: str
    shares_variables: bool = False
    """It sees the variables of the run too."""
    timeout_seconds: float = 120.0
    kind: Literal["solution"] = field(default="solution", init=False)


@dataclass(frozen=True)
class NamespaceIntact:
    """The variables of the setup are what they were; setup must give the same each time."""

    but: tuple[str, ...] = ()
    """Names, or patterns of names, that may change."""
    kind: Literal["namespace_intact"] = field(default="namespace_intact", init=False)


@dataclass(frozen=True)
class RestartAndRunAll:
    """The notebook, run anew from top to bottom, passes the other checks as well."""

    kind: Literal["restart_and_run_all"] = field(default="restart_and_run_all", init=False)


Check = (
    Variable | Answer | File | Stdout | Assertion | Solution | NamespaceIntact | RestartAndRunAll
)


def score_all(checks: tuple[Check, ...], scene: Scene) -> tuple[Score, ...]:
    """Make all checks, in order."""
    others = tuple(check for check in checks if not isinstance(check, RestartAndRunAll))
    return tuple(score(check, scene, others) for check in checks)


def score(check: Check, scene: Scene, others: tuple[Check, ...] = ()) -> Score:
    """Make one check.

    Args:
        check: The check.
        scene: The sample after its run.
        others: What restart-and-run-all repeats.
    """
    name = _name(check)
    try:
        wrong = _found(check, scene, others)
    except CellFailedError as error:
        wrong = str(error)
    except (CheckError, KernelError, OSError, re.error) as error:
        return Score(name, None, passed=False, error=f"{type(error).__name__}: {error}")
    return Score(name, 0.0 if wrong else 1.0, passed=not wrong, explanation=wrong)


def _name(check: Check) -> str:
    match check:
        case Variable():
            return f"variable {check.name}"
        case File():
            return f"file {check.path}"
        case Answer() if check.name:
            return f"answer @{check.name}"
    return check.kind


def _found(check: Check, scene: Scene, others: tuple[Check, ...]) -> str:
    """What is wrong, in words; empty: nothing."""
    match check:
        case Variable():
            return _variable(check, scene)
        case Answer():
            return _answer(check, scene.answer)
        case File():
            return _file(check, scene.folder)
        case Stdout():
            return _pattern(check.regex, _printed(scene.cells), "what was printed")
        case Assertion():
            return _assertion(check, scene)
        case Solution():
            return _solution(check, scene)
        case NamespaceIntact():
            return _namespace(check, scene)
        case RestartAndRunAll():
            return _restarted(scene, others)


def _variable(check: Variable, scene: Scene) -> str:
    arguments = {
        "name": check.name,
        "equals": check.equals,
        "expression": check.expression,
        "options": dict(check.options),
    }
    body = (
        "missing = arguments['name'] not in user\n"
        "wanted = evaluate(arguments['expression']) if arguments['expression'] else "
        "arguments['equals']\n"
        "found = 'it is not there' if missing else "
        "difference(user[arguments['name']], wanted, arguments['options'])\n"
    )
    wrong = _ask(scene, body, arguments)
    return f"{check.name}: {wrong}" if wrong else ""


def _ask(scene: Scene, body: str, arguments: Mapping[str, Any]) -> Any:
    """What ``body`` sets ``found`` to in the kernel, beside the functions of ``comparing``."""
    told = f"import json\nprint({MARK!r} + json.dumps(found))\n"
    program = f"{inspect.getsource(comparing)}\n{body}{told}"
    given = f"__import__('json').loads({json.dumps(dict(arguments))!r})"
    space = f"{{'__name__': 'cellwright_check', 'user': globals(), 'arguments': {given}}}"
    cell = scene.run(f"exec({program!r}, {space})", 60.0)
    lines = [line for line in _printed((cell,)).splitlines() if line.startswith(MARK)]
    if cell.status != "ok" or not lines:
        raise CheckError(cell.error or f"the check ended with {cell.status!r}")
    return json.loads(lines[-1].removeprefix(MARK))


def _answer(check: Answer, answer: str) -> str:
    if check.name:
        return _named(check, named_value(answer, check.name))
    if check.regex is not None:
        return _pattern(check.regex, answer, "the answer", ignore_case=check.ignore_case)
    if check.exact is None:
        raise CheckError("an answer check needs exact, regex or name")
    given, wanted = answer.strip(), check.exact.strip()
    if check.ignore_case:
        given, wanted = given.casefold(), wanted.casefold()
    return "" if given == wanted else f"the answer is {answer[:200]!r}, not {check.exact!r}"


def _named(check: Answer, value: str | None) -> str:
    if value is None:
        return f"the answer has no @{check.name}[…]"
    given: Any = value
    if not isinstance(check.value, str):
        with contextlib.suppress(ValueError):
            given = float(value.replace(",", ""))
    return comparing.difference(given, check.value, {"tolerance": check.tolerance})


def _file(check: File, folder: Path) -> str:
    path = folder / check.path
    if not path.resolve().is_relative_to(folder.resolve()):
        raise CheckError(f"the file {check.path!r} is outside the sample's folder")
    if path.exists() != check.is_there:
        return f"{check.path} is {'not ' if check.is_there else ''}there"
    if not check.is_there:
        return ""
    if check.exact is not None:
        same = path.read_text(encoding="utf-8", errors="replace").strip() == check.exact.strip()
        return "" if same else f"{check.path} holds something else"
    if check.regex is None:
        return ""
    return _pattern(check.regex, path.read_text(encoding="utf-8", errors="replace"), check.path)


def _pattern(regex: str, text: str, what: str, *, ignore_case: bool = False) -> str:
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    return "" if re.search(regex, text, flags) else f"{what} does not match {regex!r}"


def _printed(cells: tuple[SampleCell, ...]) -> str:
    outputs = [output for cell in cells for output in cell.outputs]
    streams = [o for o in outputs if o.get("output_type") == "stream" and o["name"] == "stdout"]
    return "".join("".join(output["text"]) for output in streams)


def _assertion(check: Assertion, scene: Scene) -> str:
    cell = scene.run(check.code, check.timeout_seconds)
    if cell.status == "ok":
        return ""
    if cell.error.startswith("AssertionError"):
        return cell.error
    raise CheckError(cell.error or f"the check ended with {cell.status!r}")


def _solution(check: Solution, scene: Scene) -> str:
    shared = "**globals(), " if check.shares_variables else ""
    space = f"{{{shared}'__name__': '__main__', '{ANSWER_NAME}': {code_in(scene.answer)!r}}}"
    try:
        cell = scene.run(f"exec({check.program!r}, {space})", check.timeout_seconds)
    except KernelError as error:
        return f"the kernel did not survive it: {error}"
    return "" if cell.status == "ok" else cell.error or f"it ended with {cell.status!r}"


def _namespace(check: NamespaceIntact, scene: Scene) -> str:
    body = "found = fingerprints(dict(user))\n"
    with scene.anew(with_cells=False) as fresh:
        before: dict[str, str] = _ask(fresh, body, {})
    after: dict[str, str] = _ask(scene, body, {})
    names = [n for n in before if not any(fnmatch.fnmatchcase(n, p) for p in check.but)]
    gone = [name for name in names if name not in after]
    changed = [name for name in names if name in after and after[name] != before[name]]
    parts = [f"gone: {', '.join(gone)}"] if gone else []
    return "; ".join([*parts, f"changed: {', '.join(changed)}"] if changed else parts)


def _restarted(scene: Scene, others: tuple[Check, ...]) -> str:
    with scene.anew(with_cells=True) as fresh:
        scores = score_all(others, fresh)
    broken = [found for found in scores if found.value is None]
    if broken:
        raise CheckError(f"run anew, {broken[0].name}: {broken[0].error}")
    failed = [found for found in scores if not found.passed]
    return f"run anew, {failed[0].name} fails: {failed[0].explanation}" if failed else ""
