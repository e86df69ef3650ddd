"""Three ways of a prompt beside each other in the panel, and one of them becomes the kernel.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import pytest
from fake_service import Answer, Request, Wire, text, tool_call
from lab import SCREENSHOTS
from notebook_page import NotebookPage, shown
from playwright.sync_api import expect
from seen_page import use_theme

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are copied on Linux alone"),
]

WIDTHS = (300, 480, 900)
PROMPT = "How do the values grow? Plot them, and keep the scaled ones for later."
CODE = """import matplotlib.pyplot as plt
scaled = [value * {factor} for value in values]
plt.figure(figsize=(4, 2.4))
plt.{kind}(range(len(scaled)), scaled)
plt.title("scaled by {factor}")
plt.show()"""
KINDS = ("bar", "plot", "scatter")


def three_ways() -> Answer:
    """Each way draws another plot; what it says depends on what it drew."""
    numbers = itertools.count()

    def answer(request: Request) -> Wire:
        said = str(request.messages)
        factors = [factor for factor in (1, 10, 100) if f"value * {factor} " in said]
        if factors:
            words = (
                f"The values grow **evenly**; scaled by {factors[0]} they end at "
                f"`{3 * factors[0]}`.\n\n- They are in `scaled`.\n- None is missing."
            )
            return text(words)(request)
        number = next(numbers)
        code = CODE.format(factor=10**number, kind=KINDS[number])
        title = f"Plot the values scaled by {10**number}"
        return tool_call("run_cell", {"code": code, "title": title}, id=f"way_{number}")(request)

    return answer


@pytest.fixture
def panel(page: NotebookPage) -> Iterator[NotebookPage]:
    yield page
    use_theme(page.lab, "light")  # the server remembers it


def test_three_ways_are_compared_and_the_one_that_is_kept_is_the_kernel(
    panel: NotebookPage,
) -> None:
    panel.write(*[three_ways()] * 6)
    panel.start("values = [1, 2, 3]", "print(scaled, values)")
    panel.lab.run_cell(0)
    panel.prompt.fill(PROMPT)
    names = {
        "models": ["scripted", "small", "a-model-with-quite-a-long-name/of-somebody-2026-11-27"]
    }
    panel.lab.page.route("**/cellwright/v1/models*", lambda route: route.fulfill(json=names))
    panel.button("Try several ways").click()
    panel.root.get_by_role("checkbox", name="small").check()
    panel.look("ways-menu", WIDTHS)
    panel.root.get_by_role("checkbox", name="small").uncheck()
    panel.button("Try 3 ways").click()
    ways = panel.root.get_by_role("region", name="Ways to choose from")
    ways.wait_for()
    panel.root.screenshot(path=SCREENSHOTS / "ways-working.png")
    expect(ways.get_by_role("status")).to_have_text("Keep the way that you like best")
    expect(ways.get_by_role("img")).to_have_count(3)
    panel.look("ways-over", WIDTHS)
    assert len(panel.sources()) == 2
    panel.lab.run_cell(1)
    assert "NameError" in shown(panel.lab.cells()[1])

    way = ways.get_by_role("listitem").filter(has_text="scaled by 10 they")
    way.get_by_role("button", name="Keep").click()
    expect(ways).to_have_count(0)
    expect(panel.last).to_contain_text("scaled by 10 they end at 30")
    expect(panel.cell(2).locator("img")).to_be_visible()
    assert [source.split("\n")[0] for source in panel.sources()] == [
        "values = [1, 2, 3]",
        "print(scaled, values)",
        CODE.split("\n")[0],
    ]
    panel.look("ways-kept", WIDTHS)
    panel.lab.run_cell(1)
    assert shown(panel.lab.cells()[1]).strip() == "[10, 20, 30] [1, 2, 3]"
    panel.write(text("It goes on."))
    panel.answer("And now?")
    assert "scaled by 10 they end at" in panel.script.last()
    panel.lab.execute("notebook:undo-cell-action")
    assert len(panel.sources()) == 2
