"""A run's events as lines for a terminal."""

from __future__ import annotations

from cellwright.commands.terminal import Console, cut
from cellwright.record.events import (
    ApprovalAnswered,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.mime_text import bundle_text
from cellwright.record.outputs import ErrorOutput, Output, OutputMessage, StreamOutput, fold
from cellwright.text.cleaning import clean
from cellwright.text.safe_markdown import plain_text

CODE_LINES = 30
OUTPUT_LINES = 8
LINE_COLUMNS = 160
CODE_ARGUMENTS = ("code", "source")
NOTICE_MARKS = {"info": "i", "warning": "!", "error": "✗"}


class Progress:
    """Tells what a run does, a line or a few for each event.

    Args:
        console: Where the lines go.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls = 0
        self._messages: dict[str, list[OutputMessage]] = {}
        self._call_ran_cell = False

    def show(self, event: Event) -> None:
        """Write what the event comes to; nothing for most."""
        for line in self._lines(event):
            self._console.note(line)

    def _lines(self, event: Event) -> list[str]:
        match event:
            case Notice():
                text = f"{event.text} {event.action}".strip()
                return [f"{NOTICE_MARKS[event.level]} {plain_text(text)}"]
            case ModelRetrying():
                wait = f"{event.delay_seconds:.0f} s"
                return [f"! Asking again in {wait}: {plain_text(event.reason)}"]
            case ModelSilent():
                return [f"… nothing from the model for {event.seconds:.0f} s"]
            case ModelReplied():
                said = plain_text(event.message.text).strip()
                return [said] if said and event.message.tool_calls else []
            case _:
                return self._call_lines(event)

    def _call_lines(self, event: Event) -> list[str]:
        match event:
            case ToolStarted():
                self._calls, self._call_ran_cell = self._calls + 1, False
                title = plain_text(event.label or event.name)
                return [f"[{self._calls}] {title}", *code_lines(_code(event))]
            case ApprovalAnswered() if not event.allowed:
                return [f"  refused by {event.by}. {plain_text(event.reason)}".rstrip()]
            case ToolProgress():
                share = "" if event.fraction is None else f" {event.fraction:.0%}"
                return [f"  … {plain_text(event.text)}{share}"]
            case ToolFinished() if event.status == "error" and not self._call_ran_cell:
                # What a cell showed has been told; the failure of any other tool has not.
                words = "".join(part.text for part in event.message.parts if part.kind == "text")
                return [f"  ✗ {_short(words)[0]}"]
            case _:
                return self._cell_lines(event)

    def _cell_lines(self, event: Event) -> list[str]:
        match event:
            case CellStarted():
                self._messages[event.cell_id] = []
            case CellOutput():
                self._messages.setdefault(event.cell_id, []).append(event.message)
            case CellFinished():
                self._call_ran_cell = True
                lines = output_lines(fold(self._messages.pop(event.cell_id, [])))
                if event.execution.status not in ("ok", "error"):
                    lines.append(f"  ✗ {event.execution.status} {event.execution.note}".rstrip())
                return lines
        return []


def _code(event: ToolStarted) -> str:
    return next((str(event.arguments[n]) for n in CODE_ARGUMENTS if n in event.arguments), "")


def code_lines(code: str) -> list[str]:
    """Code, set in; the middle of a long cell is left out."""
    lines = plain_text(code).rstrip().split("\n") if code.strip() else []
    if len(lines) > CODE_LINES:
        left_out = f"… {len(lines) - CODE_LINES + 1} more lines …"
        lines = [*lines[: CODE_LINES - 5], left_out, *lines[-4:]]
    return [f"    {cut(line, LINE_COLUMNS)}" for line in lines]


def output_lines(outputs: tuple[Output, ...]) -> list[str]:
    """What a cell showed, a few lines for each output."""
    lines: list[str] = []
    for output in outputs:
        if isinstance(output, ErrorOutput):
            lines.append(f"  ✗ {_short(f'{output.ename}: {output.evalue}')[0]}")
            continue
        text = output.text if isinstance(output, StreamOutput) else bundle_text(output.data)
        lines += [f"  │ {line}" for line in _short(text)]
    return lines


def _short(text: str) -> list[str]:
    lines = plain_text(clean(text)).strip("\n").split("\n")
    if len(lines) > OUTPUT_LINES:
        left_out = f"… {len(lines) - OUTPUT_LINES + 1} more lines …"
        lines = [*lines[: OUTPUT_LINES - 4], left_out, *lines[-3:]]
    return [cut(line, LINE_COLUMNS) for line in lines]
