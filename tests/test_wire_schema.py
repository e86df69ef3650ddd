"""The panel's picture of events is held to ours by a schema that is kept in the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from event_strategies import EVENT_CLASSES
from wire_schema import schema_text

from cellwright.record.events import json_schema

FIXTURE = Path(__file__).parent.parent / "js" / "test" / "fixtures" / "events.schema.json"


def test_the_schema_that_the_panel_is_tested_with_is_current() -> None:
    command = "python tests/wire_schema.py > js/test/fixtures/events.schema.json"
    assert FIXTURE.read_text(encoding="utf-8") == schema_text(), f"run: {command}"


def test_it_says_of_every_event_what_the_whole_schema_says() -> None:
    kept, whole = json.loads(schema_text())["$defs"], json_schema()["$defs"]
    for name in (cls.__name__ for cls in EVENT_CLASSES):
        assert list(kept[name]["properties"]) == list(whole[name]["properties"])
        assert kept[name].get("required") == whole[name].get("required")


def test_it_does_not_change_with_words_for_people() -> None:
    assert _keywords(json.loads(schema_text())).isdisjoint({"description", "title"})


def _keywords(schema: Any) -> set[str]:
    """The keywords of a schema, without the names of properties and definitions."""
    if isinstance(schema, list):
        return set().union(*map(_keywords, schema))
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for key, value in schema.items():
        inner = list(value.values()) if key in ("properties", "$defs") else value
        found |= _keywords(inner)
    return found
