"""A suite made of a folder of notebooks: each question with its solution becomes a sample.

A question is Markdown with code below it. The code is the reference, and what comes before it the
setup. It is checked by what the code finds: the variables that the Markdown names, else the value
of the last line, else the variable that is set last; or by tests that the notebook has, such as
nbgrader's. What does not come out the same in a fresh kernel, or needs nothing done, is left out.

What this does not protect against: the notebooks' code runs with your rights and your network.
"""

from __future__ import annotations

import ast
import datetime
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.bench.checks import VALUES
from cellwright.bench.environments import CELL_SECONDS, Room, Rooms
from cellwright.bench.runner import Laboratory
from cellwright.bench.saving import copy_files, find_named_files, write_item
from cellwright.bench.scenes import CheckError, ask_kernel
from cellwright.bench.suites import Item
from cellwright.bench.suites.folder import METADATA, NOTEBOOK, read_item
from cellwright.bench.trial import try_sample
from cellwright.bench.value_data import restore
from cellwright.errors import KernelError, SetupError
from cellwright.exports.sample import CANARY
from cellwright.stopping import Stop
from cellwright.text.redaction import Redactor

LARGEST_CELLS = 2_000
"""A table with more is not written down as what is expected."""
ANSWERS = ("answer", "result", "answer_value")
"""What the value of a last line is put into, the first that the notebook does not use."""
IN_BACKTICKS = re.compile(r"`([A-Za-z_]\w*)`")
READS = re.compile(r"(read|load|open)(_|$)")
"""Begins the names of functions that fetch data and find nothing out."""


@dataclass(frozen=True)
class LeftOut:
    """A question that became no sample."""

    name: str
    why: str


@dataclass
class MadeSuite:
    """What became of the notebooks."""

    samples: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


@dataclass
class Question:
    """Markdown with the code below it."""

    name: str
    text: str
    setup: tuple[str, ...]
    code: list[str] = field(default_factory=list)
    tests: list[Mapping[str, Any]] = field(default_factory=list)
    """As checks."""

    @property
    def asks_nothing(self) -> bool:
        """Whether a heading stands above code that only imports, reads and sets values."""
        is_heading = self.text.startswith("#") and not ("?" in self.text or "`" in self.text)
        return is_heading and not self.tests and all(map(_only_prepares, self.code))


def make_suite(
    notebooks: Path, folder: Path, laboratory: Laboratory, redactor: Redactor
) -> MadeSuite:
    """Write the samples of a folder of notebooks.

    Args:
        notebooks: The folder, or one notebook.
        folder: The suite's; it comes into being.
        laboratory: Where the notebooks run and the samples are tried.
        redactor: Finds secrets.

    Raises:
        SetupError: There is no notebook.
    """
    paths = [notebooks] if notebooks.is_file() else sorted(notebooks.glob(f"*{NOTEBOOK}"))
    if not paths:
        raise SetupError(f"There is no notebook in {str(notebooks)!r}.", hint="Name its folder.")
    folder.mkdir(parents=True, exist_ok=True)
    made = MadeSuite()
    for path in paths:
        try:
            samples = _write_samples(path, folder, laboratory.rooms, redactor, made)
            for sample in samples:
                _try(sample, laboratory, made)
        except TRYING_FAILS as error:
            made.left_out.append(LeftOut(path.stem, str(error)))
    return made


TRYING_FAILS = (CheckError, KernelError, OSError, SetupError, ValueError)


def _try(path: Path, laboratory: Laboratory, made: MadeSuite) -> None:
    try:
        why = try_sample(path, laboratory, with_oracle=True)
    except TRYING_FAILS as error:
        why = str(error)
    if why:
        path.unlink(missing_ok=True)  # trying may have taken it away
        made.left_out.append(LeftOut(path.stem, why))
    else:
        made.samples.append(path.name)


def _write_samples(
    path: Path, folder: Path, rooms: Rooms, redactor: Redactor, made: MadeSuite
) -> list[Path]:
    """Write the samples of one notebook, which runs once for that."""
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    if redactor.text(text) != text:
        raise SetupError("It holds what looks like a password or a key.")
    if _is_sample(notebook):
        return [_copy_sample(path, notebook, folder)]
    questions = list(read_questions(notebook, path.stem))
    sources = [source for question in questions for source in (*question.setup, *question.code)]
    files = find_named_files(sources, path.parent, redactor)
    copy_files(files, folder)
    documents, done = dict[Path, Any](), 0
    with rooms.open(Item(path.stem, "", files=files), Stop()) as room:
        for question in questions:
            for source in question.setup[done:]:
                _run(room, source)
            done = len(question.setup) + len(question.code)
            if question.asks_nothing:
                for source in question.code:
                    _run(room, source)
                why = "its heading asks nothing: its code is the setup of what follows"
                made.left_out.append(LeftOut(question.name, why))
                continue
            found = _solve(question, room)
            if not found.checks:
                why = "nothing that it finds can be written down as what is expected"
                made.left_out.append(LeftOut(question.name, why))
                continue
            documents[folder / f"{question.name}.yaml"] = _document(question, found, files)
    for sample, document in documents.items():  # now that the whole notebook runs
        write_item(sample, document)
    return [*documents]


