"""A MIME bundle as the text a model is given: the shortest form that says what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellwright.record.charts import plotly_brief, vega_brief, vega_in_html
from cellwright.record.pictures import picture_in
from cellwright.text.cleaning import clean
from cellwright.text.html import html_text

CONTEXT = "application/vnd.cellwright.context+text"
"""What an object itself says a model should read of it."""
WIDGET = "application/vnd.jupyter.widget-view+json"
PLOTLY = "application/vnd.plotly.v1+json"
VEGA = re.compile(r"^application/vnd\.vega(lite)?\.v\d+(\.\d+)?\+json$")
BARE_OBJECT = re.compile(r"^<[\w.]+(?: object)?(?: at 0x[0-9A-Fa-f]+)?>$")
SVG_TEXT = re.compile(r"<(/?)(?:text|title|desc)\b[^<>]*>")
TAGS = re.compile(r"<[^<>]+>")
SILENT = ("application/javascript", "application/vnd.bokeh", "application/vnd.holoviews")
WIDGET_CHARACTERS = 120


def bundle_text(data: Mapping[str, Any]) -> str:
    """The bundle in words; never HTML, JavaScript, widget state or picture data."""
    if CONTEXT in data:
        return clean(_string(data[CONTEXT]))
    for mime in data:
        if VEGA.match(mime):
            return "[Vega chart] " + _compact(vega_brief(data[mime]))
    plain = clean(_string(data.get("text/plain", "")))
    if PLOTLY in data:
        return "[Plotly chart] " + _compact(plotly_brief(data[PLOTLY]))
    if WIDGET in data:
        return f"[widget {plain[:WIDGET_CHARACTERS]}]"
    picture = picture_in(data)
    if picture is not None:
        return f"{picture.words} {plain}".rstrip()
    if plain and not BARE_OBJECT.match(plain):
        return plain
    return _from_markup(data) or plain or _placeholder(data)


def _from_markup(data: Mapping[str, Any]) -> str:
    for mime in ("text/markdown", "text/latex"):
        if data.get(mime):
            return clean(_string(data[mime]))
    for mime in data:
        if mime == "application/json" or (mime.endswith("+json") and not mime.startswith(SILENT)):
            return _compact(data[mime])
    if data.get("text/html"):
        return _html(_string(data["text/html"]))
    if data.get("image/svg+xml"):
        return _svg(_string(data["image/svg+xml"]))
    return ""


def _html(source: str) -> str:
    chart = vega_in_html(source)
    if chart is not None:
        return "[Vega chart] " + _compact(vega_brief(chart))
    return clean(html_text(source)) or "[HTML without text]"


def _placeholder(data: Mapping[str, Any]) -> str:
    shown = [mime for mime in data if not mime.startswith((*SILENT, "text/"))]
    return f"[{shown[0]}]" if shown else ""


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "".join(map(str, value))
    return _compact(value)


def _compact(value: Any) -> str:
    return clean(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str))


def _svg(source: str) -> str:
    words = (" ".join(TAGS.sub(" ", found).split()) for found in _svg_texts(source))
    text = "; ".join(dict.fromkeys(word for word in words if word))
    return f"[SVG picture: {text}]" if text else "[SVG picture]"


def _svg_texts(source: str) -> Iterator[str]:
    """What stands in its text elements; each ends with the first end tag that follows."""
    start = -1
    for tag in SVG_TEXT.finditer(source):
        if not tag[1] and start < 0:
            start = tag.end()
        elif tag[1] and start >= 0:
            yield source[start : tag.start()]
            start = -1
