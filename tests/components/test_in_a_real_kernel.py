"""The tools in a real kernel, with real tables, figures and exceptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from cellwright.text.truncation import estimate_tokens

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

SETUP = """
import itertools, json
from cellwright.tools import ToolContext
from cellwright.tools.standard import standard_tools
from cellwright.record.content import ComponentOutput, for_model
from cellwright.errors import ToolError
from cellwright.kernels.shell import ShellKernel
from cellwright.tools import Shelf
from cellwright.stopping import Stop

_numbers = itertools.count(1)
_tools = {tool.name: tool for tool in standard_tools(None)}
_context = ToolContext(
    kernel=ShellKernel(get_ipython()),
    notebook=None,
    shelf=Shelf(),
    stop=Stop(),
    on_output=lambda output: output,
    new_cell_id=lambda: f"c{next(_numbers)}",
)

def _call(name, /, **arguments):
    try:
        items = list(_tools[name].tool_eval(_context, **arguments))
    except ToolError as error:
        return f"ToolError: {error}"
    contents = tuple(c for i in items if isinstance(i, ComponentOutput) for c in i.content)
    return "\\n".join(part.text for part in for_model(contents))
"""
TABLE = """
import numpy as np, pandas as pd
wide = pd.DataFrame({f"column_{n}": np.arange(10_000) * n for n in range(16)})
"""


class LiveTools:
    """Calls tools inside a kernel and returns what a model would read."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client

    def __call__(self, name: str, /, **arguments: Any) -> str:
        call = f"_answer = _call({name!r}, **{arguments!r})"
        reply = self._client.execute(
            call,
            reply=True,
            timeout=60,
            user_expressions={"answer": "__import__('json').dumps(_answer)"},
        )
        shown = reply["content"]["user_expressions"]["answer"]["data"]["text/plain"]
        return str(json.loads(eval(shown)))

    def run(self, code: str) -> str:
        """What a model reads of a cell."""
        return self("run_cell", code=code)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveTools]:
    folder = tmp_path_factory.mktemp("kernel")
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    try:
        assert client.execute(SETUP, reply=True, timeout=60)["content"]["status"] == "ok"
        yield LiveTools(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_table_of_sixteen_columns_costs_at_most_two_hundred_tokens(tools: LiveTools) -> None:
    read = tools.run(TABLE + "wide")
    assert estimate_tokens(read.partition("\nchanged:")[0]) <= 200
    assert "column_15" in read
    assert "<table" not in read
    assert estimate_tokens(tools("inspect_variable", name="wide")) <= 200


def test_an_assignment_tells_what_changed(tools: LiveTools) -> None:
    read = tools.run("total = 41 + 1")
    assert read == "(no output)\nchanged: total int 42"
    assert "total: int 42" in tools("list_variables", pattern="tot*")


def test_a_missing_column_costs_at_most_seventy_tokens(tools: LiveTools) -> None:
    tools.run("import pandas as pd\nsmall = pd.DataFrame({'a': [1]})")
    read = tools.run("rows = small[small['a'] > 0]\nmean = rows['price'].mean()\nprint(mean)")
    assert read.startswith("KeyError: 'price'")
    assert "> 2 mean = rows['price'].mean()" in read
    assert estimate_tokens(read.partition("\nchanged:")[0]) <= 70


def test_a_figure_is_a_few_words(tools: LiveTools) -> None:
    read = tools.run("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert "[image/png " in read
    assert estimate_tokens(read) < 60


def test_a_missing_module_is_named_by_its_distribution(tools: LiveTools) -> None:
    read = tools.run("import skimage")
    assert read.splitlines()[0] == "ModuleNotFoundError: No module named 'skimage'"
    assert read.splitlines()[-1] == 'install_package("scikit-image") would add it.'


def test_exceptions_of_every_kind_are_read_from_what_ipython_shows(tools: LiveTools) -> None:
    assert tools.run("x = = 2").startswith("SyntaxError: invalid syntax\n")
    chained = tools.run(
        "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise OSError('no') from e"
    )
    assert chained.startswith("OSError: no\n")
    assert "after ZeroDivisionError: division by zero" in chained
    # of thousands of frames IPython takes seconds to draw what of hundreds reads the same
    tools.run("import sys; usual = sys.getrecursionlimit(); sys.setrecursionlimit(400)")
    deep = tools.run("def r(n): return r(n + 1)\nr(0)")
    tools.run("sys.setrecursionlimit(usual)")
    assert deep.startswith("RecursionError: maximum recursion depth exceeded")
    assert estimate_tokens(deep) < 200
    group = tools.run("raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])")
    assert "several" in group
    assert "ExceptionGroup: several (2 sub-exceptions)\n" in group
    assert "ValueError: a" in group


def test_a_small_result_is_given_with_its_values(tools: LiveTools) -> None:
    read = tools.run("import pandas as pd\npd.Series([1.5, 2.5], index=['north', 'south'])")
    assert read.startswith("north    1.5\nsouth    2.5\n")


def test_many_lines_are_cut_and_can_be_searched(tools: LiveTools) -> None:
    read = tools.run("for n in range(20_000): print('row', n)")
    assert estimate_tokens(read) < 2_100
    name = read.partition('read_output("')[2].partition('"')[0]
    found = tools("read_output", name=name, pattern="row 4242$")
    assert found.endswith(": row 4242")


def test_installing_what_is_there_reports_its_version(tools: LiveTools) -> None:
    assert tools("install_package", name="pandas").startswith("pandas ")


def test_installing_without_a_network_says_so(tools: LiveTools) -> None:
    tools.run("%env PIP_INDEX_URL=http://127.0.0.1:9/simple\n%env PIP_RETRIES=1")
    read = tools("install_package", name="cellwright-no-such-package")
    assert read.startswith("ToolError: cellwright-no-such-package was not installed. ")
    assert "is there a network?" in read
