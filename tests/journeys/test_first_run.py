"""A person who has set nothing opens the panel, chooses a provider, gives a key, and asks.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import NOTHING_SET
from browser.test_panel_looks import OUTSIDE, SPILLED
from conftest import find_free_port
from fake_service import FakeService, Request, Wire, error, json_body, text, tool_call
from lab import SCREENSHOTS, VIEWPORT, LabPage, running_lab
from panel_page import PANEL, PanelPage
from playwright.sync_api import Browser, Locator, expect
from seen_page import themes, use_theme, violations

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

KEY = "right-" + "k" * 20
WRONG = "wrong-" + "k" * 20
MODELS = ("small-1", "small-1-vision", "large-2")
PROGRAMMERS = re.compile(
    r"CELLWRIGHT_|_API_KEY|environment variable|command line|terminal|pip |%agent|\B-m\b"
)
NARROW = f"{PANEL} {{ width: 260px !important; min-width: 0 !important; }}"


class Shop:
    """A provider with one key and three models, of which one is out of credit."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.names: tuple[str, ...] = MODELS

    def models(self, request: Request) -> Wire:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key")(request)
        return json_body({"object": "list", "data": [{"id": name} for name in self.names]})(request)

    def __call__(self, request: Request) -> Wire:
        self.asked.append(request)
        model = request.body["model"]
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key")(request)
        if model not in MODELS:
            return error(404, f"The model {model!r} does not exist.")(request)
        if model == "large-2":
            return error(429, "You exceeded your current quota.", code="insufficient_quota")(
                request
            )
        if any(tool["function"]["name"] == "ping" for tool in request.body.get("tools", [])):
            return tool_call("ping", {"word": "hello"})(request)
        return text("Hello from the shop.")(request)


@pytest.fixture
def shop() -> Iterator[tuple[Shop, FakeService]]:
    shop = Shop()
    with FakeService(shop, models=shop.models) as service:
        yield shop, service


def look(panel: PanelPage, state: str) -> None:
    """Keep pictures in light and dark, at 260 pixels and as wide as it is, and find faults."""
    page = panel.lab.page
    for index, theme in enumerate(themes(panel.lab)):
        use_theme(panel.lab, theme)
        for width in ("wide", "narrow"):
            style = page.add_style_tag(content=NARROW if width == "narrow" else "/* */")
            panel.root.screenshot(path=SCREENSHOTS / f"first-run-{state}-{width}-{theme}.png")
            for findings in (SPILLED, OUTSIDE):
                assert page.evaluate(findings, PANEL) == [], f"{state} {width}"
            style.evaluate("style => style.remove()")
        assert violations(panel.lab, PANEL, only_colours=index > 0) == [], state
    words = panel.root.inner_text()
    assert not PROGRAMMERS.search(words), words


def tab_to(panel: PanelPage, wanted: Locator, *, most: int = 25) -> None:
    for _ in range(most):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        panel.lab.page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not reached by Tab")


def files_with(secret: str, *folders: Path) -> list[str]:
    return [
        file.name
        for folder in folders
        for file in folder.rglob("*")
        if file.is_file() and secret.encode() in file.read_bytes()
    ]


