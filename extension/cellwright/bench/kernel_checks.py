"""Checks that ask the kernel: variables, assertions, programs, the namespace."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.bench import comparing
from cellwright.bench.answer_text import code_in
from cellwright.bench.kernel_source import program_of
from cellwright.bench.scenes import CheckError, Found, Scene, asked, found_wrong
from cellwright.errors import KernelError

ANSWER_NAME = "cellwright_answer"
"""No name that a task would use itself: HumanEval has a function called solution."""
VARIABLE = """
missing = arguments['name'] not in user
expression = arguments['expression']
wanted = evaluate(expression) if expression else arguments['equals']
found = 'it is not there' if missing else difference(
    user[arguments['name']], wanted, arguments['options']
)
"""


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

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"variable {self.name}"


@dataclass(frozen=True)
class Assertion:
    """Code that runs in the kernel and asserts."""

    code: str
    timeout_seconds: float = 60.0
    kind: Literal["assertion"] = field(default="assertion", init=False)
    score_name = "assertion"


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
    score_name = "solution"


@dataclass(frozen=True)
class NamespaceIntact:
    """The variables of the setup are what they were; setup must give the same each time."""

    but: tuple[str, ...] = ()
    """Names, or patterns of names, that may change."""
    kind: Literal["namespace_intact"] = field(default="namespace_intact", init=False)
    score_name = "namespace_intact"


def find_variable(check: Variable, scene: Scene) -> Found:
    """Compare the variable in the kernel."""
    arguments = {
        "name": check.name,
        "equals": check.equals,
        "expression": check.expression,
        "options": dict(check.options),
    }
    wrong = asked(scene, program_of(comparing) + VARIABLE, arguments)
    return found_wrong(f"{check.name}: {wrong}" if wrong else "")


def find_assertion(check: Assertion, scene: Scene) -> Found:
    """Run the code; only an ``AssertionError`` is a failure."""
    cell = scene.run(check.code, check.timeout_seconds)
    if cell.status == "ok":
        return found_wrong("")
    if cell.error.startswith("AssertionError"):
        said = cell.error.removeprefix("AssertionError:").strip()
        return found_wrong(cell.error if said else f"it does not hold: {check.code.strip()}")
    raise CheckError(cell.error or f"the check ended with {cell.status!r}")


def find_solution(check: Solution, scene: Scene) -> Found:
    """Run the program."""
    shared = "**globals(), " if check.shares_variables else ""
    space = f"{{{shared}'__name__': '__main__', '{ANSWER_NAME}': {code_in(scene.answer)!r}}}"
    try:
        cell = scene.run(f"exec({check.program!r}, {space})", check.timeout_seconds)
    except KernelError as error:
        return found_wrong(f"the kernel did not survive it: {error}")
    ended = "" if cell.status == "ok" else cell.error or f"it ended with {cell.status!r}"
    return found_wrong(ended)


def find_namespace(check: NamespaceIntact, scene: Scene) -> Found:
    """Hold the variables against those of a fresh kernel with the setup done."""
    program = program_of(comparing) + "\nfound = fingerprints(dict(user))\n"
    with scene.anew(with_cells=False) as fresh:
        before: dict[str, str] = asked(fresh, program, {})
    after: dict[str, str] = asked(scene, program, {})
    names = [n for n in before if not any(fnmatch.fnmatchcase(n, p) for p in check.but)]
    gone = [name for name in names if name not in after]
    changed = [name for name in names if name in after and after[name] != before[name]]
    parts = [f"gone: {', '.join(gone)}"] if gone else []
    parts += [f"changed: {', '.join(changed)}"] if changed else []
    return found_wrong("; ".join(parts))
