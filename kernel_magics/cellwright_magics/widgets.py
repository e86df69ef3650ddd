"""Widgets in cells: ipywidgets on first use, shown, closed, and what a saved file keeps of them."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from cellwright.errors import SetupError
from cellwright_magics.calling_cell import CallingCell
from cellwright_magics.run_view import as_html

CLOSED = "Closed. Run the cell again to open it anew."


class WidgetDisplay:
    """Two displays of the calling cell: the widget, and below it text and HTML.

    A front end that has no state for a widget shows an error in its place, whatever else stands
    beside it in the same display: so what is kept has one of its own.

    Args:
        shell: Where both are shown.
        widget: The widget.
        title: What it is, for front ends that show no widgets.
    """

    def __init__(self, shell: Any, widget: Any, title: str) -> None:
        self._kernel = shell.kernel
        self._request = shell.get_parent()
        self._widget = widget
        self._title = title
        self._name = f"cellwright-widget-{uuid.uuid4().hex[:12]}"

    def show(self, text: str, html: str) -> None:
        """Show the widget, and what is kept so far."""
        title = {"text/plain": self._title, "text/html": f"<p>{as_html(self._title)}</p>"}
        view = dict(self._widget._repr_mimebundle_() or {})
        self._publish("display_data", "widget", {**view, **title})
        self._publish("display_data", "kept", {"text/plain": text, "text/html": html})

    def keep(self, text: str, html: str) -> None:
        """Keep something else."""
        self._publish("update_display_data", "kept", {"text/plain": text, "text/html": html})

    def close(self) -> None:
        """The widget is gone: say so in its place."""
        closed = {"text/plain": CLOSED, "text/html": f"<p><small>{CLOSED}</small></p>"}
        self._publish("update_display_data", "widget", closed)

    def _publish(self, kind: str, part: str, data: Mapping[str, Any]) -> None:
        transient = {"display_id": f"{self._name}-{part}"}
        content = {"data": dict(data), "metadata": {}, "transient": transient}
        # In the name of the request that asked for it: another cell may run by now.
        self._kernel.session.send(self._kernel.iopub_socket, kind, content, parent=self._request)


# ipywidgets, imported when the first widget is asked for.


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


# The widgets that cells show, closed when they are no longer shown.


class Closable(Protocol):
    """Something that holds widgets, and may do something behind them."""

    def close(self) -> None:
        """End it; a second call does nothing."""
        ...


class OpenWidgets:
    """What is open, by the cell that shows it."""

    def __init__(self) -> None:
        self._open: dict[str, Closable] = {}

    def add(self, calling: CallingCell, shown: Closable) -> None:
        """A cell shows this now; what it showed before is closed."""
        # Not every front end says which cell it is.
        name = str(calling.metadata.get("cellId") or calling.token)
        before = self._open.pop(name, None)
        if before is not None:
            before.close()
        self._open[name] = shown

    def close(self) -> None:
        """Close all."""
        while self._open:
            self._open.popitem()[1].close()
