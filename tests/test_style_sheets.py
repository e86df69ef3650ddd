"""The style sheets do not reach into each other: all of them are on one page of JupyterLab."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

STYLE = Path(__file__).parent.parent / "js" / "style"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BLOCK = re.compile(r"([^{};]+)\{")
COMMA = re.compile(r",(?![^(]*\))")
CLASS = re.compile(r"\.(cw-[\w-]+)")


def selectors_in(sheet: str) -> Iterator[str]:
    """The selectors of a style sheet, one by one."""
    for selectors in BLOCK.findall(COMMENT.sub("", sheet)):
        if not selectors.strip().startswith("@"):
            yield from COMMA.split(selectors)


def find_shared_classes(sheets: Mapping[str, str]) -> dict[str, set[str]]:
    """Classes that more than one sheet says the looks of, wherever an element stands.

    A selector that names a second class (``.cw-form > .cw-table``) is scoped and defines nothing.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, sheet in sheets.items():
        for selector in selectors_in(sheet):
            classes = set(CLASS.findall(selector))
            if len(classes) == 1:
                found[classes.pop()].add(name)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_a_class_that_two_sheets_define_is_found_and_one_that_a_sheet_scopes_is_not() -> None:
    table = "@media print { .cw-table :is(th, td) { margin: 0 } }"
    scoped = ".cw-form > .cw-table, .cw-table.cw-mod-wide { margin: 0 }"
    page = "/* .cw-form {} */ .cw-page,\n.cw-table th:hover { margin: 0 }"
    assert find_shared_classes({"a.css": table, "b.css": scoped}) == {}
    assert find_shared_classes({"a.css": table, "b.css": page}) == {"cw-table": {"a.css", "b.css"}}


def test_each_class_is_defined_in_one_style_sheet() -> None:
    sheets = {path.name: path.read_text("utf-8") for path in STYLE.glob("*.css")}
    assert len(sheets) > 10
    assert find_shared_classes(sheets) == {}


def test_what_the_panel_draws_is_styled_without_the_sheets_of_the_pages() -> None:
    pages = {"assistants.css", "keeping.css", "pages.css", "runs.css"}
    styled: defaultdict[str, set[str]] = defaultdict(set)
    for path in STYLE.glob("*.css"):
        for name in CLASS.findall(COMMENT.sub("", path.read_text("utf-8"))):
            styled[name].add(path.name)
    source = STYLE.parent / "src"
    drawn = [path for room in ("panel", "markdown", "ui") for path in (source / room).glob("*.tsx")]
    used = {name for path in drawn for name in re.findall(r"\bcw-[\w-]+", path.read_text("utf-8"))}
    assert len(used & styled.keys()) > 100
    assert [name for name in sorted(used) if styled[name] and styled[name] <= pages] == []
