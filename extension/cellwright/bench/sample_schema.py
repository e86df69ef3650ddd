"""The JSON Schema of ``cellwright.sample/1``."""

from __future__ import annotations

from typing import Any

from cellwright.exports.sample import SampleRecord


def sample_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a sample's record."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(SampleRecord)
    schema: dict[str, Any] = adapter.json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "cellwright.sample/1"
    return schema
