"""What a person does while the agent works in a real JupyterLab: stop, approve, take back, wait."""

from __future__ import annotations

import re

import pytest
from fake_service import text, tool_calls
from notebook_page import NotebookPage
from panel_page import PANEL, PanelPage, call, slowly
from playwright.sync_api import expect
from seen_page import look

pytestmark = pytest.mark.browser


STOP_SECONDS = 1.0
UNDO_PART = "Undo run, or from one of its cells on"
ENDED = """() => {
    const ended = document.querySelector('#cellwright-panel .cw-turn:last-of-type .cw-ending');
    return ended?.textContent.includes('Stopped') ? performance.now() - window.asked : null;
}"""


def seconds_until_stopped(page: PanelPage, stop: str) -> float:
    tab = page.lab.page
    tab.evaluate("window.asked = performance.now()")
    if stop == "Esc":
        page.prompt.press("Escape")
    else:
        page.root.locator(".cw-send.cw-mod-stop").click()
    taken: float = tab.wait_for_function(ENDED).json_value()
    return taken / 1000


def test_stop_ends_an_answer_and_a_cell_within_a_second(page: NotebookPage) -> None:
    wait = "import time\ntime.sleep(60)"
    page.write(
        slowly("One two three. " * 200, 120),
        call("run_cell", code=wait, title="Wait"),
        text("Go on as if nothing had been."),
    )
    page.start("x = 1", mode="Auto")
    page.ask()
    expect(page.last).to_contain_text("One two three.")
    assert seconds_until_stopped(page, "button") < STOP_SECONDS
    expect(page.last).to_contain_text("One two three.")
    page.ask("Wait.")
    expect(page.cell(1).locator(".jp-InputPrompt")).to_have_text("[*]:")
    assert seconds_until_stopped(page, "Esc") < STOP_SECONDS
    expect(page.cell(1).locator(".jp-OutputArea-output")).to_contain_text("KeyboardInterrupt")
    expect(page.cell(1).locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    page.answer("And again?")
    expect(page.last).to_contain_text("as if nothing had been")


def test_calls_are_approved_rejected_with_a_reason_and_allowed_for_the_session(
    page: NotebookPage,
) -> None:
    page.write(
        call("run_cell", code="a = 1", title="First"),
        call("run_cell", code="b = 2", title="Second"),
        call("run_cell", code="c = 3", title="Third"),
        call("run_cell", code="d = 4", title="Fourth"),
        text("Done."),
    )
    page.start("x = 1", mode="Ask")
    page.ask()
    expect(page.button("Approve")).to_have_attribute("aria-disabled", "false")
    tab = page.lab.page.locator(".jp-SideBar [data-id='cellwright-panel']")
    expect(tab).to_have_class(re.compile("cw-attention"))
    expect(page.cards.last).to_contain_text("a = 1")
    assert page.sources() == ["x = 1"], "nothing happens before the answer"
    page.button("Approve").click()

    expect(page.cards.last).to_contain_text("b = 2")
    assert page.sources() == ["x = 1", "a = 1"]
    page.button("Reject and say what to do instead").click()
    reason = page.root.get_by_role("textbox", name="What to do instead")
    reason.fill("Call it beta.")
    expect(page.button("Reject and send")).to_be_enabled()
    page.lab.page.wait_for_timeout(400)  # an approval takes no answer at once
    reason.press("Enter")

    expect(page.cards.last).to_contain_text("c = 3")
    assert "Call it beta." in page.script.last()
    allow = page.button("Allow for this session")
    expect(allow).to_have_attribute("aria-disabled", "false")
    allow.click()
    page.wait_for_answer()
    assert page.sources() == ["x = 1", "a = 1", "c = 3", "d = 4"]
    page.last.get_by_role("button", name=re.compile("4 steps")).click()
    expect(page.cards.filter(has_text="Second")).to_contain_text("Rejected")


def test_a_step_and_a_whole_run_are_taken_back_and_done_again(page: NotebookPage) -> None:
    page.write(
        call("run_cell", code="a = 1", title="First"),
        call("run_cell", code="b = 2", title="Second"),
        call("read_notebook"),
        text("Done."),
    )
    page.start("x = 1", mode="Auto")
    page.answer()
    page.last.get_by_role("button", name=re.compile("3 steps")).click()
    card = page.cards.filter(has_text="First")
    card.get_by_role("button", name=re.compile("First")).click()
    page.button("Undo step", within=card).click()
    assert page.sources() == ["x = 1", "b = 2"]
    expect(card.get_by_role("status")).to_contain_text("Variables and files keep their values.")
    page.button("Redo", within=card).click()
    assert page.sources() == ["x = 1", "a = 1", "b = 2"]
    page.button(UNDO_PART).click()
    page.button("Undo run").click()
    assert page.sources() == ["x = 1"]
    page.button("Redo run").click()
    assert page.sources() == ["x = 1", "a = 1", "b = 2"]
    expect(page.cell(1).locator(".cw-cell-badge")).to_have_text("AI")


def test_undo_brings_the_variables_back_and_redo_forth_again(page: NotebookPage) -> None:
    page.write(call("run_cell", code="data.sort(); total = sum(data)"), text("Sorted."))
    page.start("data = [3, 1, 2]", "print(data, 'total' in globals())", mode="Auto")
    page.lab.run_cell(0)
    page.answer("Sort it.")
    page.root.get_by_role("button", name=re.compile("^Undo run")).click()
    status = page.last.get_by_role("status")
    expect(status).to_contain_text("Variables are as they were before it.")
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("[3, 1, 2] False")
    page.button("Redo run").click()
    expect(status).to_contain_text("Variables are as they were before you undid it.")
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("[1, 2, 3] True")
    page.picture("undo-variables")


def test_the_command_goes_to_the_undo_of_the_last_run_from_wherever_the_person_is(
    page: NotebookPage,
) -> None:
    page.write(call("run_cell", code="data.sort()"), text("Sorted."))
    page.start("data = [3, 1, 2]", "print(data)", mode="Auto")
    page.lab.run_cell(0)
    page.answer("Sort it.")
    tab = page.lab.page
    tab.keyboard.press("Control+Shift+KeyC")
    palette = tab.locator(".lm-CommandPalette-input:visible")
    palette.fill("Undo the Last Run of the Agent")
    palette.press("Enter")
    undo = page.root.get_by_role("button", name=re.compile("^Undo run"))
    expect(undo).to_be_focused()
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("[1, 2, 3]")
    undo.focus()
    page.picture("undo-command")
    tab.keyboard.press("Enter")
    expect(page.last.get_by_role("status")).to_contain_text("as they were before it.")
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("[3, 1, 2]")


def test_files_of_an_undone_run_are_put_back_and_forth(page: NotebookPage) -> None:
    file = page.lab.server.folder / "rows.csv"
    file.write_text("1\n2\n")
    page.write(call("run_cell", code="open('rows.csv', 'w').write('gone')"), text("Written."))
    page.start("x = 1", mode="Auto")
    page.answer("Write it.")
    assert file.read_text() == "gone"
    page.root.get_by_role("button", name=re.compile("^Undo run")).click()
    page.button("Put back 1 file").click()
    expect(page.last.get_by_text("Files are as they were before it: rows.csv")).to_be_visible()
    assert file.read_text() == "1\n2\n"
    expect(page.last.get_by_text("Files that stay as they are")).to_have_count(0)
    page.picture("files-put-back")
    page.button("Redo run").click()
    page.button("Redo 1 file").click()
    expect(page.last.get_by_text("Files are as the run had left them: rows.csv")).to_be_visible()
    assert file.read_text() == "gone"


def test_a_slider_takes_cells_and_variables_back_as_before_one_of_the_cells(
    page: NotebookPage,
) -> None:
    page.write(
        call("run_cell", code="data.append(4)", title="Add four"),
        call("run_cell", code="data.clear()", title="Clear it"),
        call("run_cell", code="data = None", title="Drop it"),
        text("It is empty."),
    )
    page.start("data = [3]", "print(data)", mode="Auto")
    page.lab.run_cell(0)
    page.answer("Empty it.")
    page.button(UNDO_PART).click()
    slider = page.root.get_by_role("slider", name="Go back to")
    expect(slider).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "before the run")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "before cell 2: data.clear()")
    gone = page.cards.and_(page.root.locator(".cw-mod-undone"))
    expect(gone).to_have_count(2)
    narrow, wide = (page.width, 460)
    for name, width in (("wide", wide), ("narrow", 260)):
        page.widen(width)
        look(page.lab, PANEL, f"undo-slider-{name}")
    page.widen(round(narrow))
    slider.press("Tab")
    page.lab.page.keyboard.press("Enter")
    status = page.last.get_by_role("status")
    expect(status).to_contain_text("Took back 2 cells. Variables are as they were before it.")
    expect(page.button("Redo run")).to_be_focused()
    assert page.sources() == ["data = [3]", "print(data)", "data.append(4)"]
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("[3, 4]")
    group = page.last.get_by_role("button", name=re.compile("3 steps"))
    expect(group).to_contain_text("2 undone")
    page.reload()
    expect(group).to_contain_text("2 undone")
    group.click()
    expect(gone).to_have_text([re.compile("Clear it.*undone"), re.compile("Drop it.*undone")])
    look(page.lab, PANEL, "undone-steps")
    page.button("Redo run").click()
    expect(status).to_contain_text("Variables are as they were before you undid it.")
    expect(gone).to_have_count(0)
    page.lab.run_cell(1)
    expect(page.output(1)).to_contain_text("None")


