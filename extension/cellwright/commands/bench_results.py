"""What a benchmark came to: summed up, written down and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.bench.results import ResultFiles
from cellwright.bench.summary import Summary, not_run, summary_of
from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.terminal import cut, one_line, table

HEADERS = ["agent", "<passed>", "<of>", "<share>", "95 %", "not run", "statuses"]
SHOWN = 3
LINE_CHARACTERS = 160


def report(invocation: Invocation, root: Path, suite: str, agents: list[str]) -> int:
    """Sum up the results of agents at a suite; the exit code."""
    summaries = []
    for agent in agents:
        files = ResultFiles(root, agent, suite)
        summary = summary_of(files, agent, suite)
        files.sum_up(summary.document())
        summaries.append(summary)
        _tell(invocation, summary, files)
    rows = [_row(summary) for summary in summaries]
    invocation.console.result(_document(summaries, root), table(HEADERS, rows))
    return NOT_COMPLETED if any(summary.failures for summary in summaries) else COMPLETED


def _tell(invocation: Invocation, summary: Summary, files: ResultFiles) -> None:
    """The first samples that did not pass, or could not be run, with why."""
    lost, failed = summary.not_passed, not_run(files)
    for word, lines, path in (("not passed", lost, files.runs), ("not run", failed, files.errors)):
        count = summary.total - summary.passed if lines is lost else len(lines)
        if lines:
            invocation.console.note(f"\n{summary.agent}: {count} {word}, all in {path}")
        for line in lines[:SHOWN]:
            invocation.console.note(f"  {cut(one_line(line), LINE_CHARACTERS)}")


def _document(summaries: list[Summary], root: Path) -> dict[str, Any]:
    statuses: dict[str, int] = {}
    groups: dict[str, dict[str, int]] = {}
    for summary in summaries:
        for status, count in summary.by_status.items():
            statuses[status] = statuses.get(status, 0) + count
        for name, counts in summary.by_group.items():
            group = groups.setdefault(name, {"passed": 0, "total": 0})
            group["passed"] += counts["passed"]
            group["total"] += counts["total"]
    return {
        "passed": sum(summary.passed for summary in summaries),
        "total": sum(summary.total for summary in summaries),
        "by_status": statuses,
        "by_group": groups,
        "failures": sum(sum(summary.failures.values()) for summary in summaries),
        "agents": [summary.document() for summary in summaries],
        "folder": str(root),
    }


def _row(summary: Summary) -> list[str]:
    share, statuses = summary.share, summary.by_status.items()
    return [
        summary.agent,
        str(summary.passed),
        str(summary.total),
        f"{share.value:.1%}",
        f"{share.low:.1%} to {share.high:.1%}",
        ", ".join(f"{count} {word}" for word, count in summary.failures.items()) or "0",
        ", ".join(f"{count} {status}" for status, count in statuses),
    ]
