"""A folder of one's own samples, one YAML file each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from cellwright.bench.checks import (
    Answer,
    Assertion,
    Check,
    File,
    NamespaceIntact,
    RestartAndRunAll,
    Stdout,
    Variable,
)
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.errors import SetupError
from cellwright.settings import Limits
from cellwright.values import from_dict

__all__ = ["load", "read_item"]

KEYS = frozenset(
    {"id", "prompt", "group", "family", "setup", "files", "limits", "checks", "reference", "answer"}
)
VARIABLE_OPTIONS = frozenset(
    {"tolerance", "check_dtype", "ignore_row_order", "ignore_column_order", "ignore_index"}
)


def load(folder: Path) -> Suite:
    """The suite of a folder; its name is the folder's.

    Raises:
        SetupError: A file is wrong; the message tells all that is wrong with it.
    """
    paths = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    items = tuple(read_item(path) for path in paths)
    return checked_suite(Suite(folder.resolve().name, items, source=str(folder)))


def read_item(path: Path) -> Item:
    """The sample of one file.

    Raises:
        SetupError: It is wrong; the message tells all that is.
    """
    yaml: Any = importlib.import_module("yaml")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}.", hint="It is YAML.") from error
    if not isinstance(data, Mapping):
        raise SetupError(f"{str(path)!r} holds {data!r}.", hint="It needs prompt and checks.")
    wrong: list[str] = []
    item = _item(data, path, wrong)
    if wrong:
        raise SetupError(f"{str(path)!r}: {'; '.join(wrong)}.", hint="See docs/bench.md.")
    return item


def _item(data: Mapping[str, Any], path: Path, wrong: list[str]) -> Item:
    wrong += [f"{key!r} is no key" for key in data if key not in KEYS]
    if not str(data.get("prompt") or "").strip():
        wrong.append("it has no prompt")
    checks = tuple(_check(given, wrong) for given in _listed(data.get("checks")))
    if not checks:
        wrong.append("it has no checks")
    return Item(
        index=data.get("id", path.stem),
        prompt=str(data.get("prompt", "")).strip(),
        group=str(data.get("group") or ""),
        family=str(data.get("family") or ""),
        setup=tuple(str(cell) for cell in _listed(data.get("setup"))),
        files=_files(data.get("files"), path.parent, wrong),
        limits=_limits(data.get("limits") or {}, wrong),
        checks=tuple(check for check in checks if check is not None),
        reference=tuple(str(cell) for cell in _listed(data.get("reference"))),
        reference_answer=str(data.get("answer") or ""),
    )


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def _files(given: Any, folder: Path, wrong: list[str]) -> dict[str, Path]:
    found = {}
    for name in _listed(given):
        path = folder / str(name)
        if not path.resolve().is_relative_to(folder.resolve()):
            wrong.append(f"the file {name!r} is outside the suite's folder")
        elif not path.is_file():
            wrong.append(f"there is no file {name!r}")
        found[str(name)] = path
    return found


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


def _check(given: Any, wrong: list[str]) -> Check | None:
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


def _namespace(given: Mapping[str, Any]) -> NamespaceIntact:
    return NamespaceIntact(tuple(str(name) for name in _listed(given.get("but"))))


MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "variable": _variable,
    "answer": _answer,
    "file": _file,
    "stdout": lambda given: Stdout(str(given["stdout"])),
    "assert": lambda given: Assertion(str(given["assert"])),
    "namespace_intact": _namespace,
    "restart_and_run_all": lambda given: RestartAndRunAll(),
}
