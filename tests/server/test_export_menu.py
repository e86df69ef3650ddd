"""JupyterLab's export menu asks the server which formats there are."""

from __future__ import annotations

import json
from typing import Any


async def test_the_export_menu_lists_the_evaluated_notebook(jp_fetch: Any) -> None:
    response = await jp_fetch("api", "nbconvert")
    listed = json.loads(response.body)
    assert listed["cellwright"] == {"output_mimetype": "text/html"}
