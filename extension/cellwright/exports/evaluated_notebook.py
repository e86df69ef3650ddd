"""A notebook as a page: its cells with status, time and tokens, and what checks made of it.

Any notebook will do. One that a run or a sample was written to tells these itself; of cells that
the agent put into somebody's notebook, the record of their run tells them, where it is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cellwright.exports.html import (
    cell_html,
    duration_text,
    fact_html,
    page_start,
    scores_html,
    shown_text,
)
from cellwright.exports.html_contents import markdown_html, output_html
from cellwright.exports.sample import Score, sum_points
from cellwright.exports.timeline import reply_of_calls
from cellwright.record.messages import Usage
from cellwright.record.outputs import from_nbformat
from cellwright.record.run_record import RecordedStep, RunRecord
from cellwright.record.values import from_dict, safe_text

OURS = "cellwright"
TONES = {"ok": "ok", "error": "failed"}
WORDS = {"ok": "run", "error": "failed", "": "not run"}
SCORE_TEXTS = ("name", "explanation", "error", "expected", "found")
OURS_BY_ROLE = {"setup": "set-up", "check": "check", "answer": "answer", "grade": "grade"}
LEFT_OUT = ("prompt", "summary", "scores", "plot", "grading")
"""Cells whose facts the head of the page has, and the program that makes checks."""
STARTED, ENDED = "iopub.execute_input", "shell.execute_reply"


@dataclass
class _KnownRun:
    """What runs at hand say of their calls."""

    seconds: dict[str, float] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    replies: dict[str, RecordedStep] = field(default_factory=dict)


def run_ids(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The runs that put cells into a notebook."""
    found = [_facts(cell).get("run") for cell in document.get("cells", ())]
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str) and name))


def evaluated_page(
    document: Mapping[str, Any], runs: tuple[RunRecord, ...] = (), title: str = ""
) -> str:
    """The text of an ``.html`` file that loads nothing and runs nothing.

    Args:
        document: The notebook, as nbformat has it.
        runs: Records of runs that put cells into it.
        title: What it is called, where it does not say so itself.
    """
    return safe_text("\n".join(_page(document, runs, title)) + "\n")


def _page(document: Mapping[str, Any], runs: tuple[RunRecord, ...], title: str) -> Iterator[str]:
    ours = _facts(document)
    run = ours.get("run") if isinstance(ours.get("run"), Mapping) else {}
    name = str((run or {}).get("prompt") or title or "Notebook")
    yield from page_start(" ".join(name.split())[:80])
    yield '<div class="mark"><span>cellwright evaluated notebook</span></div>'
    yield f'<h1 class="long">{shown_text(name)}</h1>'
    facts = "".join(_head(run or {}, runs, document))
    yield f'<dl class="facts">{facts}</dl>' if facts else ""
    yield scores_html(_scores(ours))
    yield from _plots(document)
    known = _known(runs)
    yield '<ol class="steps">'
    for cell in document.get("cells", ()):
        if _facts(cell).get("role") not in LEFT_OUT:
            yield _cell(cell, known)
    yield "</ol></main></body></html>"


