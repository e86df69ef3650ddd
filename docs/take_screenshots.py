"""Take the pictures of the docs anew, in a real JupyterLab with the demo model.

make js && PYTHONPATH=tests/browser .venv/bin/python docs/take_screenshots.py
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab import LabPage, running_lab
from playwright.sync_api import Browser, Locator, expect, sync_playwright

from cellwright.bench.results import ResultFiles
from cellwright.demo import data
from cellwright.exports.sample import SampleRecord, SampleTask, SampleTime, Score

IMAGES = Path(__file__).parent / "images"
VIEWPORT: Any = {"width": 1360, "height": 860}
PANEL_WIDTH = 420
THEMES = ("light", "dark")
LOAD = 'import pandas as pd\n\nsales = pd.read_csv("sales.csv")\nsales.head(3)'
BROKEN = "revenue_by_region = sale.groupby('region').revenue.sum()"
SLOW = 90_000
PAGE = "#cellwright-keeping"
MODELS = (("large", 0.8, 0.03), ("middle", 0.74, 0.006), ("small", 0.45, 0.0008))
GROUPS = ("tables", "dates", "plots")
ASSISTANT = """\
description = "Looks for mistakes in data"
instructions = '''
Check types, missing values and units first.
Change nothing.'''
tools = ["read_*", "list_variables", "inspect_variable"]
"""


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["CELLWRIGHT_HOME"] = str(Path(folder, "home"))
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        with running_lab(Path(folder), _free_port()) as server:
            shutil.copy(Path(data.__path__[0]) / "sales.csv", server.folder)
            _write_assistant(server.folder)
            for theme in THEMES:
                name = server.write_notebook(f"sales-{theme}.ipynb", [LOAD, BROKEN])
                with _page(browser, server) as lab:
                    _show(lab, name, theme)
                    _picture_chat(lab, theme)
                    if theme == "light":
                        _picture_assistant(lab)
            _picture_evaluation(browser, server)
        browser.close()


def _picture_evaluation(browser: Browser, server: Any) -> None:
    """A benchmark's leaderboard, the index of its notebooks, and one of them in JupyterLab."""
    examples, out = Path(__file__).parent.parent / "examples" / "bench", server.folder / "out"
    agents = ["--agent", "oracle", "--agent", "noop"]
    _cellwright("bench", "run", str(examples), *agents, "-o", str(out), "-q")
    _cellwright("bench", "export", str(out), "--to", "notebooks")
    board, simulated = server.folder / "leaderboard.html", server.folder / "simulated"
    _write_simulated(simulated)
    _cellwright("bench", "leaderboard", str(simulated), "-o", str(board))
    index = server.folder / "out-notebooks" / "index.html"
    for theme in THEMES:
        page = browser.new_page(color_scheme=theme, viewport={"width": 1100, "height": 640})
        for name, file in (("leaderboard", board), ("index", index)):
            page.goto(file.as_uri())
            page.screenshot(path=IMAGES / f"bench-{name}-{theme}.png")
        page.close()
    with _page(browser, server) as lab:
        lab.open("out-notebooks/oracle/bench/best_region.ipynb")
        lab.execute("filebrowser:toggle-main")
        lab.page.wait_for_function(
            "document.querySelector('.jp-RenderedMarkdown img')?.naturalWidth > 0"
        )
        lab.page.screenshot(path=IMAGES / "bench-notebook-light.png")


def _write_simulated(root: Path) -> None:
    """Results of models that there are not, with what each sample cost."""
    chance = random.Random(1)
    hard = [chance.random() for _ in range(60)]
    for model, skill, dollars in MODELS:
        files = ResultFiles(root, model, "sales")
        for number, limit in enumerate(hard):
            passed, seconds = skill > 0.6 * limit + 0.4 * chance.random(), 4 + 8 * chance.random()
            why = "" if passed else chance.choice(("total: it is 41", "there is no total"))
            score = Score("variable total", float(passed), passed, why)
            task = SampleTask("sales", number, group=GROUPS[number % len(GROUPS)])
            files.add(
                SampleRecord(
                    f"sales:{number}:1",
                    task=task,
                    suite="sales",
                    agent=model,
                    input=f"Question {number}",
                    status="completed" if passed or limit < 0.9 else "task limit reached",
                    scores=(score,),
                    usage={"prompt_tokens": 2_000, "completion_tokens": 300},
                    cost_dollars=dollars * (0.5 + chance.random()),
                    time=SampleTime(seconds=seconds),
                )
            )


def _cellwright(*arguments: str) -> None:
    program = Path(sys.executable).with_name("cellwright")
    subprocess.run([str(program), *arguments], check=True)


@contextmanager
def _page(browser: Browser, server: Any) -> Iterator[LabPage]:
    context = browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(SLOW)
    yield LabPage(context.new_page(), server)
    context.close()


def _show(lab: LabPage, name: str, theme: str) -> None:
    lab.open(name)
    lab.execute("apputils:change-theme", {"theme": f"JupyterLab {theme.title()}"})
    lab.run_cell(0)
    lab.run_cell(1)
    lab.execute("filebrowser:toggle-main")
    lab.execute("cellwright:open")
    _panel(lab).wait_for()
    _widen(lab)


def _widen(lab: LabPage) -> None:
    left = _panel(lab).bounding_box()
    assert left is not None
    edge, height = left["x"] - 2, left["y"] + 200
    lab.page.mouse.move(edge, height)
    lab.page.mouse.down()
    lab.page.mouse.move(edge - (PANEL_WIDTH - left["width"]), height, steps=5)
    lab.page.mouse.up()


def _picture_chat(lab: LabPage, theme: str) -> None:
    panel = _panel(lab)
    _ask(lab, "plot revenue by region")
    expect(panel.get_by_role("button", name="Approve", exact=True)).to_be_visible(timeout=SLOW)
    if theme == "dark":
        _keep(lab, "approval-dark")
    panel.get_by_role("button", name="Allow for this session").click()
    expect(panel.get_by_role("button", name="Send", exact=True)).to_be_visible(timeout=SLOW)
    figure = lab.page.locator(".jp-OutputArea img").last
    for _ in range(2):  # cells above that are drawn only now push it out of sight
        figure.evaluate("image => image.scrollIntoView({ block: 'end' })")
        lab.page.wait_for_timeout(500)
    _keep(lab, f"answer-{theme}")


def _write_assistant(folder: Path) -> None:
    file = folder / ".cellwright" / "assistants" / "reviewer.toml"
    file.parent.mkdir(parents=True)
    file.write_text(ASSISTANT, "utf-8")


def _picture_assistant(lab: LabPage) -> None:
    lab.execute("cellwright:keeping", {"part": "assistants", "assistant": "reviewer"})
    expect(lab.page.locator(PAGE).get_by_role("textbox", name="Name")).to_be_focused()
    _keep(lab, "assistants-light")


def _ask(lab: LabPage, prompt: str) -> None:
    box = _panel(lab).get_by_role("textbox").last
    box.fill(prompt)
    box.press("Enter")


def _panel(lab: LabPage) -> Locator:
    return lab.page.locator("#cellwright-panel")


def _keep(lab: LabPage, name: str) -> None:
    lab.page.wait_for_timeout(500)
    lab.page.screenshot(path=IMAGES / f"panel-{name}.png")


def _chromium() -> str:
    """The first Chromium on the path, else the one that ``make test`` downloaded."""
    downloaded = sorted(Path(sys.prefix, "browsers").glob("chromium-*/chrome-*/chrome"))
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    return found or str(downloaded[-1])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
