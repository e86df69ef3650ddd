"""A run as a piece of HTML, or of text, to stand in a notebook; it loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from cellwright.exports.html_contents import (
    contents_html,
    highlighted,
    markdown_html,
    output_html,
    visible,
)
from cellwright.exports.timeline import Called, Item, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.messages import text_of
from cellwright.record.outputs import ErrorOutput, Output, StreamOutput
from cellwright.record.run_record import RunRecord
from cellwright.session.run import Run
from cellwright.text.cleaning import plain_text
from cellwright_magics.wording import indent, one_line, status_line

TEXT_LIMIT_CHARACTERS = 4_000


def as_html(text: str) -> str:
    """Text in HTML."""
    return escape(visible(text))


def run_html(record: RunRecord) -> str:
    """The whole run: question, what was said and run, how it ended."""
    parts = [f"<p><b>{as_html(one_line(record.prompt, 400))}</b></p>"]
    parts += [_item(item) for item in timeline(record)]
    return "\n".join([*parts, f"<p><small>{as_html(status_line(Run(record)))}</small></p>"])


def folded_html(count: str, html: str, *, is_open: bool = False) -> str:
    """Something that is kept with the notebook, opened by a click."""
    tag = "details open" if is_open else "details"
    return f"<{tag}><summary>Kept with the notebook: {count}</summary>{html}</details>"


def answer_html(record: RunRecord) -> str:
    """The answer, or why there is none."""
    reason = f"<p>{as_html(record.reason)}</p>" if record.reason else ""
    return markdown_html(record.answer) + reason or "<p>There is no answer.</p>"


def cells_html(record: RunRecord) -> str:
    """The code that ran, with what it showed."""
    drawn = [_item(item) for item in timeline(record) if isinstance(item, Ran | Wrote)]
    return "\n".join(drawn) or "<p>No cell ran.</p>"


def messages_html(record: RunRecord) -> str:
    """What went to the model and came from it in this run."""
    rows = []
    for message in record.messages[record.earlier_messages :]:
        text = plain_text(text_of(message))[:TEXT_LIMIT_CHARACTERS]
        calls = ", ".join(call.name for call in getattr(message, "tool_calls", ()))
        named = f" → {as_html(calls)}" if calls else ""
        rows.append(f"<dt><b>{message.role}</b>{named}</dt><dd><pre>{as_html(text)}</pre></dd>")
    return f"<dl>{''.join(rows)}</dl>" if rows else "<p>Nothing was said.</p>"


def conversation_text(records: Iterable[RunRecord]) -> str:
    """Questions, code and answers as plain text."""
    return "\n\n".join("\n".join(map(plain_text, _lines(record))) for record in records)


def _lines(record: RunRecord) -> Iterator[str]:
    yield f"> {record.prompt}"
    for item in timeline(record):
        match item:
            case TimelineMessage():
                yield item.text
            case Ran():
                yield indent(item.execution.source)
                yield from map(_output_text, item.execution.outputs)
            case Wrote():
                yield indent(item.cell.source)
            case Called():
                yield f"[{item.call.name}: {item.call.status}]"
    yield f"[{status_line(Run(record))}]"


def _output_text(output: Output) -> str:
    if isinstance(output, StreamOutput):
        return output.text[:TEXT_LIMIT_CHARACTERS]
    if isinstance(output, ErrorOutput):
        return f"{output.ename}: {output.evalue}"
    return str(output.data.get("text/plain", ""))[:TEXT_LIMIT_CHARACTERS]


def _item(item: Item) -> str:
    match item:
        case TimelineMessage():
            return markdown_html(item.text)
        case Wrote(cell=cell) if cell.cell_type != "code":
            return markdown_html(cell.source)
        case Wrote(cell=cell):
            return f"<pre>{highlighted(cell.source)}</pre>"
        case Ran():
            shown = "".join(output_html(output) for output in item.execution.outputs)
            return f"<pre>{highlighted(item.execution.source)}</pre>{shown}"
        case Called():
            named = f"<p><small>{as_html(item.call.name)} · {as_html(item.call.status)}</small></p>"
            return named + contents_html(item.call.contents)
