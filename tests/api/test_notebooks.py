"""``import cellwright`` inside a running kernel, whose event loop runs, too."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api.conftest import IRIS
from fake_service import FakeService, text, tool_call
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
FIRST = PAGE.partition("```python\n")[2].partition("```")[0]
DRAW = """\
from IPython.display import display
display({"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}, raw=True)
open("made.txt", "w").close()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "iris.csv").write_text(IRIS, encoding="utf-8")
    with FakeService() as service:
        live = LiveKernel(service, folder)
        try:
            live.run("import cellwright")
            yield live
        finally:
            live.close()


def test_the_first_block_of_the_page_works_in_a_cell_and_asks_there(kernel: LiveKernel) -> None:
    shown = kernel.run(FIRST, answers=["y", "y"])
    assert shown.reply["content"]["status"] == "ok", shown.reply
    assert len(shown.questions) == 2
    assert "pd.read_csv" in shown.stdout
    assert "| virginica | 3 |" in shown.markdown
    assert shown.stderr == ""
    assert "count_by_species" not in kernel.value("dir()"), "the session has a kernel of its own"


def test_where_nobody_can_type_the_cell_says_what_to_pass(kernel: LiveKernel) -> None:
    shown = kernel.run("with cellwright.Session() as s: s.ask('Hello?')")
    assert shown.reply["content"]["ename"] == "SetupError"
    assert 'mode="auto"' in shown.reply["content"]["evalue"]


def test_pictures_and_files_are_shown_and_the_answer_is_drawn(kernel: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": DRAW}), text("# Here\n<script>no</script>")]
    code = "with cellwright.Session(mode='auto') as s:\n    answer = s.ask('Draw.')\nanswer.show()"
    shown = kernel.run(code, script)
    assert any("image/png" in data for data in shown.displays)
    assert "# Here" in shown.markdown
    assert "<script>" not in shown.markdown
    assert "made.txt" in shown.markdown
    as_value = kernel.run("answer")
    assert "# Here" in as_value.displays[0]["text/markdown"]
    assert kernel.value("[str(file) for file in answer.files]") == "['made.txt']"


def test_an_async_cell_lets_other_tasks_go_on(kernel: LiveKernel) -> None:
    script = [
        tool_call("run_cell", {"code": "import time; time.sleep(1); 6 * 7"}),
        text("It is 42."),
    ]
    code = """
import asyncio
ticks = 0
async def tick():
    global ticks
    while True:
        await asyncio.sleep(0.05)
        ticks += 1
ticking = asyncio.create_task(tick())
async with cellwright.Session(mode="auto") as s:
    answer = await s.ask_async("What is it?")
ticking.cancel()
print(answer.text, ticks > 10)
"""
    shown = kernel.run(code, script)
    assert shown.reply["content"]["status"] == "ok", shown.reply
    assert shown.stdout == "It is 42. True\n"


def test_an_async_cell_asks_too(kernel: LiveKernel) -> None:
    script = [tool_call("run_cell", {"code": "6 * 7"}), text("It is 42.")]
    code = (
        "async with cellwright.Session() as s:\n"
        "    answer = await s.ask_async('What is it?')\n"
        "print(answer.text)"
    )
    shown = kernel.run(code, script, answers=["y"])
    assert shown.reply["content"]["status"] == "ok", shown.reply
    assert "It is 42." in shown.stdout
    assert len(shown.questions) == 1


def test_here_the_model_works_with_the_variables_of_the_notebook(kernel: LiveKernel) -> None:
    kernel.run("numbers = [1, 2, 3]")
    script = [tool_call("run_cell", {"code": "total = sum(numbers)\ntotal"}), text("It is 6.")]
    code = (
        "with cellwright.Session(mode='auto', kernel='here') as s:\n"
        "    answer = s.ask('Add @numbers up.')\n"
        "print(answer.text)"
    )
    shown = kernel.run(code, script)
    assert shown.reply["content"]["status"] == "ok", shown.reply
    assert shown.stdout == "It is 6.\n"
    assert kernel.value("total") == "6"
    assert kernel.value("answer.outputs[0].data['text/plain']") == "'6'"
    assert kernel.value("answer.run.record.lane") == "'api'"


def test_here_code_is_asked_about_in_the_cell_and_what_is_refused_does_not_run(
    kernel: LiveKernel,
) -> None:
    script = [tool_call("run_cell", {"code": "wiped = True"}), text("As you like.")]
    code = "with cellwright.Session(kernel='here') as s:\n    print(s.ask('Wipe.').text)"
    shown = kernel.run(code, script, answers=["no"])
    assert "wiped = True" in shown.stdout
    assert "As you like." in shown.stdout
    assert kernel.value("'wiped' in dir()") == "False"


def test_here_and_async_do_not_go_together(kernel: LiveKernel) -> None:
    shown = kernel.run("s = cellwright.Session(kernel='here')\nawait s.ask_async('Hello?')")
    assert shown.reply["content"]["ename"] == "SetupError"


@pytest.mark.parametrize("where", ["python3", "here"])
def test_an_interrupt_stops_the_run_and_the_cell(kernel: LiveKernel, where: str) -> None:
    script = [tool_call("run_cell", {"code": "import time; time.sleep(60)"}), text("Never.")]
    code = (
        f"with cellwright.Session(mode='auto', kernel={where!r}) as s:\n"
        "    s.ask('Sleep.', on_event=lambda e: print(e.kind))"
    )
    pid = int(kernel.value("__import__('os').getpid()"))
    timers: list[threading.Timer] = []

    def interrupt(message: dict[str, Any]) -> None:
        if "cell_started" in str(message["content"]) and not timers:
            # as Jupyter does it, but without an event loop in the thread
            timers.append(threading.Timer(0.7, os.kill, (pid, signal.SIGINT)))
            timers[0].start()

    shown = kernel.run(code, script, watch=interrupt)
    assert shown.reply["content"]["ename"] == "KeyboardInterrupt"
    assert "cell_started" in shown.stdout
    assert kernel.last_run.status == "cancelled"
    assert kernel.value("cellwright.load_run('last').status") == "'cancelled'"
