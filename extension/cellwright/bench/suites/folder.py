"""A folder of one's own samples, one YAML file or notebook each, with the checks that they name."""

from __future__ import annotations

import datetime
import difflib
import fnmatch
import importlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from numbers import Number
from pathlib import Path
from typing import Any

from cellwright.bench.checks import (
    AnswerCheck,
    AnyOf,
    Assertion,
    Check,
    Figure,
    File,
    NamespaceIntact,
    RestartAndRunAll,
    Scorer,
    Stdout,
    Variable,
    figure_cell,
)
from cellwright.bench.comparing import TOLERANCES, VALUE_OPTIONS, check_options, unknown_name
from cellwright.bench.figure_data import TEXTS
from cellwright.bench.judge_check import Judge, Thumb
from cellwright.bench.suites import Item, Needs, Suite, checked_suite
from cellwright.bench.task import SampleIndex
from cellwright.errors import SetupError
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.values import from_dict
from cellwright.settings import Limits
from cellwright.tools.registry import Registry
from cellwright.tools.standard import standard_tools

# The checks of a sample of one's own, out of what its file says.


MARK_KEYS = frozenset({"kind", "x", "y", "label"})


def check_of(given: Any, wrong: list[str]) -> Check | None:
    """The check that an entry of ``checks`` means; None: it is wrong.

    Args:
        given: The entry; in a suite in Python a function is one, too.
        wrong: Gets what is wrong with it.
    """
    if callable(given):
        return Scorer(given)
    if isinstance(given, str):
        given = {given: True}
    if isinstance(given, Mapping):
        for name, make in MAKERS.items():
            if name in given:
                try:
                    _refuse_unknown(given, (name, *TAKEN[name]))
                    return make(given)
                except (TypeError, ValueError) as error:
                    wrong.append(f"the check {name!r} is wrong: {error}")
                    return None
        near = [word for key in given for word in difflib.get_close_matches(str(key), MAKERS, 1)]
        if near:
            wrong.append(f"{given!r} is no check; did you mean {near[0]!r}?")
            return None
    wrong.append(f"{given!r} is no check; there are {', '.join(MAKERS)}")
    return None


def _refuse_unknown(given: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in given:
        if key not in known:
            raise ValueError(unknown_name(key, known))


def listed(given: Any) -> list[Any]:
    """A list, of one where there is no list."""
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def _variable(given: Mapping[str, Any]) -> Variable:
    rest = {key: value for key, value in given.items() if key != "variable"}
    options = {key: rest.pop(key) for key in list(rest) if key in VALUE_OPTIONS}
    check_options(options)
    if ("equals" in rest) == ("expression" in rest):
        raise ValueError("it needs either equals or expression")
    return Variable(str(given["variable"]), options=options, **rest)


def _regex(given: Any) -> str:
    try:
        re.compile(str(given))
    except re.error as error:
        raise ValueError(f"{given!r} is no regular expression: {error}") from error
    return str(given)


def _answer(given: Mapping[str, Any]) -> AnswerCheck:
    wanted = given["answer"]
    if isinstance(wanted, Mapping):
        _refuse_unknown(wanted, ANSWER_KEYS)
        check_options({key: wanted[key] for key in wanted if key in TOLERANCES}, TOLERANCES)
    answer = (
        AnswerCheck(**wanted) if isinstance(wanted, Mapping) else AnswerCheck(exact=str(wanted))
    )
    if answer.regex is not None:
        _regex(answer.regex)
    if answer.name:
        return replace(answer, value=_said(answer.value))
    if answer.exact is None and answer.regex is None:
        raise ValueError("it needs exact, regex or name")
    return answer


def _said(value: Any) -> str | int | float:
    """A value as an answer can say it in ``@name[value]``; YAML reads ``true`` and days."""
    if isinstance(value, (bool, datetime.date)):
        return str(value)
    if isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"its value is {value!r}, not a text, a number, a day or true")


def _file(given: Mapping[str, Any]) -> File:
    rest = {key: value for key, value in given.items() if key != "file"}
    if rest.get("regex") is not None:
        _regex(rest["regex"])
    return File(str(given["file"]), **rest)


def _figure(given: Mapping[str, Any]) -> Figure:
    name = given["figure"]
    rest = {key: value for key, value in given.items() if key != "figure"}
    marks = tuple(listed(rest.pop("marks", None)))
    for mark in marks:
        if not isinstance(mark, Mapping) or not MARK_KEYS.issuperset(mark):
            raise ValueError(f"the mark {mark!r} needs {', '.join(sorted(MARK_KEYS))}")
    check_options({key: rest[key] for key in rest if key in TOLERANCES}, TOLERANCES)
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


