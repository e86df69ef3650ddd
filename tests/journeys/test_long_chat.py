"""An hour in one chat of the panel: it outgrows the model's window while approvals are open."""

from __future__ import annotations

import re
import secrets
import time

import pytest
from fake_service import error, text
from notebook_page import NotebookPage, wait_for_file
from panel_page import call
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9120 "
    "tokens. Please reduce the length of the messages."
)
ROWS = "Consider each of these rows: " + ", ".join(f"row {number} of many" for number in range(600))
NOT_ANSWERED = "Not answered: your next question goes without it."
WAITED_SECONDS = 4.0
SAVE = """async path => {
    const { contents } = window.jupyterapp.serviceManager;
    const model = await contents.get(path, { content: true });
    model.content.cells[0].source = 'y = 2';
    await contents.save(path, model);
}"""
"""As JupyterLab saves a notebook that is open in another tab."""


def turn_of(page: NotebookPage, words: str) -> Locator:
    """The turn that was asked in these words."""
    return page.turns.filter(has=page.lab.page.get_by_text(words))


def seconds_in(footer: Locator) -> float:
    """The time that a turn took, as its footer tells it."""
    found = re.match(r"([\d.]+)s", footer.inner_text())
    assert found is not None
    return float(found[1])


def test_a_chat_that_outgrows_the_model_keeps_every_prompt_card_approval_and_answer(
    page: NotebookPage,
) -> None:
    page.write(
        error(400, TOO_LONG, code="context_length_exceeded"),
        text("I considered them."),
        call("run_cell", code="total = 40 + 2\ntotal", title="Add it up"),
        text("It is 42."),
        text(""),
        text(""),
    )
    page.start("x = 1", mode="Ask")
    page.answer("Read the first part.")
    expect(page.last).to_contain_text(NOT_ANSWERED)

    # what nobody answered stays, and the model is not told of it
    page.answer(ROWS)
    expect(turn_of(page, "Read the first part.")).to_be_visible()
    expect(page.root.get_by_text(re.compile("replaced prompt"))).to_have_count(0)
    assert "Read the first part." not in page.script.last()

    # the history is made shorter before this one, which then asks for approval
    began = time.monotonic()
    page.ask(f"And the total? {ROWS}")
    approve = page.button("Approve")
    expect(approve).to_be_visible()
    line = page.root.get_by_text(re.compile("^Compacted: about"))
    expect(line).to_be_visible()
    asked = turn_of(page, "And the total?")
    expect(asked.get_by_text("total = 40 + 2")).to_be_visible()
    above, below = line.bounding_box(), asked.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"] + 1, "the line stands above the turn"
    page.picture("journey-compacted-asking")
    page.reload()
    expect(approve).to_be_visible()
    expect(turn_of(page, "And the total?")).to_be_visible()

    # the time that the person takes is no time of the run
    page.lab.page.wait_for_timeout(WAITED_SECONDS * 1000)
    expect(page.root.locator(".cw-phase-time")).to_have_text(re.compile(r"^\d+s$"))
    approve.click()
    page.wait_for_answer(3)
    took = time.monotonic() - began
    assert seconds_in(asked.locator(".cw-figures")) < took - WAITED_SECONDS
    expect(asked).to_contain_text("It is 42.")
    expect(asked.get_by_role("button", name=re.compile("Add it up.*Done"))).to_be_visible()
    assert page.sources() == ["x = 1", "total = 40 + 2\ntotal"]

    # an empty reply is told as one
    page.answer("And now?")
    expect(page.last).to_contain_text("gave no answer that could be used")
    expect(page.last).to_contain_text("The model sent an empty reply twice.")
    expect(page.turns).to_have_count(4)
    page.picture("journey-compacted-answered")


def test_a_picked_model_stays_and_another_notebook_s_autosave_is_no_change(
    own_page: NotebookPage,
) -> None:
    page, once = own_page, secrets.token_hex(3)  # a second try finds nothing of the first
    saved = f"saved-{once}"
    page.write(call("run_cell", code=wait_for_file(saved)), text("Waited."), text("Again."))
    other = page.lab.server.write_notebook(f"beside-{once}.ipynb", ["y = 1"])
    page.open(page.lab.server.write_notebook(f"asked-{once}.ipynb", ["x = 1"]), mode="Auto")
    page.root.get_by_role("button", name="Model:").click()
    page.root.get_by_role("combobox", name="Name of a model").fill("gpt-5-other")
    page.lab.page.keyboard.press("Enter")
    page.ask("Write a file.")
    expect(page.output(1)).to_contain_text("waiting")
    page.lab.page.evaluate(SAVE, other)
    assert "y = 2" in (page.lab.server.folder / other).read_text("utf-8")
    page.go_on(saved)
    page.wait_for_answer()
    assert page.script.requests[0].body["model"] == "gpt-5-other"
    made = page.last.get_by_role("list", name="Files of this run")
    expect(made).to_have_text(f"Made: {saved}")
    assert other not in page.tool_results()

    page.reload()
    expect(page.button("Model: gpt-5-other")).to_be_visible()
    page.button("Ask again: another answer in place of this one").click()
    page.wait_for_answer()
    expect(page.last).to_contain_text("Again.")
    assert page.script.requests[-1].body["model"] == "gpt-5-other"
