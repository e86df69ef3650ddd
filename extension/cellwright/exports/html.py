"""A run as one HTML file that can be handed to anybody.

It holds everything it shows, loads nothing, runs nothing and leads nowhere: text is escaped,
outputs go through an allowlist, and a content policy forbids what should not be there anyway.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping

from cellwright.exports import SecretsFilter
from cellwright.exports.html_code import highlighted
from cellwright.exports.html_contents import contents_html
from cellwright.exports.html_markdown import markdown_html
from cellwright.exports.html_outputs import output_html
from cellwright.exports.html_parts import (
    cell_html,
    duration_text,
    fact_html,
    page_start,
    shown_text,
)
from cellwright.exports.html_scores import scores_html
from cellwright.exports.sample import SampleRecord, Score
from cellwright.exports.sample_runs import run_of
from cellwright.exports.timeline import Called, Item, Ran, Said, Wrote, timeline
from cellwright.record.cells import Execution
from cellwright.record.outputs import safe_text
from cellwright.record.recorded_calls import RecordedCall
from cellwright.record.run_record import RunRecord

LONG_PROMPT_CHARACTERS = 180
TONES = {"completed": "good", "running": "wait", "cancelled": "wait", "task limit reached": "wait"}
CAPTIONS = {"ok": "run", "error": "failed"}
SHOWN_ARGUMENTS_CHARACTERS = 300


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as the text of an ``.html`` file."""
    if redactor is not None:
        record = redactor.event(record)
    return _file(record, ())


def sample_page(sample: SampleRecord) -> str:
    """A sample as the text of an ``.html`` file: the run that it was, with its scores."""
    return _file(run_of(sample), sample.scores)


def _file(record: RunRecord, scores: tuple[Score, ...]) -> str:
    return safe_text("\n".join(_page(record, scores)) + "\n")


def _page(record: RunRecord, scores: tuple[Score, ...]) -> Iterator[str]:
    yield from page_start(" ".join(record.prompt.split())[:80])
    yield from _head(record)
    if scores:
        yield scores_html(scores)
    yield from _steps(record)
    yield from _background(record)
    yield f"<footer>Recorded by cellwright {shown_text(record.version)}</footer>"
    yield "</main></body></html>"


def _head(record: RunRecord) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(record.started_at))
    size = ' class="long"' if len(record.prompt) > LONG_PROMPT_CHARACTERS else ""
    yield f'<div class="mark"><span>cellwright run <code>{shown_text(record.run_id)}</code></span>'
    yield f"<span>{when}</span></div>"
    yield f"<h1{size}>{shown_text(record.prompt)}</h1>"
    yield f'<dl class="facts">{"".join(_facts(record))}</dl>'
    if record.reason:
        yield f'<p class="reason">{shown_text(record.reason)}</p>'


def _facts(record: RunRecord) -> Iterator[str]:
    usage, about = record.usage, "~" if record.usage.estimated else ""
    tone = TONES.get(record.status, "bad")
    yield fact_html("Status", f'<span class="status {tone}">{shown_text(record.status)}</span>')
    if record.assistant:
        yield fact_html("Answered by", f"@{shown_text(record.assistant)}")
    model = record.steps[-1].model if record.steps else ""
    other = model if model != record.parameters.model else ""
    yield fact_html("Model", shown_text(record.parameters.model), other)
    runs = len(record.executions)
    yield fact_html(
        "Steps", str(len(record.steps)), f"{runs} cell {'run' if runs == 1 else 'runs'}"
    )
    cached = f"{usage.cached_tokens:,} cached" if usage.cached_tokens else ""
    yield fact_html("Tokens", f"{about}{usage.total_tokens:,}", cached)
    if record.cost_dollars is not None:
        yield fact_html("Cost", f"${record.cost_dollars:.4f}")
    yield fact_html(
        "Duration", duration_text(record.duration_seconds), record.mode and _mode(record)
    )


def _mode(record: RunRecord) -> str:
    return f"{record.lane}, mode {record.mode}"


