"""The page of runs: tables, samples, comparison and plot in a real JupyterLab, in light and dark.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import seen_page
from lab import LabPage
from playwright.sync_api import Locator, expect
from recorded_runs import PIXEL, analysis_run

from cellwright.bench.results import Failure, ResultFiles
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, SampleTime, Score
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = pytest.mark.browser

PAGE = "#cellwright-runs"
HOSTILE = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'><b>bold</b>"
OUTPUTS = (
    {"output_type": "stream", "name": "stdout", "text": "printed\n"},
    {"output_type": "display_data", "data": {"text/html": HOSTILE}, "metadata": {}},
    {"output_type": "display_data", "data": {"image/png": PIXEL}, "metadata": {}},
    {"output_type": "display_data", "metadata": {}, "data": {"application/javascript": "broken=1"}},
)


def messages(code: str, answer: str) -> tuple[dict[str, Any], ...]:
    arguments = f'{{"code": "{code}"}}'
    call = {"id": "c", "type": "function", "function": {"name": "run_cell", "arguments": arguments}}
    return (
        {"role": "system", "content": "You work in a notebook."},
        {"role": "user", "content": "What is the mean mass of the penguins?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "4201.75"},
        {"role": "assistant", "content": answer},
    )


def sample(agent: str, index: int, passes: bool, cost: float) -> SampleRecord:
    code = "df['mass'].mean()" if passes else "df['mass'].median()"
    answer = f"The **mean** is `4201.75`. {HOSTILE}"
    explanation = "equal" if passes else "it is 4050.0, not 4201.75 (tolerance 0.01)"
    return SampleRecord(
        id=f"penguins/{index}/1",
        suite="penguins",
        task=SampleTask("penguins", index, group=("means", "plots")[index % 2]),
        agent=agent,
        model={"model": agent},
        input="What is the mean mass of the penguins?",
        messages=messages(code, answer),
        cells=(SampleCell("x", "agent", code, "ok", 1, OUTPUTS, seconds=0.2),),
        status="completed",
        result=answer,
        scores=(
            Score("value of mean", float(passes), passes, explanation),
            Score("names its unit", 1.0, True),
        ),
        usage={"prompt_tokens": 900, "completion_tokens": 60},
        cost_dollars=cost * (1 + index % 5 / 10),
        time=SampleTime(1_795_253_415.0, 2.0 + index % 3),
    )


def write_results(folder: Path) -> ResultFiles:
    """Three agents at one suite; the last of them is still at it."""
    agents = {"gpt-large": (17, 0.04), "qwen-small": (11, 0.002), "slow-dear": (10, 0.07)}
    for agent, (passed, cost) in agents.items():
        files = ResultFiles(folder / "runs" / "2026-11-21", agent, "penguins")
        for index in range(20):
            files.add(sample(agent, index, (index * 7) % 20 < passed, cost))
        if agent != "slow-dear":
            files.sum_up({})
    files.add_failure(Failure(20, 1, "START_FAILED", "The kernel did not start.", 3))
    return files


def look(lab: LabPage, state: str) -> None:
    """Keep a picture for each theme, and find what cannot be read or used."""
    seen_page.look(lab, PAGE, f"runs-{state}")


@pytest.fixture
def root(lab: LabPage) -> Locator:
    """The page, over a notebook, with the results of three agents."""
    lab.open(lab.server.write_notebook("runs-page.ipynb", ["1"]))
    return lab.page.locator(PAGE)


def test_results_lead_to_samples_comparisons_and_the_plot(lab: LabPage, root: Locator) -> None:
    growing = write_results(lab.server.folder)
    lab.execute("launcher:create")
    lab.page.locator(".jp-LauncherCard").filter(has_text="Runs and Benchmarks").click()
    row = root.get_by_role("row").filter(has_text="slow-dear")
    expect(row).to_contain_text("10 of 20")
    expect(row).to_contain_text("Points 75.0%")
    look(lab, "results")
    growing.add(sample("slow-dear", 20, True, 0.07))
    expect(row).to_contain_text("11 of 21")

    root.get_by_role("button", name="qwen-small").click()
    expect(root.locator("dt", has_text="Points")).to_be_visible()
    root.get_by_text("By check").click()
    check = root.get_by_role("row").filter(has_text="names its unit")
    expect(check).to_contain_text("20 of 20")
    root.get_by_label("Outcome").select_option("failed")
    expect(root.get_by_text("9 of 20 samples")).to_be_visible()
    look(lab, "samples")
    root.locator("section[aria-label=Samples] tbody").get_by_role("button").first.click()
    expect(root.locator("strong", has_text="mean")).to_be_visible()
    look(lab, "messages")
    root.get_by_role("tab", name="Cells").click()
    expect(root.get_by_text("printed")).to_be_visible()
    expect(root.locator(".cw-outputs b", has_text="bold")).to_be_visible()
    look(lab, "cells")
    root.get_by_role("tab", name="Scores").click()
    expect(root.get_by_text("it is 4050.0, not 4201.75")).to_be_visible()
    assert lab.page.evaluate("window.broken") is None

    root.get_by_role("tab", name="Benchmarks").click()
    for agent in ("gpt-large", "qwen-small"):
        root.get_by_role("checkbox", name=agent).check()
    root.get_by_role("button", name="Compare (2 of 2)").click()
    first = root.get_by_role("tabpanel").get_by_role("rowheader").first
    expect(first).to_be_visible()
    look(lab, "comparison")
    first.get_by_role("button").click()
    expect(root.get_by_text("They part at step 3 of 5.")).to_be_visible()
    look(lab, "pair")

    root.get_by_role("tab", name="Cost and accuracy").click()
    expect(root.get_by_role("button", name="gpt-large: 85.0% passed")).to_be_visible()
    look(lab, "plot")


def test_recorded_runs_are_listed_and_opened(lab: LabPage, root: Locator) -> None:
    database = open_database(lab.server.home / "runs.sqlite")
    try:
        run = RunStore(database).start(*analysis_run()).run_id
    finally:
        database.close()
    lab.execute("cellwright:open")
    panel = lab.page.locator("#cellwright-panel")
    panel.get_by_role("button", name="More", exact=True).click()
    panel.get_by_role("menuitem", name="Runs and Benchmarks").click()
    root.get_by_role("tab", name="Recorded runs").click()
    expect(root.get_by_role("button", name="Which region sold most?").first).to_be_visible()
    look(lab, "recorded")
    lab.execute("cellwright:runs", {"run": run})
    expect(root.get_by_role("heading", name=f"Run {run}")).to_be_focused()
    expect(root.get_by_role("tab", name="Messages")).to_be_visible()
    look(lab, "run")
    lab.page.keyboard.press("Escape")
    expect(root.get_by_role("tab", name="Recorded runs")).to_have_attribute("aria-selected", "true")
    lab.page.wait_for_function(
        """async () => {
            const saved = await window.jupyterapp.serviceManager.workspaces.fetch('default');
            return JSON.stringify(saved).includes('cellwright-runs:runs');
        }"""
    )
    lab.page.reload()
    expect(root.get_by_role("tab", name="Recorded runs")).to_be_visible()
