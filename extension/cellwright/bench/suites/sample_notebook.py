"""A sample of one's own as a notebook: its cells are the prompt, the setup and the reference.

Markdown is the prompt. Code that is not tagged runs before the agent is asked; code tagged
``reference`` solves it, code tagged ``check`` asserts, markdown tagged ``answer`` is what is said
at the end. All else stands in the notebook's metadata under ``cellwright``, as in YAML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