def _any_of(given: Mapping[str, Any]) -> AnyOf:
    wrong: list[str] = []
    found = [check_of(part, wrong) for part in listed(given["any_of"])]
    if wrong or not found:
        raise ValueError("; ".join(wrong) or "it needs checks")
    if any(isinstance(check, RestartAndRunAll) for check in found):
        raise ValueError("restart_and_run_all repeats the other checks, so it stands beside them")
    return AnyOf(tuple(check for check in found if check is not None))


def _scorer(given: Mapping[str, Any]) -> Scorer:
    if not callable(given["scorer"]):
        raise ValueError("it needs a function, in a suite in Python")
    return Scorer(given["scorer"])


def _assertion(given: Mapping[str, Any]) -> Assertion:
    rest = {key: value for key, value in given.items() if key != "assert"}
    return Assertion(str(given["assert"]), **rest)


ANSWER_KEYS = ("exact", "regex", "name", "value", "ignore_case", "tolerance", "relative_tolerance")
TAKEN: dict[str, tuple[str, ...]] = {
    "variable": ("equals", "expression", *VALUE_OPTIONS),
    "answer": (),
    "file": ("exact", "regex", "is_there"),
    "stdout": (),
    "assert": ("in_kernel", "timeout_seconds"),
    "figure": ("marks", *TEXTS, "tolerance", "relative_tolerance", "ignore_order"),
    "judge": ("question", "target", "pass_at"),
    "thumb": (),
    "namespace_intact": ("but",),
    "restart_and_run_all": (),
    "any_of": (),
    "scorer": (),
}
"""What an entry of each kind may say besides."""
MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "variable": _variable,
    "answer": _answer,
    "file": _file,
    "stdout": lambda given: Stdout(_regex(given["stdout"])),
    "assert": _assertion,
    "figure": _figure,
    "judge": _judge,
    "thumb": _thumb,
    "namespace_intact": _namespace,
    "restart_and_run_all": lambda given: RestartAndRunAll(),
    "any_of": _any_of,
    "scorer": _scorer,
}


# A sample of one's own as a notebook: its cells are the prompt, the setup and the reference.
#
# Markdown is the prompt. Code that is not tagged runs before the agent is asked; code tagged
# ``reference`` solves it, code tagged ``check`` asserts, markdown tagged ``answer`` is what is said
# at the end. All else stands in the notebook's metadata under ``cellwright``, as in YAML.


METADATA = "cellwright"
TAGS = ("setup", "reference", "check", "answer", "prompt", "note")


