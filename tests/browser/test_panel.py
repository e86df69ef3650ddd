"""What a person does in the panel of a real JupyterLab, with a real kernel and a scripted model."""

from __future__ import annotations

import base64
import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import MODEL, Answer, FakeService, error, spaced, text, tool_calls
from lab import LabPage, LabServer
from panel_page import (
    PANEL,
    Line,
    PanelPage,
    Script,
    call,
    scripted_lab,
    slowly,
)
from playwright.sync_api import expect

from cellwright.events import ModelReplied, RunFinished, RunStarted
from cellwright.messages import AssistantMessage
from cellwright.prompts import Parameters
from cellwright.store.chats import ChatStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.usage import Usage

pytestmark = pytest.mark.browser

SCRIPT = Script()


@pytest.fixture(scope="module")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with scripted_lab(
        tmp_path_factory.mktemp("panel"), SCRIPT, CELLWRIGHT_MODEL="gpt-5-scripted"
    ) as server:
        yield server


@pytest.fixture
def script() -> Script:
    SCRIPT.write()
    return SCRIPT


@pytest.fixture
def panel(lab: LabPage) -> PanelPage:
    return PanelPage(lab)


def notebook(panel: PanelPage, name: str, *sources: str) -> str:
    return panel.lab.server.write_notebook(f"{name}.ipynb", list(sources or ("x = 1",)))


TABLE = "import pandas\nframe = pandas.DataFrame({'name': ['Ada'], 'born': [1815]})\nframe"
PLOT = (
    "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n"
    "axes.plot([1, 3, 2])\nplt.show()"
)
ANSWER = "## Found\n\nOne **row** of `frame`:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd $x^2$ too."


def test_an_answer_streams_and_its_cells_run_in_the_open_notebook(
    panel: PanelPage, script: Script
) -> None:
    usage = {"prompt_tokens": 2000, "completion_tokens": 300, "total_tokens": 2300}
    usage["prompt_tokens_details"] = {"cached_tokens": 1500}  # type: ignore[assignment]
    script.write(
        call("run_cell", code=TABLE, title="Make a table"),
        call("run_cell", code=PLOT, title="Plot it"),
        slowly(ANSWER, 3),
        text("Talked on.", usage=usage),
    )
    panel.open(notebook(panel, "streams"), mode="Auto")
    panel.ask("Show me the people.")
    expect(panel.last.get_by_role("heading", name="Found")).to_be_visible()
    assert panel.button("Copy answer", within=panel.last).count() == 0, "it came all at once"
    panel.wait_for_answer()
    expect(panel.last.locator("strong")).to_have_text("row")
    expect(panel.last.get_by_role("cell", name="2")).to_be_visible()
    expect(panel.last.get_by_role("math")).to_be_visible()
    expect(panel.last.locator(".cw-figures")).to_have_text(
        re.compile(r"^\d+\.\ds · ~?[\d.]+K? in .*/ \d+ out$")
    )

    assert panel.sources() == ["x = 1", TABLE, PLOT]
    expect(panel.cell(1).locator(".jp-OutputArea-output table")).to_contain_text("Ada")
    expect(panel.cell(2).locator(".jp-OutputArea-output img")).to_be_visible()
    for index in (1, 2):
        expect(panel.cell(index).locator(".cw-cell-badge")).to_have_text("AI")
        expect(panel.cell(index).locator(".jp-InputPrompt")).to_have_text(f"[{index}]:")

    # a card tells what was done, and leads to its cell
    expect(panel.cards).to_have_count(2)
    card = panel.cards.filter(has_text="Make a table")
    card.get_by_role("button", name=re.compile("Make a table.*Done")).click()
    expect(card).to_contain_text("pandas.DataFrame")
    expect(card.locator(".cw-card-time")).to_have_text(re.compile(r"^\d+\.\ds$"))
    panel.cell(0).locator(".jp-InputPrompt").click()
    panel.button("Go to cell", within=card).click()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    panel.lab.page.wait_for_function(f"{active} === 1")

    # the conversation goes on, with all that was said; the footer counts what the service says
    panel.answer("And now?")
    expect(panel.last.locator(".cw-figures")).to_contain_text("2.0K in (1.5K cached) / 300 out")
    assert "Show me the people." in script.last()
    assert "Ada" in script.last()
    assert panel.button("Copy answer").count() == 2


