"""The JSON Schema of what a run emits."""

from __future__ import annotations

from typing import Any

from cellwright.record.events import Event


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an event."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(Event)
    schema: dict[str, Any] = adapter.json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
