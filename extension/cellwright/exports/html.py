"""A run as one HTML file that can be handed to anybody.

It holds everything it shows, loads nothing, runs nothing and leads nowhere: text is escaped,
outputs go through an allowlist, and a content policy forbids what should not be there anyway.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from cellwright.exports import SecretsFilter
from cellwright.exports.html_contents import (
    contents_html,
    highlighted,
    markdown_html,
    output_html,
    visible,
)
from cellwright.exports.sample import CANARY, SampleRecord, Score
from cellwright.exports.sampling import run_of
from cellwright.exports.timeline import Called, Item, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.outputs import Execution
from cellwright.record.run_record import RecordedCall, RunRecord
from cellwright.record.values import safe_text

# The one style sheet of a report: no font, picture or rule comes from elsewhere.


STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1f2328; --soft: #5b6470; --line: #e3e1dc;
  --well: #f5f4f1; --accent: #b4532a; --good: #1a7f4b; --bad: #b3261e; --wait: #8a6100;
  --blue: #1d5fb8; --violet: #7a3ea8; --cyan: #0b7285; --magenta: #a8326f; --tint: #fdf3ee;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --card: #1e2126; --ink: #e6e4df; --soft: #9aa3ad; --line: #33373e;
    --well: #191c20; --accent: #e58b5f; --good: #5fc48d; --bad: #f28b82; --wait: #e0b44c;
    --blue: #82b1f2; --violet: #c79bea; --cyan: #6fc7d6; --magenta: #e890bd; --tint: #2a211c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 3rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 var(--sans); overflow-wrap: anywhere;
}
main { max-width: 54rem; margin: 0 auto; }
.mark {
  font-size: .78rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft);
  display: flex; justify-content: space-between; gap: 1rem; flex-wrap: wrap;
}
.mark code { text-transform: none; letter-spacing: 0; background: none; padding: 0; }
h1 {
  font-size: 1.7rem; line-height: 1.3; font-weight: 650; margin: .75rem 0 1.25rem;
  white-space: pre-wrap; text-wrap: pretty;
}
h1.long { font-size: 1.15rem; font-weight: 500; line-height: 1.5; }
h2 {
  font-size: .78rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft);
  font-weight: 600; margin: 3rem 0 .75rem;
}
.status { font-weight: 650; white-space: nowrap; }
.status::before { content: "●"; margin-right: .4em; font-size: .8em; vertical-align: .08em; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
dl.facts {
  display: flex; flex-wrap: wrap; gap: 1px; margin: 0; background: var(--line);
  border: 1px solid var(--line); border-radius: .6rem; overflow: hidden;
}
dl.facts + .table { margin-top: 1.5rem; }
dl.facts div { background: var(--card); padding: .7rem .9rem; flex: 1 1 7.5rem; }
dl.facts dt { font-size: .75rem; color: var(--soft); }
dl.facts dd { margin: 0; font-variant-numeric: tabular-nums; line-height: 1.4; }
dl.facts dd small { display: block; color: var(--soft); font-size: .75rem; }
.reason {
  margin: 1rem 0 0; padding: .7rem .9rem; border-left: 3px solid var(--wait);
  background: var(--well); white-space: pre-wrap;
}
ol.steps { list-style: none; margin: 1.75rem 0 0; padding: 0; }
ol.steps > li {
  position: relative; padding: 0 0 1.5rem 2rem; border-left: 1px solid var(--line);
  margin-left: .4rem;
}
ol.steps > li:last-child { border-left-color: transparent; padding-bottom: 0; }
ol.steps > li::before {
  content: ""; position: absolute; left: -.36rem; top: .5rem; width: .7rem; height: .7rem;
  border-radius: 50%; background: var(--card); border: 2px solid var(--line);
}
ol.steps > li.ok::before { border-color: var(--good); background: var(--good); }
ol.steps > li.failed::before { border-color: var(--bad); background: var(--bad); }
ol.steps > li.said::before { border-color: var(--accent); }
.prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.prose h3, .prose h4, .prose h5, .prose h6 { line-height: 1.35; margin: 1.4em 0 .4em; }
.prose h3 { font-size: 1.2rem; } .prose h4 { font-size: 1.05rem; }
.prose h5, .prose h6 { font-size: 1rem; }
.prose p, .prose ul, .prose ol, .prose pre, .prose blockquote { margin: .7em 0; }
.prose ul, .prose ol { padding-left: 1.4em; }
blockquote {
  margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft);
}
.cell {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden;
}
.cell > header {
  display: flex; gap: .75rem; justify-content: space-between; align-items: baseline;
  padding: .4rem .9rem; border-bottom: 1px solid var(--line); font-size: .78rem;
  color: var(--soft); font-variant-numeric: tabular-nums;
}
pre, code, kbd, samp { font-family: var(--mono); font-size: .86em; }
code { background: var(--well); padding: .1em .3em; border-radius: .25em; }
pre { margin: 0; white-space: pre-wrap; line-height: 1.55; tab-size: 4; }
pre.code { background: var(--well); padding: .8rem .9rem; font-size: .84rem; }
.prose pre.code { border: 1px solid var(--line); border-radius: .5rem; }
.outputs { border-top: 1px solid var(--line); }
.outputs > * { padding: .75rem .9rem; margin: 0; }
.outputs > * + * { border-top: 1px dashed var(--line); }
.outputs pre { font-size: .82rem; } .stderr { color: var(--soft); }
.outputs .result > pre { font-size: .86rem; }
.outputs img, .prose img { max-width: 100%; height: auto; background: #fff; border-radius: .3rem; }
.outputs img { display: block; margin: 0 auto; }
details > summary { cursor: pointer; }
details.error { color: var(--bad); } details.error[open] > pre { margin-top: .6rem; }
details.error > summary { font-family: var(--mono); font-size: .84rem; font-weight: 600; }
details.error pre { color: var(--ink); }
details.more { color: var(--soft); font-size: .9rem; margin: .5rem 0; }
details.more > :not(summary) { margin-top: .5rem; }
.call { font-size: .88rem; color: var(--soft); }
.call b { color: var(--ink); font-weight: 600; font-family: var(--mono); font-size: .84rem; }
.address { color: var(--soft); font-family: var(--mono); font-size: .8em; }
.blocked {
  display: inline-block; color: var(--soft); background: var(--well); font-size: .82rem;
  border: 1px dashed var(--line); border-radius: .3rem; padding: .1rem .5rem;
}
.answer {
  background: var(--tint); border: 1px solid var(--line); border-left: 3px solid var(--accent);
  border-radius: .3rem .6rem .6rem .3rem; padding: 1rem 1.2rem;
}
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: .35rem .75rem; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top;
}
th { font-weight: 600; color: var(--soft); } tbody tr:last-child > * { border-bottom: 0; }
thead th { border-bottom: 1px solid var(--soft); }
.prose td, .prose th { text-align: left; }
.table table.plain :is(td, th) { overflow-wrap: break-word; }
table.plain { width: 100%; } table.plain td, table.plain th { text-align: left; }
.plot img { max-width: 100%; height: auto; border-radius: .5rem; }
ul.notices { padding-left: 1.2rem; color: var(--soft); margin: 0; }
footer { margin-top: 3rem; color: var(--soft); font-size: .8rem; }
.c-k, .c-kn, .c-kc, .c-kd, .c-kr, .c-ow { color: var(--violet); }
.c-s, .c-s1, .c-s2, .c-sd, .c-sa, .c-sb, .c-se, .c-si { color: var(--good); }
.c-c, .c-c1, .c-cm, .c-ch { color: var(--soft); font-style: italic; }
.c-mi, .c-mf, .c-m, .c-mh { color: var(--accent); }
.c-nf, .c-nc, .c-nd, .c-fm { color: var(--blue); } .c-nb, .c-bp, .c-nn { color: var(--cyan); }
.ansi-bold { font-weight: 650; } .ansi-red { color: var(--bad); }
.ansi-green { color: var(--good); } .ansi-yellow { color: var(--wait); }
.ansi-blue { color: var(--blue); } .ansi-magenta { color: var(--magenta); }
.ansi-cyan { color: var(--cyan); } .ansi-grey { color: var(--soft); }
@media (max-width: 36rem) {
  body { padding: 1.5rem .9rem 3rem; } h1 { font-size: 1.35rem; }
  ol.steps > li { padding-left: 1.2rem; }
}
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --well: #fff;
    --tint: #fff;
  }
  body { padding: 0; font-size: 11pt; } main { max-width: none; }
  details > :not(summary) { display: block; } .cell header { break-after: avoid; }
  .outputs img, tr, .answer { break-inside: avoid; }
}
"""


