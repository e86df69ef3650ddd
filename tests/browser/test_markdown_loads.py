"""Markdown of the agent makes a browser load nothing that the person has not allowed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import Contexts
from browser.test_painting import open_with
from fake_service import FakeService, text, tool_call, tool_calls
from lab import LabServer
from notebook_page import NotebookPage, count_until, loaded_page
from panel_page import Script, call
from playwright.sync_api import expect
from sink import PAYLOADS, Sink

from cellwright.text.browser_loads import browser_loads

EXAMPLES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[2] / "js/test/markdown/loads.json").read_text("utf-8")
)
"""The same as the unit tests of both checks have."""

pytestmark = pytest.mark.browser

SETTLED_MILLISECONDS = 1_500
"""JupyterLab draws changed Markdown a second later."""


@pytest.fixture(scope="module")
def module_sink() -> Iterator[Sink]:
    with Sink().running() as sink:
        yield sink


@pytest.fixture
def sink(module_sink: Sink) -> Sink:
    module_sink.hits.clear()
    return module_sink


def settle(page: NotebookPage) -> None:
    page.lab.page.wait_for_timeout(SETTLED_MILLISECONDS)


def payloads(sink: Sink, *, loads: bool) -> list[str]:
    """Those that are taken to load something, or those that are not."""
    named = [payload.replace("evil.test", sink.host) for payload in PAYLOADS]
    return [payload for payload in named if bool(browser_loads(payload)) == loads]


def answer_approval(page: NotebookPage, verb: str) -> None:
    button = page.button(verb, within=page.root.locator(".cw-approval"))
    expect(button).to_have_attribute("aria-disabled", "false")
    button.click()


def test_what_is_taken_for_harmless_loads_nothing_in_jupyterlab(
    page: NotebookPage, sink: Sink
) -> None:
    """The other side of the table: JupyterLab's own renderer draws them all, headings too."""
    harmless = payloads(sink, loads=False)
    assert len(harmless) > 30
    harmless += EXAMPLES["harmless"]
    sources = [f"{payload}\n\nend" for payload in harmless]
    # In a heading there is no fenced code.
    sources += [f"# {payload}" for payload in harmless if not browser_loads(f"# {payload}")]
    cells = [("add_cell", {"source": source.replace("evil.test", sink.host)}) for source in sources]
    page.write(tool_calls(cells), text("Added."))
    page.start("x = 1", mode="Edits")
    page.answer()
    assert len(page.ids()) == 1 + len(cells)
    drawn = page.lab.page.locator(".jp-MarkdownCell .jp-MarkdownOutput")
    expect(drawn.last).to_be_visible()
    settle(page)
    assert sink.hits == []


@pytest.mark.parametrize("mode", ["Edits", "Auto"])
def test_13_5_what_loads_is_asked_about_with_its_address(
    page: NotebookPage, sink: Sink, mode: str
) -> None:
    loading = payloads(sink, loads=True)
    assert len(loading) > 40
    page.write(
        *(call("add_cell", source=payload) for payload in (loading[0], *loading[-3:])),
        text("Then not."),
    )
    page.start("x = 1", mode=mode)
    page.ask()
    for payload in (loading[0], *loading[-3:]):
        approval = page.root.locator(".cw-approval")
        for address in browser_loads(payload):
            expect(approval).to_contain_text(address)
        answer_approval(page, "Reject")
    page.wait_for_answer()
    settle(page)
    assert page.sources() == ["x = 1"]
    assert sink.hits == []


