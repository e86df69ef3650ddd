"""Writes the schema of events for the tests of the panel.

``python tests/wire_schema.py > js/test/fixtures/events.schema.json``
"""

from __future__ import annotations

import json
import sys
from typing import Any

from cellwright.record.events import json_schema

__all__ = ["schema_text"]

LINE_CHARACTERS = 100
WORDS_FOR_PEOPLE = ("description", "title")


def schema_text() -> str:
    """The schema without its words for people, laid out as the formatter of the panel does."""
    return _layout(_bare(json_schema(), is_named=False), 0, 0) + "\n"


def _bare(value: Any, *, is_named: bool) -> Any:
    """A schema without descriptions; ``is_named``: its keys are names and not keywords."""
    if isinstance(value, list):
        return [_bare(item, is_named=False) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _bare(item, is_named=not is_named and key in ("properties", "$defs"))
        for key, item in value.items()
        if is_named or key not in WORDS_FOR_PEOPLE
    }


def _layout(value: Any, depth: int, used: int) -> str:
    """JSON with each member on a line; a list of plain values is on one where it fits.

    Args:
        value: What is written.
        depth: Of the line it begins on.
        used: Characters that are on this line already.
    """
    indent, close = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        members = []
        for key, item in value.items():
            name = f"{indent}{json.dumps(key)}: "
            members.append(name + _layout(item, depth + 1, len(name)))
        return "{\n" + ",\n".join(members) + f"\n{close}}}"
    line = json.dumps(value, ensure_ascii=False)
    is_plain = not isinstance(value, list) or not any(isinstance(v, (dict, list)) for v in value)
    if is_plain and (not isinstance(value, list) or used + len(line) < LINE_CHARACTERS):
        return line
    items = [indent + _layout(item, depth + 1, len(indent)) for item in value]
    return "[\n" + ",\n".join(items) + f"\n{close}]"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
