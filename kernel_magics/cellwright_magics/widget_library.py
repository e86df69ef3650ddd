"""ipywidgets, imported when the first widget is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from cellwright.errors import SetupError


def widget_library() -> Any:
    """The module ``ipywidgets``.

    Raises:
        SetupError: It is not installed.
    """
    try:
        return importlib.import_module("ipywidgets")
    except ImportError as error:
        raise SetupError(
            f"ipywidgets cannot be imported: {error}.",
            hint="Run %pip install ipywidgets, then reload the page.",
        ) from error


def close_widget(widget: Any) -> None:
    """Take a widget and all that is in it away, in the kernel and on the page."""
    for child in getattr(widget, "children", ()):
        close_widget(child)
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
        if part is not None:
            part.close()
    widget.close()