def test_where_a_thread_stands_in_the_way_a_restart_runs_to_before_the_cell(
    page: NotebookPage,
) -> None:
    page.write(
        call("run_cell", code="data.append(4)", title="Add four"),
        call("run_cell", code="data.clear()", title="Clear it"),
        text("It is empty."),
    )
    thread = (
        "import threading, time\n"
        "threading.Thread(target=threading.Event().wait, name='waiter', daemon=True).start()"
    )
    page.start(thread, "data = [3]", "print(data)", mode="Auto")
    for index in (0, 1):
        page.lab.run_cell(index)
    page.answer("Empty it.")
    page.button(UNDO_PART).click()
    page.root.get_by_role("slider").press("ArrowRight")
    page.button("Undo from cell 2").click()
    expect(page.last).to_contain_text("cannot be brought back to before cell 2")
    expect(page.last).to_contain_text("thread 'waiter' runs")
    for name, width in (("wide", 460), ("narrow", 260)):
        page.widen(width)
        look(page.lab, PANEL, f"restart-offered-{name}")
    page.button("Restart and run to here").click()
    dialog = page.lab.page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text(
        ["import threading, time", "data = [3]", "data.append(4)"]
    )
    look(page.lab, ".jp-Dialog-content", "restart-dialog")
    dialog.get_by_role("button", name="Restart and run").click()
    expect(page.last).to_contain_text("3 cells before it ran again")
    assert page.sources() == [thread, "data = [3]", "print(data)", "data.append(4)"]
    for index in (0, 1, 3):
        expect(page.prompt_of(index)).to_have_text(re.compile(r"\d"))
    page.lab.run_cell(2)
    expect(page.output(2)).to_contain_text("[3, 4]")
    expect(page.last.get_by_role("button", name=re.compile("Clear it"))).to_contain_text("undone")
    page.picture("restarted-to-here")


