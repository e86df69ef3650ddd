"""Where a transcript is drawn: displays of the calling cell, each of which can be changed later."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

NOTHING = " "
"""An empty display would be dropped, or shown as its class name."""


@dataclass(frozen=True)
class Bundle:
    """The same thing for a notebook and for plain text."""

    markdown: str
    plain: str
    rich: Mapping[str, Any] = field(default_factory=dict)
    """What stands in place of the Markdown, by MIME type: a picture, a table, a chart."""

    def data(self) -> dict[str, Any]:
        """As a display message carries it."""
        if self.rich:
            return {**self.rich, "text/plain": self.plain or NOTHING}
        return {
            "text/markdown": self.markdown or NOTHING,
            "text/plain": self.plain or NOTHING,
        }


class Screen(Protocol):
    """Shows things under the calling cell."""

    def show(self, bundle: Bundle) -> str:
        """Show something new; the name under which it can be changed."""
        ...

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place."""
        ...

    def settle(self) -> None:
        """What was shown last is not going to change for a while."""
        ...


class NotebookScreen:
    """Display messages of the calling cell.

    Args:
        shell: The shell that publishes them.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._prefix = f"cellwright-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count(1)

    def show(self, bundle: Bundle) -> str:
        """Show something new; the name under which it can be changed."""
        name = f"{self._prefix}-{next(self._numbers)}"
        self._publish(name, bundle, update=False)
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place."""
        self._publish(name, bundle, update=True)

    def settle(self) -> None:
        """Nothing: a notebook draws each change."""

    def _publish(self, name: str, bundle: Bundle, *, update: bool) -> None:
        self._shell.display_pub.publish(
            data=bundle.data(), metadata={}, transient={"display_id": name}, update=update
        )


class SettledScreen(NotebookScreen):
    """For front ends that draw no change of a display, as ``jupyter console``.

    What is still being written is shown once it is whole; what changes after that is shown again.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._held: tuple[str, Bundle] | None = None

    def show(self, bundle: Bundle) -> str:
        """Show something new once it is settled; the name under which it can be changed."""
        self.settle()
        name = f"{self._prefix}-{next(self._numbers)}"
        self._held = (name, bundle)
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place, or below where it was shown already."""
        if self._held is not None and self._held[0] == name:
            self._held = (name, bundle)
        elif bundle.plain.strip():
            super().show(bundle)

    def settle(self) -> None:
        """Show what was held back."""
        held, self._held = self._held, None
        if held is not None and held[1].plain.strip():
            self._publish(*held, update=False)