def test_it_opens_by_icon_command_and_chord_and_works_by_keyboard_alone(
    panel: PanelPage, script: Script
) -> None:
    script.write(call("run_cell", code="y = 2", title="Set y"), text("It is set."))
    lab, page = panel.lab, panel.lab.page
    lab.open(notebook(panel, "keys"))
    expect(panel.root).to_be_hidden()
    icon = page.locator(".jp-SideBar.jp-mod-right [data-id='cellwright-panel']")
    icon.click()
    expect(panel.prompt).to_be_visible()
    icon.click()
    expect(panel.root).to_be_hidden()
    lab.execute("cellwright:open")
    expect(panel.prompt).to_be_focused()
    panel.cell(0).locator(".cm-content").click()
    page.keyboard.press("Alt+Shift+L")
    expect(panel.prompt).to_be_focused()

    page.keyboard.type("Set y")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("to two.")
    expect(panel.prompt).to_have_value("Set y\nto two.")
    page.keyboard.press("Enter")
    expect(panel.prompt).to_have_value("")
    approve = panel.button("Approve")
    expect(approve).to_have_attribute("aria-disabled", "false")
    for _ in range(40):
        if approve.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Shift+Tab")
    expect(approve).to_be_focused()
    page.keyboard.press("Control+Enter")
    panel.wait_for_answer()
    assert panel.sources() == ["x = 1", "y = 2"]
    undo = panel.root.get_by_role("button", name=re.compile("^Undo run"))
    undo.focus()
    page.keyboard.press("Enter")
    assert panel.sources() == ["x = 1"]
    page.keyboard.press("Alt+Shift+L")
    expect(panel.prompt).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(f"document.querySelector('{PANEL}').contains(document.activeElement)")


STOP_SECONDS = 1.0
ENDED = """() => {
    const ended = document.querySelector('#cellwright-panel .cw-turn:last-of-type .cw-ending');
    return ended?.textContent.includes('Stopped') ? performance.now() - window.asked : null;
}"""


def seconds_until_stopped(panel: PanelPage, stop: str) -> float:
    page = panel.lab.page
    page.evaluate("window.asked = performance.now()")
    if stop == "Esc":
        panel.prompt.press("Escape")
    else:
        panel.root.locator(".cw-send.cw-mod-stop").click()
    taken: float = page.wait_for_function(ENDED).json_value()
    return taken / 1000