def test_the_meter_says_how_much_memory_undo_holds_and_gives_it_back(page: NotebookPage) -> None:
    page.write(call("run_cell", code="del block", title="Delete it"), text("It is gone."))
    page.start("block = bytearray(b'x') * 64_000_000", mode="Auto")
    page.lab.run_cell(0)
    page.answer("Delete it.")
    page.root.get_by_role("button", name=re.compile("^Context:")).click()
    meter = page.root.get_by_role("dialog", name=re.compile("^Context:"))
    expect(meter).to_contain_text(re.compile(r"Undo keeps 1 state, in [67]\d MB"))
    look(page.lab, PANEL, "meter-states")
    page.button("Forget it", within=meter).click()
    expect(meter).to_contain_text("Forgotten.")
    page.lab.page.keyboard.press("Escape")
    page.root.get_by_role("button", name=re.compile("^Undo run")).click()
    expect(page.last).to_contain_text("no snapshot from before it is kept")


def test_prompts_wait_in_a_queue_while_it_works(page: NotebookPage) -> None:
    page.write(
        slowly("Working on it. " * 40, 40),
        text("Answer of the second."),
        text("Answer of the third."),
    )
    page.start("x = 1", mode="")
    page.ask("first")
    expect(page.last).to_contain_text("Working on it.")
    for words in ("second", "third", "fourth"):
        page.ask(words)
    expect(page.queue).to_have_text(["second", "third", "fourth"])
    page.button("Remove this prompt", within=page.queue.nth(2)).click()
    page.button("Move up", within=page.queue.nth(1)).click()
    expect(page.queue).to_have_text(["third", "second"])
    page.button("Edit this prompt", within=page.queue.nth(1)).click()
    field = page.root.get_by_role("textbox", name="Waiting prompt")
    field.fill("second, but better")
    field.press("Enter")
    expect(page.queue).to_have_text(["third", "second, but better"])
    assert seconds_until_stopped(page, "button") < STOP_SECONDS
    expect(page.root.get_by_text("These wait: the last run was stopped")).to_be_visible()
    page.button("Resume").click()
    page.wait_for_answer(3)
    prompts = page.root.locator(".cw-prompt-text")
    expect(prompts).to_have_text(["first", "third", "second, but better"])
    expect(page.queue).to_have_count(0)


