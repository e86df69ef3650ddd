"""Pictures of outputs: their size, and a smaller copy for a model that sees."""

from __future__ import annotations

import array
import base64
import binascii
import io
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.record.messages import ImagePart
from cellwright.text.cleaning import clean, html_text
from cellwright.text.file_kinds import RASTER_TYPES

LONG_EDGE_PIXELS = 768
DATA_LIMIT_CHARACTERS = 2_000_000
"""A picture that could not be made smaller is not sent past this."""


@dataclass(frozen=True)
class Picture:
    """A raster picture of a MIME bundle."""

    mime: str
    data: str
    """Base64, without line breaks."""
    width: int = 0
    height: int = 0
    """Pixels; 0 when they cannot be told."""

    @property
    def words(self) -> str:
        """What it is, for a model that does not see it."""
        size = f" {self.width}x{self.height}" if self.width else ""
        return f"[{self.mime}{size}]"


def picture_in(data: Mapping[str, Any]) -> Picture | None:
    """The first raster picture of a bundle that can be decoded."""
    for mime in RASTER_TYPES:
        if isinstance(data.get(mime), str):
            text = "".join(data[mime].split())
            try:
                size = _size(mime, base64.b64decode(text[:65_536], validate=True))
            except (binascii.Error, struct.error, ValueError):
                continue
            return Picture(mime, text, *size)
    return None


def sendable(picture: Picture) -> ImagePart | None:
    """The picture at most 768 pixels long, or None when it is too big to send."""
    if max(picture.width, picture.height) > LONG_EDGE_PIXELS or not picture.width:
        picture = _smaller(picture)
    if len(picture.data) > DATA_LIMIT_CHARACTERS:
        return None
    return ImagePart(picture.mime, picture.data, picture.words)


def _size(mime: str, head: bytes) -> tuple[int, int]:
    if mime == "image/png" and head[:8] == b"\x89PNG\r\n\x1a\n":
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if mime == "image/gif" and head[:4] == b"GIF8":
        width, height = struct.unpack("<HH", head[6:10])
        return width, height
    if mime == "image/jpeg":
        return _jpeg_size(head)
    return 0, 0


def _jpeg_size(head: bytes) -> tuple[int, int]:
    """Walk the markers to the frame header; EXIF data in between may hold another picture."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return 0, 0


def _smaller(picture: Picture) -> Picture:
    """The picture scaled down, or as it is where Pillow is missing or cannot read it."""
    try:
        from PIL import Image
    except ImportError:
        return picture
    try:
        with Image.open(io.BytesIO(base64.b64decode(picture.data))) as image:
            image.thumbnail((LONG_EDGE_PIXELS, LONG_EDGE_PIXELS))
            shown = image if image.mode in ("RGB", "RGBA", "L", "P") else image.convert("RGB")
            buffer = io.BytesIO()
            shown.save(buffer, "PNG", optimize=True)
            width, height = shown.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return picture
    return Picture("image/png", base64.b64encode(buffer.getvalue()).decode(), width, height)


# Chart specifications in brief: the model is told what is drawn and a few values, without the data.

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
