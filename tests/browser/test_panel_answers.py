"""What a person asks in the panel of a real JupyterLab, what goes along with it and what comes."""

from __future__ import annotations

import base64
import re
import shutil

import pytest
from fake_service import error, text
from notebook_page import NotebookPage
from panel_page import call, slowly
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


TABLE = "import pandas\nframe = pandas.DataFrame({'name': ['Ada'], 'born': [1815]})\nframe"
PLOT = (
    "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n"
    "axes.plot([1, 3, 2])\nplt.show()"
)
ANSWER = "## Found\n\nOne **row** of `frame`:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd $x^2$ too."


def test_an_answer_streams_and_its_cells_run_in_the_open_notebook(page: NotebookPage) -> None:
    usage = {"prompt_tokens": 2000, "completion_tokens": 300, "total_tokens": 2300}
    usage["prompt_tokens_details"] = {"cached_tokens": 1500}  # type: ignore[assignment]
    page.write(
        call("run_cell", code=TABLE, title="Make a table"),
        call("run_cell", code=PLOT, title="Plot it"),
        slowly(ANSWER, 3),
        text("Talked on.", usage=usage),
    )
    page.start("x = 1", mode="Auto")
    page.ask("Show me the people.")
    expect(page.last.get_by_role("heading", name="Found")).to_be_visible()
    assert page.button("Copy answer", within=page.last).count() == 0, "it came all at once"
    page.wait_for_answer()
    expect(page.last.locator("strong")).to_have_text("row")
    expect(page.last.get_by_role("cell", name="2")).to_be_visible()
    expect(page.last.get_by_role("math")).to_be_visible()
    expect(page.last.locator(".cw-figures")).to_have_text(
        re.compile(r"^\d+\.\ds · ~?[\d.]+K? in .*/ \d+ out · ~?\$0\.\d+$")
    )

    assert page.sources() == ["x = 1", TABLE, PLOT]
    expect(page.cell(1).locator(".jp-OutputArea-output table")).to_contain_text("Ada")
    expect(page.cell(2).locator(".jp-OutputArea-output img")).to_be_visible()
    for index in (1, 2):
        expect(page.cell(index).locator(".cw-cell-badge")).to_have_text("AI")
        expect(page.cell(index).locator(".jp-InputPrompt")).to_have_text(f"[{index}]:")

    # a card tells what was done, and leads to its cell
    expect(page.cards).to_have_count(2)
    card = page.cards.filter(has_text="Make a table")
    card.get_by_role("button", name=re.compile("Make a table.*Done")).click()
    expect(card).to_contain_text("pandas.DataFrame")
    expect(card.locator(".cw-card-time")).to_have_text(re.compile(r"^\d+\.\ds$"))
    page.cell(0).locator(".jp-InputPrompt").click()
    page.button("Go to cell", within=card).click()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    page.lab.page.wait_for_function(f"{active} === 1")

    # the conversation goes on, with all that was said; the footer counts what the service says
    page.answer("And now?")
    expect(page.last.locator(".cw-figures")).to_contain_text(
        "2.0K in (1.5K cached, 75%) / 300 out · $0.0038"
    )
    assert "Show me the people." in page.script.last()
    assert "Ada" in page.script.last()
    assert page.button("Copy answer").count() == 2


PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
        "789c6360f8cf00000201010018dd8db00000000049454e44ae426082"
    )
).decode()
PASTE = """(field, image) => {
    const bytes = Uint8Array.from(atob(image), letter => letter.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent(
        'paste', { clipboardData, bubbles: true, cancelable: true }));
}"""


def test_cells_variables_and_pictures_go_along_with_a_prompt(page: NotebookPage) -> None:
    page.write(text("I see."))
    page.start("people = {'Ada': 1815}", "# second cell\nlonely = 7", mode="")
    page.lab.run_cell(0)
    tab = page.lab.page
    page.prompt.click()
    tab.keyboard.type("What is @peo")
    option = page.root.get_by_role("option", name=re.compile("people"))
    expect(option).to_be_visible()
    expect(page.root.locator(".cw-summary")).to_contain_text("1815")
    tab.keyboard.press("Enter")
    tab.keyboard.type("and #seco")
    expect(page.root.get_by_role("option")).to_have_count(1)
    tab.keyboard.press("Enter")
    chips = page.root.get_by_role("list", name="Sent with the prompt").get_by_role("listitem")
    expect(chips).to_have_count(2)
    page.prompt.evaluate(PASTE, PIXEL)
    expect(chips).to_have_count(3)
    expect(chips.nth(2)).to_contain_text("dot.png")
    chips.nth(0).hover()
    expect(chips.nth(0).locator(".cw-summary")).to_contain_text("1815")
    tab.keyboard.press("Enter")
    page.wait_for_answer(1)
    expect(chips).to_have_count(0)
    expect(page.root.get_by_role("list", name="Attached files")).to_have_text("dot.png")
    assert "1815" in page.script.last()
    assert "cell cell-1" in page.script.last()
    assert "file dot.png" in page.script.last()
    assert "data:image/png;base64," in page.script.last()


def test_a_cell_that_asks_for_input_gets_it_from_the_panel(page: NotebookPage) -> None:
    page.write(call("run_cell", code="name = input('Your name? ')\nprint('Hi', name)"), text("Ok."))
    page.start("x = 1", mode="Auto")
    page.ask()
    field = page.root.get_by_label("Your name?")
    expect(field).to_be_visible()
    field.fill("Ada")
    field.press("Enter")
    page.wait_for_answer()
    expect(page.cell(1).locator(".jp-OutputArea-output").last).to_contain_text("Hi Ada")


