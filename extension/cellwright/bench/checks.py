"""What scores a sample: checks of text, files, variables, programs and figures, and their table.

A check that crashes is an error, not a failure: its score has no value.

Values are taken out of the kernel as data and compared here; an author's tests run in a kernel that
the agent never touched. What a sample expects is never in a kernel in which the agent's code runs.

What this does not protect against: a check that says ``in_kernel`` works beside the agent's code,
which may have changed what Python's own functions do; what was changed is looked for (see
``tampering``). What a function of the agent's returns is its word.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import fnmatch
import os
import re
import runpy
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from cellwright.bench import author_tests, comparing, figure_check, figure_data, value_data
from cellwright.bench.dseval_check import DsevalQuestion, find_dseval
from cellwright.bench.judge_check import Judge, Thumb, find_judge, find_thumb
from cellwright.bench.scenes import (
    ApartTest,
    BrokenSampleError,
    CellFailedError,
    CheckError,
    CheckFinding,
    ScoringContext,
    TestEnd,
    UnreadableKernelError,
    ask_agent,
    ask_kernel,
    asked,
    found_wrong,
    printed,
    run_apart,
)
from cellwright.errors import KernelError, RunCancelled, SetupError
from cellwright.exports.sample import SampleCell, SampleRecord, Score

# Code out of what a model said.


FENCE = re.compile(r"```[A-Za-z0-9_+-]*\n(.*?)\n?```", re.DOTALL)
NAMED = re.compile(r"@(\w+)\[([^\]]*)\]")
THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def fenced(code: str) -> str:
    """Code as a block of markdown; ``code_in`` gives it back as it is."""
    return f"```python\n{code}\n```"


def code_in(text: str) -> str:
    """The last block of code in an answer; the whole text where there is no block."""
    found = FENCE.findall(text)
    return str(found[-1]) if found else text


def cut_recorded(text: str) -> str:
    """The code of an answer recorded for DS-1000, by the rule its results were published with."""
    cut = text.split("</code>")[0].replace("```python", "")
    return cut.split("```")[0].split("\nEND SOLUTION")[0].replace("<code>", "")


def named_value(text: str, name: str) -> str | None:
    """The value of ``@name[value]``, the last one where there are several."""
    found = [value for word, value in NAMED.findall(text) if word == name]
    return found[-1].strip() if found else None


# Checks of what is said, printed and written; none of them asks the kernel.


@dataclass(frozen=True)
class AnswerCheck:
    """The agent's last words say it: exactly, by a pattern, or as ``@name[value]``."""

    exact: str | None = None
    regex: str | None = None
    name: str = ""
    value: Any = None
    tolerance: float | None = None
    """How far off a number may be."""
    relative_tolerance: float | None = None
    """The same, as a share of ``value``: a billionth where nothing is said."""
    ignore_case: bool = True
    kind: Literal["answer"] = field(default="answer", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"answer @{self.name}" if self.name else "answer"


@dataclass(frozen=True)
class File:
    """A file is there and holds something."""

    path: str
    regex: str | None = None
    exact: str | None = None
    is_there: bool = True
    kind: Literal["file"] = field(default="file", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"file {self.path}"


@dataclass(frozen=True)
class Stdout:
    """What the agent's cells printed, all together."""

    regex: str
    kind: Literal["stdout"] = field(default="stdout", init=False)
    score_name = "stdout"


def find_answer(check: AnswerCheck, scene: ScoringContext) -> CheckFinding:
    """Look at the answer."""
    answer = scene.answer
    if check.name:
        return found_wrong(_named(check, named_value(answer, check.name)))
    if check.regex is not None:
        return found_wrong(
            _pattern(check.regex, answer, "the answer", ignore_case=check.ignore_case)
        )
    if check.exact is None:
        raise CheckError("an answer check needs exact, regex or name")
    same = _same_text(check, answer, check.exact)
    return found_wrong("" if same else f"the answer is {answer[:200]!r}, not {check.exact!r}")


def _named(check: AnswerCheck, value: str | None) -> str:
    if value is None:
        return f"the answer has no @{check.name}[…]"
    is_text = isinstance(check.value, str)
    if is_text and _same_text(check, value, check.value):
        return ""
    given = value if is_text else _number_in(value)
    options = {"tolerance": check.tolerance, "relative_tolerance": check.relative_tolerance}
    comparing.check_options(options)
    return comparing.difference(given, value_data.ValueWriter().write(check.value), options)


def _same_text(check: AnswerCheck, *texts: str) -> bool:
    """Whether two texts are the same, with an accent as a character of its own or not."""
    plain = [unicodedata.normalize("NFC", text.strip()) for text in texts]
    return len({text.casefold() if check.ignore_case else text for text in plain}) == 1


def _number_in(value: str) -> int | float | str:
    """The number that an answer writes, a whole one exactly; else the text itself."""
    text = value.replace("\N{MINUS SIGN}", "-")
    text = text.replace(",", "") if THOUSANDS.fullmatch(text) else text
    if "_" not in text:  # Python would take 1_000 for 1000
        for kind in (int, float):
            with contextlib.suppress(ValueError):
                return kind(text)
    return value


LARGEST_FILE = 50_000_000
"""A file of an agent's may be as large as it likes, and is read in the process of all samples."""


def find_file(check: File, scene: ScoringContext) -> CheckFinding:
    """Look at the file."""
    return found_wrong(_file(check, scene.folder))


def _file(check: File, folder: Path) -> str:
    path = folder / check.path
    found = path.resolve()
    if not found.is_relative_to(folder.resolve()):
        raise CheckError(f"the file {check.path!r} is outside the sample's folder")
    try:
        path.lstat()
    except OSError as error:
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return f"{check.path} cannot be looked at: {error.strerror}"
        return f"{check.path} is not there" if check.is_there else ""
    if not check.is_there:
        return f"{check.path} is there"
    try:
        text = _read_without_links(folder.resolve(), found)
    except OSError as error:
        return f"{check.path} is no file that can be read: {error.strerror}"
    if check.exact is None and check.regex is None:
        return ""
    if len(text) > LARGEST_FILE:
        return f"{check.path} is too large: {LARGEST_FILE:,} characters are read"
    if check.exact is not None:
        return "" if text.strip() == check.exact.strip() else f"{check.path} holds something else"
    return _pattern(check.regex or "", text, check.path)


def _read_without_links(folder: Path, path: Path) -> str:
    """What a file holds, no more than a little past ``LARGEST_FILE``.

    The agent's programs may still run, and put a link to what is expected in its place meanwhile.

    Raises:
        OSError: It is no ordinary file.
    """
    if os.open not in os.supports_dir_fd:  # Windows
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_FILE + 1)
    with contextlib.ExitStack() as stack:
        here: int | None = None
        for part in (str(folder), *path.relative_to(folder).parts):
            # Without waiting: a pipe would never open.
            here = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
            stack.callback(os.close, here)
        assert here is not None
        if not stat.S_ISREG(os.fstat(here).st_mode):
            raise OSError(errno.EINVAL, "it is something else")
        with open(here, encoding="utf-8", errors="replace", closefd=False) as file:
            return file.read(LARGEST_FILE + 1)


def find_stdout(check: Stdout, scene: ScoringContext) -> CheckFinding:
    """Look at what was printed."""
    return found_wrong(_pattern(check.regex, printed(scene.cells), "what was printed"))


def _pattern(regex: str, text: str, what: str, *, ignore_case: bool = False) -> str:
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    return "" if re.search(regex, text, flags) else f"{what} does not match {regex!r}"


# Checks that ask the kernel: variables, assertions, programs, the namespace.


ANSWER_NAME = "cellwright_answer"
"""No name that a task would use itself: HumanEval has a function called solution."""


@dataclass(frozen=True)
class Variable:
    """A variable has a value."""

    name: str
    equals: Any = None
    """Plain data."""
    expression: str = ""
    """Python for the value instead; ``pd`` and ``np`` can be used in it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Some of ``comparing.VALUE_OPTIONS``."""
    kind: Literal["variable"] = field(default="variable", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"variable {self.name}"


@dataclass(frozen=True)
class Assertion:
    """Code that asserts, on values of the agent's variables, in a kernel that it never touched."""

    code: str
    timeout_seconds: float = 60.0
    in_kernel: bool = False
    """It runs in the agent's kernel, on its own objects: it can be fooled there."""
    kind: Literal["assertion"] = field(default="assertion", init=False)
    score_name = "assertion"


@dataclass(frozen=True)
class Solution:
    """A program that tests code, as public suites have them: any exception is a failure.

    It runs in a namespace of its own, in a kernel that the agent never touched.
    ``cellwright_answer`` is the code in the agent's answer; ``exec`` runs it in the agent's kernel.
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


VALUES = (value_data, author_tests)
"""Sent to kernels."""
TESTS = ApartTest(VALUES, "begin_test", "answer_request")


def find_variable(check: Variable, scene: ScoringContext) -> CheckFinding:
    """Take the variable out of the kernel as data, and compare it here."""
    comparing.check_options(check.options)
    given = {"ask": "values", "names": [check.name]}
    told = ask_agent(scene, VALUES, "answer_request", given).get("values", {})
    if check.name not in told:
        return found_wrong(f"{check.name}: it is not there")
    if check.expression:
        wanted = {"expression": check.expression}
        expected = ask_kernel(scene.clean(), (value_data,), "evaluate", wanted)
    else:
        expected = value_data.ValueWriter().write(check.equals)
    wrong = comparing.difference(told[check.name], expected, check.options)
    return found_wrong(f"{check.name}: {wrong}" if wrong else "")


def find_assertion(check: Assertion, scene: ScoringContext) -> CheckFinding:
    """Run the code; only an ``AssertionError`` is a failure."""
    if check.in_kernel:
        return _assertion_here(check, scene)
    options = {"shared": True, "remote_exec": False}
    ended = _tested(scene, check.code, options, check.timeout_seconds)
    if ended.how == "passed":
        return found_wrong("")
    if ended.how == "failed" or _names_what_is_missing(ended.text, scene):
        return found_wrong(ended.text or f"it does not hold: {check.code.strip()}")
    raise CheckError(ended.text)


NO_FILE = r"FileNotFoundError: \[Errno 2\] No such file or directory: '([^/\\'][^']*)'"


def _names_what_is_missing(text: str, scene: ScoringContext) -> bool:
    """Whether a variable or a file is not there that the agent should have made."""
    variable = re.match(r"NameError: name '(\w+)' is not defined", text)
    file = re.match(NO_FILE, text)
    if variable is None and file is None:
        return False
    if not scene.reference:
        return True
    if file is not None:
        return any(file[1] in cell for cell in scene.reference)
    return variable is not None and variable[1] in names_set(scene.reference)


def names_set(cells: tuple[str, ...]) -> set[str]:
    """The names that code gives a value."""
    found: set[str] = set()
    for cell in cells:
        with contextlib.suppress(SyntaxError):  # a magic; what it sets is not known
            found |= set(_set_in(ast.parse(cell)))
    return found


def _set_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _assertion_here(check: Assertion, scene: ScoringContext) -> CheckFinding:
    cell = scene.run(check.code, check.timeout_seconds)
    if cell.status == "ok":
        return _unless_tampered(scene)
    if cell.error.startswith("AssertionError"):
        said = cell.error.removeprefix("AssertionError:").strip()
        return found_wrong(cell.error if said else f"it does not hold: {check.code.strip()}")
    if _names_what_is_missing(cell.error, scene):
        return found_wrong(cell.error)
    raise CheckError(cell.error or f"the check ended with {cell.status!r}")


def _unless_tampered(scene: ScoringContext) -> CheckFinding:
    """Beside the agent's code, a pass counts only where its tools are what they were."""
    changed = scene.tampering()
    return found_wrong(f"tampered with: {', '.join(changed)}" if changed else "")


def _tested(
    scene: ScoringContext, code: str, options: Mapping[str, Any], timeout_seconds: float
) -> TestEnd:
    """Run an author's test on values of the agent's variables."""
    given = {"given": {}, "reference": sorted(names_set(scene.reference)), **options}
    what = {"code": code, "options": given}
    return run_apart(scene, TESTS, what, timeout_seconds)


def find_solution(check: Solution, scene: ScoringContext) -> CheckFinding:
    """Run the program."""
    options = {
        "shared": check.shares_variables,
        "remote_exec": True,
        "given": {ANSWER_NAME: code_in(scene.answer)},
    }
    try:
        ended = _tested(scene, check.program, options, check.timeout_seconds)
    except KernelError as error:
        return found_wrong(f"the kernel did not survive it: {error}")
    return found_wrong("" if ended.how == "passed" else ended.text or "an assertion failed")


def find_namespace(check: NamespaceIntact, scene: ScoringContext) -> CheckFinding:
    """Hold the variables against those of a fresh kernel with the setup done."""
    before: dict[str, str] = ask_kernel(scene.clean(), (value_data,), "fingerprints", {})
    after: dict[str, str] = ask_agent(scene, (value_data,), "fingerprints", {})
    names = [n for n in before if not any(fnmatch.fnmatchcase(n, p) for p in check.but)]
    gone = [name for name in names if name not in after]
    changed = [name for name in names if name in after and after[name] != before[name]]
    parts = [f"gone: {', '.join(gone)}"] if gone else []
    parts += [f"changed: {', '.join(changed)}"] if changed else []
    return found_wrong("; ".join(parts)) if parts else _unless_tampered(scene)


# Figures, by the data they show and not by their pixels.


@dataclass(frozen=True)
class Figure:
    """A figure shows certain values."""

    name: str = ""
    """A variable with a figure or its axes; empty: the last figure that was drawn."""
    marks: tuple[Mapping[str, Any], ...] = ()
    """What has to be in it: ``kind`` (``line``, ``bar``, ``scatter``, ``pie`` …), ``x``, ``y``,
    ``label``; each may be left out."""
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    tolerance: float | None = None
    """How far off a number may be."""
    relative_tolerance: float | None = None
    """The same, as a share of what is wanted: a millionth where nothing is said."""
    ignore_order: bool = False
    """The points of a mark may come in any order."""
    kind: Literal["figure"] = field(default="figure", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"figure {self.name}" if self.name else "figure"

    @property
    def wanted(self) -> dict[str, Any]:
        """What ``figure_difference`` holds the figure against."""
        return {
            "marks": [dict(mark) for mark in self.marks],
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "tolerance": self.tolerance,
            "relative_tolerance": self.relative_tolerance,
            "ignore_order": self.ignore_order,
        }


def figure_cell() -> str:
    """A cell of the setup, without which figures that were shown cannot be looked at."""
    space = f"{{'name': {figure_data.HELD!r}}}"
    return f"exec({figure_data.KEPT!r}, {space})"


def find_figure(check: Figure, scene: ScoringContext) -> CheckFinding:
    """Take what the figure shows out of the kernel as data, and compare it here."""
    told = ask_agent(scene, (figure_data,), "describe_figure", {"name": check.name})
    return found_wrong(figure_check.figure_difference(told, check.wanted))


@dataclass(frozen=True)
class RestartAndRunAll:
    """The notebook, run anew from top to bottom, passes the other checks as well."""

    kind: Literal["restart_and_run_all"] = field(default="restart_and_run_all", init=False)
    score_name = "restart_and_run_all"


@dataclass(frozen=True)
class AnyOf:
    """One of several checks passes; the best of them counts."""

    checks: tuple[Check, ...]
    kind: Literal["any_of"] = field(default="any_of", init=False)
    score_name = "any_of"


def find_any(check: AnyOf, scene: ScoringContext) -> CheckFinding:
    """Make the checks until one passes."""
    scores: list[Score] = []
    for part in check.checks:
        scores.append(score(part, scene))
        if scores[-1].passed:
            return CheckFinding(1.0)
    known = [found.value for found in scores if found.value is not None]
    told = "; ".join(f"{found.name}: {found.explanation or found.error}" for found in scores)
    if not known:
        raise CheckError(told)
    return CheckFinding(max(known), told, is_passed=False)


class FinishedRun:
    """What a function that scores is given: a run after its end. Stability: provisional.

    Args:
        scene: The sample, with the kernel that it ran in.
    """

    def __init__(self, scene: ScoringContext) -> None:
        self._scene = scene

    @property
    def answer(self) -> str:
        """What the agent said last."""
        return self._scene.answer

    @property
    def cells(self) -> tuple[SampleCell, ...]:
        """What it ran, in order."""
        return self._scene.cells

    @property
    def printed(self) -> str:
        """What its cells printed, all together."""
        return printed(self._scene.cells)

    @property
    def folder(self) -> Path:
        """Where it ran, with the files that it left."""
        return self._scene.folder

    def value(self, name: str) -> Any:
        """The value of a variable, taken out of its kernel as data.

        Raises:
            AssertionError: It is not there, or is no data.
        """
        told = ask_agent(self._scene, VALUES, "answer_request", {"ask": "values", "names": [name]})
        values = told.get("values", {})
        assert name in values, f"{name}: it is not there"

        def refuse(data: Any) -> Any:
            raise AssertionError(f"{name}: it holds an object that is no data: {data.get('type')}")

        return value_data.restore(values[name], refuse)

    def ask_clean(
        self, program: str, arguments: Mapping[str, Any], timeout_seconds: float = 60.0
    ) -> Any:
        """What a program sets ``found`` to in a kernel that the agent never touched, as JSON.

        It works in the agent's folder, and is given ``arguments``.

        Raises:
            CheckError: It failed.
        """
        return asked(self._scene.clean(), program, arguments, timeout_seconds)


@dataclass(frozen=True)
class Scorer:
    """A function of a suite in Python; it runs here, in the process of the benchmark."""

    function: Callable[[FinishedRun], Any]
    """Returns True or False, a number from 0 to 1, or a ``Score``; asserts instead, if it likes."""
    kind: Literal["scorer"] = field(default="scorer", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return getattr(self.function, "__name__", "") or "scorer"


def find_scorer(check: Scorer, scene: ScoringContext) -> CheckFinding:
    """Call the function."""
    try:
        return _finding(check.function(FinishedRun(scene)))
    except AssertionError as error:
        return found_wrong(str(error) or "an assertion failed")


def _finding(found: Any) -> CheckFinding:
    """What a function of a suite's author returned."""
    if isinstance(found, Score):
        if found.value is None:
            raise CheckError(found.error or found.explanation)
        return CheckFinding(found.value, found.explanation, found.passed)
    value = 1.0 if found is None else float(found)
    if not 0 <= value <= 1:
        raise CheckError(f"it returned {value!r}, which is no number from 0 to 1")
    return CheckFinding(value)


Check = (
    AnswerCheck
    | AnyOf
    | Assertion
    | DsevalQuestion
    | Figure
    | File
    | Judge
    | NamespaceIntact
    | RestartAndRunAll
    | Scorer
    | Solution
    | Stdout
    | Thumb
    | Variable
)
FINDERS: dict[type[Any], Callable[[Any, ScoringContext], CheckFinding]] = {
    AnswerCheck: find_answer,
    AnyOf: find_any,
    Assertion: find_assertion,
    DsevalQuestion: find_dseval,
    Figure: find_figure,
    File: find_file,
    Judge: find_judge,
    NamespaceIntact: find_namespace,
    Scorer: find_scorer,
    Solution: find_solution,
    Stdout: find_stdout,
    Thumb: find_thumb,
    Variable: find_variable,
}
OPINIONS = (Judge, Thumb)
"""What would say the same, or something else, of a notebook that is run anew."""
BY_RECORD = (AnswerCheck, Judge, Stdout, Thumb)
"""Look at the record alone."""


STOPS = (KeyboardInterrupt, RunCancelled)
"""End a benchmark. An author's own function may raise everything else (``SystemExit``, what
``pytest.fail`` raises), and none of that does."""


def needs_run(checks: tuple[Check, ...]) -> bool:
    """Whether some of them can only be made in a kernel in which the cells have run."""
    return any(
        needs_run(check.checks) if isinstance(check, AnyOf) else not isinstance(check, BY_RECORD)
        for check in checks
    )


def needs_judge(checks: tuple[Check, ...]) -> bool:
    """Whether a model has to be asked for some of them."""
    return any(
        needs_judge(check.checks) if isinstance(check, AnyOf) else isinstance(check, Judge)
        for check in checks
    )


def score_all(checks: tuple[Check, ...], scene: ScoringContext) -> tuple[Score, ...]:
    """Make all checks, in order."""
    apart = (RestartAndRunAll, *OPINIONS)
    others = tuple(check for check in checks if not isinstance(check, apart))
    return tuple(score(check, scene, others) for check in checks)


def score(check: Check, scene: ScoringContext, others: tuple[Check, ...] = ()) -> Score:
    """Make one check.

    Args:
        check: The check.
        scene: The sample after its run.
        others: What restart-and-run-all repeats.

    Raises:
        BrokenSampleError: The sample itself is wrong.
    """
    try:
        found = _found(check, scene, others)
    except (BrokenSampleError, *STOPS):
        raise
    except (CellFailedError, UnreadableKernelError) as error:
        found = found_wrong(str(error))
    except BaseException as error:  # what keeps a check from being made is its error, not a failure
        why = f"{type(error).__name__}: {error}"
        return Score(check.score_name, None, passed=False, error=why)
    return Score(check.score_name, found.value, found.passed, found.explanation)


def _found(check: Check, scene: ScoringContext, others: tuple[Check, ...]) -> CheckFinding:
    if isinstance(check, RestartAndRunAll):
        return _restarted(scene, others)
    return FINDERS[type(check)](check, scene)


def _restarted(scene: ScoringContext, others: tuple[Check, ...]) -> CheckFinding:
    with scene.anew(with_cells=True) as fresh:
        scores = score_all(others, fresh)
    broken = [found for found in scores if found.value is None]
    if broken:
        raise CheckError(f"run anew, {broken[0].name}: {broken[0].error}")
    failed = [found for found in scores if not found.passed]
    why = f"run anew, {failed[0].name} fails: {failed[0].explanation}" if failed else ""
    return found_wrong(why)


# A check of one's own for samples that were recorded before: a Python file with ``check``.
#
# What this does not protect against: the file's code runs in this process, with your rights.


OwnCheck = Callable[[SampleRecord], Any]
"""Returns True or False, a number from 0 to 1, or a ``Score``; asserts instead, if it likes."""


def load_check(path: Path) -> OwnCheck:
    """The function ``check(sample)`` of a file.

    Raises:
        SetupError: There is none.
    """
    try:
        found = runpy.run_path(str(path)).get("check")
    except STOPS:
        raise
    except BaseException as error:  # whatever the file's own code raises
        raise SetupError(f"{str(path)!r} cannot be run: {error!r}.", hint="Mend it.") from error
    if not callable(found):
        raise SetupError(
            f"{str(path)!r} has no function 'check'.", hint="Write: def check(sample): …"
        )
    check: OwnCheck = found
    return check


def scored_by(check: OwnCheck, sample: SampleRecord) -> SampleRecord:
    """The sample with this check's score and no other."""
    return replace(sample, scores=(_score(check, sample),))


def _score(check: OwnCheck, sample: SampleRecord) -> Score:
    try:
        found = check(sample)
        if isinstance(found, Score):
            return found
        told = _finding(found)
        return Score("check", told.value, passed=told.passed)
    except AssertionError as error:
        return Score("check", 0.0, passed=False, explanation=str(error) or "an assertion failed")
    except STOPS:
        raise
    except BaseException as error:  # a check that crashes is an error, not a failure
        return Score("check", None, passed=False, error=repr(error))
