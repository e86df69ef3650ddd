"""A folder of one's own samples, one YAML file or notebook each."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from cellwright.bench.checks import Check
from cellwright.bench.figure_check import Figure, figure_cell
from cellwright.bench.judge_check import Judge
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.sample_checks import check_of, listed
from cellwright.bench.suites.sample_notebook import notebook_data
from cellwright.errors import SetupError
from cellwright.record.values import from_dict
from cellwright.settings import Limits

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
            hint="Write a YAML file (docs/bench.md), or save a run of yours: "
            f'cellwright save-sample last --check "…" --to {folder}',
        )
    items = tuple(read_item(path) for path in paths)
    return checked_suite(Suite(folder.resolve().name, items, source=str(folder)))


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
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SetupError(
            f"{str(path)!r} cannot be read: {error}.",
            hint="It is a notebook." if is_notebook else "It is YAML.",
        ) from error
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
    found = [check_of(given, wrong) for given in listed(data.get("checks"))]
    if not found:
        wrong.append("it has no checks")
    checks = tuple(_completed(check, data) for check in found if check is not None)
    return Item(
        index=data.get("id", path.stem),
        prompt=str(data.get("prompt", "")).strip(),
        group=str(data.get("group") or ""),
        family=str(data.get("family") or ""),
        setup=(*_cells(data.get("setup")), *_prepared(checks)),
        files=_files(data.get("files"), path.parent, wrong),
        tools=_tools(data),
        limits=_limits(data.get("limits") or {}, wrong),
        checks=checks,
        reference=_cells(data.get("reference")),
        reference_answer=str(data.get("answer") or ""),
    )


def _cells(given: Any) -> tuple[str, ...]:
    return tuple(str(cell) for cell in listed(given))


def _tools(data: Mapping[str, Any]) -> tuple[str, ...] | None:
    return _cells(data["tools"]) if data.get("tools") is not None else None


def _completed(check: Check, data: Mapping[str, Any]) -> Check:
    """A judge is told what was asked and what is a good answer."""
    if not isinstance(check, Judge):
        return check
    target = [*_cells(data.get("reference")), *_cells(data.get("answer"))]
    question = check.question or str(data.get("prompt", "")).strip()
    return replace(check, question=question, target=check.target or "\n\n".join(target))


def _prepared(checks: tuple[Check, ...]) -> tuple[str, ...]:
    """What has to run in the setup for the checks to see what they look at."""
    is_needed = any(isinstance(check, Figure) and not check.name for check in checks)
    return (figure_cell(),) if is_needed else ()


def _files(given: Any, folder: Path, wrong: list[str]) -> dict[str, Path]:
    found = {}
    for name in listed(given):
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
