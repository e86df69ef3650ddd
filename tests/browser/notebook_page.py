"""A notebook in a page of JupyterLab with the panel beside it, and what a person does to both."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_service import Answer
from lab import SCREENSHOTS, VIEWPORT, LabPage, LabServer
from panel_page import PANEL, PanelPage, Script
from playwright.sync_api import Browser, BrowserContext, Locator, expect
from seen_page import themes, use_theme, violations

DEFAULT_MILLISECONDS = 30_000
COUNT_UNTIL = (
    "import itertools, pathlib, time\nfor number in itertools.count():\n"
    "    print(number, flush=True)\n    if pathlib.Path({!r}).exists():\n        break\n"
    "    time.sleep(0.1)"
)
WAIT = (
    "import pathlib, time\nprint('waiting', flush=True)\n"
    "while not pathlib.Path({!r}).exists():\n    time.sleep(0.1)\nprint('went on')"
)
HAS_KERNEL = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel != null"
CLOSE_ALL = """async () => {
    const { shell } = window.jupyterapp;
    for (const widget of [...shell.widgets('main')]) {
        await widget.sessionContext?.shutdown();
        widget.dispose();
    }
    // The word that a kernel has died stands in the way of all that comes after.
    document.querySelectorAll('.jp-Dialog .jp-mod-accept').forEach(button => button.click());
}"""

_numbers = itertools.count()


def count_until(name: str) -> str:
    """Code that prints numbers until this file is there, however slow the page is."""
    return COUNT_UNTIL.format(name)


def is_counted(cell: dict[str, Any]) -> bool:
    """Whether a cell shows each number once, from zero on."""
    found = shown(cell).split()
    return len(found) > 1 and found == [str(number) for number in range(len(found))]


def wait_for_file(name: str) -> str:
    """Code that goes on when this file is there, however slow the page is."""
    return WAIT.format(name)


def shown(cell: dict[str, Any]) -> str:
    """All that a cell shows as text."""
    words: list[str] = []
    for output in cell["outputs"]:
        words += ["".join(output.get("text", "")), *output.get("traceback", [])]
        words += ["".join(map(str, value)) for value in output.get("data", {}).values()]
    return "\n".join(filter(None, words))


def paint_cells(root: Path) -> None:
    """Switch painting on in the Lab that will have its folders below ``root``."""
    settings = root / "settings" / "cellwright" / "plugin.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"paintCells": True}), "utf-8")


@dataclass(frozen=True)
class NotebookPage(PanelPage):
    """An open notebook and its panel."""

    script: Script

    @property
    def diff(self) -> Locator:
        """The proposed edits that are shown on cells."""
        return self.lab.page.get_by_role("group", name="Proposed edit")

    @property
    def missing(self) -> Locator:
        """The bar that offers cells which were made while the notebook was closed."""
        return self.root.get_by_role("region", name="Cells made meanwhile")

    def write(self, *answers: Answer) -> None:
        """Let the model say this."""
        self.script.write(*answers)

    def start(self, *sources: str, mode: str = "Auto") -> str:
        """Open a new notebook beside the others of this page, and its chat in this mode."""
        name = self.lab.server.write_notebook(f"book-{next(_numbers)}.ipynb", list(sources))
        self.open_beside(name)
        self.lab.wait_idle()
        self.show(mode)
        return name

    def open_beside(self, name: str) -> None:
        """Open a notebook in this page and wait for its kernel, which may be busy."""
        self.lab.execute("docmanager:open", {"path": name})
        self.lab.page.wait_for_function(HAS_KERNEL)
        expect(self.root.get_by_text(name).first).to_be_visible()

    def go_on(self, name: str) -> None:
        """Let code go on that waits for this file."""
        (self.lab.server.folder / name).touch()

    def output(self, index: int) -> Locator:
        """All that a cell shows."""
        return self.cell(index).locator(".jp-OutputArea")

    def prompt_of(self, index: int) -> Locator:
        """The number beside a cell, or its running mark."""
        return self.cell(index).locator(".jp-InputPrompt")

    def badge(self, index: int) -> Locator:
        """The mark of a cell that the agent wrote."""
        return self.cell(index).locator(".cw-cell-badge")

    def type_into(self, index: int, source: str) -> None:
        """Change a cell as a person does."""
        self.cell(index).locator(".cm-content").click()
        self.lab.page.keyboard.press("ControlOrMeta+a")
        self.lab.page.keyboard.type(source)

    def ids(self) -> list[str]:
        """The ids of the open notebook's cells."""
        return [cell["id"] for cell in self.lab.cells()]

    def tool_results(self) -> str:
        """All that the model was told by tools."""
        messages = self.script.requests[-1].messages
        return "\n".join(str(message) for message in messages if message["role"] == "tool")

    def use_theme(self, name: str) -> None:
        """Change the look of the page."""
        self.lab.execute("apputils:change-theme", {"theme": f"JupyterLab {name}"})
        body = f"body[data-jp-theme-name='JupyterLab {name}']"
        self.lab.page.locator(body).wait_for(state="attached")
        self.lab.page.wait_for_timeout(300)

    def picture(self, name: str) -> None:
        """Keep pictures of the page in light and in dark."""
        for theme in ("Dark", "Light"):
            self.use_theme(theme)
            self.lab.screenshot(f"{name}-{theme.lower()}")

    def look(self, name: str, widths: tuple[int, ...]) -> None:
        """Keep pictures of the panel in each theme and width; axe finds nothing wrong in it."""
        for theme in themes(self.lab):
            use_theme(self.lab, theme)
            for width in widths:
                self.widen(width)
                self.lab.page.wait_for_timeout(50)
                self.root.screenshot(path=SCREENSHOTS / f"{name}-{width}-{theme}.png")
            assert violations(self.lab, PANEL, only_colours=False) == [], f"{name} {theme}"
        self.widen(480)

    def close_all(self) -> None:
        """Close all documents without saving, and their kernels."""
        self.lab.page.evaluate(CLOSE_ALL)


@contextmanager
def loaded_page(
    context: BrowserContext, server: LabServer, script: Script
) -> Iterator[NotebookPage]:
    """A page of JupyterLab with the panel open and no notebook."""
    page = NotebookPage(LabPage(context.new_page(), server), script)
    page.lab.page.set_default_timeout(DEFAULT_MILLISECONDS)
    page.lab.page.goto(f"{server.url}/lab?token={server.token}&reset")
    page.lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    page.show()
    yield page
    page.lab.page.close()


@contextmanager
def opened_page(browser: Browser, server: LabServer, script: Script) -> Iterator[NotebookPage]:
    """The same in a browser of its own, as another person's."""
    with (
        browser.new_context(viewport=VIEWPORT) as context,
        loaded_page(context, server, script) as page,
    ):
        yield page
