"""A widget in the cell that asked for it, and what a saved file keeps in its place."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

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
