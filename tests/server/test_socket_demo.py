"""The first prompt in the Lab that ``make demo LAB=1`` opens: no key, the demo's notebook."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from server.live_server import Live
from server.live_tab import Document, TabClient, code_cell

from cellwright.commands.demonstration import MAIN_PROMPT, NOTEBOOK, set_up
from cellwright.session.services import DEMO_MODEL

pytestmark = [pytest.mark.server, pytest.mark.kernel]


async def opened(live: Live, folder: Path) -> tuple[TabClient, str, Document]:
    """A tab with the demo's notebook, and a kernel beside its data."""
    set_up(folder, DEMO_MODEL, is_demo_model=True)
    content = json.loads((folder / NOTEBOOK).read_text("utf-8"))
    cells = [
        {**code_cell(cell["id"], "".join(cell["source"])), "cell_type": cell["cell_type"]}
        for cell in content["cells"]
    ]
    chat = await live.chat(NOTEBOOK)
    kernel_id = await live.serverapp.kernel_manager.start_kernel(path="")
    live.kernels.append(kernel_id)
    tab = await live.tab()
    document = await tab.open(Document(NOTEBOOK, kernel_id, *cells))
    await tab.follow(chat)
    return tab, chat, document


async def allow_everything(tab: TabClient, chat: str) -> None:
    """Until the run has ended: a task that is cancelled may miss it in ``wait_for``."""
    answered: set[str] = set()

    def look() -> dict[str, Any] | None:
        state = tab.states[chat]
        return state if state["approval"] or tab.of_kind("run_finished") else None

    while not tab.of_kind("run_finished"):
        call_id = (await tab.until(look, 60))["approval"]
        if call_id and call_id not in answered:
            answered.add(call_id)
            rest: dict[str, Any] = {"reason": "", "for_session": False, "allowed": True}
            await tab.send(type="answer", chat=chat, call_id=call_id, **rest)
        await asyncio.sleep(0.02)


async def test_it_works_in_the_notebook_and_its_kernel(live: Live, jp_root_dir: Path) -> None:
    tab, chat, document = await opened(live, jp_root_dir)
    before = len(document.cells)
    allowing = asyncio.ensure_future(allow_everything(tab, chat))
    prompt = MAIN_PROMPT
    await tab.ask(chat, prompt, mode="ask")
    end = await tab.finished(seconds=60)
    await allowing
    assert (end["status"], tab.errors()) == ("completed", [])
    assert end["answer"]
    assert len(document.cells) > before
    assert [ran["status"] for ran in document.finished.values()][-1] == "ok"
    shown = [output for outputs in document.outputs.values() for output in outputs]
    assert any("image/png" in output.get("data", {}) for output in shown)
    (begun,) = tab.of_kind("run_started")
    assert begun["prompt"] == prompt
    assert begun["parameters"]["model"] == DEMO_MODEL
