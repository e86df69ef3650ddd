"""What the checks found, as a table."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.exports.html_parts import shown_text
from cellwright.exports.sample import Score


def scores_html(scores: Iterable[Score]) -> str:
    """The scores under a heading; nothing where there are none."""
    rows = "".join(_row(score) for score in scores)
    if not rows:
        return ""
    head = "<tr><th>Check</th><th>Result</th><th>Score</th><th>Why</th></tr>"
    return f'<h2>Scores</h2><table class="plain"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _row(score: Score) -> str:
    word, tone = ("passed", "good") if score.passed else ("failed", "bad")
    if score.value is None:
        word, tone = "could not be made", "wait"
    value = "" if score.value is None else f"{score.value:g}"
    why = shown_text(score.error or score.explanation)
    result = f'<span class="status {tone}">{word}</span>'
    return (
        f"<tr><td>{shown_text(score.name)}</td><td>{result}</td><td>{value}</td><td>{why}</td></tr>"
    )
