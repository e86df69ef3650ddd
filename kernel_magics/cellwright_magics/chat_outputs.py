"""What the cells of an answer show, drawn as it comes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

from cellwright.record.events import CellOutput
from cellwright.record.outputs import OutputMessage, StreamOutput, fold
from cellwright_magics.chat_view import ChatView

LARGE_CHARACTERS = 100_000
LARGE_SECONDS = 1.0
"""Outputs go over the wire whole each time, so large ones are drawn less often."""
DISPLAY_CHARACTERS = 1_000


class ChatOutputs:
    """Collects the outputs of cells.

    Args:
        view: Where they are drawn.
        clock: Seconds, for the pace.
    """

    def __init__(self, view: ChatView, clock: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._clock = clock
        self._messages: defaultdict[str, list[OutputMessage]] = defaultdict(list)
        self._sizes: defaultdict[str, int] = defaultdict(int)
        self._drawn_at = float("-inf")

    def add(self, output: CellOutput) -> None:
        """A cell sent something."""
        message = output.message
        self._messages[output.cell_id].append(message)
        size = len(message.text) if isinstance(message, StreamOutput) else DISPLAY_CHARACTERS
        self._sizes[output.cell_id] += size
        is_large = self._sizes[output.cell_id] > LARGE_CHARACTERS
        if not is_large or self._clock() - self._drawn_at >= LARGE_SECONDS:
            self._draw(output.cell_id)

    def finish(self, cell_id: str) -> None:
        """A cell ended: draw what is not drawn yet."""
        if cell_id in self._messages:
            self._draw(cell_id)

    def _draw(self, cell_id: str) -> None:
        self._view.show_outputs(f"outputs of {cell_id}", fold(self._messages[cell_id]))
        self._drawn_at = self._clock()