def test_the_meter_tells_how_full_the_context_is(page: NotebookPage) -> None:
    too_long = "This model's maximum context length is 128000 tokens."
    half = {"prompt_tokens": 64_000, "completion_tokens": 10, "total_tokens": 64_010}
    most = {"prompt_tokens": 120_000, "completion_tokens": 10, "total_tokens": 120_010}
    refusal = error(400, too_long, code="context_length_exceeded")
    page.write(refusal, text("Half.", usage=half), text("Full.", usage=most))
    page.start("x = 1", mode="")
    meter = page.root.get_by_role("button", name=re.compile("^Context"))
    expect(meter).to_have_count(0)
    page.answer()
    expect(page.last).to_contain_text("conversation is too long for")
    page.ask("Again.")
    expect(page.last).to_contain_text("Half.")
    page.wait_for_answer(2)
    expect(meter).to_have_attribute("aria-label", "Context: 50% full")
    page.answer()
    meter.hover()
    details = page.root.get_by_role("dialog", name="Context")
    expect(details).to_contain_text("Older turns are summed up soon")
    meter.click()
    expect(details.get_by_role("row", name="Put beside questions")).to_be_visible()
    details.get_by_text("Summary of older turns").click()
    page.picture("panel-meter")
    details.get_by_label("Your words in it").fill("Amounts are in euros.")
    page.button("Save", within=details).click()
    expect(details.get_by_label("Your words in it")).to_have_value("Amounts are in euros.")
    expect(details.locator(".cw-context-text")).to_contain_text("Amounts are in euros.")
    page.button("Compact now", within=details).click()
    expect(page.root.get_by_text("There is nothing to make shorter")).to_be_visible()


def test_what_the_model_reads_is_made_shorter_when_the_person_wants_it(page: NotebookPage) -> None:
    long = {"prompt_tokens": 9_000, "completion_tokens": 10, "total_tokens": 9_010}
    page.write(
        *(call("run_cell", code=f"print('number ' * 3_000, {number})") for number in range(3)),
        text("Printed.", usage=long),
        text("Going on."),
    )
    page.start("x = 1")
    page.answer("Print a lot.")
    page.root.get_by_role("button", name=re.compile("^Context")).click()
    page.button("Compact now").click()
    line = page.root.locator(".cw-compaction")
    expect(line).to_have_text(re.compile(r"^Compacted: about 9\.0K → [\d.]+K? tokens$"))
    page.picture("panel-compaction")
    page.ask("And now?")
    expect(page.last).to_contain_text("Going on.")
    assert "cut to make room" in page.tool_results()
    expect(line).to_have_count(1)


CAREFUL = """
description = "Looks for mistakes"
instructions = "Check types before all else."
tools = ["list_variables"]
"""


def test_an_assistant_is_chosen_for_a_chat(page: NotebookPage) -> None:
    folder = page.lab.server.folder / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    (folder / "careful.toml").write_text(CAREFUL, "utf-8")
    (folder / "broken.toml").write_text("models = 'x'", "utf-8")
    page.write(text("Checked."), text("As usual."))
    page.start("x = 1", mode="")
    page.button("Assistant: none").click()
    expect(page.root.get_by_role("menuitem", name="broken.toml: models")).to_be_disabled()
    page.lab.screenshot("panel-assistants")
    page.lab.page.keyboard.press("Escape")
    page.prompt.press_sequentially("@")
    first_option = page.root.get_by_role("option").first
    expect(first_option).to_contain_text("carefulLooks for mistakes")
    page.lab.screenshot("panel-completion")
    page.prompt.fill("")
    page.button("Assistant: none").click()
    page.root.get_by_role("menuitemradio", name=re.compile("^careful")).click()
    page.answer("Look.")
    expect(page.last.locator(".cw-answerer")).to_have_text("careful")
    first = page.script.requests[0].body
    assert first["messages"][0]["content"].endswith("Check types before all else.")
    assert [tool["function"]["name"] for tool in first["tools"]] == ["list_variables"]
    page.button("Assistant: careful").click()
    page.root.get_by_role("menuitemradio", name="No assistant").click()
    page.answer("And without?")
    assert "Check types" not in str(page.script.requests[1].body["messages"][0])
    shutil.rmtree(folder)


def test_002_10_a_file_that_a_run_made_is_offered_and_opens(page: NotebookPage) -> None:
    page.write(
        call("run_cell", code="open('best.csv', 'w').write('a,b\\n1,2\\n')"), text("Written.")
    )
    page.start("x = 1", mode="Auto")
    page.answer("Write it.")
    page.lab.screenshot("panel-made")
    page.last.get_by_role("button", name="Made: best.csv").click()
    tab = page.lab.page.locator(".lm-TabBar-tab.jp-mod-current", has_text="best.csv")
    expect(tab).to_be_visible()


def test_a_thumb_and_a_comment_are_kept_with_the_run(page: NotebookPage) -> None:
    page.write(text("It is 42."))
    page.start(mode="Auto")
    page.answer("What is six times seven?")
    page.button("Good answer", within=page.last).click()
    field = page.last.get_by_role("textbox", name="Comment on the answer")
    field.fill("right at once")
    field.press("Enter")
    expect(page.button("Save", within=page.last)).to_have_count(0)
    page.reload()
    thumb = page.button("Good answer", within=page.last)
    expect(thumb).to_have_attribute("aria-pressed", "true")
    expect(field).to_have_value("right at once")
    thumb.focus()
    page.lab.page.keyboard.press("Tab")
    page.lab.page.keyboard.press("Space")
    expect(page.button("Bad answer", within=page.last)).to_have_attribute("aria-pressed", "true")
    expect(field).to_have_value("right at once")
    page.widen(250)
    expect(field).to_be_in_viewport()
