"""Code as HTML with classes for its colours."""

from __future__ import annotations

import html

from cellwright.exports.ansi import visible

HIGHLIGHT_LIMIT_CHARACTERS = 200_000


def highlighted(code: str, language: str = "python") -> str:
    """The code as HTML; plain where its language is not known or it is very long."""
    text = visible(code.replace("\r\n", "\n"))
    if len(text) > HIGHLIGHT_LIMIT_CHARACTERS:
        return html.escape(text)
    # Pygments publishes no type information; IPython brings it along.
    try:
        from pygments import highlight  # type: ignore[import-untyped]
        from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
        from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
        from pygments.util import ClassNotFound  # type: ignore[import-untyped]
    except ImportError:
        return html.escape(text)
    name = "ipython3" if language in ("python", "python3", "py") else language.lower()
    try:
        lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return html.escape(text)
    return str(highlight(text, lexer, HtmlFormatter(nowrap=True, classprefix="c-"))).rstrip("\n")
