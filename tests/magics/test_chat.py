"""The chat made of widgets, in a real kernel, used as a page uses it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fake_service import Answer, after, text, tool_call, tool_calls
from hostile_runs import payloads
from kernels.test_sandbox import CAN_SANDBOX
from magics.acting_html import Inspector
from magics.live_kernel import LiveKernel
from magics.widget_page import WidgetPage

from cellwright.text.cleaning import safe_markdown

pytestmark = pytest.mark.kernel
ANSWER = text("It is **6**.")
WORKS = tool_call("run_cell", {"code": "total = 5 + 1\ntotal", "title": "Add"})


@pytest.fixture
def page(kernel: LiveKernel) -> Iterator[WidgetPage]:
    """A chat that has just been opened."""
    page = WidgetPage(kernel)
    shown = page.run("%agent chat")
    assert shown.stderr == ""
    yield page
    if "Close" in page.descriptions:
        page.press("Close")
        page.wait(lambda: not page.states)


def ask(page: WidgetPage, prompt: str, *script: Answer) -> None:
    page.kernel.service.script = list(script)
    page.kernel.service.requests.clear()
    page.enter(prompt, box="Ask")
    page.press("Send")


def finished(page: WidgetPage) -> bool:
    is_quiet = all(not s["value"] for s in page.shown() if s["_model_name"] == "LabelModel")
    return is_quiet and "Send" in page.descriptions and "Stop" not in page.descriptions


def answered(page: WidgetPage, prompt: str, *script: Answer) -> None:
    ask(page, prompt, *script)
    page.wait(lambda: "Stop" in page.descriptions)
    page.wait(lambda: finished(page))


def test_a_prompt_is_answered_on_the_page(page: WidgetPage) -> None:
    answered(page, "What is\n<b>it</b>?", ANSWER)
    assert "<b>What is<br>&lt;b&gt;it&lt;/b&gt;?</b>" in page.html
    assert "It is **6**." in page.text
    assert "completed" in page.text
    assert "Close" in page.descriptions


def test_code_waits_for_the_button_and_shows_what_it_shows(page: WidgetPage) -> None:
    ask(page, "Add", WORKS, ANSWER)
    page.wait(lambda: "Run it" in page.descriptions)
    assert "total = 5 + 1" in page.text
    assert "may this run?" in page.text
    page.press("Run it")
    page.wait(lambda: finished(page))
    assert "Run it" not in page.descriptions
    assert "\n6\n" in page.text
    assert page.kernel.value("total") == "6"
    assert page.kernel.last_run.status == "completed"


@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_a_preview_shows_what_the_code_does_and_the_buttons_come_again(page: WidgetPage) -> None:
    page.kernel.run("globals().pop('total', None)")
    ask(page, "Add", WORKS, ANSWER)
    page.wait(lambda: "Preview" in page.descriptions)
    page.press("Preview")
    page.wait(lambda: "Variables: total" in page.text)
    assert "Preview: nothing of this has happened." in page.text
    page.wait(lambda: "Run it" in page.descriptions)
    assert page.kernel.value("'total' in globals()") == "False"
    page.press("Run it")
    page.wait(lambda: finished(page))
    assert page.kernel.value("total") == "6"
    assert page.kernel.last_run.calls[0].decision == "allowed by person after a preview"


@pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself")
def test_the_result_of_a_preview_is_kept(page: WidgetPage) -> None:
    page.kernel.run("globals().pop('total', None)")
    ask(page, "Add", WORKS, ANSWER)
    page.wait(lambda: "Preview" in page.descriptions)
    assert "Keep result" not in page.descriptions
    page.press("Preview")
    page.wait(lambda: "Keep result" in page.descriptions)
    page.press("Keep result")
    page.wait(lambda: finished(page))
    assert page.kernel.value("total") == "6"
    decision = page.kernel.last_run.calls[0].decision
    assert decision == "allowed by person with the result of its preview"


def test_a_refusal_goes_to_the_model_with_its_reason(page: WidgetPage) -> None:
    ask(page, "Add", WORKS, text("Then not."))
    page.wait(lambda: "Run it" in page.descriptions)
    page.enter("use pandas", box="What to do")
    page.press("Refuse")
    page.wait(lambda: finished(page))
    assert "✗ not run: use pandas" in page.text
    assert "use pandas" in page.kernel.service.requests[-1].body["messages"][-1]["content"]


def test_run_all_holds_for_this_answer_only(page: WidgetPage) -> None:
    two = tool_calls([("run_cell", {"code": "a = 1"}), ("run_cell", {"code": "b = 2"})])
    ask(page, "Two", two, ANSWER)
    page.wait(lambda: "Run all" in page.descriptions)
    page.press("Run all")
    page.wait(lambda: finished(page))
    assert page.kernel.value("(a, b)") == "(1, 2)"
    ask(page, "Again", WORKS, ANSWER)
    page.wait(lambda: "Run it" in page.descriptions)
    page.press("Stop")
    page.wait(lambda: finished(page))


def test_the_second_click_of_a_double_click_answers_nothing(page: WidgetPage) -> None:
    two = tool_calls([("run_cell", {"code": "c = 1"}), ("run_cell", {"code": "c = 2"})])
    ask(page, "Two", two, ANSWER)
    page.wait(lambda: "Run it" in page.descriptions)
    page.press("Run it")
    page.wait(lambda: "Run it" not in page.descriptions)
    page.wait(lambda: [s for s in page.shown() if s.get("description") == "Run it"])
    assert "Run it" not in page.descriptions  # it cannot be pressed at first
    page.wait(lambda: "Run it" in page.descriptions)
    assert page.kernel.value("c") == "1"
    page.press("Stop")
    page.wait(lambda: finished(page))
    assert "■ Stopped." in page.text


def test_send_waits_for_the_end_and_stop_ends_a_model_that_is_slow(page: WidgetPage) -> None:
    ask(page, "Slow", after(ANSWER, 20))
    page.wait(lambda: "waiting for the model" in page.text)
    page.enter("Too early", box="Ask")
    page.press("Send")
    began = time.monotonic()
    page.press("Stop")
    page.wait(lambda: finished(page))
    assert time.monotonic() - began < 5
    assert page.kernel.last_run.status == "cancelled"
    assert "Too early" not in page.html


def test_stop_reaches_code_that_runs(page: WidgetPage) -> None:
    page.enter(3, field="index", box="Mode")
    sleeps = tool_call(
        "run_cell", {"code": "import time\nprint('be' + 'gun')\ntime.sleep(30)\nz = 1"}
    )
    ask(page, "Sleep", sleeps, ANSWER)
    page.wait(lambda: "begun" in page.text)
    began = time.monotonic()
    page.press("Stop")
    page.wait(lambda: finished(page))
    assert time.monotonic() - began < 5
    assert page.kernel.value("'z' in globals()") == "False"
    assert page.kernel.last_run.status == "cancelled"


def test_stop_and_send_work_while_a_cell_of_the_person_runs(page: WidgetPage) -> None:
    client, go = page.kernel.client, page.kernel.home.parent / "go"
    client.execute("import os, time\nwhile not os.path.exists('go'): time.sleep(0.1)\nmine = 1")
    ask(page, "Now?", ANSWER)
    page.wait(lambda: "waiting for a cell of yours" in page.text)
    page.press("Stop")
    page.wait(lambda: finished(page))
    go.touch()
    assert client.get_shell_msg(timeout=20)["content"]["status"] == "ok"
    assert page.kernel.value("mine") == "1"


def test_output_comes_while_the_cell_runs_and_awaits(page: WidgetPage) -> None:
    page.enter(3, field="index", box="Mode")
    code = (
        "import asyncio\nprint('fir' + 'st')\nawait asyncio.sleep(1.5)\nprint('sec' + 'ond')\n1 / 0"
    )
    ask(page, "Go", tool_call("run_cell", {"code": code}), ANSWER)
    page.wait(lambda: "first" in page.text)
    assert "second" not in page.text
    page.wait(lambda: finished(page))
    assert "first\nsecond\n" in page.text
    assert "✗ ZeroDivisionError: division by zero" in page.text
    assert "Traceback" not in page.text


def test_the_chat_goes_on_and_knows_its_own_cells(page: WidgetPage) -> None:
    page.enter(3, field="index", box="Mode")
    answered(page, "Add", WORKS, ANSWER)
    page.kernel.run("own = 'the person'")
    answered(page, "And now?", text("Seven."))
    said = page.kernel.service.requests[-1].body["messages"]
    assert [m["role"] for m in said].count("user") == 2
    assert "own = 'the person'" in said[-1]["content"]
    assert "total = 5 + 1" not in said[-1]["content"]
    assert page.kernel.last_run.continues


def test_one_agent_works_at_a_time(page: WidgetPage) -> None:
    ask(page, "Add", WORKS, ANSWER)
    page.wait(lambda: "Run it" in page.descriptions)
    shown = page.run("%agent --mode auto hello", answers=[])
    assert "An agent is already at work in this kernel." in shown.stderr
    page.press("Stop")
    page.wait(lambda: finished(page))


def test_what_goes_wrong_is_said_in_the_chat(page: WidgetPage) -> None:
    page.run("import os; os.environ['CELLWRIGHT_IDLE_SECONDS'] = 'many'")
    answered(page, "Hello")
    assert "✗" in page.text
    assert "SECONDS is 'many'" in page.text
    page.run("del os.environ['CELLWRIGHT_IDLE_SECONDS']")
    answered(page, "Hello", ANSWER)
    assert "It is **6**." in page.text


def test_the_saved_file_keeps_what_was_said(page: WidgetPage) -> None:
    (name,) = [key for key, data in page.displays.items() if data["text/plain"].startswith("Noth")]
    answered(page, "First?", text("<img src='http://127.0.0.1:9/x.png'> one"))
    page.enter(3, field="index", box="Mode")
    answered(page, "Second?", WORKS, ANSWER)
    kept = page.displays[name]
    assert kept["text/plain"].split("\n")[0] == "> First?"
    assert "    total = 5 + 1\n    total\n6\nIt is **6**." in kept["text/plain"]
    assert "Kept with the notebook: 2 answers" in kept["text/html"]
    assert "&lt;img src=" in kept["text/html"]
    assert "<img" not in kept["text/html"]
    page.press("Close")
    page.wait(lambda: page.displays[name]["text/html"].startswith("<details open>"))
    assert page.displays[name]["text/plain"] == kept["text/plain"]


def test_nothing_the_model_says_can_act(page: WidgetPage) -> None:
    said = "\n\n".join(payloads("http://127.0.0.1:9/sink"))
    answered(page, "Hello", text(said))
    assert safe_markdown(said).strip("\n") in page.text
    (kept,) = [data for data in page.displays.values() if "Kept" in data["text/html"]]
    assert Inspector(f"{page.html}{kept['text/html']}").wrong == []


def test_close_gives_everything_back(page: WidgetPage) -> None:
    ask(page, "Slow", after(ANSWER, 20))
    page.wait(lambda: "waiting for the model" in page.text)
    page.press("Close")
    page.wait(lambda: not page.states)
    assert page.kernel.last_run.status == "cancelled"
    page.wait(lambda: "Closed. Run the cell again to open it anew." in str(page.displays))
    assert page.kernel.value("len(__import__('ipywidgets').widgets.widget._instances)") == "0"
    threads = "[t.name for t in __import__('threading').enumerate()]"
    page.wait(lambda: "subshell" not in page.kernel.value(threads))
    page.wait(lambda: "cellwright" not in page.kernel.value(threads))


def test_a_cell_that_is_run_again_closes_its_chat(kernel: LiveKernel) -> None:
    page = WidgetPage(kernel)
    page.run("%agent chat", metadata={"cellId": "here"})
    first = set(page.states)
    page.run("%agent chat", metadata={"cellId": "elsewhere"})
    second = set(page.states) - first
    page.run("%agent chat", metadata={"cellId": "here"})
    assert first.isdisjoint(page.states)
    assert second < set(page.states)
    page.run("%unload_ext cellwright")
    assert page.states == {}
    page.run("%load_ext cellwright")


def test_model_and_mode_can_be_given(kernel: LiveKernel) -> None:
    page = WidgetPage(kernel)
    page.run("%agent chat -m other --mode plan")
    answered(page, "Hello", text("Hi."))
    request = page.kernel.service.requests[-1].body
    assert request["model"] == "other"
    assert "mode: plan" in str(request["messages"])
    page.press("Close")
    page.wait(lambda: not page.states)


def test_without_ipywidgets_it_says_what_to_install(kernel: LiveKernel) -> None:
    kernel.run("import sys; import ipywidgets as kept; sys.modules['ipywidgets'] = None")
    for command in ("chat", "runs --widget"):
        shown = kernel.run(f"%agent {command}", answers=[])
        assert "UsageError: ipywidgets cannot be imported" in shown.stderr
        assert "%pip install ipywidgets" in shown.stderr
    kernel.run("sys.modules['ipywidgets'] = kept")


@pytest.mark.parametrize(
    "made_so",
    [
        "class Plain(type(kernel)):\n    kernel_info = {}\nkernel.__class__ = Plain",
        "del kernel.control_handlers['create_subshell_request']",
    ],
    ids=["it has none", "it does not answer"],
)
def test_a_kernel_without_subshells_has_a_chat_too(kernel: LiveKernel, made_so: str) -> None:
    kernel.run(
        f"kernel = get_ipython().kernel; before = type(kernel), {{**kernel.control_handlers}}\n"
        f"{made_so}"
    )
    page = WidgetPage(kernel)
    page.run("%agent chat")
    answered(page, "Hello", text("Hi."))
    assert "Hi." in page.text
    page.press("Close")
    page.wait(lambda: not page.states)
    kernel.run("kernel.__class__, kernel.control_handlers = before")


def test_the_kernels_own_stop_button_ends_code_too(page: WidgetPage) -> None:
    page.enter(3, field="index", box="Mode")
    code = "import time\nprint('be' + 'gun')\ntime.sleep(30)"
    ask(page, "Sleep", tool_call("run_cell", {"code": code}), ANSWER)
    page.wait(lambda: "begun" in page.text)
    page.kernel.manager.interrupt_kernel()
    page.wait(lambda: finished(page))
    assert "■ Stopped." in page.text
    answered(page, "Go on", ANSWER)
    assert "It is **6**." in page.text


def test_a_flood_of_output_is_shown_to_its_end(page: WidgetPage) -> None:
    page.enter(3, field="index", box="Mode")
    code = "for number in range(3_000):\n    print(number, flush=True)\nprint('the ' + 'end')"
    ask(page, "Print", tool_call("run_cell", {"code": code}), ANSWER)
    page.wait(lambda: finished(page) and "the end" in page.text)
    assert "\n2999\nthe end\n" in page.text