def test_from_nothing_to_an_answer_in_four_steps(
    lab_without_key: LabPage, shop: tuple[Shop, FakeService]
) -> None:
    provider, service = shop
    panel = PanelPage(lab_without_key)
    page, server = panel.lab.page, panel.lab.server
    answers: list[str] = []
    page.on("response", lambda r: answers.append(r.text()) if "/cellwright/v1/" in r.url else None)
    panel.open(server.write_notebook("first.ipynb", ["x = 1"]))
    expect(panel.root.get_by_text("The demo model answers.")).to_be_visible()
    look(panel, "nothing-set")

    # choose
    panel.button("Use your own model").click()
    form = panel.root.get_by_role("form", name="Model settings")
    choice = form.get_by_label("Provider")
    expect(choice).to_be_focused()
    expect(choice.locator("option", has_text="Mistral")).to_have_count(1)
    look(panel, "choose")
    choice.select_option(label="Another address …")
    key, model = form.get_by_label("Key"), form.get_by_label("Model", exact=True)
    page.keyboard.press("Tab")
    page.keyboard.type(service.base_url)
    tab_to(panel, key)

    # a key that is refused, then the right one
    page.keyboard.type(WRONG)
    page.keyboard.press("Enter")
    expect(form.get_by_text("refuses the key.")).to_be_visible()
    expect(form.get_by_text("Copy the key again")).to_be_visible()
    look(panel, "wrong-key")
    key.fill(KEY)
    tab_to(panel, panel.button("Show models"))
    page.keyboard.press("Enter")

    # its models
    expect(form.get_by_role("option", name="small-1", exact=True)).to_be_visible()
    expect(form.get_by_text("3 models")).to_be_visible()
    look(panel, "models")
    tab_to(panel, model)
    page.keyboard.type("large")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(model).to_have_value("large-2")

    # a test: no credit, an unknown model, one that works
    test = panel.button("Test and save")
    tab_to(panel, test)
    page.keyboard.press("Enter")
    expect(form.get_by_text("has no credit left.")).to_be_visible()
    expect(test).to_be_focused()
    look(panel, "no-credit")
    model.fill("huge-9")
    test.click()
    expect(form.get_by_text("has no model named huge-9.")).to_be_visible()
    assert not (server.home / "service.json").exists()
    model.fill("small-1")
    form.get_by_text("How it answers").click()
    form.get_by_label("Temperature").fill("0.25")
    form.get_by_label("Effort of thinking").select_option(label="Low")
    look(panel, "knobs")
    test.click()
    expect(form.get_by_text("small-1 answers.")).to_be_visible()
    expect(key).to_have_value("")
    look(panel, "works")

    # ask
    panel.button("Ask something").click()
    expect(panel.prompt).to_be_focused()
    panel.answer("Who are you?")
    expect(panel.last).to_contain_text("Hello from the shop.")
    body = provider.asked[-1].body
    assert (body["temperature"], body["reasoning_effort"]) == (0.25, "low")
    assert not {"top_p", "verbosity"} & set(body)

    # it is kept, and found again in the menu
    panel.reload()
    panel.wait_for_answer(1)
    panel.answer("And now?")
    panel.choose("Model settings")
    expect(model).to_have_value("small-1")
    expect(form.get_by_role("option", name="large-2")).to_be_visible()
    expect(form.get_by_text("A key is kept.")).to_be_visible()
    form.get_by_text("How it answers").click()
    form.get_by_label("Effort of thinking").select_option(label="Default")
    panel.button("Save").click()
    expect(form.get_by_text("Saved.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel.prompt).to_be_focused()
    panel.answer("Once more?")
    assert "reasoning_effort" not in provider.asked[-1].body

    # the key is where it belongs, and nowhere else
    panel.lab.save()
    assert files_with(KEY, server.folder, server.home) == ["service.json"]
    assert not [answer for answer in answers if KEY in answer]
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert KEY not in stored
    kept = json.loads((server.home / "service.json").read_text("utf-8"))
    assert kept["parameters"] == {"temperature": 0.25}
    use_theme(panel.lab, "light")


def test_a_server_that_does_not_answer_is_named_with_what_to_do(
    lab_without_key: LabPage, free_port: int
) -> None:
    panel = PanelPage(lab_without_key)
    panel.open(panel.lab.server.write_notebook("none.ipynb", ["x = 1"]))
    panel.choose("Model settings")
    form = panel.root.get_by_role("form", name="Model settings")
    form.get_by_label("Provider").select_option(label="LM Studio")
    form.get_by_label("Address").fill(f"http://127.0.0.1:{free_port}/v1")
    panel.button("Show models").click()
    expect(form.get_by_text(f"Nothing answers at http://127.0.0.1:{free_port}/v1.")).to_be_visible()
    expect(form.get_by_text("Start the server there")).to_be_visible()
    look(panel, "nothing-listens")
    panel.button("Back to the chat").click()
    expect(panel.root.get_by_text("The demo model answers.")).to_be_visible()

    # The demo model's answer says who answered, and where another one is chosen.
    panel.answer("What is x?")
    expect(panel.root.get_by_text("Another one can be chosen in Model settings.")).to_be_visible()
    look(panel, "demo-answer")


def test_a_server_that_was_started_for_a_service_without_a_model(
    browser: Browser, shop: tuple[Shop, FakeService], tmp_path: Path
) -> None:
    """Whoever started it named the address alone: it wants a key, then its only model answers."""
    provider, service = shop
    provider.names = ("small-1",)
    named = {**NOTHING_SET, "CELLWRIGHT_BASE_URL": service.base_url}
    with (
        running_lab(tmp_path, find_free_port(), named) as server,
        browser.new_context(viewport=VIEWPORT) as context,
    ):
        panel = PanelPage(LabPage(context.new_page(), server))
        panel.open(server.write_notebook("named.ipynb", ["x = 1"]))
        expect(panel.root.get_by_text("No model is chosen yet.")).to_be_visible()
        expect(panel.root.get_by_text("wants a key")).to_be_visible()
        look(panel, "no-model")
        panel.button("Use your own model").click()
        form = panel.root.get_by_role("form", name="Model settings")
        form.get_by_label("Key").fill(KEY)
        panel.button("Show models").click()
        model = form.get_by_label("Model", exact=True)
        expect(model).to_have_value("small-1")
        panel.button("Save").click()
        expect(form.get_by_text("Saved.")).to_be_visible()
        panel.button("Ask something").click()
        panel.answer("Who are you?")
        expect(panel.last).to_contain_text("Hello from the shop.")
        look(panel, "only-model")