def notebook_data(path: Path) -> dict[str, Any]:
    """What a YAML file would say instead.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no notebook, or a cell has a tag that does not go with it.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(notebook, Mapping) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it has no cells")
    data = dict(notebook.get("metadata", {}).get(METADATA) or {})
    found: dict[str, list[str]] = {tag: [] for tag in TAGS}
    for number, cell in enumerate(notebook["cells"], start=1):
        source = "".join(cell.get("source") or "")
        if source.strip() and cell.get("cell_type") in ("code", "markdown"):
            found[_part(cell, number)].append(source)
    return {**data, **_merged(data, found)}


def _merged(data: Mapping[str, Any], found: Mapping[str, list[str]]) -> dict[str, Any]:
    checks = data.get("checks") or []
    checks = [*(checks if isinstance(checks, list) else [checks])]
    merged: dict[str, Any] = {"checks": [*checks, *({"assert": code} for code in found["check"])]}
    for key in ("setup", "reference"):
        if found[key]:
            merged[key] = found[key]
    for key in ("prompt", "answer"):
        if found[key]:
            merged[key] = "\n\n".join(found[key])
    return merged


def _part(cell: Mapping[str, Any], number: int) -> str:
    is_code = cell["cell_type"] == "code"
    tags: list[str] = [tag for tag in cell.get("metadata", {}).get("tags") or () if tag in TAGS]
    if not tags:
        return "setup" if is_code else "prompt"
    if is_code == (tags[0] in ("answer", "prompt")) and tags[0] != "note":
        kind = "code" if is_code else "markdown"
        raise ValueError(f"cell {number} is {kind}, and cannot be tagged {tags[0]!r}")
    return tags[0]


KEYS = frozenset(
    {
        "id",
        "prompt",
        "group",
        "family",
        "setup",
        "files",
        "tools",
        "limits",
        "checks",
        "reference",
        "answer",
        "state",
        "mentions",
        "metadata",
        "python",
        "image",
        "network",
    }
)
NOTEBOOK = ".ipynb"
ENDINGS = (".yaml", ".yml", NOTEBOOK)


def load(folder: Path) -> Suite:
    """The suite of a folder; its name is the folder's.

    Raises:
        SetupError: There is no sample, or a file is wrong; the message tells all that is.
    """
    paths = sorted(path for path in folder.iterdir() if path.suffix in ENDINGS and path.is_file())
    if not paths:
        raise SetupError(
            f"The folder {str(folder)!r} has no samples.",
            hint="Write a YAML file (docs/how-to/bench.md), or save a run of yours: "
            f'cellwright save-sample last --check "…" --to {folder}',
        )
    items = tuple(read_item(path) for path in paths)
    return checked_suite(
        Suite(folder.resolve().name, items, source=str(folder), hidden=tuple(paths))
    )


def read_item(path: Path) -> Item:
    """The sample of one file.

    Raises:
        SetupError: It is wrong; the message tells all that is.
    """
    yaml: Any = importlib.import_module("yaml")
    is_notebook = path.suffix == NOTEBOOK
    try:
        text = "" if is_notebook else path.read_text(encoding="utf-8")
        data = notebook_data(path) if is_notebook else yaml.safe_load(text)
        written = None if is_notebook else yaml.load(text, yaml.BaseLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SetupError(
            f"{str(path)!r} cannot be read: {error}.",
            hint="It is a notebook." if is_notebook else "It is YAML.",
        ) from error
    if not isinstance(data, Mapping):
        raise SetupError(f"{str(path)!r} holds {data!r}.", hint="It needs prompt and checks.")
    if data.get("id") is not None and written:  # YAML reads no as false, and 007 as 7
        is_same = str(data["id"]) == written.get("id")
        data = data if is_same else {**data, "id": written.get("id", data["id"])}
    return make_item(data, path.parent, path.stem, str(path))


def make_item(data: Mapping[str, Any], folder: Path, name: str, source: str) -> Item:
    """The sample that such data means.

    Args:
        data: What a YAML file would say.
        folder: Where its files are.
        name: Its id, where the data has none.
        source: Where it was read from, for messages.

    Raises:
        SetupError: It is wrong; the message tells all that is.
    """
    wrong: list[str] = []
    item = _item(data, folder, name, wrong)
    if wrong:
        raise SetupError(f"{source!r}: {'; '.join(wrong)}.", hint="See docs/how-to/bench.md.")
    return item


def _item(data: Mapping[str, Any], folder: Path, name: str, wrong: list[str]) -> Item:
    wrong += [unknown_name(key, KEYS) for key in data if key not in KEYS]
    if data.get("state", "fresh") not in ("fresh", "live"):
        wrong.append(f"state is {data['state']!r}, not 'fresh' or 'live'")
    if not str(data.get("prompt") or "").strip():
        wrong.append("it has no prompt")
    weights = [_split_points(given, wrong) for given in listed(data.get("checks"))]
    found = [check_of(given, wrong) for given, _ in weights]
    if not found:
        wrong.append("it has no checks")
    points = tuple(points for _, points in weights)
    checks = tuple(_completed(check, data) for check in found if check is not None)
    return Item(
        index=_index(data, name, wrong),
        prompt=str(data.get("prompt", "")).strip(),
        group=str(data.get("group") or ""),
        family=str(data.get("family") or ""),
        setup=(*_cells(data.get("setup")), *_prepared(checks)),
        files=_files(data.get("files"), folder, wrong),
        tools=_tools(data, wrong),
        limits=_limits(data.get("limits") or {}, wrong),
        checks=checks,
        is_live=data.get("state") == "live",
        reference=_cells(data.get("reference")),
        reference_answer=str(data.get("answer") or ""),
        mentions=_cells(data.get("mentions")),
        points=() if set(points) <= {1.0} else points,
        metadata=_metadata(data.get("metadata"), wrong),
        needs=_needs(data, folder, wrong),
    )


def _index(data: Mapping[str, Any], name: str, wrong: list[str]) -> SampleIndex:
    given = data.get("id")
    if given is None:
        return name
    if isinstance(given, (str, int)) and not isinstance(given, bool):
        return given
    if not isinstance(given, (Number, datetime.date)):
        wrong.append(f"id is {given!r}, not a word, a number or a day")
    return str(given)


def _split_points(given: Any, wrong: list[str]) -> tuple[Any, float]:
    """An entry of ``checks`` without its points, and them."""
    if not isinstance(given, Mapping) or "points" not in given:
        return given, 1.0
    points = given["points"]
    if isinstance(points, bool) or not isinstance(points, (int, float)) or points <= 0:
        wrong.append(f"points is {points!r}, not a number above zero")
        points = 1.0
    return {key: value for key, value in given.items() if key != "points"}, float(points)


def _needs(data: Mapping[str, Any], folder: Path, wrong: list[str]) -> Needs:
    network, named = data.get("network"), str(data.get("python") or "")
    if network not in (True, False, None):
        wrong.append(f"network is {network!r}, not true or false")
    found = shutil.which(folder / named) or shutil.which(named) if named else ""
    if named and not found:
        wrong.append(f"there is no interpreter {named!r}")
    python = os.path.abspath(found) if found else ""
    return Needs(python, str(data.get("image") or ""), network)


def _metadata(given: Any, wrong: list[str]) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        wrong.append(f"metadata is {given!r}, not names with values")
        return {}
    return dict(given or {})


def _cells(given: Any) -> tuple[str, ...]:
    return tuple(str(cell) for cell in listed(given))


def _tools(data: Mapping[str, Any], wrong: list[str]) -> tuple[str, ...] | None:
    if data.get("tools") is None:
        return None
    names, setup = _cells(data["tools"]), "\n".join(_cells(data.get("setup")))
    offered = Registry(standard_tools(MemoryNotebook())).names()
    for name in names:
        # A set-up can make tools of its own, which it need not name.
        is_made = name in setup or (setup and not difflib.get_close_matches(name, offered, 1))
        if not fnmatch.filter(offered, name) and not is_made:
            wrong.append(f"tools: {unknown_name(name, offered, 'tool')}")
    return names


def _completed(check: Check, data: Mapping[str, Any]) -> Check:
    """A judge is told what was asked and what is a good answer."""
    if isinstance(check, AnyOf):
        return AnyOf(tuple(_completed(part, data) for part in check.checks))
    if not isinstance(check, Judge):
        return check
    target = [*_cells(data.get("reference")), *_cells(data.get("answer"))]
    question = check.question or str(data.get("prompt", "")).strip()
    return replace(check, question=question, target=check.target or "\n\n".join(target))


def _prepared(checks: tuple[Check, ...]) -> tuple[str, ...]:
    """What has to run in the setup for the checks to see what they look at."""
    is_needed = any(
        bool(_prepared(check.checks))
        if isinstance(check, AnyOf)
        else isinstance(check, Figure) and not check.name
        for check in checks
    )
    return (figure_cell(),) if is_needed else ()


def _files(given: Any, folder: Path, wrong: list[str]) -> dict[str, Path]:
    """Files by their names in the sample's folder: of a name, a pattern or a folder all it means.

    Args:
        given: These, or what a file is called there and which one it is.
        folder: The suite's.
        wrong: Gets what is not there.
    """
    if isinstance(given, Mapping):
        named = {str(name): _within(str(file), folder, wrong) for name, file in given.items()}
        wrong += [
            f"there is no file {str(given[n])!r}" for n, p in named.items() if not p.is_file()
        ]
        return named
    found: dict[str, Path] = {}
    for name in map(str, listed(given)):
        path = _within(name, folder, wrong)
        if path.is_dir():
            paths = sorted(path.rglob("*"))
        else:
            paths = [path] if path.is_file() else sorted(folder.glob(name.lstrip("/")))
        files = {file.relative_to(folder).as_posix(): file for file in paths if file.is_file()}
        if not files:
            wrong.append(f"there is no file {name!r}")
        found |= files
    return found


def _within(name: str, folder: Path, wrong: list[str]) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        wrong.append(f"the file {name!r} is outside the suite's folder")
        return folder / path.name
    return path


def _limits(given: Any, wrong: list[str]) -> Limits:
    known = {field.name for field in fields(Limits)}
    if not isinstance(given, Mapping):
        wrong.append(f"limits is {given!r}")
        return Limits()
    for name, value in given.items():
        if name not in known:
            wrong.append(f"{name!r} is no limit; there are {', '.join(sorted(known))}")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            wrong.append(f"the limit {name!r} is {value!r}, not a number above zero")
    limits: Limits = from_dict(Limits, given)
    return limits
