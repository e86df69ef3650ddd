"""``cellwright check``: requirements 000-56 on the command line."""

from __future__ import annotations

import pytest
from command_line import Shell

from cellwright.commands.tool_checking import found_component
from cellwright.errors import SetupError
from cellwright.tools import Component
from cellwright.tools.functions import as_component, tool
from cellwright.tools.standard import Submit

TOOLS = '''
from cellwright.tools import Component
from cellwright.tools.functions import tool

def double(number: int) -> int:
    """Double it.

    Args:
        number: What is doubled.
    """
    return number * 2

class Loose(Component):
    name = "loose"

    def tool_eval(self, context, word):
        """Say it."""
        yield self.create_output("hologram", word)
'''


@pytest.fixture
def tools(shell: Shell) -> Shell:
    (shell.folder / "my_tools.py").write_text(TOOLS, "utf-8")
    return shell


def test_000_56_a_good_tool_exits_with_zero(tools: Shell) -> None:
    done = tools.run("check", "my_tools:double", "--call", '{"number": 4}')
    assert done.code == 0, done.err
    assert "✓ ManifestValid" in done.out
    assert "✓ SchemaAgainstOutput" in done.out


def test_000_56_a_bad_tool_exits_with_one_and_says_how_to_mend_it(tools: Shell) -> None:
    done = tools.run("check", "my_tools:Loose", "--json")
    assert done.code == 1
    rules = {check["rule"]: check for check in done.document["checks"]}
    assert rules["ToolEvalOutputJson"]["result"] == "failed"
    assert "Args:" in rules["ManifestValid"]["fix"]
    failed = tools.run("check", "my_tools:double", "--call", '{"number": "x"}')
    assert failed.code == 1
    assert "'number'" in failed.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["my_tools"], "'my_tools' names no tool"),
        (["my_tools:missing"], "cannot be found"),
        (["no_such_module:x"], "cannot be found"),
        (["my_tools:double", "--call", "{"], "are no JSON"),
        (["my_tools:double", "--call", "[1]"], "are no JSON object"),
    ],
)
def test_000_54_wrong_use_is_named(tools: Shell, arguments: list[str], told: str) -> None:
    done = tools.run("check", *arguments)
    assert done.code == 2
    assert told in done.err


class NeedsKernel(Component):
    """Nobody but its author can make one."""

    name = "needs_kernel"

    def __init__(self, kernel: object) -> None:
        super().__init__()
        self.kernel = kernel


def test_a_component_a_class_and_a_function_are_all_tools() -> None:
    made = tool(found_component)
    assert as_component(made) is made
    assert isinstance(found_component("cellwright.tools.standard:Submit"), Submit)
    with pytest.raises(SetupError, match="is no component"):
        as_component(dict)
    with pytest.raises(SetupError, match="NeedsKernel cannot be made"):
        as_component(NeedsKernel)
