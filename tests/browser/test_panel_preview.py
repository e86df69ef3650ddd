"""A call is tried in a copy of the kernel before the person allows it, and nothing happens yet.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fake_service import text, tool_call
from kernels.test_sandbox import CAN_SANDBOX
from notebook_page import NotebookPage, shown
from playwright.sync_api import expect
from seen_page import use_theme

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]

WIDTHS = (260, 480, 900)
CODE = """import matplotlib.pyplot as plt
import urllib.request
values = [value * 10 for value in values]
with open("scaled.csv", "w") as file:
    file.write("\\n".join(map(str, values)))
plt.figure(figsize=(4, 2.4))
plt.plot(values)
plt.show()
try:
    urllib.request.urlopen("http://prices.example/today", timeout=2)
except OSError as error:
    print("no prices:", error)"""


@pytest.fixture
def panel(page: NotebookPage) -> Iterator[NotebookPage]:
    yield page
    use_theme(page.lab, "light")  # the server remembers it


def test_a_person_looks_what_a_cell_would_do_and_then_lets_it_run(panel: NotebookPage) -> None:
    panel.write(
        tool_call("run_cell", {"code": CODE, "title": "Scale the values and save them"}),
        text("They are scaled."),
    )
    panel.start(
        "values = [1, 2, 3]", "import os; print(values, os.path.exists('scaled.csv'))", mode="Ask"
    )
    panel.lab.run_cell(0)
    panel.ask("Scale the values by ten and save them.")
    panel.button("Approve").wait_for()
    panel.look("preview-asked", WIDTHS)
    panel.button("Preview").click()
    tried = panel.root.get_by_role("region", name="Preview")
    expect(tried.get_by_role("img")).to_be_visible()
    expect(tried).to_contain_text("Nothing of this has happened yet.")
    for found in ("values", "scaled.csv", "prices.example:80"):
        expect(tried.locator("code", has_text=found).first).to_be_visible()
    panel.look("preview-found", WIDTHS)
    panel.lab.run_cell(1)
    assert shown(panel.lab.cells()[1]).strip() == "[1, 2, 3] False"

    panel.button("Approve").click()
    expect(panel.last).to_contain_text("They are scaled.")
    panel.lab.run_cell(1)
    assert shown(panel.lab.cells()[1]).strip() == "[10, 20, 30] True"


SLOW = """import time
time.sleep(4)
values = [value * 10 for value in values]
open("kept.csv", "w").write(str(values))
print("scaled", len(values))
values"""


def test_a_person_keeps_the_result_of_a_preview_instead_of_waiting_again(
    panel: NotebookPage,
) -> None:
    panel.write(
        tool_call("run_cell", {"code": SLOW, "title": "Scale the values and save them"}),
        text("They are scaled."),
    )
    panel.start(
        "values = [1, 2, 3]", "import os; print(values, os.path.exists('kept.csv'))", mode="Ask"
    )
    panel.lab.run_cell(0)
    panel.ask("Scale the values by ten and save them.")
    panel.button("Approve").wait_for()
    expect(panel.button("Keep result")).to_have_count(0)
    panel.button("Preview").click()
    panel.button("Keep result").wait_for()
    panel.look("preview-keep", WIDTHS)
    panel.lab.run_cell(1)
    assert shown(panel.lab.cells()[1]).strip() == "[1, 2, 3] False"

    panel.button("Keep result").click()
    expect(panel.root.get_by_text("something has run since")).to_be_visible()
    expect(panel.button("Keep result")).to_have_count(0)
    panel.look("preview-not-kept", WIDTHS)
    panel.button("Preview again").click()
    panel.button("Keep result").wait_for()
    began = time.monotonic()
    panel.button("Keep result").click()
    expect(panel.last).to_contain_text("They are scaled.")
    assert time.monotonic() - began < 3.5
    panel.look("preview-kept", WIDTHS)
    assert "scaled 3" in shown(panel.lab.cells()[2])
    panel.lab.run_cell(1)
    assert shown(panel.lab.cells()[1]).strip() == "[10, 20, 30] True"
