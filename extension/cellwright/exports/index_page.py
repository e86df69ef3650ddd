"""A folder of samples at one sight: a page that leads to each of them, and a gradebook."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import quote

from cellwright.exports.html import duration_text, fact_html, page_start, shown_text
from cellwright.exports.sample import CANARY, SampleRecord, sum_points
from cellwright.record.values import safe_text

GRADEBOOK = "gradebook.csv"
GRADEBOOK_COLUMNS = (
    "student_id",
    "assignment",
    "notebook",
    "score",
    "max_score",
    "percent",
    "passed",
    "status",
    "failed_checks",
    "comment",
)
"""The first five as nbgrader's own exporter calls them."""


@dataclass(frozen=True)
class IndexRow:
    """A file of a folder and the sample that is in it."""

    path: str
    """From the folder, with slashes."""
    place: str
    """Whose it is: ``AGENT/TASK``, or a student."""
    sample: SampleRecord


def write_index(folder: Path, rows: list[IndexRow]) -> Path:
    """Write ``index.html``, which loads nothing and runs nothing."""
    path = folder / "index.html"
    path.write_text(safe_text("\n".join(_page(rows)) + "\n"), encoding="utf-8")
    return path


def write_gradebook(folder: Path, rows: Iterable[IndexRow]) -> Path:
    """Write ``gradebook.csv``: a row for each student and sample."""
    path = folder / GRADEBOOK
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(GRADEBOOK_COLUMNS)
        writer.writerows(map(_grades, rows))
    return path


def _page(rows: list[IndexRow]) -> Iterator[str]:
    passed = sum(row.sample.passed for row in rows)
    known = [row.sample.cost_dollars for row in rows if row.sample.cost_dollars is not None]
    total = sum_points(score for row in rows for score in row.sample.scores)
    yield from page_start(f"{len(rows)} evaluated samples")
    yield f"<h1>{len(rows)} evaluated sample{'' if len(rows) == 1 else 's'}</h1>"
    yield '<dl class="facts">'
    yield fact_html("Passed", f"{passed} of {len(rows)}")
    yield fact_html("Points", str(total) if total.points else "not scored")
    yield fact_html("Time", duration_text(sum(row.sample.time.seconds for row in rows)))
    yield fact_html("Cost", f"${sum(known):.4f}" if known else "not known")
    yield "</dl>"
    names = ("Whose", "Sample", "Status", "Points", "Result", "Failed checks", "Model", "Time")
    head = "".join(f"<th>{name}</th>" for name in names)
    yield f'<div class="table"><table class="plain"><thead><tr>{head}</tr></thead><tbody>'
    yield from map(_row, rows)
    yield f"</tbody></table></div><footer>{CANARY}</footer></main></body></html>"


def _row(row: IndexRow) -> str:
    sample = row.sample
    word, tone = ("passed", "good") if sample.passed else ("not passed", "bad")
    if not sample.scores:
        word, tone = "not scored", "wait"
    grade = sum_points(sample.scores)
    link = f'<a href="{quote(row.path)}">{shown_text(sample.title)}</a>'
    cells = (
        shown_text(row.place or _whose(row)),
        link,
        shown_text(sample.status),
        f"{grade.earned:g} of {grade.points:g}" if sample.scores else "",
        f'<span class="status {tone}">{word}</span>',
        shown_text(_failed(sample)),
        shown_text(str(sample.model.get("model", ""))),
        duration_text(sample.time.seconds),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _whose(row: IndexRow) -> str:
    """The agent, or the notebook that somebody worked in."""
    agent = row.place.partition("/")[0] or row.sample.agent
    return agent or PurePath(str(row.sample.notebook.get("path", ""))).stem or row.sample.run_id


def _failed(sample: SampleRecord) -> str:
    return ", ".join(score.name for score in sample.scores if not score.passed)


def _grades(row: IndexRow) -> tuple[str, ...]:
    sample, grade = row.sample, sum_points(row.sample.scores)
    percent = f"{100 * grade.earned / grade.points:.1f}" if grade.points else ""
    comments = "; ".join(s.explanation for s in sample.scores if not s.code and s.explanation)
    values = (
        _whose(row),
        sample.suite or sample.task.name or sample.title,
        sample.title,
        f"{grade.earned:g}",
        f"{grade.points:g}",
        percent,
        str(sample.passed),
        sample.status,
        _failed(sample),
        comments,
    )
    # A spreadsheet takes a text that begins so for a formula.
    return tuple(f"'{text}" if text[:1] in ("=", "+", "-", "@") else text for text in values)
