"""Pictures of a page in both themes, and what axe finds in it."""

from __future__ import annotations

from pathlib import Path

from lab import SCREENSHOTS, LabPage
from playwright.sync_api import expect

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
IS_LIGHT = "document.body.dataset.jpThemeLight === 'true'"
HAS_THEME = f"wanted => ({IS_LIGHT}) === wanted"
VIOLATIONS = """async ([root, options]) => {
    const { violations } = await axe.run(root, options);
    return violations.flatMap(({ id, nodes }) => nodes.map(
        ({ html, any }) => [id, html.slice(0, 150), any[0]?.message].join(' ')));
}"""
ALL_RULES = {"rules": {"region": {"enabled": False}}}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""All that depends on the theme."""


def themes(lab: LabPage) -> list[str]:
    """The theme that is on, then the other one: changing it takes long."""
    return sorted(THEMES, key=lambda theme: (theme == "light") != lab.page.evaluate(IS_LIGHT))


def use_theme(lab: LabPage, theme: str) -> None:
    """Change to this theme where another one is on."""
    is_light = theme == "light"
    if lab.page.evaluate(IS_LIGHT) != is_light:
        lab.execute("apputils:change-theme", {"theme": THEMES[theme]})
        lab.page.wait_for_function(HAS_THEME, arg=is_light)
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)


def violations(lab: LabPage, root: str, *, only_colours: bool) -> list[str]:
    """What axe finds that cannot be read or used."""
    if not lab.page.evaluate("'axe' in window"):
        lab.page.add_script_tag(path=AXE)
    rules = COLOURS if only_colours else ALL_RULES
    found: list[str] = lab.page.evaluate(VIOLATIONS, [root, rules])
    return found


def look(lab: LabPage, root: str, name: str) -> None:
    """Keep a picture of ``root`` for each theme, and find what cannot be read or used."""
    for index, theme in enumerate(themes(lab)):
        use_theme(lab, theme)
        lab.page.locator(root).screenshot(path=SCREENSHOTS / f"{name}-{theme}.png")
        assert violations(lab, root, only_colours=index > 0) == [], f"{name} {theme}"
