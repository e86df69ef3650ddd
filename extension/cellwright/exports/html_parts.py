"""Pieces that every page of ours is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from cellwright.exports.ansi import visible
from cellwright.exports.html_code import highlighted
from cellwright.exports.html_style import STYLE

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)


def page_start(title: str) -> Iterator[str]:
    """Everything up to the contents of the page, which loads nothing and runs nothing."""
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{shown_text(title)} · cellwright</title>"
    yield f"<style>{STYLE}</style></head>"
    yield "<body><main>"


def shown_text(text: str) -> str:
    """Text as HTML; what cannot be seen is made visible."""
    return escape(visible(text))


def fact_html(name: str, value: str, more: str = "") -> str:
    """A fact of the head; ``value`` is HTML, ``more`` is text."""
    small = f"<small>{shown_text(more)}</small>" if more else ""
    return f"<div><dt>{name}</dt><dd>{value}{small}</dd></div>"


def duration_text(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def cell_html(left: str, right: str, source: str, outputs: Iterable[str]) -> str:
    """A code cell: what is said over it left and right, its source, its outputs as HTML."""
    drawn = "".join(outputs)
    shown = f'<div class="outputs">{drawn}</div>' if drawn else ""
    head = f"<header><span>{shown_text(left)}</span><span>{shown_text(right)}</span></header>"
    return f'<div class="cell">{head}<pre class="code">{highlighted(source)}</pre>{shown}</div>'