# Pieces that every page of ours is made of.


POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)


def page_start(title: str) -> Iterator[str]:
    """Everything up to the contents of the page, which loads nothing and runs nothing."""
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{shown_text(title)} · cellwright</title>"
    yield f"<style>{STYLE}</style></head>"
    yield "<body><main>"


def shown_text(text: str) -> str:
    """Text as HTML; what cannot be seen is made visible."""
    return escape(visible(text))


def fact_html(name: str, value: str, more: str = "") -> str:
    """A fact of the head; ``value`` is HTML, ``more`` is text."""
    small = f"<small>{shown_text(more)}</small>" if more else ""
    return f"<div><dt>{name}</dt><dd>{value}{small}</dd></div>"


def duration_text(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def cell_html(left: str, right: str, source: str, outputs: Iterable[str]) -> str:
    """A code cell: what is said over it left and right, its source, its outputs as HTML."""
    drawn = "".join(outputs)
    shown = f'<div class="outputs">{drawn}</div>' if drawn else ""
    head = f"<header><span>{shown_text(left)}</span><span>{shown_text(right)}</span></header>"
    return f'<div class="cell">{head}<pre class="code">{highlighted(source)}</pre>{shown}</div>'


# What the checks found, as a table.


def scores_html(scores: Iterable[Score]) -> str:
    """The scores under a heading; nothing where there are none."""
    rows = [_row(score) for score in scores]
    if not rows:
        return ""
    names = ("Check", "Result", "Points", "Expected", "Found", "Why")
    filled = [number for number in range(len(names)) if any(row[number] for row in rows)]
    head = "".join(f"<th>{names[number]}</th>" for number in filled)
    body = "".join(
        f"<tr>{''.join(f'<td>{row[number]}</td>' for number in filled)}</tr>" for row in rows
    )
    return (
        '<h2>Scores</h2><div class="table"><table class="plain">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(score: Score) -> tuple[str, ...]:
    word, tone = ("passed", "good") if score.passed else ("failed", "bad")
    if score.value is None:
        word, tone = ("comment" if score.passed else "could not be made"), "wait"
    texts = (score.expected, score.found, score.error or score.explanation)
    result = f'<span class="status {tone}">{word}</span>'
    points = f"{score.earned:g} of {score.points:g}"
    return (shown_text(score.name), result, points, *map(shown_text, texts))


LONG_PROMPT_CHARACTERS = 180
TONES = {"completed": "good", "running": "wait", "cancelled": "wait", "task limit reached": "wait"}
CAPTIONS = {"ok": "run", "error": "failed"}
SHOWN_ARGUMENTS_CHARACTERS = 300


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as the text of an ``.html`` file."""
    if redactor is not None:
        record = redactor.event(record)
    return _file(record)


def sample_page(sample: SampleRecord) -> str:
    """A sample as the text of an ``.html`` file: the run that it was, with its scores."""
    return _file(run_of(sample), sample.scores, f" · {CANARY}")


def _file(record: RunRecord, scores: tuple[Score, ...] = (), mark: str = "") -> str:
    return safe_text("\n".join(_page(record, scores, mark)) + "\n")


def _page(record: RunRecord, scores: tuple[Score, ...], mark: str) -> Iterator[str]:
    yield from page_start(" ".join(record.prompt.split())[:80])
    yield from _head(record)
    if scores:
        yield scores_html(scores)
    yield from _steps(record)
    yield from _background(record)
    yield f"<footer>Recorded by cellwright {shown_text(record.version)}{mark}</footer>"
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
    yield fact_html("Tokens", f"{about}{usage.total_tokens:,}", usage.cached_words)
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
        if last and answer and isinstance(item, TimelineMessage) and item.text.strip() == answer:
            yield f'<li class="said">{_reasoning(item)}'
            yield f'<div class="answer prose">{markdown_html(item.text)}</div></li>'
        else:
            yield _item(item)
    yield "</ol>"


def _item(item: Item) -> str:
    match item:
        case TimelineMessage():
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


def _reasoning(item: TimelineMessage) -> str:
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
