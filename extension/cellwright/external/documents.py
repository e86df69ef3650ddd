"""Documents that strangers wrote: JSON, or YAML where it can be read."""

from __future__ import annotations

import json
from typing import Any

from cellwright.errors import ToolError


def parsed(text: str, where: str) -> Any:
    """The value of a document.

    Raises:
        ToolError: It is neither JSON nor YAML, or YAML and nothing here reads it.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] in ("{", "["):
            raise ToolError(f"The document {where!r} is no JSON: {error}.") from error
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ToolError(
            f"The document {where!r} is no JSON.", hint="pip install pyyaml reads YAML too."
        ) from None
    if "*" in text and "&" in text and _has_aliases(yaml, text):
        # a few lines of aliases can be gigabytes
        raise ToolError(f"The document {where!r} has YAML aliases, which are not read.")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ToolError(f"The document {where!r} is neither JSON nor YAML: {error}.") from error


def _has_aliases(yaml: Any, text: str) -> bool:
    try:
        return any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text))
    except yaml.YAMLError:
        return False