def test_one_that_is_allowed_is_loaded_and_an_edit_is_asked_about_too(
    page: NotebookPage, sink: Sink
) -> None:
    picture = f"![Chart](http://{sink.host}/chart.png?of=everything)"
    page.write(
        call("add_cell", source="# Chart"),
        call("read_notebook"),
        text("Added."),
    )
    page.start("x = 1", mode="Edits")
    page.answer()
    added = page.ids()[1]
    page.write(
        call("read_notebook"),
        call("edit_cell", cell_id=added, source=f"# {picture}"),
        call("edit_cell", cell_id=added, source=f"# Chart\n\n{picture}"),
        text("Changed."),
    )
    page.ask("Put the chart in.")
    answer_approval(page, "Reject")
    expect(page.root.locator(".cw-mod-asking .cw-diff ins").last).to_contain_text(picture)
    settle(page)
    assert sink.hits == []
    assert page.sources()[1] == "# Chart"
    answer_approval(page, "Accept")
    page.wait_for_answer(2)
    settle(page)
    assert sink.hits == ["/chart.png?of=everything"]


def test_cells_that_are_offered_come_as_raw_cells_and_stay_so(
    page: NotebookPage, sink: Sink
) -> None:
    """Inserted later, undone and done again, saved and loaded again: nobody is asked anew."""
    picture = f"# ![Chart](http://{sink.host}/offered.png)"
    page.write(
        call("add_cell", source=picture),
        call("run_cell", code=count_until("offered")),
        text("Done."),
    )
    name = page.start("x = 1", mode="Edits")
    page.ask()
    answer_approval(page, "Insert cell")
    answer_approval(page, "Approve")
    expect(page.output(2)).to_contain_text("1")
    page.lab.page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
    page.go_on("offered")
    page.wait_for_answer()
    sink.hits.clear()  # the person had allowed that
    page.open_beside(name)
    page.button("Insert", within=page.missing).click()
    expect(page.missing).to_have_count(0)
    assert [cell["cell_type"] for cell in page.lab.cells()] == ["code", "raw", "code"]
    page.lab.execute("notebook:undo-cell-action")
    page.lab.execute("notebook:redo-cell-action")
    assert page.sources()[1] == picture
    page.lab.save()
    page.close_all()
    page.open_beside(name)
    page.lab.execute("toc:show-panel")
    assert len(page.ids()) == 3
    settle(page)
    assert sink.hits == []
    page.lab.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    page.lab.execute("notebook:change-cell-to-markdown")
    page.lab.execute("notebook:run-cell")
    settle(page)
    assert set(sink.hits) == {"/offered.png"}, "the person has turned it into Markdown"
    page.lab.execute("filebrowser:activate")


@pytest.fixture(scope="module")
def painted_page(
    contexts: Contexts, painting_server: LabServer, script: Script
) -> Iterator[NotebookPage]:
    with loaded_page(contexts.of(painting_server), painting_server, script) as page:
        yield page
        page.close_all()


def test_cells_below_agent_cells_are_asked_about_where_the_person_types(
    painted_page: NotebookPage, sink: Sink, tmp_path: Path
) -> None:
    lab = painted_page.lab
    refused, allowed = (f"http://{sink.host}/{name}.png" for name in ("refused", "allowed"))
    answers = [
        tool_call("add_cell", {"source": f"![x]({refused})"}, id="c1"),
        tool_call("add_cell", {"source": f"![x]({allowed})"}, id="c2"),
        text("Done."),
    ]
    with FakeService(answers) as service:
        open_with(lab, service, tmp_path, "%%agent --mode edits\nDraw.")
        lab.start_cell(1)
        asked = lab.page.locator(".jp-Notebook-cell").nth(1)
        box = asked.locator(".jp-Stdin-input").last
        for address, answer in ((refused, "n"), (allowed, "y")):
            expect(asked).to_contain_text(f'your browser would load "{address}"')
            settle(painted_page)  # the box that was answered has gone by then
            box.wait_for()
            assert sink.hits == []
            box.fill(answer)
            box.press("Enter")
        lab.page.get_by_text("Done.").first.wait_for()
        lab.wait_idle()
    settle(painted_page)
    assert sink.hits == ["/allowed.png"]
    assert [cell["cell_type"] for cell in lab.cells()][2:] == ["markdown"]
