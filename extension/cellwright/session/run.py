"""What a magic or ``ask`` hands back: a finished run, easy to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellwright.record.messages import Message, Usage
from cellwright.record.run_record import RecordedCell, RunRecord
from cellwright.text.cleaning import as_text, plain_text
from cellwright.text.truncation import estimate_tokens

if TYPE_CHECKING:
    import pandas

PROMPT_LIMIT = 120
MARKS = {"completed": "✓", "running": "…", "cancelled": "■"}


class Run:
    """One run of the agent. Stability: stable.

    Args:
        record: The folded events.
        unsaved: Why the run is not on disk; empty: it is.
    """

    def __init__(self, record: RunRecord, unsaved: str = "") -> None:
        self.record = record
        self.unsaved = unsaved

    @property
    def id(self) -> str:
        """The run's id, as ``%agent show`` takes it."""
        return self.record.run_id

    @property
    def status(self) -> str:
        """How it ended, in AgentBench's words: ``completed``, ``cancelled`` …"""
        return self.record.status

    @property
    def answer(self) -> str:
        """The model's answer, Markdown."""
        return self.record.answer

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole transcript."""
        return self.record.messages

    @property
    def cells(self) -> tuple[RecordedCell, ...]:
        """The cells it made or ran, with their outputs."""
        return self.record.cells

    @property
    def usage(self) -> Usage:
        """Tokens, all steps together."""
        return self.record.usage

    @property
    def cost(self) -> float | None:
        """US dollars, or None where the model's price is not known."""
        return self.record.cost_dollars

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.record.duration_seconds

    @property
    def code(self) -> str:
        """The code that ran, as far as it came, as one text."""
        return "\n\n".join(filter(None, (ran.code_done for ran in self.record.executions)))

    def to_dataframe(self) -> pandas.DataFrame:
        """One row a cell: source, status, seconds, error, text of its outputs."""
        import pandas

        return pandas.DataFrame([_row(cell) for cell in self.cells], columns=list(COLUMNS))

    def __repr__(self) -> str:
        return f"<Run {self.id} {self.summary()}>"

    def summary(self) -> str:
        """One line: status, steps, cells, tokens, cost, seconds."""
        record = self.record
        mark = MARKS.get(record.status, "✗")
        usage, steps = record.usage, _count(len(record.steps), "step")
        if unfinished := record.unfinished_reply:
            written = estimate_tokens(unfinished.text + unfinished.reasoning)
            usage += Usage(completion_tokens=written, estimated=True)
            steps += " and a reply that broke off"
        parts = [
            f"{mark} {record.status}",
            steps,
            _count(len(record.cells), "cell"),
            _tokens(usage),
        ]
        if record.cost_dollars is not None:
            parts.append(f"${record.cost_dollars:.4f}")
        if record.adapter not in ("", "native"):
            parts.append(f"adapter {record.adapter}")
        if record.assistant:
            parts.append(f"@{record.assistant}")
        parts.append(f"{record.duration_seconds:.1f} s")
        return " · ".join([*parts, "not on disk"] if self.unsaved else parts)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        prompt = " ".join(plain_text(self.record.prompt).split())
        shown = prompt if len(prompt) <= PROMPT_LIMIT else f"{prompt[: PROMPT_LIMIT - 1]}…"
        reason = f"\n\n{as_text(plain_text(self.record.reason))}" if self.record.reason else ""
        markdown = f"**Run** `{self.id}` {as_text(shown)}  \n{self.summary()}{reason}"
        return {"text/plain": repr(self), "text/markdown": markdown}


COLUMNS = ("cell", "origin", "source", "status", "seconds", "error", "output")


def _row(cell: RecordedCell) -> dict[str, Any]:
    execution = cell.execution
    error = execution.error if execution is not None else None
    return {
        "cell": cell.cell.id,
        "origin": cell.origin,
        "source": cell.cell.source,
        "status": execution.status if execution is not None else "",
        "seconds": execution.duration_seconds if execution is not None else None,
        "error": f"{error.ename}: {error.evalue}" if error is not None else "",
        "output": "".join(_plain(output) for output in cell.cell.outputs),
    }


def _plain(output: Any) -> str:
    if output.kind == "stream":
        return str(output.text)
    return str(output.data.get("text/plain", "")) if hasattr(output, "data") else ""


def _tokens(usage: Usage) -> str:
    tilde = "~" if usage.estimated else ""
    cached = f" ({usage.cached_words})" if usage.cached_words else ""
    return f"{tilde}{usage.total_tokens:,} tokens{cached}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