def _steps(record: RunRecord) -> Iterator[str]:
    items = timeline(record)
    answer = record.answer.strip()
    yield '<ol class="steps">'
    for number, item in enumerate(items, start=1):
        last = number == len(items)
        if last and answer and isinstance(item, Said) and item.text.strip() == answer:
            yield f'<li class="said">{_reasoning(item)}'
            yield f'<div class="answer prose">{markdown_html(item.text)}</div></li>'
        else:
            yield _item(item)
    yield "</ol>"


def _item(item: Item) -> str:
    match item:
        case Said():
            prose = f'<div class="prose">{markdown_html(item.text)}</div>' if item.text else ""
            return f'<li class="said">{_reasoning(item)}{prose}</li>'
        case Called():
            return f"<li>{_call(item.call)}{contents_html(item.call.contents)}</li>"
        case Wrote(cell=cell) if cell.cell_type == "code":
            return f"<li>{_cell('added, not run', cell.source, ())}</li>"
        case Wrote(cell=cell):
            return f'<li class="said"><div class="prose">{markdown_html(cell.source)}</div></li>'
        case Ran():
            return _ran(item)


def _reasoning(item: Said) -> str:
    if not item.reasoning.strip():
        return ""
    text = shown_text(item.reasoning)
    return f'<details class="more"><summary>Thinking</summary><pre>{text}</pre></details>'


def _call(call: RecordedCall) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False, default=str)
    shown = arguments[:SHOWN_ARGUMENTS_CHARACTERS]
    more = "…" if len(arguments) > len(shown) else ""
    status = "" if call.status == "ok" else f" · {shown_text(call.status)}"
    decision = f" · {shown_text(call.decision)}" if call.status == "refused" else ""
    text = "" if arguments == "{}" else f" <code>{shown_text(shown)}{more}</code>"
    return f'<div class="call"><b>{shown_text(call.name)}</b>{text}{status}{decision}</div>'


def _ran(item: Ran) -> str:
    ran = item.execution
    status = ran.execution.status if ran.execution is not None else "running"
    tone = "ok" if status == "ok" else "failed"
    caption = CAPTIONS.get(status, status) + (", later changed and run again" * item.superseded)
    outputs = [output_html(output) for output in ran.outputs]
    return f'<li class="{tone}">{_cell(caption, ran.source, outputs, ran.execution)}</li>'


def _cell(
    caption: str, source: str, outputs: Iterable[str], execution: Execution | None = None
) -> str:
    took = f"{execution.duration_seconds:.2f} s" if execution is not None else ""
    note = f" · {execution.note}" if execution is not None and execution.note else ""
    return cell_html(caption + note, took, source, outputs)


def _background(record: RunRecord) -> Iterator[str]:
    if record.notices:
        items = "".join(f"<li>{shown_text(notice)}</li>" for notice in record.notices)
        yield f'<h2>Notices</h2><ul class="notices">{items}</ul>'
    parts = [
        _table("Files", {name: sha[:16] or "not read" for name, sha in record.files.items()}),
        _table("Packages", record.packages),
        _table("Limits", record.limits),
        _sources("Cells run before", record.start_executed),
    ]
    if any(parts):
        yield "<h2>Where it started from</h2>"
        yield from parts


def _table(title: str, rows: Mapping[str, object]) -> str:
    shown = {name: value for name, value in rows.items() if value is not None}
    if not shown:
        return ""
    body = "".join(
        f"<tr><th>{shown_text(str(name))}</th><td>{shown_text(str(value))}</td></tr>"
        for name, value in shown.items()
    )
    summary = f"<summary>{title} ({len(shown)})</summary>"
    return f'<details class="more">{summary}<table class="plain">{body}</table></details>'


def _sources(title: str, sources: tuple[str, ...]) -> str:
    if not sources:
        return ""
    drawn = "".join(f'<pre class="code">{highlighted(source)}</pre>' for source in sources)
    return f'<details class="more"><summary>{title} ({len(sources)})</summary>{drawn}</details>'
