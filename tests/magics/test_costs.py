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


WATCH = """
import sys, threading
called = set()
def watch(frame, event, argument):
    called.add(frame.f_globals.get("__name__", ""))
sys.setprofile(watch), threading.setprofile(watch)
"""
COUNT = """
sys.setprofile(None), threading.setprofile(None)
def ours(names):
    return sum(str(name).partition(".")[0] in ("cellwright", "cellwright_magics") for name in names)
"""


@pytest.mark.kernel
def test_what_one_question_follows_is_as_much_as_readme_says(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": "x = 1"}), text("Done.")]
    fresh.run("%agent --mode auto go", script, answers=[])
    fresh.run(WATCH, [], answers=[])
    fresh.run("%agent --mode auto go", script, answers=[])
    fresh.run(COUNT, [], answers=[])
    loaded, called = (int(fresh.value(f"ours({names})")) for names in ("sys.modules", "called"))
    assert loaded == pytest.approx(said(r"it loads (\d+) modules of ours"), rel=0.05)
    assert called == pytest.approx(said(r"runs code of (\d+)"), rel=0.05)


def test_13_21_what_readme_says_of_a_session_is_what_is_tested() -> None:
    assert said(r"In a session of (\d+) questions") == TURNS
    assert said(r"repeats at least (\d+) %") == REUSE_AT_LEAST * 100
