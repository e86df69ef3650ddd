"""Cell outputs as HTML that loads nothing and runs nothing."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.exports.ansi import ansi_html
from cellwright.exports.html_markdown import markdown_html
from cellwright.exports.html_sanitiser import sanitised
from cellwright.record.mime_text import bundle_text
from cellwright.record.outputs import ErrorOutput, Output, StreamOutput, safe_text

PICTURE_MIMES = ("image/png", "image/jpeg", "image/gif", "image/webp")
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
TEXT_LIMIT_CHARACTERS = 100_000
SVG_LIMIT_CHARACTERS = 5_000_000


def output_html(output: Output) -> str:
    """One output, in the best form that is safe to show."""
    if isinstance(output, StreamOutput):
        return f'<pre class="stream {_stream_class(output.name)}">{_terminal(output.text)}</pre>'
    if isinstance(output, ErrorOutput):
        return _error(output)
    return f'<div class="result">{_bundle(output.data)}</div>'


def _stream_class(name: str) -> str:
    return "stderr" if name == "stderr" else "stdout"


def _error(output: ErrorOutput) -> str:
    head = ansi_html(f"{output.ename}: {output.evalue}"[:500])
    trace = _terminal("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    body = f"<summary>{head}</summary><pre>{trace}</pre>"
    return f'<details class="error">{body}</details>'


def _bundle(data: Mapping[str, Any]) -> str:
    for drawn in (_picture(data), _svg(data), _html(data), _markdown(data), _json(data)):
        if drawn:
            return drawn
    if "text/plain" in data and len(data) == 1:
        return f"<pre>{_terminal(_string(data['text/plain']))}</pre>"
    return f"<pre>{_terminal(bundle_text(data))}</pre>"


def _picture(data: Mapping[str, Any]) -> str:
    for mime in PICTURE_MIMES:
        encoded = re.sub(r"\s", "", _string(data.get(mime, "")))
        if BASE64.fullmatch(encoded):
            alternative = html.escape(_string(data.get("text/plain", "picture"))[:200])
            return f'<img src="data:{mime};base64,{encoded}" alt="{alternative}">'
    return ""


def _svg(data: Mapping[str, Any]) -> str:
    # As the source of an <img>, a browser runs no script in an SVG and loads nothing for it.
    source = safe_text(_string(data.get("image/svg+xml", "")))
    if not source or len(source) > SVG_LIMIT_CHARACTERS:
        return ""
    encoded = base64.b64encode(source.encode("utf-8")).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="drawing">'


def _html(data: Mapping[str, Any]) -> str:
    clean = sanitised(_string(data.get("text/html", "")))
    return f'<div class="table">{clean}</div>' if clean else ""


def _markdown(data: Mapping[str, Any]) -> str:
    text = _string(data.get("text/markdown", ""))
    return f'<div class="prose">{markdown_html(text)}</div>' if text else ""


def _json(data: Mapping[str, Any]) -> str:
    if "application/json" not in data:
        return ""
    text = json.dumps(data["application/json"], ensure_ascii=False, indent=2, default=str)
    return f"<pre>{_terminal(text)}</pre>"


def _terminal(text: str) -> str:
    if len(text) <= TEXT_LIMIT_CHARACTERS:
        return ansi_html(text)
    half = TEXT_LIMIT_CHARACTERS // 2
    left_out = f"{len(text) - 2 * half:,} characters left out"
    return (
        f'{ansi_html(text[:half])}<span class="blocked">{left_out}</span>{ansi_html(text[-half:])}'
    )


def _string(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(str(part) for part in value)
    return str(value)
