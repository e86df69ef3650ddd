"""An agent of somebody else's works over MCP in the notebook that is open in a JupyterLab page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_server.peers import request
from notebook_page import NotebookPage
from playwright.sync_api import expect

from cellwright.mcp_server.bridge import Bridge, address_of

pytestmark = pytest.mark.browser

WAIT_MILLISECONDS = 60_000
STEP_MILLISECONDS = 100


class OutsideAgent:
    """A client that calls tools while the page goes on."""

    def __init__(self, page: NotebookPage, notebook: str) -> None:
        server = page.lab.server
        address = address_of(server.url, server.token, {"notebook": notebook, "mode": "auto"})
        self._page, self._sent, self._count = page, list[dict[str, Any]](), 0
        self.bridge = Bridge(address, lambda message: self._sent.append(dict(message)))
        info = {"name": "Other agent", "version": "7"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        assert "result" in self._ask("initialize", params)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its result."""
        result: dict[str, Any] = self._ask("tools/call", {"name": name, "arguments": arguments})
        return dict(result["result"])

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self.bridge.receive(json.dumps(request(self._count, method, params)).encode())
        for _ in range(WAIT_MILLISECONDS // STEP_MILLISECONDS):
            found = [message for message in self._sent if message.get("id") == self._count]
            if found:
                return found[0]
            # A page that is not waited for does not go on.
            self._page.lab.page.wait_for_timeout(STEP_MILLISECONDS)
        raise AssertionError(f"no answer to {method}: {self._sent[-3:]}")


def test_the_page_draws_what_it_does_and_takes_it_back(page: NotebookPage) -> None:
    name = page.start("x = 6", mode="")
    path = page.lab.server.folder / name
    before = path.read_text("utf-8")
    agent = OutsideAgent(page, name)
    try:
        read = agent.call("read_notebook")
        assert "x = 6" in str(read["content"])
        ran = agent.call("run_cell", code="print('drawn', 6 * 7)", title="Count")
        assert "drawn 42" in str(ran["content"])
        expect(page.output(1)).to_contain_text("drawn 42", timeout=WAIT_MILLISECONDS)
        expect(page.badge(1)).to_have_text("AI", timeout=WAIT_MILLISECONDS)
        agent.call("edit_cell", cell_id="cell-0", source="x = 7")
        agent.call("submit", answer="All is drawn.")
        page.lab.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.content.model.cells.length == 2"
        )
        assert [cell["source"] for cell in page.lab.cells()][0] == "x = 7"
        assert path.read_text("utf-8") == before
        page.lab.execute("notebook:undo-cell-action")
        page.lab.execute("notebook:undo-cell-action")
        assert [cell["source"] for cell in page.lab.cells()] == ["x = 6"]
    finally:
        agent.bridge.close()