def _is_sample(notebook: Mapping[str, Any]) -> bool:
    """Whether it says itself what is asked and what solves it."""
    tags = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", ())}
    return METADATA in notebook.get("metadata", {}) or "reference" in tags


def _copy_sample(path: Path, notebook: dict[str, Any], folder: Path) -> Path:
    """Copy a notebook that is a sample, and its files; only the copy carries the canary."""
    copy_files({**read_item(path).files, path.name: path}, folder)
    marked = {**notebook, "metadata": {**notebook.get("metadata", {}), "canary": CANARY}}
    copy = folder / path.name
    copy.write_text(json.dumps(marked, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return copy


def read_questions(notebook: Mapping[str, Any], stem: str) -> Iterator[Question]:
    """The questions of a notebook; code before the first is the first one's setup."""
    setup: list[str] = []
    question = Question(f"{stem}-1", "", ())
    number = 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        if not source:
            continue
        if cell["cell_type"] == "markdown":
            if question.code:
                yield question
                setup += question.code
                question = Question("", "", ())
            text = f"{question.text}\n\n{source}".strip()
            number += not question.text
            question = Question(f"{stem}-{number}", text, tuple(setup))
        elif cell["cell_type"] == "code" and _is_test(cell):
            question.tests.append({"assert": source, **_points(cell)})
        elif cell["cell_type"] == "code" and question.text:
            question.code.append(source)
        elif cell["cell_type"] == "code":
            setup.append(source)
    if question.code:
        yield question


def _is_test(cell: Mapping[str, Any]) -> bool:
    graded = cell["metadata"].get("nbgrader", {})
    is_graded = bool(graded.get("grade")) and not graded.get("solution")
    return is_graded or "check" in cell["metadata"].get("tags", ())


def _points(cell: Mapping[str, Any]) -> dict[str, float]:
    """What nbgrader gives for a test, where that is not one point."""
    points = cell["metadata"].get("nbgrader", {}).get("points")
    is_said = isinstance(points, (int, float)) and points > 0 and points != 1
    return {"points": points} if is_said else {}


def _only_prepares(source: str) -> bool:
    """Whether code only imports, reads and sets values, so that no prompt could ask for it."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a magic
        return False
    return all(isinstance(line, (ast.Import, ast.ImportFrom)) or _is_given(line) for line in body)


def _is_given(line: ast.stmt) -> bool:
    if not isinstance(line, (ast.Assign, ast.AnnAssign)) or line.value is None:
        return False
    if isinstance(line.value, ast.Call):
        called = line.value.func
        name = str(getattr(called, "attr", "") or getattr(called, "id", ""))
        return READS.match(name) is not None
    try:
        ast.literal_eval(line.value)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class _Found:
    """What the code of a question found."""

    code: tuple[str, ...]
    names: tuple[str, ...] = ()
    """Variables that hold it."""
    checks: tuple[Mapping[str, Any], ...] = ()


def _solve(question: Question, room: Room) -> _Found:
    """Run a question's code in the room; what it found, and how that is checked."""
    code, last = _name_last_value(tuple(question.code))
    for source in code:
        _run(room, source)
    if question.tests:
        return _Found(tuple(question.code), (), tuple(question.tests))
    changed = _names_changed(question.code)
    named = tuple(n for n in dict.fromkeys(IN_BACKTICKS.findall(question.text)) if n in changed)
    for names in (named, (last,) if last else (), changed[-1:]):
        checks = tuple(_checks(room, names))
        if checks and len(checks) == len(names):
            return _Found(code if names == (last,) else tuple(question.code), names, checks)
    return _Found(code)


def _document(question: Question, found: _Found, files: Mapping[str, Path]) -> dict[str, Any]:
    asked = " and ".join(f"`{name}`" for name in found.names if f"`{name}`" not in question.text)
    document = {
        "prompt": question.text + (f"\n\nPut the result into {asked}." if asked else ""),
        "setup": list(question.setup),
        "files": sorted(files),
        "checks": list(found.checks),
        "reference": list(found.code),
    }
    return {key: value for key, value in document.items() if value}


def _run(room: Room, source: str) -> None:
    cell = room.run(source, CELL_SECONDS)
    if cell.status != "ok":
        raise CheckError(f"a cell fails: {cell.error}: {source[:60]!r}")


def _name_last_value(code: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The code with the value of its last line in a variable, and that variable's name."""
    try:
        tree = ast.parse(code[-1])
        last = tree.body[-1]
    except (SyntaxError, IndexError):  # a magic
        return code, ""
    if not isinstance(last, ast.Expr):
        return code, ""
    if isinstance(last.value, ast.Name):
        return code, last.value.id
    name = next((name for name in ANSWERS if name not in "\n".join(code)), "")
    before = "\n".join(code[-1].splitlines()[: last.lineno - 1])
    source = f"{before}\n{name} = {ast.unparse(last.value)}\n{name}".strip()
    return ((*code[:-1], source), name) if name else (code, "")


def _names_changed(code: Iterable[str]) -> tuple[str, ...]:
    """Variables that lines of the code set or change, the last one last."""
    found: dict[str, None] = {}
    for source in code:
        try:
            body = ast.parse(source).body
        except SyntaxError:  # a magic
            continue
        for line in body:
            targets = getattr(line, "targets", None) or [getattr(line, "target", None)]
            is_set = isinstance(line, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            for target in targets if is_set else ():
                for name in _bases(target):
                    found.pop(name, None)
                    found[name] = None
    return tuple(found)


def _bases(target: Any) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _bases(part)
        return
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


# What a value is, as an expression that a check can hold another one against.


class _NotWritableError(ValueError):
    """There is no short expression for a value."""


def _checks(room: Room, names: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """A check for each of these variables that holds what can be written down."""
    asked = {"ask": "values", "names": list(names)}
    values = ask_kernel(room, VALUES, "answer_request", asked)["values"] if names else {}
    for name in names:
        try:
            value = restore(values.get(name), _refuse)
            if value is None:
                continue
            expression = write_expression(value)
        except _NotWritableError:
            continue
        is_plain = isinstance(value, (bool, int, str)) or _is_finite(value)
        told = {"equals": value} if is_plain else {"expression": expression}
        yield {"variable": name, **told}


def _is_finite(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _refuse(data: Any) -> Any:
    raise _NotWritableError(str(data.get("type")))


def write_expression(value: Any) -> str:
    """Python that makes the value, with ``pd`` and ``np``.

    Raises:
        ValueError: It holds too much, or what has no short expression.
    """
    if _count(value) > LARGEST_CELLS:
        raise _NotWritableError(f"more than {LARGEST_CELLS} values")
    return _written(value)


def _count(value: Any) -> int:
    size = getattr(value, "size", None)
    if isinstance(size, int):
        return size
    if isinstance(value, dict):
        return sum(_count(part) for part in value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return sum(_count(part) for part in value)
    return 1


def _written(value: Any) -> str:
    kind = type(value).__name__
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if type(value) in (list, tuple, set, frozenset):
        items = ", ".join(map(_written, value))
        return f"{kind}([{items}])" if kind != "list" else f"[{items}]"
    if type(value) is dict:
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in value.items()) + "}"
    if type(value) is datetime.date:
        return f"pd.Timestamp({value.isoformat()!r})"
    if kind in WRITERS:
        return WRITERS[kind](value)
    if hasattr(value, "item") and hasattr(value, "dtype"):  # a number of numpy
        return _written(value.item())
    raise _NotWritableError(kind)


def _series(series: Any) -> str:
    index = _index(series.index)
    name = "" if series.name is None else f", name={_written(series.name)}"
    return f"pd.Series({_written(list(series))}{index}{name})"


def _table(table: Any) -> str:
    rows = _written([list(row) for row in table.itertuples(index=False)])
    return f"pd.DataFrame({rows}, columns={_labels(table.columns)}{_index(table.index)})"


def _index(index: Any) -> str:
    is_counted = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return "" if is_counted and index.name is None else f", index={_labels(index)}"


def _labels(index: Any) -> str:
    if type(index).__name__ == "MultiIndex":
        names = _written(list(index.names))
        return f"pd.MultiIndex.from_tuples({_written(list(index))}, names={names})"
    name = "" if index.name is None else f", name={_written(index.name)}"
    return f"pd.Index({_written(list(index))}{name})"


WRITERS = {
    "Timestamp": lambda value: f"pd.Timestamp({str(value)!r})",
    "Timedelta": lambda value: f"pd.Timedelta({str(value)!r})",
    "NaTType": lambda value: "pd.NaT",
    "NAType": lambda value: "pd.NA",
    "ndarray": lambda value: f"np.array({_written(value.tolist())})",
    "Series": _series,
    "DataFrame": _table,
    "Index": _labels,
    "MultiIndex": _labels,
    "RangeIndex": _labels,
    "DatetimeIndex": _labels,
}
"""By the name of the type: pandas need not be there."""
