"""Writes the schema of samples for the docs.

``python tests/sample_schema_text.py > docs/cellwright.sample-1.schema.json``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cellwright.bench.results import sample_schema

__all__ = ["SCHEMA_FILE", "schema_text"]

SCHEMA_FILE = Path(__file__).parent.parent / "docs" / "cellwright.sample-1.schema.json"


def schema_text() -> str:
    """The schema as the file in the docs holds it."""
    return json.dumps(sample_schema(), indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
