"""The browser of runs, in a real kernel over real records."""

from __future__ import annotations

from html import unescape

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel
from magics.widget_page import WidgetPage

pytestmark = pytest.mark.kernel
INSTANCES = "len(__import__('ipywidgets').widgets.widget._instances)"


@pytest.fixture(scope="module")
def recorded(kernel: LiveKernel) -> list[str]:
    """Ids of three runs, the oldest first."""
    ids = []
    for prompt, code, answer in (
        ("add <b>one</b>", "total = 1 + 1\ntotal", "It is **2**."),
        ("add two", "total = 1 + 2\ntotal", "It is **3**."),
    ):
        script = [tool_call("run_cell", {"code": code}), text(answer)]
        kernel.run(f"%agent --mode auto {prompt}", script, answers=[])
        ids.append(kernel.last_run.run_id)
    kernel.run("%agent reset")
    kernel.run("%agent fails", [], answers=[])
    return [*ids, kernel.last_run.run_id]


@pytest.fixture
def page(kernel: LiveKernel, recorded: list[str]) -> WidgetPage:
    """The browser, just opened."""
    page = WidgetPage(kernel)
    shown = page.run("%agent runs --widget", metadata={"cellId": "runs"})
    assert shown.stderr == ""
    return page


def labels(page: WidgetPage) -> list[str]:
    (state,) = [s for s in page.shown() if s["_model_name"] == "SelectMultipleModel"]
    return list(state["_options_labels"])


def choose(page: WidgetPage, *numbers: int) -> None:
    page.enter(list(numbers), field="index", box="SelectMultiple")


def test_the_newest_run_comes_first_and_words_narrow_the_list(
    page: WidgetPage, recorded: list[str]
) -> None:
    assert [label.split(" · ")[0] for label in labels(page)] == recorded[::-1]
    page.enter("ADD two", box="Words")
    page.wait(lambda: len(labels(page)) == 1)
    assert labels(page)[0].endswith("add two")
    page.enter("nowhere", box="Words")
    page.wait(lambda: labels(page) == [])
    assert "No run fits." in page.html


def test_status_and_order_can_be_chosen(page: WidgetPage, recorded: list[str]) -> None:
    page.enter(1, field="index", box="Order")
    page.wait(lambda: labels(page)[0].startswith(recorded[0]))
    page.enter(1, field="index", box="Status")
    page.wait(lambda: len(labels(page)) == 2)
    assert all("completed" in label for label in labels(page))


def test_one_run_can_be_looked_into(page: WidgetPage) -> None:
    choose(page, 2)
    page.wait(lambda: "It is <strong>2</strong>." in page.html)
    assert "add &lt;b&gt;one&lt;/b&gt;" in page.html
    assert "<b>one</b>" not in page.html
    (tab,) = [state for state in page.shown() if state["_model_name"] == "TabModel"]
    assert tab["titles"] == ["Answer", "Cells", "Messages", "All of it"]
    assert "<b>assistant</b> → run_cell" in page.html


def test_two_runs_are_compared_up_to_where_they_part(page: WidgetPage, recorded: list[str]) -> None:
    choose(page, 1, 2)
    page.wait(lambda: "They first differ in step 1 (ran):" in page.html)
    assert f"<td>{recorded[1]}</td><td>{recorded[0]}</td>" in page.html
    assert "total = 1 + 2" in page.html
    choose(page, 0, 1, 2)
    page.wait(lambda: "Choose one run" in page.html)


def test_looking_further_leaves_nothing_behind(page: WidgetPage) -> None:
    choose(page, 0)
    page.wait(lambda: "TabModel" in str(page.states))
    before = page.kernel.value(INSTANCES)
    for number in (1, 2, 0):
        choose(page, number)
    assert page.kernel.value(INSTANCES) == before


def test_a_run_that_is_gone_is_said_to_be(kernel: LiveKernel, recorded: list[str]) -> None:
    kernel.run("%agent fails", [], answers=[])
    gone = kernel.last_run.run_id
    assert gone not in recorded
    page = WidgetPage(kernel)
    page.run("%agent runs --widget", metadata={"cellId": "runs"})
    page.run(
        "from cellwright.settings import from_env\n"
        "from cellwright.store.database import open_database\n"
        "from cellwright.store.runs import RunStore\n"
        "database = open_database(from_env().home / 'runs.sqlite')\n"
        f"RunStore(database).delete('{gone}'); database.close()"
    )
    choose(page, 0)
    page.wait(lambda: f"There is no run {gone!r}" in unescape(page.html))


def test_it_is_text_and_a_table_where_no_widgets_are(page: WidgetPage, recorded: list[str]) -> None:
    data = list(page.displays.values())[-1]
    assert data["text/plain"].startswith("id ")
    assert recorded[0] in data["text/plain"]
    assert "Kept with the notebook: " in data["text/html"]
    assert "add &lt;b&gt;one&lt;/b&gt;" in data["text/html"]
    assert "<b>one" not in data["text/html"]


def test_running_its_cell_again_and_unloading_close_it(page: WidgetPage) -> None:
    first = set(page.states)
    page.run("%agent runs 1 --find two --widget", metadata={"cellId": "runs"})
    assert first.isdisjoint(page.states)
    assert len(labels(page)) == 1
    page.run("%unload_ext cellwright")
    assert page.states == {}
    page.run("%load_ext cellwright")


def test_no_run_at_all_is_no_obstacle(kernel: LiveKernel) -> None:
    page = WidgetPage(kernel)
    shown = page.run("%agent runs --find nowhere-at-all --widget")
    assert shown.stderr == ""
    assert labels(page) == []
    assert "No run fits." in str(page.displays)
    page.run("%unload_ext cellwright")
    page.run("%load_ext cellwright")
