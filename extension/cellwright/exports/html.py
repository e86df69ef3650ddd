"""A run as one HTML file that can be handed to anybody.

It holds everything it shows, loads nothing, runs nothing and leads nowhere: text is escaped,
outputs go through an allowlist, and a content policy forbids what should not be there anyway.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from cellwright.cells import Execution
from cellwright.exports import SecretsFilter
from cellwright.exports.ansi import visible
from cellwright.exports.html_code import highlighted
from cellwright.exports.html_markdown import markdown_html
from cellwright.exports.html_outputs import output_html
from cellwright.exports.html_style import STYLE
from cellwright.exports.timeline import Called, Item, Ran, Said, Wrote, timeline
from cellwright.outputs import safe_text
from cellwright.recording import RecordedCall, RunRecord

__all__ = ["export"]

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
LONG_PROMPT_CHARACTERS = 180
TONES = {"completed": "good", "running": "wait", "cancelled": "wait", "task limit reached": "wait"}
CAPTIONS = {"ok": "run", "error": "failed"}
SHOWN_ARGUMENTS_CHARACTERS = 300


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as the text of an ``.html`` file."""
    if redactor is not None:
        record = redactor.event(record)
    return safe_text("\n".join(_page(record)) + "\n")


def _page(record: RunRecord) -> Iterator[str]:
    title = " ".join(record.prompt.split())[:80]
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{_text(title)} · cellwright</title>"
    yield f"<style>{STYLE}</style></head>"
    yield "<body><main>"
    yield from _head(record)
    yield from _steps(record)
    yield from _background(record)
    yield f"<footer>Recorded by cellwright {_text(record.version)}</footer>"
    yield "</main></body></html>"


def _head(record: RunRecord) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(record.started_at))
    size = ' class="long"' if len(record.prompt) > LONG_PROMPT_CHARACTERS else ""
    yield f'<div class="mark"><span>cellwright run <code>{_text(record.run_id)}</code></span>'
    yield f"<span>{when}</span></div>"
    yield f"<h1{size}>{_text(record.prompt)}</h1>"
    yield f'<dl class="facts">{"".join(_facts(record))}</dl>'
    if record.reason:
        yield f'<p class="reason">{_text(record.reason)}</p>'


def _facts(record: RunRecord) -> Iterator[str]:
    usage, about = record.usage, "~" if record.usage.estimated else ""
    tone = TONES.get(record.status, "bad")
    yield _fact("Status", f'<span class="status {tone}">{_text(record.status)}</span>')
    model = record.steps[-1].model if record.steps else ""
    other = model if model != record.parameters.model else ""
    yield _fact("Model", _text(record.parameters.model), other)
    runs = len(record.executions)
    yield _fact("Steps", str(len(record.steps)), f"{runs} cell {'run' if runs == 1 else 'runs'}")
    cached = f"{usage.cached_tokens:,} cached" if usage.cached_tokens else ""
    yield _fact("Tokens", f"{about}{usage.total_tokens:,}", cached)
    if record.cost_dollars is not None:
        yield _fact("Cost", f"${record.cost_dollars:.4f}")
    yield _fact(
        "Duration", _duration(record.duration_seconds), _text(record.mode and _mode(record))
    )


def _mode(record: RunRecord) -> str:
    return f"{record.lane}, mode {record.mode}"


def _fact(name: str, value: str, more: str = "") -> str:
    small = f"<small>{_text(more)}</small>" if more else ""
    return f"<div><dt>{name}</dt><dd>{value}{small}</dd></div>"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


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
            return f"<li>{_call(item.call)}</li>"
        case Wrote(cell=cell) if cell.cell_type == "code":
            return f"<li>{_cell('added, not run', cell.source, ())}</li>"
        case Wrote(cell=cell):
            return f'<li class="said"><div class="prose">{markdown_html(cell.source)}</div></li>'
        case Ran():
            return _ran(item)


def _reasoning(item: Said) -> str:
    if not item.reasoning.strip():
        return ""
    text = _text(item.reasoning)
    return f'<details class="more"><summary>Thinking</summary><pre>{text}</pre></details>'


def _call(call: RecordedCall) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False, default=str)
    shown = arguments[:SHOWN_ARGUMENTS_CHARACTERS]
    more = "…" if len(arguments) > len(shown) else ""
    status = "" if call.status == "ok" else f" · {_text(call.status)}"
    decision = f" · {_text(call.decision)}" if call.status == "refused" else ""
    text = "" if arguments == "{}" else f" <code>{_text(shown)}{more}</code>"
    return f'<div class="call"><b>{_text(call.name)}</b>{text}{status}{decision}</div>'


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
    note = f" · {_text(execution.note)}" if execution is not None and execution.note else ""
    drawn = "".join(outputs)
    shown = f'<div class="outputs">{drawn}</div>' if drawn else ""
    return (
        f'<div class="cell"><header><span>{_text(caption)}{note}</span><span>{took}</span></header>'
        f'<pre class="code">{highlighted(source)}</pre>{shown}</div>'
    )


def _background(record: RunRecord) -> Iterator[str]:
    if record.notices:
        items = "".join(f"<li>{_text(notice)}</li>" for notice in record.notices)
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
        f"<tr><th>{_text(str(name))}</th><td>{_text(str(value))}</td></tr>"
        for name, value in shown.items()
    )
    summary = f"<summary>{title} ({len(shown)})</summary>"
    return f'<details class="more">{summary}<table class="plain">{body}</table></details>'


def _sources(title: str, sources: tuple[str, ...]) -> str:
    if not sources:
        return ""
    drawn = "".join(f'<pre class="code">{highlighted(source)}</pre>' for source in sources)
    return f'<details class="more"><summary>{title} ({len(sources)})</summary>{drawn}</details>'


def _text(text: str) -> str:
    return escape(visible(text))
