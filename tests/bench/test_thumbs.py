"""A person's thumb for a sample, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Shell

from cellwright.bench.results import ResultFiles
from cellwright.exports.sample import SampleRecord, SampleTask, Score


def test_a_thumb_is_kept_as_the_samples_score(tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})
    waiting = Score("thumb", None, passed=False, error="nobody has given a thumb yet")
    for agent in ("a", "b"):
        sample = SampleRecord(
            "t:'plot':1",
            agent=agent,
            task=SampleTask("t", "plot"),
            status="completed",
            scores=(Score("answer", 1.0, passed=True), waiting),
        )
        ResultFiles(tmp_path / "out", agent, "t").add(sample)
    twice = shell.run("bench", "thumb", "out", "plot", "up")
    assert (twice.code, "is there 2 times (a, b)" in twice.err) == (2, True), twice.err
    done = shell.run("bench", "thumb", "out/a", "plot", "up", "--note", "clear", "--json")
    assert done.document == {"id": "t:'plot':1", "agent": "a", "passed": True}, done.err
    (kept,) = ResultFiles(tmp_path / "out", "a", "t").samples()
    assert kept.scores[1] == Score("thumb", 1.0, passed=True, explanation="clear")
    overall = json.loads((tmp_path / "out" / "a" / "t" / "overall.json").read_text())
    assert (overall["total"], overall["custom"]["passed"]) == (1, 1)
    gone = shell.run("bench", "thumb", "out", "plot", "down", "--epoch", "2")
    assert "There is no sample 'plot' there" in gone.err
