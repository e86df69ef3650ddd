"""Outputs that another kernel made, or made earlier, shown between what a transcript shows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cellwright.record.events import CellOutput, Event
from cellwright.record.outputs import ErrorOutput, Output, OutputMessage, StreamOutput, fold
from cellwright.session.run import Run
from cellwright_magics.display import Transcript

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class ReplayedOutputs:
    """A transcript that shows outputs too: here no kernel shows them by itself.

    Args:
        transcript: Shows everything else, errors included.
        shell: Where outputs are displayed.
    """

    def __init__(self, transcript: Transcript, shell: InteractiveShell) -> None:
        self._transcript = transcript
        self._shell = shell
        self._waiting: list[OutputMessage] = []

    def show(self, event: Event) -> None:
        """Show an event; the outputs of a cell come together, as they were in the end."""
        if isinstance(event, CellOutput):
            self._waiting.append(event.message)
            return
        for output in fold(self._waiting):
            self._publish(output)
        self._waiting.clear()
        self._transcript.show(event)

    def finish(self, run: Run) -> None:
        """Show how the run ended."""
        self._transcript.finish(run)

    def _publish(self, output: Output) -> None:
        if isinstance(output, StreamOutput):
            stream = sys.stderr if output.name == "stderr" else sys.stdout
            stream.write(output.text)
            stream.flush()
        elif not isinstance(output, ErrorOutput):
            self._shell.display_pub.publish(data=dict(output.data), metadata=dict(output.metadata))