def test_stop_ends_an_answer_and_a_cell_within_a_second(panel: PanelPage, script: Script) -> None:
    wait = "import time\ntime.sleep(60)"
    script.write(
        slowly("One two three. " * 200, 120),
        call("run_cell", code=wait, title="Wait"),
        text("Go on as if nothing had been."),
    )
    panel.open(notebook(panel, "stop"), mode="Auto")
    panel.ask()
    expect(panel.last).to_contain_text("One two three.")
    assert seconds_until_stopped(panel, "button") < STOP_SECONDS
    expect(panel.last).to_contain_text("One two three.")
    panel.ask("Wait.")
    expect(panel.cell(1).locator(".jp-InputPrompt")).to_have_text("[*]:")
    assert seconds_until_stopped(panel, "Esc") < STOP_SECONDS
    expect(panel.cell(1).locator(".jp-OutputArea-output")).to_contain_text("KeyboardInterrupt")
    expect(panel.cell(1).locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    panel.answer("And again?")
    expect(panel.last).to_contain_text("as if nothing had been")


def test_calls_are_approved_rejected_with_a_reason_and_allowed_for_the_session(
    panel: PanelPage, script: Script
) -> None:
    script.write(
        call("run_cell", code="a = 1", title="First"),
        call("run_cell", code="b = 2", title="Second"),
        call("run_cell", code="c = 3", title="Third"),
        call("run_cell", code="d = 4", title="Fourth"),
        text("Done."),
    )
    panel.open(notebook(panel, "approval"), mode="Ask")
    panel.ask()
    expect(panel.button("Approve")).to_have_attribute("aria-disabled", "false")
    tab = panel.lab.page.locator(".jp-SideBar [data-id='cellwright-panel']")
    expect(tab).to_have_class(re.compile("cw-attention"))
    expect(panel.cards.last).to_contain_text("a = 1")
    assert panel.sources() == ["x = 1"], "nothing happens before the answer"
    panel.button("Approve").click()

    expect(panel.cards.last).to_contain_text("b = 2")
    assert panel.sources() == ["x = 1", "a = 1"]
    panel.button("Reject and say what to do instead").click()
    reason = panel.root.get_by_role("textbox", name="What to do instead")
    reason.fill("Call it beta.")
    expect(panel.button("Reject and send")).to_be_enabled()
    panel.lab.page.wait_for_timeout(400)  # an approval takes no answer at once
    reason.press("Enter")

    expect(panel.cards.last).to_contain_text("c = 3")
    assert "Call it beta." in script.last()
    allow = panel.button("Allow for this session")
    expect(allow).to_have_attribute("aria-disabled", "false")
    allow.click()
    panel.wait_for_answer()
    assert panel.sources() == ["x = 1", "a = 1", "c = 3", "d = 4"]
    panel.last.get_by_role("button", name=re.compile("4 steps")).click()
    expect(panel.cards.filter(has_text="Second")).to_contain_text("Rejected")


def test_a_step_and_a_whole_run_are_taken_back_and_done_again(
    panel: PanelPage, script: Script
) -> None:
    script.write(
        call("run_cell", code="a = 1", title="First"),
        call("run_cell", code="b = 2", title="Second"),
        call("read_notebook"),
        text("Done."),
    )
    panel.open(notebook(panel, "undo"), mode="Auto")
    panel.answer()
    panel.last.get_by_role("button", name=re.compile("3 steps")).click()
    card = panel.cards.filter(has_text="First")
    card.get_by_role("button", name=re.compile("First")).click()
    panel.button("Undo step", within=card).click()
    assert panel.sources() == ["x = 1", "b = 2"]
    expect(card.get_by_role("status")).to_contain_text("Variables and files keep their values.")
    panel.button("Redo", within=card).click()
    assert panel.sources() == ["x = 1", "a = 1", "b = 2"]
    panel.root.get_by_role("button", name=re.compile("^Undo run")).click()
    assert panel.sources() == ["x = 1"]
    panel.button("Redo run").click()
    assert panel.sources() == ["x = 1", "a = 1", "b = 2"]
    expect(panel.cell(1).locator(".cw-cell-badge")).to_have_text("AI")


def test_prompts_wait_in_a_queue_while_it_works(panel: PanelPage, script: Script) -> None:
    script.write(
        slowly("Working on it. " * 40, 40),
        text("Answer of the second."),
        text("Answer of the third."),
    )
    panel.open(notebook(panel, "queue"))
    panel.ask("first")
    expect(panel.last).to_contain_text("Working on it.")
    for words in ("second", "third", "fourth"):
        panel.ask(words)
    expect(panel.queue).to_have_text(["second", "third", "fourth"])
    panel.button("Remove this prompt", within=panel.queue.nth(2)).click()
    panel.button("Move up", within=panel.queue.nth(1)).click()
    expect(panel.queue).to_have_text(["third", "second"])
    panel.button("Edit this prompt", within=panel.queue.nth(1)).click()
    field = panel.root.get_by_role("textbox", name="Waiting prompt")
    field.fill("second, but better")
    field.press("Enter")
    expect(panel.queue).to_have_text(["third", "second, but better"])
    assert seconds_until_stopped(panel, "button") < STOP_SECONDS
    expect(panel.root.get_by_text("These wait, because the last run was stopped")).to_be_visible()
    panel.button("Resume").click()
    panel.wait_for_answer(3)
    prompts = panel.root.locator(".cw-prompt-text")
    expect(prompts).to_have_text(["first", "third", "second, but better"])
    expect(panel.queue).to_have_count(0)


COUNT = "import time\nfor number in range({}):\n    print(number, flush=True)\n    time.sleep(0.3)"


def test_a_tab_that_is_loaded_again_or_closed_finds_everything_once(
    panel: PanelPage, script: Script
) -> None:
    """Faults S12 and S14."""
    script.write(
        text("Said before."),
        call("run_cell", code=COUNT.format(40), title="Count"),
        text("Counted to the end."),
    )
    panel.open(notebook(panel, "again"), mode="Auto")
    panel.answer("Say something.")
    panel.ask("Count.")
    output = panel.cell(1).locator(".jp-OutputArea-output")
    expect(output).to_contain_text("2")
    panel.reload()
    expect(panel.root.locator(".cw-prompt-text")).to_have_text(["Say something.", "Count."])
    expect(output).to_contain_text("4")

    second = PanelPage(LabPage(panel.lab.page.context.new_page(), panel.lab.server))
    second.lab.page.goto(f"{panel.lab.server.url}/lab/workspaces/two/tree/again.ipynb")
    second.lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    second.show()
    expect(second.root.get_by_text("another tab")).to_be_visible()
    expect(second.button("Take over")).to_be_visible()
    second.lab.page.close()

    panel.wait_for_answer(2)
    panel.lab.save()
    panel.reload()
    panel.wait_for_answer(2)
    assert panel.root.inner_text().count("Said before.") == 1
    assert panel.root.inner_text().count("Counted to the end.") == 1
    assert panel.cards.count() == 1
    first, counted = panel.lab.cells()
    printed = "".join(output["text"] for output in counted["outputs"])
    assert printed.split() == [str(number) for number in range(40)]
    assert counted["execution_count"] is not None
    assert first["source"] == "x = 1"


def test_a_line_that_is_cut_for_five_seconds_doubles_and_loses_nothing(
    panel: PanelPage, script: Script
) -> None:
    """Fault S15."""
    words = " ".join(f"w{number}" for number in range(80))
    script.write(slowly(words, 12))
    page = panel.lab.page
    with Line(panel.lab.server).running() as line:
        panel = PanelPage(LabPage(page, line.server))
        panel.open(notebook(panel, "offline"))
        panel.ask()
        expect(panel.last).to_contain_text("w5")
        page.context.set_offline(True)
        line.cut()
        began = time.monotonic()
        expect(panel.root.get_by_text("Connection lost.")).to_be_visible()
        page.wait_for_timeout(max(0, 5 - time.monotonic() + began) * 1000)
        line.mend()
        page.context.set_offline(False)
        panel.wait_for_answer()
        expect(panel.root.get_by_text("Connection lost.")).to_have_count(0)
        assert panel.last.locator(".cw-md").inner_text().split() == words.split()
        page.goto("about:blank")


def test_chats_are_listed_searched_renamed_exported_resumed_and_deleted(
    panel: PanelPage, script: Script
) -> None:
    script.write(text("Penguins swim."), text("Whales sing."), text("They do."))
    panel.open(notebook(panel, "sessions"))
    panel.answer("About penguins")
    panel.button("New chat").click()
    expect(panel.turns).to_have_count(0)
    panel.answer("About whales")
    panel.button("Chats").click()
    here = panel.root.locator(".cw-sessions-part").filter(has_text="This notebook")
    expect(here.get_by_role("listitem")).to_have_count(2)

    search = panel.root.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("swim")
    expect(here.get_by_role("listitem")).to_have_count(1)
    expect(here).to_contain_text("penguins")
    row = here.get_by_role("listitem")
    row.get_by_role("button", name=re.compile("^More for")).click()
    panel.root.get_by_role("menuitem", name="Rename").click()
    title = panel.root.get_by_role("textbox", name="Title")
    title.fill("Birds of the south")
    title.press("Enter")
    expect(row).to_contain_text("Birds of the south")

    for name, suffix, holds in (
        ("Export as Markdown", ".md", "Penguins swim."),
        ("Export as notebook", ".ipynb", "Penguins swim."),
        ("Export as web page", ".html", "Penguins swim."),
    ):
        row.get_by_role("button", name=re.compile("^More for")).click()
        with panel.lab.page.expect_download() as download:
            panel.root.get_by_role("menuitem", name=name).click()
        assert download.value.suggested_filename == f"Birds of the south{suffix}"
        assert holds in Path(download.value.path()).read_text("utf-8")

    row.get_by_role("button", name=re.compile("^Birds of the south")).click()
    expect(panel.last).to_contain_text("Penguins swim.")
    panel.answer("Do they?")
    assert "About penguins" in script.last()
    assert "whales" not in script.last()

    panel.lab.execute("cellwright:sessions")
    row = here.get_by_role("listitem").filter(has_text="whales")
    row.get_by_role("button", name=re.compile("^More for")).click()
    panel.root.get_by_role("menuitem", name="Delete").click()
    panel.button("Delete").click()
    expect(here.get_by_role("listitem")).to_have_count(1)
    panel.lab.page.keyboard.press("Escape")
    expect(panel.root.get_by_role("heading", name="Birds of the south")).to_be_visible()


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


def test_cells_variables_and_pictures_go_along_with_a_prompt(
    panel: PanelPage, script: Script
) -> None:
    script.write(text("I see."))
    name = notebook(panel, "chips", "people = {'Ada': 1815}", "# second cell\nlonely = 7")
    panel.open(name)
    panel.lab.run_cell(0)
    page = panel.lab.page
    panel.prompt.click()
    page.keyboard.type("What is @peo")
    option = panel.root.get_by_role("option", name=re.compile("people"))
    expect(option).to_be_visible()
    expect(panel.root.locator(".cw-summary")).to_contain_text("1815")
    page.keyboard.press("Enter")
    page.keyboard.type("and #seco")
    expect(panel.root.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    chips = panel.root.get_by_role("list", name="Sent with the prompt").get_by_role("listitem")
    expect(chips).to_have_count(2)
    panel.prompt.evaluate(PASTE, PIXEL)
    expect(chips).to_have_count(3)
    expect(chips.nth(2)).to_contain_text("dot.png")
    chips.nth(0).hover()
    expect(chips.nth(0).locator(".cw-summary")).to_contain_text("1815")
    page.keyboard.press("Enter")
    panel.wait_for_answer(1)
    expect(chips).to_have_count(0)
    expect(panel.root.get_by_role("list", name="Attached files")).to_contain_text(".png")
    assert "1815" in script.last()
    assert "cell cell-1" in script.last()
    assert "file dot.png" in script.last()
    assert "data:image/png;base64," in script.last()


def test_a_cell_that_asks_for_input_gets_it_from_the_panel(
    panel: PanelPage, script: Script
) -> None:
    script.write(
        call("run_cell", code="name = input('Your name? ')\nprint('Hi', name)"), text("Ok.")
    )
    panel.open(notebook(panel, "input"), mode="Auto")
    panel.ask()
    field = panel.root.get_by_label("Your name?")
    expect(field).to_be_visible()
    field.fill("Ada")
    field.press("Enter")
    panel.wait_for_answer()
    expect(panel.cell(1).locator(".jp-OutputArea-output").last).to_contain_text("Hi Ada")


def test_the_meter_tells_how_full_the_context_is(panel: PanelPage, script: Script) -> None:
    too_long = "This model's maximum context length is 128000 tokens."
    half = {"prompt_tokens": 64_000, "completion_tokens": 10, "total_tokens": 64_010}
    most = {"prompt_tokens": 120_000, "completion_tokens": 10, "total_tokens": 120_010}
    refusal = error(400, too_long, code="context_length_exceeded")
    script.write(refusal, text("Half.", usage=half), text("Full.", usage=most))
    panel.open(notebook(panel, "meter"))
    meter = panel.root.get_by_role("button", name=re.compile("^Context"))
    expect(meter).to_have_count(0)
    panel.answer()
    expect(panel.last).to_contain_text("conversation is too long for")
    panel.answer()
    expect(meter).to_have_attribute("aria-label", "Context: 50% full")
    panel.answer()
    meter.hover()
    expect(panel.root.get_by_role("tooltip")).to_contain_text("A new chat starts with an empty")


@pytest.fixture
def _no_settings_left(panel: PanelPage) -> Iterator[None]:
    yield
    save = "window.jupyterapp.serviceManager.settings.save('cellwright:plugin', '{}')"
    panel.lab.page.evaluate(save)


@pytest.mark.usefixtures("_no_settings_left")
def test_one_setting_takes_all_of_it_away_and_brings_it_back(
    panel: PanelPage, script: Script
) -> None:
    script.write(call("run_cell", code="1 / 0"), text("Failed."))
    panel.open(notebook(panel, "off"), mode="Auto")
    panel.answer()
    lab, page = panel.lab, panel.lab.page
    fix = panel.cell(1).get_by_role("button", name="Fix with agent")
    expect(fix).to_be_visible()
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    set_enabled(lab, enabled=False)
    expect(panel.root).to_have_count(0)
    expect(page.locator("[data-id='cellwright-panel']")).to_have_count(0)
    expect(fix).to_have_count(0)
    expect(page.locator("[class^='cw-'], [class*=' cw-']")).to_have_count(0)
    left = [command for command in lab.commands() if command.startswith("cellwright:")]
    assert left == []
    panel.cell(1).locator(".jp-InputPrompt").click(button="right")
    menu = page.get_by_role("menu")
    expect(menu.get_by_text("Agent")).to_have_count(0)
    page.keyboard.press("Escape")
    assert [url for url in sockets if "cellwright" in url] == []
    set_enabled(lab, enabled=True)
    panel.show()
    panel.wait_for_answer(1)
    expect(fix).to_be_visible()


def set_enabled(lab: LabPage, *, enabled: bool) -> None:
    """By the settings editor, as a person does."""
    lab.execute("settingeditor:open", {"query": "Use cellwright"})
    lab.page.get_by_role("checkbox", name="Use cellwright").set_checked(enabled)
    known = "enabled => window.jupyterapp.commands.hasCommand('cellwright:open') === enabled"
    lab.page.wait_for_function(known, arg=enabled)
    lab.execute("application:close")


RUNS_OF_LONG_CHAT = 2_500
OPEN_SECONDS = 2.0


def test_a_chat_of_five_thousand_messages_opens_at_once(
    panel: PanelPage, lab_server: LabServer
) -> None:
    """Fault S27."""
    write_long_chat(lab_server.home)
    panel.open(notebook(panel, "long"))
    panel.button("Chats").click()
    row = panel.root.locator(".cw-session-open", has_text="A long chat")
    row.wait_for()
    panel.lab.page.evaluate("window.asked = performance.now()")
    row.click()
    loaded = panel.root.get_by_role("button", name=f"Show {RUNS_OF_LONG_CHAT - 30} earlier prompts")
    loaded.wait_for(state="attached")
    taken = panel.lab.page.evaluate("performance.now() - window.asked")
    assert taken / 1000 < OPEN_SECONDS
    assert panel.turns.count() < 100, "all of it was drawn"


def write_long_chat(home: Path) -> None:
    """One run as it is recorded, and as many copies of it as are missing."""
    path = home / "runs.sqlite"
    with contextlib.closing(open_database(path)) as database:
        chats, runs = ChatStore(database), RunStore(database)
        chat = chats.create()
        journal = runs.start(RunStarted("prompt", "panel", "ask", Parameters("gpt-5-scripted")))
        answer = "Some **words** of an answer, with `code`.\n\n" * 3
        journal.record(
            ModelReplied(AssistantMessage(answer), "stop", Usage(100, 10), "scripted"),
            RunFinished("completed", answer, usage=Usage(100, 10)),
        )
        chats.add_run(chat.chat_id, journal.run_id)
        chats.rename(chat.chat_id, "A long chat")
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        for table in ("runs", "events", "chat_runs"):
            names = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            taken = ", ".join(COPIED.get(name, name) for name in names)
            file.execute(
                f"WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number"
                f" WHERE n < {RUNS_OF_LONG_CHAT - 1})"
                f" INSERT INTO {table} SELECT {taken} FROM {table}, number WHERE run_id = ?",
                (journal.run_id,),
            )


COPIED = {"run_id": "run_id || '-' || n", "position": "position + n"}


LONG_TASK_MILLISECONDS = 200
LONG_ANSWER = (
    "The **data frame** has `rows` and some columns, see [docs](https://example.com/a) for more "
    "words that go on for a while, as answers do, until the paragraph ends here.\n\n"
    "```python\nx = df.groupby('a').agg({'b': 'sum'})\n```\n\n- an item\n- another\n\n"
)
WATCH_LONG_TASKS = """() => {
    window.longTasks = [];
    new PerformanceObserver(list => {
        window.longTasks.push(...list.getEntries().map(entry => entry.duration));
    }).observe({ type: 'longtask' });
}"""


def test_an_answer_of_twenty_thousand_tokens_never_blocks_the_page(
    panel: PanelPage, script: Script
) -> None:
    """Fault S28."""
    answer = LONG_ANSWER * (80_000 // len(LONG_ANSWER))
    pieces = [answer[at : at + 80] for at in range(0, len(answer), 80)]
    script.write(text("Warm."), in_pieces(pieces, 0.007))
    panel.open(notebook(panel, "blocks"))
    panel.answer()
    panel.lab.page.evaluate(WATCH_LONG_TASKS)
    panel.answer()
    assert max(panel.lab.page.evaluate("window.longTasks"), default=0) < LONG_TASK_MILLISECONDS


def in_pieces(pieces: list[str], seconds: float) -> Answer:
    return spaced(text(pieces=pieces), seconds)


DEMO_DATA = "month,city,revenue\n2026-01,Oslo,120\n2026-01,Rome,90\n2026-02,Oslo,140\n"


def test_without_a_key_the_demo_answers_says_so_and_a_card_takes_a_key(
    lab_without_key: LabPage,
) -> None:
    panel = PanelPage(lab_without_key)
    panel.open(notebook(panel, "demo"), mode="Auto")
    card = panel.root.get_by_role("region", name="Model", exact=True)
    expect(card).to_contain_text("The demo model answers.")
    (panel.lab.server.folder / "sales.csv").write_text(DEMO_DATA, "utf-8")
    panel.answer("Load sales.csv and show what is in it.")
    assert len(panel.sources()) > 1
    panel.button("New chat").click()
    panel.button("Use your own model").click()
    script = Script([text("A model of your own.")])
    with FakeService(script) as service:
        card.get_by_label("Endpoint").fill(service.base_url)
        card.get_by_label("Model", exact=True).fill(MODEL)
        card.get_by_label("Key").fill("k" * 12)
        panel.button("Save and test").click()
        expect(card.locator(".cw-check.cw-mod-ok").first).to_be_visible()
        expect(card.locator(".cw-check.cw-mod-blocked")).to_have_count(0)
        expect(card.get_by_label("Key")).to_have_value("")
        panel.button("Close", within=card).click()
        expect(card).to_have_count(0)
        panel.answer("Who are you?")
        expect(panel.last).to_contain_text("A model of your own.")
        assert script.requests[-1].headers["authorization"].endswith("k" * 12)


def test_several_edits_are_accepted_with_one_click(panel: PanelPage, script: Script) -> None:
    edits = [
        ("edit_cell", {"cell_id": f"cell-{number}", "source": f"x = {number + 10}"})
        for number in range(3)
    ]
    script.write(call("read_notebook"), tool_calls(edits), text("Done."))
    panel.open(notebook(panel, "edits", "x = 0", "x = 1", "x = 2"), mode="Ask")
    panel.ask()
    accept = panel.button("Accept all 3 edits")
    expect(accept).to_have_attribute("aria-disabled", "false")
    accept.click()
    panel.wait_for_answer()
    assert panel.sources() == ["x = 10", "x = 11", "x = 12"]
