"""A long cell in the panel: the model is asked again, the cell goes on in the notebook."""

from __future__ import annotations

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live

pytestmark = [pytest.mark.server, pytest.mark.kernel]

LONG = "import time\nprint('begun', flush=True)\ntime.sleep(1)\nprint('done')"


async def test_a_long_cell_goes_on_in_the_notebook_and_the_next_one_queues(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_SOFT_WAIT", "0.3")
    scripted.script = [
        tool_call("run_cell", {"code": LONG}, id="a"),
        tool_call("run_cell", {"code": "6 * 7"}, id="b"),
        text("Done."),
    ]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "take your time")
    end = await tab.finished()
    assert (end["status"], end["answer"]) == ("completed", "Done.")
    first, second = (cell for cell in document.cells if not cell.startswith("own-"))
    assert document.text(first) == "begun\ndone\n"
    assert [document.finished[cell]["status"] for cell in (first, second)] == ["ok", "ok"]
    results = tab.of_kind("tool_finished")
    assert [result["call_id"] for result in results] == ["a", "b"]
    assert "still runs" in str(results[0]["message"])
    assert "has ended: ok" in str(results[1]["message"])
    await tab.phase(chat, "idle")
