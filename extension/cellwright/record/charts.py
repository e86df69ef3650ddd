"""Chart specifications in brief: what is drawn and a few values, without data or templates."""

from __future__ import annotations

import array
import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

SAMPLE_ROWS = 3
TRACE_LIMIT = 20
VEGA_SCHEMA = "vega.github.io/schema/vega"
SCRIPT_OBJECT = re.compile(r"[(=]\s*(?=\{)")
NUMPY_CODES = {
    "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
    "i8": "q", "u8": "Q", "f4": "f", "f8": "d",
}  # fmt: skip
NO_NEWS: tuple[Any, ...] = ({}, [], None, "")


def vega_brief(spec: Any) -> Any:
    """A Vega or Vega-Lite specification with three rows of each of its tables."""
    if isinstance(spec, list):
        return [vega_brief(item) for item in spec]
    if not isinstance(spec, Mapping):
        return spec
    dropped = ("$schema", "config", "datasets", "data")
    kept = {name: vega_brief(value) for name, value in spec.items() if name not in dropped}
    for rows in _tables(spec):
        if isinstance(rows, list):
            kept["rows"], kept["first"] = len(rows), rows[:SAMPLE_ROWS]
        else:
            kept["data"] = rows
    return kept


def vega_in_html(html: str) -> Any:
    """The Vega specification inside a page that draws one, or None."""
    if VEGA_SCHEMA not in html:
        return None
    decoder = json.JSONDecoder()
    for match in SCRIPT_OBJECT.finditer(html):
        try:
            found, _ = decoder.raw_decode(html, match.end())
        except ValueError:
            continue
        if "$schema" in found:
            return found
    return None


def plotly_brief(figure: Any) -> Any:
    """A Plotly figure without its template, arrays as counts and ranges."""
    if isinstance(figure, list):
        return _array(figure) if len(figure) > SAMPLE_ROWS else [plotly_brief(v) for v in figure]
    if not isinstance(figure, Mapping):
        return figure
    if "bdata" in figure:
        return _array(_typed_values(figure))
    return {
        name: plotly_brief(value)
        for name, value in figure.items()
        if name not in ("template", "config", "hovertemplate") and value not in NO_NEWS
    }


def _tables(spec: Mapping[str, Any]) -> Iterator[Any]:
    datasets, data = spec.get("datasets"), spec.get("data")
    if isinstance(datasets, Mapping):
        yield from datasets.values()
    if isinstance(data, Mapping) and "values" in data:
        yield data["values"]
    elif isinstance(data, Mapping) and "url" in data:
        yield data["url"]


def _array(values: list[Any]) -> Any:
    if any(isinstance(value, Mapping) for value in values):
        return [plotly_brief(value) for value in values[:TRACE_LIMIT]]
    brief: dict[str, Any] = {"n": len(values)}
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if numbers:
        brief |= {"min": min(numbers), "max": max(numbers)}
    return brief | {"first": [plotly_brief(value) for value in values[:SAMPLE_ROWS]]}


def _typed_values(encoded: Mapping[str, Any]) -> list[Any]:
    """Numbers that Plotly packed into base64; none when they cannot be read."""
    code = NUMPY_CODES.get(str(encoded.get("dtype")).lstrip("<|="))
    try:
        return array.array(code or "", base64.b64decode(encoded["bdata"])).tolist()
    except (TypeError, ValueError):
        return []
