"""Outside tools in a chat of the panel: those of the folder of its notebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_service import FakeService, text
from outside.http_service import Answered, http_service
from server.live_server import Live

from cellwright.assistants.files import folders_of
from cellwright.external.commands import order, parse
from cellwright.external.source import Whereabouts, open_outside
from cellwright.server.application import Application

PLAIN = {"type": "object", "properties": {}}
pytestmark = [pytest.mark.server, pytest.mark.kernel]


async def test_002_02_a_chat_is_given_the_tools_that_are_named_beside_its_notebook(
    live: Live, scripted: FakeService, jp_root_dir: Path
) -> None:
    place = jp_root_dir / "work" / ".cellwright" / "tools"
    place.mkdir(parents=True)
    scripted.script = [text("First."), text("Second.")]
    with http_service() as service:
        function = {"name": "today", "description": "Now.", "parameters": PLAIN}
        callback = f"{service.url}/call"
        document = {"name": "W", "callback_url": callback, "functions": [function]}
        service.answers["/tools"] = Answered(document)
        words = f'kind = "http"\nurl = "{service.url}/tools"\nlocal = true\n'
        (place / "weather.toml").write_text(words, "utf-8")
        for asked, path in enumerate(("work/a.ipynb", "b.ipynb")):
            tab, chat, _ = await live.ready("x = 1", path=path)
            if not asked:
                _agree(live.application, jp_root_dir)
            await tab.ask(chat, "look")
            await tab.finished()
            offered = {t["function"]["name"] for t in scripted.requests[asked].body["tools"]}
            assert ("weather__today" in offered) == (path == "work/a.ipynb")


def _agree(application: Application, root: Path) -> None:
    """As a person does in the notebook's own kernel."""
    where = Whereabouts(folders_of(root, "work/a.ipynb"), root)
    tools = open_outside(application.database, application.settings(), where)
    order(parse(["connect", "weather"]), tools)
