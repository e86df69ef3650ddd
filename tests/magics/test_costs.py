"""What README says a question costs, held on the requests as they went over the wire (13.21)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel
from test_context_economy import REUSE_AT_LEAST, TURNS

from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.truncation import estimate_tokens

README = " ".join((Path(__file__).parents[2] / "README.md").read_text("utf-8").split())


def said(pattern: str) -> float:
    """The number that README gives."""
    found = re.search(pattern, README)
    assert found is not None, pattern
    return float(found[1].replace(",", ""))


@pytest.mark.kernel
def test_13_21_what_readme_says_of_a_question_is_so(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": "x = 1"}), text("Done.")]
    fresh.run("%agent --mode auto go", script, answers=[])
    first, second = fresh.service.requests
    tools = json.dumps(first.body["tools"], ensure_ascii=False)
    head = estimate_tokens(tools + first.messages[0]["content"])
    assert head == pytest.approx(said(r"tools are about ([\d,]+) tokens"), rel=0.05)
    sent = (len(first.raw) + len(second.raw)) / 1_000
    assert sent == pytest.approx(said(r"two requests of ([\d.]+) kB together"), rel=0.05)
    database = open_database(fresh.home / "runs.sqlite")
    store = RunStore(database)
    events = store.events(store.resolve("last"))
    database.close()
    assert len(events) == said(r"and writes (\d+) events")


def test_13_21_what_readme_says_of_a_session_is_what_is_tested() -> None:
    assert said(r"In a session of (\d+) questions") == TURNS
    assert said(r"repeats at least (\d+) %") == REUSE_AT_LEAST * 100
