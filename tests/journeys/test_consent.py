"""An hour in mode ask: what a person allows, refuses and changes, beside another notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fake_service import text, tool_calls
from journeys.test_first_run import look
from notebook_page import NotebookPage, shown
from panel_page import call
from playwright.sync_api import expect
from sink import Sink

pytestmark = pytest.mark.browser

RULES = "Revenue is in thousands of euros. Round to one decimal."
SKILL = """\
---
name: quarter-report
description: Writes the quarter's report. Use it when somebody asks for a report: any quarter.
---

Begin with the total.
"""
MARKED = ".jp-Cell.cw-mod-asked"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().running() as sink:
        yield sink


def test_a_person_in_mode_ask_sees_what_they_allow_and_gets_no_more(
    page: NotebookPage, sink: Sink
) -> None:
    picture = f"http://{sink.host}/chart.png?total=42"
    page.write(
        call("run_cell", code="total = 6 * 7\ntotal", title="Multiply"),
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="price = 12"),
        call("edit_cell", cell_id="cell-0", source="price = 12\nprice + 1", run=True),
        call("run_cell", code="open('prices.csv')", title="Read the prices"),
        call("arrange_cell", cell_id="cell-1", action="delete"),
        call("add_cell", source=f"## Chart\n\n![Chart]({picture})"),
        tool_calls(
            [
                ("edit_cell", {"cell_id": "cell-2", "source": "rows = [1]"}),
                ("edit_cell", {"cell_id": "cell-3", "source": "names = ['a']"}),
                ("add_cell", {"source": f"![Once more]({picture}&again)"}),
            ]
        ),
        text("That is all."),
    )
    other = page.lab.server.write_notebook("beside.ipynb", ["untouched = True"])
    name = page.start("price = 10", "mine = 'keep me?'", "rows = []", "names = []", mode="Ask")
    page.open_beside(other)
    page.open_beside(name)
    ours = page.ids()
    page.ask("Tidy this up.")

    approval = page.root.locator(".cw-approval")
    link = page.root.locator(".cw-mod-asking .cw-cell-link")
    marked = page.lab.page.locator(MARKED)

    def allow(verb: str) -> None:
        button = page.button(verb, within=approval)
        expect(button).to_have_attribute("aria-disabled", "false")
        button.click()

    allow("Approve")
    expect(page.output(4)).to_contain_text("42")

    # An edit: the cell by number and first line, the change, and the cell marked in the notebook.
    expect(link).to_contain_text("Cell no. 1")
    expect(link).to_contain_text("price = 10")
    expect(page.root.locator(".cw-diff del")).to_have_text("−price = 10")
    expect(page.root.locator(".cw-diff ins")).to_have_text("+price = 12")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("price = 10")
    expect(page.button("Accept", within=page.diff)).to_have_attribute("aria-disabled", "false")
    allow("Accept")

    # The same with a run: the verb says so, in the panel and on the cell.
    runs = page.lab.page.get_by_role("group", name="Proposed edit, which then runs")
    expect(page.button("Accept and run", within=runs)).to_have_attribute("aria-disabled", "false")
    assert page.sources()[0] == "price = 12"
    assert shown(page.lab.cells()[0]) == "", "an edit alone runs nothing"
    page.button("Accept and run", within=runs).click()
    expect(page.output(0)).to_contain_text("13")

    # A refusal with words, then a deletion, asked about from beside another notebook.
    expect(page.cards.last).to_contain_text("prices.csv")
    page.button("Reject and say what to do instead").click()
    page.root.get_by_role("textbox", name="What to do instead").fill("There is no such file.")
    page.button("Reject and send").click()
    expect(page.button("Delete cell")).to_be_visible()
    assert "There is no such file." in page.script.last()
    expect(link).to_contain_text("mine = 'keep me?'")
    expect(page.root.locator(".cw-diff del")).to_have_text("−mine = 'keep me?'")
    assert "cell-1" not in page.root.inner_text()
    page.open_beside(other)  # the panel goes along, and back
    expect(approval).to_have_count(0)
    page.open_beside(name)
    link.click()
    expect(page.cell(1)).to_have_class(re.compile("jp-mod-active"))
    expect(marked).to_contain_text("mine = 'keep me?'")
    allow("Delete cell")

    # A picture from elsewhere: its address in full, and no request before the answer.
    expect(approval).to_contain_text(picture)
    expect(page.button("Allow for this session")).to_have_count(0)
    page.lab.page.wait_for_timeout(500)
    assert sink.hits == []
    allow("Insert cell")
    expect(page.lab.page.locator(f"img[src='{picture}']")).to_have_count(1)
    page.lab.page.wait_for_timeout(500)
    assert set(sink.hits) == {"/chart.png?total=42"}

    # All edits at once: each is shown, and what does more than edit is asked about by itself.
    everything = page.root.get_by_role("group", name="All edits that wait")
    expect(everything).to_contain_text("names = ['a']")
    accept = page.button("Accept all 2 edits")
    expect(accept).to_have_attribute("aria-disabled", "false")
    page.picture("journey-accept-all")
    accept.click()
    expect(approval).to_contain_text(f"{picture}&again")
    allow("Reject")
    page.wait_for_answer()

    assert page.sources()[:3] == ["price = 12\nprice + 1", "rows = [1]", "names = ['a']"]
    assert ours[1] not in page.ids()
    assert set(sink.hits) == {"/chart.png?total=42"}
    expect(marked).to_have_count(0)
    page.open_beside(other)
    assert page.sources() == ["untouched = True"]


def test_in_the_panel_each_text_is_read_and_allowed_with_a_button(page: NotebookPage) -> None:
    project = page.lab.server.folder / "colleague"
    project.mkdir()
    long = "".join(f"{number}. Keep {'column names ' * 6}\n" for number in range(1, 40))
    (project / "AGENTS.md").write_text(f"{RULES}\n\n{long}", "utf-8")
    skill = project / ".agents" / "skills" / "quarter-report"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, "utf-8")
    page.write(text("One."), text("Two."))
    page.lab.show(page.lab.server.write_notebook("colleague/plan.ipynb", ["a = 1"]))
    page.show("Auto")
    page.ask("How much is it?")
    expect(page.last).to_contain_text("One.")
    allow = page.button("Allow AGENTS.md")
    expect(allow).to_be_visible()
    assert RULES not in str(page.script.requests)
    page.root.locator("summary", has_text="AGENTS.md").click()
    expect(page.root.get_by_text(RULES)).to_be_visible()
    allow.scroll_into_view_if_needed()
    look(page, "project-texts")
    assert "%agent" not in page.root.inner_text()
    allow.click()
    page.button("Not now: quarter-report").click()
    expect(page.root.get_by_text("Models read it from your next question on.")).to_be_visible()
    page.ask("And now?")
    expect(page.last).to_contain_text("Two.")
    assert RULES in str(page.script.requests[-1].body)
    assert "quarter-report" not in str(page.script.requests[-1].body)
