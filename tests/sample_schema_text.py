"""Writes the schema of samples for the docs.

``python tests/sample_schema_text.py > docs/cellwright.sample-1.schema.json``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cellwright.exports.sample import SampleRecord

SCHEMA_FILE = Path(__file__).parent.parent / "docs" / "cellwright.sample-1.schema.json"


def sample_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a sample's record."""
    adapter: TypeAdapter[Any] = TypeAdapter(SampleRecord)
    schema: dict[str, Any] = adapter.json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "cellwright.sample/1"
    return schema


def schema_text() -> str:
    """The schema as the file in the docs holds it."""
    return json.dumps(sample_schema(), indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