def _facts(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (part.get("metadata") or {}).get(OURS)
    return found if isinstance(found, Mapping) else {}


def _head(
    run: Mapping[str, Any], runs: tuple[RunRecord, ...], document: Mapping[str, Any]
) -> Iterator[str]:
    codes = [cell for cell in document.get("cells", ()) if cell.get("cell_type") == "code"]
    failed = sum(_status(cell) == "error" for cell in codes)
    if run.get("status"):
        yield fact_html("Status", shown_text(str(run["status"])))
    model = (run.get("parameters") or {}).get("model") or ", ".join(
        dict.fromkeys(record.parameters.model for record in runs)
    )
    if model:
        yield fact_html("Model", shown_text(str(model)))
    scores = _scores(_facts(document))
    if scores:
        yield fact_html("Score", shown_text(str(sum_points(scores))))
    yield fact_html("Cells", str(len(codes)), f"{failed} failed" if failed else "")
    usage = sum((record.usage for record in runs), _usage(run.get("usage")))
    if usage.total_tokens:
        yield fact_html("Tokens", f"{usage.total_tokens:,}")
    if isinstance(run.get("cost_dollars"), (int, float)):
        yield fact_html("Cost", f"${run['cost_dollars']:.4f}")
    seconds = _number(run.get("duration_seconds")) + sum(r.duration_seconds for r in runs)
    if seconds:
        yield fact_html("Duration", duration_text(seconds))


SVG_ADDRESS = r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"


def _plots(document: Mapping[str, Any]) -> Iterator[str]:
    """The drawings of the run that the notebook brings, as pictures: nothing in them can run."""
    for cell in document.get("cells", ()):
        if _facts(cell).get("role") == "plot":
            for picture in re.findall(SVG_ADDRESS, "".join(cell.get("source", ()))):
                yield f'<p class="plot"><img src="{picture}" alt="The run over time"></p>'


def _scores(ours: Mapping[str, Any]) -> tuple[Score, ...]:
    sample = ours.get("sample")
    given = sample.get("scores") if isinstance(sample, Mapping) else ours.get("scores")
    found = []
    for score in given if isinstance(given, list) else ():
        if isinstance(score, Mapping):
            whole = {"name": "", "value": None, "passed": False, **score}
            value = whole["value"]
            whole["value"] = float(value) if isinstance(value, (int, float)) else None
            texts: dict[str, Any] = {name: str(whole.get(name, "")) for name in SCORE_TEXTS}
            points = whole.get("points", 1.0)
            texts["points"] = float(points) if isinstance(points, (int, float)) else 1.0
            score = Score(value=whole["value"], passed=bool(whole["passed"]), **texts)
            found.append(score)
    return tuple(found)


def _known(runs: tuple[RunRecord, ...]) -> _KnownRun:
    known = _KnownRun()
    for record in runs:
        known.replies |= reply_of_calls(record)
        for ran in record.executions:
            if ran.execution is not None:
                known.seconds[ran.call_id] = ran.execution.duration_seconds
                known.status[ran.call_id] = ran.execution.status
    return known


def _cell(cell: Mapping[str, Any], known: _KnownRun) -> str:
    kind, source = cell.get("cell_type"), _text(cell.get("source", ""))
    if kind == "markdown":
        return f'<li class="said"><div class="prose">{markdown_html(source)}</div></li>'
    if kind != "code":
        return f'<li class="said"><pre>{shown_text(source)}</pre></li>'
    call = str(_facts(cell).get("call") or "")
    status = known.status.get(call) or _status(cell)
    drawn = [output_html(from_nbformat(output)) for output in _outputs(cell)]
    shown = cell_html(_caption(cell, status), _took(cell, known, call), source, drawn)
    return f'<li class="{TONES.get(status, "")}">{shown}</li>'


def _outputs(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for output in cell.get("outputs", ()):
        if output.get("output_type") in ("stream", "error", "display_data", "execute_result"):
            yield output


def _status(cell: Mapping[str, Any]) -> str:
    """How the cell ended, from what it says itself; empty: it was not run."""
    told = _facts(cell).get("status")
    if isinstance(told, str) and told:
        return told
    if any(output.get("output_type") == "error" for output in cell.get("outputs", ())):
        return "error"
    return "ok" if cell.get("execution_count") is not None else ""


def _caption(cell: Mapping[str, Any], status: str) -> str:
    facts = _facts(cell)
    count = cell.get("execution_count")
    number = f"[{count}] " if isinstance(count, int) else ""
    role = facts.get("role")
    if role in OURS_BY_ROLE:
        return f"{number}{OURS_BY_ROLE[role]}"
    who = " · by the agent" if "run" in facts or facts.get("origin") == "agent" else ""
    return f"{number}{WORDS.get(status, status)}{who}"


def _took(cell: Mapping[str, Any], known: _KnownRun, call: str) -> str:
    facts, told = _facts(cell), []
    seconds = _number(facts.get("duration_seconds")) or known.seconds.get(call) or _timed(cell)
    if seconds:
        told.append(f"{seconds:.2f} s")
    # Several cells may come of one call; the first of them is told what the reply took.
    reply = known.replies.pop(call, None)
    usage = reply.usage if reply is not None else _usage(facts.get("usage"))
    if usage.total_tokens:
        about = "~" if usage.estimated else ""
        told.append(f"{about}{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    return " · ".join(told)


def _timed(cell: Mapping[str, Any]) -> float:
    """Seconds by the times that JupyterLab notes where it is told to."""
    times = (cell.get("metadata") or {}).get("execution")
    if not isinstance(times, Mapping):
        return 0.0
    try:
        start, end = (datetime.fromisoformat(str(times[name])) for name in (STARTED, ENDED))
        return max(0.0, (end - start).total_seconds())
    except (KeyError, ValueError, TypeError):
        return 0.0


def _usage(given: Any) -> Usage:
    if not isinstance(given, Mapping):
        return Usage()
    counts = {name: value for name, value in given.items() if isinstance(value, int)}
    usage: Usage = from_dict(Usage, counts)
    return usage


def _number(given: Any) -> float:
    return float(given) if isinstance(given, (int, float)) else 0.0


def _text(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
