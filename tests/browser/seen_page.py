"""Pictures of a page in both themes, and what axe finds in it."""

from __future__ import annotations

from pathlib import Path

from lab import SCREENSHOTS, LabPage
from playwright.sync_api import expect

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def look(lab: LabPage, root: str, name: str) -> None:
    """Keep a picture of ``root`` for each theme, and find what cannot be read or used."""
    page = lab.page
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    for theme, words in THEMES.items():
        lab.execute("apputils:change-theme", {"theme": words})
        page.wait_for_function(
            "wanted => String(document.body.dataset.jpThemeLight === 'true') === wanted",
            arg=str(theme == "light").lower(),
        )
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        page.locator(root).screenshot(path=SCREENSHOTS / f"{name}-{theme}.png")
        found: list[str] = page.evaluate(
            """async root => {
                const { violations } = await axe.run(root, { rules: { region: false } });
                return violations.flatMap(({ id, nodes }) => nodes.map(
                    ({ html, any }) => [id, html.slice(0, 150), any[0]?.message].join(' ')));
            }""",
            root,
        )
        assert found == [], f"{name} {theme}"
