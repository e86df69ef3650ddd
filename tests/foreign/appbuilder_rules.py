"""Run by ``test_appbuilder.py`` behind AppBuilder's packages: its checker, over our tools.

Each tool is made and called as the checker does it, in a real shell and on a notebook on disk. What
is found wrong is printed as JSON, by tool and rule.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from fakes import make_context
from IPython.core.interactiveshell import InteractiveShell

from cellwright.commands.mcp import NotebookOnDisk
from cellwright.context.turn_sources import SourceQuestion
from cellwright.kernels.shell import ShellKernel
from cellwright.knowledge.library.citations import Numbering
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.source import SearchLibrary
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.source import OpenTurns, Recall, Remember
from cellwright.knowledge.project.source import ReadSkill
from cellwright.llm.signatures import Signature
from cellwright.mcp_server.notebook_tools import ListNotebooks, RestartKernel, UseNotebook
from cellwright.mcp_server.undoing import ChangeLog, UndoChange
from cellwright.record.events import CellAdded
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.tools import Component
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.functions import tool
from cellwright.tools.notebook import ClearOutputs, RunExistingCell, RunScratch
from cellwright.tools.standard import standard_tools
from cellwright.tools.structured_output import HandIn

FOLDER = Path(tempfile.mkdtemp())
BOOK = NotebookOnDisk(FOLDER / "work.ipynb")
for name in "abc":
    BOOK.apply(CellAdded(name, f"{name} = 1"))
SHELL = InteractiveShell.instance()
SHELL.run_cell("table = [1, 2]")
CONTEXT = replace(make_context(), kernel=ShellKernel(SHELL), notebook=BOOK, run_id="run")
CONTEXT.shelf.keep("long", "a\nb\n")
SEEN = SeenCells()
for cell in BOOK.cells():
    SEEN.note(cell.id, cell.source)
PLACE = SimpleNamespace(
    list_notebooks=list,
    find_notebook=str,
    use_notebook=print,
    restart_kernel=print,
    restart_risk="destroy",
    boundary=SimpleNamespace(put=lambda work: None),
)
SKILL = SimpleNamespace(
    name="pdf", text="Read.", path=FOLDER / "SKILL.md", folder=FOLDER, listing="", read=str
)
INPUTS: dict[str, dict[str, Any]] = {
    "run_cell": {"code": "print(1 + 1)"},
    "add_cell": {"source": "# x"},
    "edit_cell": {"cell_id": "a", "source": "a = 2"},
    "arrange_cell": {"cell_id": "b", "action": "delete"},
    "read_output": {"name": "long"},
    "inspect_variable": {"name": "table"},
    "install_package": {"name": "pip"},
    "submit": {"answer": "2"},
    "run_existing_cell": {"cell_id": "c"},
    "run_scratch": {"code": "1 + 1"},
    "count_words": {"text": "a b"},
    "use_notebook": {"path": "a.ipynb"},
    "hand_in": {"values": {"n": 1}},
    "search_library": {"query": "x"},
    "remember": {"text": "Use metres."},
    "read_skill": {"name": "pdf"},
    "greet": {"whom": "Ada"},
}


@tool
def count_words(text: str, most: int | None = None) -> dict[str, int]:
    """Count words.

    Args:
        text: Any text.
        most: How many are named; all where it is left out.
    """
    return {word: text.split().count(word) for word in text.split()[:most]}


class Greet(Component):
    """A component as its author writes one."""

    name = "greet"

    def tool_eval(self, whom: str) -> str:
        """Greet somebody.

        Args:
            whom: Who it is.
        """
        return f"Hello, {whom}."


def made_tools() -> dict[str, Callable[..., Component]]:
    """What makes each tool, by its name: of nothing, or of what it shares with others."""
    database = open_database(None)
    turns, log = OpenTurns("system"), ChangeLog()
    turns.begin(SourceQuestion("?", "chat", run_id="run", folder=str(FOLDER)))
    shared = {
        "place": PLACE,
        "seen": SEEN,
        "find_notebook": lambda: BOOK,
        "find_log": lambda: log,
        "outputs": Signature.parse("-> n: int").outputs,
        "libraries": Libraries(database, Settings()),
        "numbering": Numbering(),
        "keeper": MemoryKeeper(database),
        "turns": turns,
    }
    kinds: list[type[Component]] = [
        *map(type, standard_tools(BOOK)),
        *(RunExistingCell, RunScratch, ClearOutputs, HandIn, SearchLibrary, Remember, Recall),
        *(ListNotebooks, UseNotebook, RestartKernel, UndoChange),
        *(type(count_words), Greet),
    ]
    made: dict[str, Callable[..., Component]] = {}
    for kind in kinds:
        taken = inspect.signature(kind.__init__).parameters
        made[kind.name] = partial(kind, **{n: v for n, v in shared.items() if n in taken})
    read_skill = ReadSkill()
    read_skill.allow("run", [cast(Any, SKILL)])
    made[read_skill.name] = lambda: read_skill
    log.note(CellAdded("d", "d = 1", call_id="call_0"), BOOK.cells())
    return made


class Case:
    """What AppBuilder's checker asks of a tool's test case."""

    name = ""

    def init_args(self) -> dict[str, Any]:
        """Nothing: every tool here is made without arguments."""
        return {}

    def envs(self) -> dict[str, str]:
        """None."""
        return {}

    def inputs(self) -> dict[str, Any]:
        """Its arguments, and the context of a run."""
        return {**INPUTS.get(self.name, {}), "context": CONTEXT}

    def schemas(self) -> list[Any]:
        """Any type of content."""
        from appbuilder.tests.component_schemas import type_to_json_schemas

        return list(type_to_json_schemas.values())


def main() -> None:
    """Ask every rule of the checker about every tool."""
    with contextlib.redirect_stdout(sys.stderr):
        from appbuilder.tests.component_check import ComponentCheckBase

        found: dict[str, dict[str, str]] = {}
        for name, make in made_tools().items():
            case = type("ToolCase", (Case,), {"name": name})()
            made = make(**case.init_args())
            found[name] = {}
            for rule, checker in ComponentCheckBase().rules.items():
                words = (made, case) if rule == "ToolEvalOutputJsonRule" else (made,)
                told = checker.check(*words)
                found[name][rule] = "" if told.check_result else told.check_detail or "failed"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
