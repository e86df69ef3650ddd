"""The panel in every state, in light and dark, narrow and wide: nothing spills over, all is read.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_service import error, text, tool_call, tool_calls
from lab import SCREENSHOTS, LabPage
from notebook_page import NotebookPage
from panel_page import PANEL, PanelPage, call, slowly
from playwright.sync_api import expect
from seen_page import themes, use_theme, violations

pytestmark = pytest.mark.browser

WIDTHS = (320, 480)
SPILLED = """panel => Array.from(document.querySelectorAll(`${panel}, ${panel} *`))
    .filter(element => {
        const style = getComputedStyle(element);
        // icons reach a little over the edge, so that what they show is in line with it
        return element.scrollWidth > element.clientWidth + 6
            && style.display !== 'inline' && style.overflowX === 'visible'
            && element.clientWidth > 1;
    })
    .map(element => `${element.tagName}.${element.className}`)"""
OUTSIDE = """panel => {
    const frame = document.querySelector(panel).getBoundingClientRect();
    return Array.from(document.querySelector(panel).querySelectorAll('button, input, textarea'))
        .filter(element => element.checkVisibility({ visibilityProperty: true }))
        .filter(element => !element.closest('.cw-skip, .cw-hidden'))
        .map(element => [element, element.getBoundingClientRect()])
        .filter(([, box]) => box.width)
        .filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1)
        .map(([element]) => element.outerHTML.slice(0, 120));
}"""


@pytest.fixture
def panel(page: NotebookPage) -> Iterator[NotebookPage]:
    yield page
    use_theme(page.lab, "light")  # the server remembers it


def look(panel: PanelPage, state: str) -> None:
    """Keep a picture of the panel for each theme and width, and find what does not fit or read."""
    page = panel.lab.page
    for index, theme in enumerate(themes(panel.lab)):
        use_theme(panel.lab, theme)
        for width in sorted(WIDTHS, key=lambda width: abs(width - panel.width)):
            panel.widen(width)
            page.wait_for_timeout(50)
            panel.root.screenshot(path=SCREENSHOTS / f"look-{state}-{width}-{theme}.png")
            assert page.evaluate(SPILLED, PANEL) == [], f"{state} {width} {theme}"
            assert page.evaluate(OUTSIDE, PANEL) == [], f"{state} {width} {theme}"
        # what it looks for depends on colours and names, and not on the width
        found = violations(panel.lab, PANEL, only_colours=index > 0)
        assert found == [], f"{state} {theme}"


CODE = (
    "import pandas\nframe = pandas.DataFrame({'island': ['Biscoe', 'Dream'], 'mass': [4716, 371]})"
    "\nframe.groupby('island')['mass'].agg(['mean', 'median', 'std']).round(1).sort_values('mean')"
)
LONG = (
    "## What the data says\n\nThe **penguins** of *Biscoe* are the heaviest, see `frame` and "
    "[the source](https://example.com/penguins).\n\n| island | mean | median | std | count |\n"
    "|---|---:|---:|---:|---:|\n| Biscoe | 4716.0 | 4775.0 | 782.9 | 168 |\n"
    "| Dream | 3712.9 | 3687.5 | 416.6 | 124 |\n\n1. Load the data.\n2. Group it by island.\n   - "
    "with the mean\n   - and the median\n\n```python\nframe.groupby('island')['mass'].mean()"
    ".sort_values(ascending=False).to_frame('mean_body_mass_in_grams')\n```\n\n> Mind that some "
    "rows have no mass.\n\nThe spread is $s = \\sqrt{\\frac{1}{n-1} \\sum (x_i - \\bar x)^2}$."
)


def test_it_is_tidy_empty_streaming_answered_and_with_its_tool_cards(panel: NotebookPage) -> None:
    panel.write(
        call("run_cell", code=CODE, title="Compare the body mass of the islands"),
        call("run_cell", code="frame['weight'].mean()", title="Mean weight"),
        call("list_variables"),
        call(
            "run_cell",
            code="frame['mass'].mean()",
            title="Mean mass",
            text="A look at the columns.",
        ),
        text(LONG),
        slowly(LONG, 60),
    )
    name = panel.lab.server.write_notebook("penguins-of-the-palmer-archipelago.ipynb", ["x = 1"])
    panel.open_beside(name)
    panel.show()
    look(panel, "empty")
    panel.root.get_by_role("button", name="Mode:").click()
    look(panel, "modes")
    panel.lab.page.keyboard.press("Escape")
    panel.show("Auto")
    panel.answer("Which island has the heaviest penguins, and by how much? Show me the numbers.")
    look(panel, "answer")
    panel.root.get_by_role("button", name=re.compile("4 steps")).click()
    panel.root.get_by_role("button", name=re.compile("Compare the body mass.*Done")).click()
    panel.root.get_by_role("button", name=re.compile("Mean weight.*Failed")).click()
    panel.root.locator(".cw-scroller").evaluate("box => { box.scrollTop = 60; }")
    look(panel, "cards")
    panel.ask("Say it again, slowly.")
    expect(panel.last).to_contain_text("heaviest")
    panel.ask("And the numbers by year and by sex, each in a table of its own, please.")
    panel.ask("Thanks.")
    expect(panel.queue).to_have_count(2)
    look(panel, "queue")
    panel.root.locator(".cw-send.cw-mod-stop").click()
    expect(panel.last).to_contain_text("Stopped")
    look(panel, "stopped")


def test_it_is_tidy_while_it_asks(panel: NotebookPage) -> None:
    edits: list[tuple[str, dict[str, Any]]] = [
        ("edit_cell", {"cell_id": f"cell-{number}", "source": f"x = {number + 10}\ny = 2"})
        for number in range(2)
    ]
    panel.write(
        call("run_cell", code=CODE, title="Compare the body mass of the islands"),
        call("read_notebook"),
        tool_calls(edits),
        text("Done."),
    )
    panel.start("x = 0", "x = 1", mode="")
    panel.ask("Compare the islands.")
    expect(panel.button("Approve")).to_have_attribute("aria-disabled", "false")
    look(panel, "approval")
    panel.button("Reject and say what to do instead").click()
    look(panel, "reject")
    panel.button("Cancel").click()
    panel.button("Reject").click()
    expect(panel.button("Accept all 2 edits")).to_have_attribute("aria-disabled", "false")
    look(panel, "edits")
    panel.lab.screenshot("look-edits-page")


HIDES = "total = price * 1.19" + " " * 150 + "; import os; os.remove('penguins.csv')\n# \u202etrap"
NOTE = "## Chart\n\n![Sales by month](http://127.0.0.1:9/chart.png?of=" + "0123456789" * 12 + ")"
NOT_WHOLE = """panel => [...document.querySelectorAll(`${panel} .cw-mod-asking .cw-code pre,
        ${panel} .cw-mod-asking .cw-diff, ${panel} .cw-mod-asking .cw-diff *,
        ${panel} .cw-approve-all .cw-code pre, .cw-cell-diff *`)]
    .filter(element => getComputedStyle(element).display !== 'inline')
    .filter(element => element.scrollWidth > element.clientWidth + 1
        || element.scrollHeight > element.clientHeight + 1)
    .map(element => element.outerHTML.slice(0, 120))"""


def test_13_4_every_approval_shows_all_that_it_allows(panel: NotebookPage, tmp_path: Path) -> None:
    """The cell, the change, the whole code and the verb, down to the narrowest panel."""
    sample = Path(__file__).parents[1] / "outside" / "mcp_sample_server.py"
    connect = ("tools", "connect", "sample", "--", sys.executable, str(sample), "stdio")
    home = {**os.environ, "CELLWRIGHT_HOME": str(panel.lab.server.home)}
    command = Path(sys.executable).with_name("cellwright")
    subprocess.run([command, *connect], env=home, check=True)
    changed = "price = 12\ntotal = price * 1.19\nprint(f'{total:.2f}')"
    asked = {
        "run": call("run_cell", code=HIDES, title="Compute the total"),
        "edit": call("edit_cell", cell_id="cell-0", source=changed),
        "edit-and-run": call("edit_cell", cell_id="cell-0", source=changed, run=True),
        "insert": call("add_cell", source="## Totals\n\nAll **prices** are net.", after="cell-1"),
        "insert-image": call("add_cell", source=NOTE),
        "move": call("arrange_cell", cell_id="cell-2", action="move", after="cell-0"),
        "delete": call("arrange_cell", cell_id="cell-1", action="delete"),
        "install": tool_call("install_package", {"name": "polars"}, id="call_install"),
        "mcp": call("sample__fail", words="All of my prices, please: " + "12.50, " * 30),
    }
    verbs = {
        **{"run": "Approve", "edit": "Accept", "edit-and-run": "Accept and run"},
        **{"insert": "Insert cell", "insert-image": "Insert cell", "move": "Move cell"},
        **{"delete": "Delete cell", "install": "Install", "mcp": "Approve"},
    }
    panel.write(call("read_notebook"), *asked.values(), text("Done."))
    cells = ("price = 10\ntotal = price\nprint(total)", "rows = [1, 2, 3]", "# the rest\nz = 3")
    panel.start(*cells, mode="Ask")
    panel.lab.run_cell(0)
    panel.ask("Compute the total.")
    for kind, verb in verbs.items():
        approve = panel.button(verb, within=panel.root.locator(".cw-approval"))
        expect(approve).to_have_attribute("aria-disabled", "false")
        look(panel, f"asked-{kind}")
        panel.widen(320)
        narrow = panel.lab.page.add_style_tag(content=".cw-scroller { max-inline-size: 260px }")
        for findings in (NOT_WHOLE, SPILLED):
            assert panel.lab.page.evaluate(findings, PANEL) == [], kind
        panel.root.screenshot(path=SCREENSHOTS / f"look-asked-{kind}-260.png")
        narrow.evaluate("style => style.remove()")
        panel.lab.screenshot(f"look-asked-{kind}-page")
        panel.button("Reject", within=panel.root.locator(".cw-approval")).click()
    panel.wait_for_answer()


def test_it_is_tidy_when_something_is_wrong_or_missing(panel: NotebookPage) -> None:
    panel.write(
        error(401, "Incorrect API key provided: x. You can find your key in your account."),
        call("run_cell", code="name = input('What is the name of the column? ')"),
        text("Done."),
    )
    panel.start("x = 1")
    panel.answer("Hello?")
    look(panel, "error")
    panel.button("Model settings").first.click()
    look(panel, "settings")
    panel.button("Back to the chat").click()
    panel.ask("Ask me.")
    expect(panel.root.get_by_label("What is the name of the column?")).to_be_visible()
    look(panel, "input")


def test_it_is_tidy_with_chips_completion_and_the_list_of_chats(panel: NotebookPage) -> None:
    panel.write(text("Fine."), text("Good."), text("Well."))
    panel.start("penguins = [1, 2]", "# Load\nz = 1", mode="")
    panel.lab.run_cell(0)
    for words in ("Which penguins are heaviest on the islands of the archipelago?", "Plot them."):
        panel.answer(words)
        panel.button("New chat").click()
    panel.prompt.click()
    panel.lab.page.keyboard.type("Look at #Load")
    panel.root.get_by_role("option").first.wait_for()
    panel.lab.page.keyboard.press("Enter")
    panel.lab.page.keyboard.type(" and @peng")
    panel.root.locator(".cw-summary").wait_for()
    look(panel, "completion")
    panel.lab.page.keyboard.press("Enter")
    look(panel, "chips")
    panel.button("Chats").click()
    panel.root.get_by_role("button", name=re.compile("^More for")).first.wait_for()
    look(panel, "sessions")
    panel.root.get_by_role("button", name=re.compile("^More for")).first.click()
    look(panel, "sessions-menu")
    panel.root.get_by_role("menuitem", name="Delete").click()
    look(panel, "sessions-delete")
    panel.button("Back to the chat").click()  # the next test opens a notebook beside this one


def test_it_is_tidy_without_a_key(lab: LabPage) -> None:
    demo = PanelPage(lab)
    demo.open(demo.lab.server.write_notebook("demo.ipynb", ["x = 1"]))
    expect(demo.root.get_by_text("The demo model answers.")).to_be_visible()
    look(demo, "key")
    demo.button("Use your own model").click()
    expect(demo.root.get_by_label("Provider")).to_be_visible()
    look(demo, "key-form")
    use_theme(lab, "light")


@pytest.mark.timeout(240)
def test_what_an_mcp_server_asks_is_a_form_with_buttons(panel: NotebookPage) -> None:
    """A real server asks while it works; under the answer the buttons keep to one line."""
    sample = Path(__file__).parents[1] / "outside" / "mcp_sample_server.py"
    home = {**os.environ, "CELLWRIGHT_HOME": str(panel.lab.server.home)}
    command = Path(sys.executable).with_name("cellwright")
    # The server is shared, and a test that is run again finds what it connected before.
    subprocess.run([command, "tools", "remove", "desk"], env=home, capture_output=True, check=False)
    connect = ("tools", "connect", "desk", "--", sys.executable, str(sample), "stdio")
    subprocess.run([command, *connect], env=home, check=True)
    panel.write(call("desk__book"), text("Booked for **3**."))
    panel.start("x = 1", mode="Auto")
    panel.ask("Book a table.")
    form = panel.root.get_by_role("form", name='The MCP server "desk" asks:')
    expect(form).to_be_visible(timeout=60_000)  # the server starts with the question
    look(panel, "mcp-form")
    form.get_by_label("Guests").fill("12")
    form.get_by_label("Name").fill("Ada")
    panel.button("Accept", within=form).click()
    expect(form.get_by_role("alert")).to_contain_text("12 is greater than the maximum of 8")
    look(panel, "mcp-form-wrong")
    form.get_by_label("Guests").fill("3")
    panel.button("Accept", within=form).click()
    panel.wait_for_answer()
    assert "accept" in str(panel.script.requests[-1].messages)
    panel.widen(300)
    line = panel.last.locator(".cw-footer-line").bounding_box()
    assert line is not None
    assert line["height"] < 36, "the footer has more than one line"
    panel.button("Good answer", within=panel.last).click()
    comment = panel.last.get_by_role("textbox", name="Comment on the answer")
    expect(comment).to_be_focused()
    look(panel, "footer")
    panel.prompt.focus()
    expect(comment).to_have_count(0)
    panel.root.screenshot(path=SCREENSHOTS / "look-footer-300.png")