def test_several_edits_are_accepted_with_one_click(page: NotebookPage) -> None:
    edits = [
        ("edit_cell", {"cell_id": f"cell-{number}", "source": f"x = {number + 10}"})
        for number in range(3)
    ]
    page.write(call("read_notebook"), tool_calls(edits), text("Done."))
    page.start("x = 0", "x = 1", "x = 2", mode="Ask")
    page.ask()
    accept = page.button("Accept all 3 edits")
    expect(accept).to_have_attribute("aria-disabled", "false")
    accept.click()
    page.wait_for_answer()
    assert page.sources() == ["x = 10", "x = 11", "x = 12"]


def test_002_21_a_note_goes_with_the_next_question_or_is_taken_back(page: NotebookPage) -> None:
    page.write(text("It weighs 4.2 kg."))
    name = page.start("x = 1", mode="")
    page.prompt.fill("The unit is kg.")
    page.prompt.press("Alt+Enter")
    notes = page.root.get_by_role("region", name="Goes with your next question")
    expect(notes.get_by_role("listitem")).to_have_text(["The unit is kg."])
    expect(page.prompt).to_have_value("")
    assert page.sources() == ["x = 1"], "in a cell, the key makes a new one"
    page.prompt.fill("Round to one digit.")
    page.root.get_by_role("button", name=re.compile("^Add without sending")).click()
    expect(notes.get_by_role("listitem")).to_have_count(2)
    expect(page.prompt).to_be_focused()
    page.button("Take back", within=notes.get_by_role("listitem").last).click()
    expect(page.prompt).to_have_value("Round to one digit.")
    expect(notes.get_by_role("listitem")).to_have_text(["The unit is kg."])

    brings_notes(page, name)
    expect(notes.get_by_role("listitem")).to_have_count(3)
    page.picture("notes")
    page.button("2 more", within=notes).click()
    expect(notes.get_by_role("listitem")).to_have_count(5)
    page.answer("How heavy is it?")
    asked = page.script.last()
    assert asked.index("The unit is kg.") < asked.index("Island names") < asked.index("How heavy")
    assert "Be brief." in asked
    assert "one digit" not in asked
    expect(notes).to_have_count(0)
    went = page.root.get_by_role("list", name="Notes that went with it")
    expect(went.get_by_role("listitem")).to_have_count(5)
    page.picture("notes-asked")


def brings_notes(page: PanelPage, notebook: str) -> None:
    """Let another program say something that waits in the chat of a notebook."""
    server, requests = page.lab.server, page.lab.page.request
    chats, headers = f"{server.url}/cellwright/v1/chats", {"Authorization": f"token {server.token}"}
    found = requests.get(f"{chats}?notebook={notebook}", headers=headers).json()
    for role, words in (
        ("system", "Be brief."),
        ("user_later", "Masses above 6 kg are mistakes of the scale. " * 4),
        ("assistant", "The heaviest one so far weighs 4.9 kg."),
        ("user_later", "Island names are in the column island."),
    ):
        said = {"role": role, "text": words}
        place = f"{chats}/{found[0]['id']}/messages"
        assert requests.post(place, headers=headers, data=said).status == 201
