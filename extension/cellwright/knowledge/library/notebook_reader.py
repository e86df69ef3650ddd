"""Notebooks, divided by their cells: each part names the cell it comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cellwright.knowledge.library import Section
from cellwright.knowledge.library.text_reader import text_sections
from cellwright.text.cleaning import ESCAPES

OUTPUT_CHARACTERS = 500
"""Of what a cell shows; the code says more than the rest of a long output."""


def notebook_sections(text: str) -> tuple[Section, ...]:
    """The cells of a notebook with what they show in brief.

    Raises:
        ValueError: It is no notebook.
    """
    document = json.loads(text)
    cells = document.get("cells") if isinstance(document, dict) else None
    if cells is None and isinstance(document, dict) and document.get("worksheets"):
        cells = document["worksheets"][0].get("cells")
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    return tuple(_sections([cell for cell in cells if isinstance(cell, Mapping)]))


def _sections(cells: list[Mapping[str, Any]]) -> Iterator[Section]:
    title = ""
    for number, cell in enumerate(cells, start=1):
        anchor = f"cell {cell.get('id') or number}"
        source = _joined(cell.get("source", cell.get("input", "")))
        if cell.get("cell_type") == "code":
            if source.strip():
                yield Section(source, _below(title, anchor), anchor, "code")
            shown = _shown(cell.get("outputs") or ())
            if shown:
                yield Section(shown, _below(title, f"output of {anchor}"), anchor)
            continue
        for section in text_sections(source):
            title = section.heading or title
            yield replace(section, heading=_below(title, anchor), anchor=anchor)


def _below(title: str, words: str) -> str:
    return f"{title} › {words}" if title else words


def _shown(outputs: Any) -> str:
    texts = [_output_text(output) for output in outputs if isinstance(output, Mapping)]
    return ESCAPES.sub("", "\n".join(filter(None, texts)))[:OUTPUT_CHARACTERS].strip()


def _output_text(output: Mapping[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    if isinstance(data, Mapping):
        return _joined(data.get("text/plain", ""))
    return _joined(output.get("text", ""))


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(str(line) for line in text)
    return text if isinstance(text, str) else ""
