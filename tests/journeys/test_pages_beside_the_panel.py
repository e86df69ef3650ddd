"""Every page opened in one window with the panel: its boxes are where a designer put them.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser.test_runs_page import write_results
from fake_service import text
from notebook_page import NotebookPage
from panel_page import PANEL, call
from playwright.sync_api import Locator, ViewportSize, expect
from seen_page import use_theme

pytestmark = pytest.mark.browser

KEEPING, RUNS = "#cellwright-keeping", "#cellwright-runs"
VIEWPORTS: dict[str, ViewportSize] = {
    "narrow": {"width": 960, "height": 800},
    "wide": {"width": 1680, "height": 1000},
}
HOLE_PIXELS = 90
"""More empty room than this between two things of a page is a hole."""

FAULTS = """([root, hole]) => {
    const page = document.querySelector(root);
    const frame = page.getBoundingClientRect();
    const name = element => `${element.tagName}.${element.className} ${element.ariaLabel ?? ''}`;
    const isSeen = element => element.checkVisibility({ visibilityProperty: true })
        && !element.closest('.cw-hidden, .cw-skip');
    const boxOf = element => element.getBoundingClientRect();
    const seen = [...page.querySelectorAll('*')].filter(isSeen);
    const faults = [];

    // fields are as wide and high as what is typed into them needs
    const texts = 'input[type=search], input[type=text], input:not([type]), textarea';
    for (const field of seen.filter(element => element.matches(`${texts}, select`))) {
        const { width, height } = boxOf(field);
        const least = field.matches('select') ? 60 : 100;
        const most = field.matches('textarea') ? 400 : 48;
        if (width < least || height < 22 || height > most) {
            faults.push(`field ${Math.round(width)} x ${Math.round(height)}: ${name(field)}`);
        }
    }

    // what can be pressed or typed into lies beside other such things, and within the page
    const parts = seen.filter(element =>
        element.matches('button, input, select, textarea, a[href]') && boxOf(element).width > 1);
    parts.forEach((one, index) => {
        const box = boxOf(one);
        const isOut = box.left < frame.left - 1 || box.right > frame.right + 1;
        if (isOut && !one.closest('.cw-page-scroller')) {
            faults.push(`outside: ${name(one)}`);
        }
        for (const other of parts.slice(index + 1)) {
            const next = boxOf(other);
            const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
            const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
            const isInside = one.contains(other) || other.contains(one);
            // the row of buttons below a form floats above the form
            const isAbove = one.closest('.cw-form-end') !== other.closest('.cw-form-end');
            if (across > 2 && down > 2 && !isInside && !isAbove) {
                faults.push(`overlap: ${name(one)} and ${name(other)}`);
            }
        }
    });

    // nothing spills over its box
    for (const element of seen) {
        const style = getComputedStyle(element);
        const spills = element.scrollWidth > element.clientWidth + 6 && element.clientWidth > 1;
        if (spills && style.display !== 'inline' && style.overflowX === 'visible'
            && !element.closest('svg, table')
            && !element.querySelector('.cw-table, .cw-pair')) {
            faults.push(`spilled: ${name(element)}`);
        }
    }

    // from the first thing of the page to the last there is no hole
    const isLeaf = element => element.matches('button, input, select, textarea, svg, img, pre, tr')
        || [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
    const spans = seen.filter(isLeaf).map(boxOf).filter(box => box.height > 0)
        .sort((one, other) => one.top - other.top);
    let bottom = frame.top;
    for (const box of spans) {
        if (box.top - bottom > hole) {
            faults.push(`hole of ${Math.round(box.top - bottom)} above ${Math.round(box.top)}`);
        }
        bottom = Math.max(bottom, box.bottom);
    }

    // words of a table begin where their column does, numbers end there
    for (const cell of seen.filter(element => element.matches('.cw-table th, .cw-table td'))) {
        const { textAlign } = getComputedStyle(cell);
        const isEnd = cell.matches('.cw-number, .cw-row-actions');
        if (textAlign !== (isEnd ? 'end' : 'start')) {
            faults.push(`${textAlign}: ${name(cell)}`);
        }
    }
    return [...new Set(faults)];
}"""
CLASHING = """.cw-filters { display: flex; flex-direction: column; min-inline-size: 0; }
.cw-filters input { flex: none; inline-size: 16px; block-size: 16px; }
.cw-table :is(th, td) { text-align: end; white-space: nowrap; }"""
"""What sheets of the panel once said of classes that the pages use."""
MEMORIES = ("Prices are in euros.", "The fiscal year begins in April, and reports count from then.")
ASSISTANT = 'description = "Looks for mistakes in data"\ninstructions = "Check units first."\n'


@pytest.fixture
def page(page: NotebookPage) -> Iterator[NotebookPage]:
    """The shared page, given back as it was."""
    before = page.lab.page.viewport_size
    yield page
    if before is not None:
        page.lab.page.set_viewport_size(before)
    use_theme(page.lab, "light")  # the server remembers it


def look(page: NotebookPage, root: str, state: str, hole: int = HOLE_PIXELS) -> None:
    """Find what is out of place, narrow and wide, and keep pictures in light and dark."""
    found: list[Any] = []
    for width, size in VIEWPORTS.items():
        page.lab.page.set_viewport_size(size)
        page.lab.page.wait_for_timeout(150)
        for theme in ("light", "dark"):
            use_theme(page.lab, theme)
            page.lab.screenshot(f"beside-{state}-{width}-{theme}")
        found += [f"{width}: {fault}" for fault in page.lab.page.evaluate(FAULTS, [root, hole])]
    use_theme(page.lab, "light")
    assert found == [], state


def tab(root: Locator, name: str) -> None:
    root.get_by_role("tab", name=re.compile(f"^{name}")).click()


def test_every_page_keeps_its_shape_beside_the_panel(page: NotebookPage) -> None:
    folder = page.lab.server.folder
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes" / "prices.md").write_text("# Prices\n\nA penguin costs 12 euros.\n", "utf-8")
    assistants = folder / ".cellwright" / "assistants"
    assistants.mkdir(parents=True)
    (assistants / "reviewer.toml").write_text(ASSISTANT, "utf-8")
    write_results(folder)
    frame = "import pandas\npandas.DataFrame({'island': ['Biscoe', 'Dream'], 'mass': [4716, 371]})"
    page.write(call("run_cell", code=frame, title="Weigh"), text("**Biscoe**, by far."))
    page.start("x = 1")
    page.answer("Which island has the heaviest penguins?")
    # all of the panel's style sheets are at work
    page.button("Chats").click()
    page.root.get_by_role("button", name=re.compile("^More for")).first.wait_for()
    page.button("Back to the chat").click()
    see_what_is_kept(page)
    see_runs(page)
    page.lab.execute("cellwright:keeping", {"part": "memory"})
    look(page, PANEL, "panel", 2_000)  # a short conversation leaves room above the prompt


def see_what_is_kept(page: NotebookPage) -> None:
    root = page.lab.page.locator(KEEPING)
    page.lab.execute("cellwright:keeping", {"part": "memory"})
    look(page, KEEPING, "memory-empty")
    for fact in MEMORIES:
        root.get_by_role("textbox", name="New fact").fill(fact)
        root.get_by_role("button", name="Add", exact=True).click()
        expect(root.get_by_role("row").filter(has_text=fact)).to_be_visible()
    check_that_a_clash_is_found(page)
    root.get_by_role("button", name=f'Forget "{MEMORIES[0]}"').click()
    look(page, KEEPING, "memory")
    tab(root, "Library")
    root.get_by_role("textbox", name="File, folder or address").fill("notes")
    root.get_by_role("button", name="Add to the library").click()
    expect(root.get_by_role("row").filter(has_text="prices.md")).to_be_visible()
    root.get_by_role("searchbox", name="Search the library").fill("penguin")
    expect(root.get_by_role("listitem").filter(has_text="12 euros")).to_be_visible()
    look(page, KEEPING, "library")
    tab(root, "Usage")
    root.get_by_role("textbox", name="Dollars a month").fill("5")
    root.get_by_role("button", name="Set").click()
    expect(root.get_by_text("of $5.00 in")).to_be_visible()
    look(page, KEEPING, "usage")
    tab(root, "Tools")
    expect(root.get_by_text("Tools that were added")).to_be_visible()
    look(page, KEEPING, "tools")
    tab(root, "Assistants")
    expect(root.get_by_role("button", name="reviewer")).to_be_visible()
    look(page, KEEPING, "assistants")
    root.get_by_role("button", name="reviewer").click()
    expect(root.get_by_role("textbox", name="Instructions")).to_be_visible()
    look(page, KEEPING, "assistant")


def check_that_a_clash_is_found(page: NotebookPage) -> None:
    style = page.lab.page.add_style_tag(content=CLASHING)
    found: list[str] = page.lab.page.evaluate(FAULTS, [KEEPING, HOLE_PIXELS])
    assert any(fault.startswith("field 42") for fault in found), found
    assert any(fault.startswith("end: TD") for fault in found), found
    assert any(fault.startswith("hole") for fault in found), found
    style.evaluate("tag => tag.remove()")


def see_runs(page: NotebookPage) -> None:
    root = page.lab.page.locator(RUNS)
    page.lab.execute("cellwright:runs")
    expect(root.get_by_role("row").filter(has_text="slow-dear")).to_be_visible()
    look(page, RUNS, "benchmarks")
    root.get_by_role("button", name="qwen-small").click()
    expect(root.get_by_text("20 samples")).to_be_visible()
    look(page, RUNS, "samples")
    root.locator("section[aria-label=Samples] tbody").get_by_role("button").first.click()
    for part in ("Messages", "Cells", "Scores"):
        tab(root, part)
        look(page, RUNS, f"sample-{part.lower()}")
    tab(root, "Benchmarks")
    for agent in ("gpt-large", "qwen-small"):
        root.get_by_role("checkbox", name=agent).check()
    root.get_by_role("button", name="Compare (2 of 2)").click()
    first = root.get_by_role("tabpanel").get_by_role("rowheader").first
    expect(first).to_be_visible()
    look(page, RUNS, "comparison")
    first.get_by_role("button").click()
    expect(root.get_by_text("They part at step 3 of 5.")).to_be_visible()
    look(page, RUNS, "pair")
    tab(root, "Cost and accuracy")
    expect(root.get_by_role("button", name="gpt-large: 85.0% passed")).to_be_visible()
    look(page, RUNS, "plot")
    tab(root, "Recorded runs")
    asked = root.get_by_role("button", name="Which island has the heaviest penguins?").first
    expect(asked).to_be_visible()
    look(page, RUNS, "recorded")
    asked.click()
    expect(root.get_by_role("tab", name="Messages")).to_be_visible()
    look(page, RUNS, "run")
