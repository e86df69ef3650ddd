"""Every view of a run says of every kind of event whether it draws it or leaves it out.

The kinds come from the tagged union, and what a view draws from its source: a new kind fails here
for each view that says nothing of it. In the panel the compiler does this (``TurnFold``).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap

import pytest
from event_strategies import EVENT_CLASSES

from cellwright.record.values import tag_of

CHANGES_OF_CELLS = {"CellAdded", "CellEdited", "CellRemoved", "CellMoved"}
RUNS_OF_CELLS = {"CellStarted", "CellOutput", "CellFinished"}
DELTAS = {"TextDelta", "ReasoningDelta"}
OF_THE_RECORD = {"StateCaptured", "RunStarted"}
LEFT_OUT: dict[str, set[str]] = {
    # neither a message nor a cell of the record
    "cellwright.record.run_record": {"CellMoved", "ModelSilent", "ToolProgress"},
    # the command prints the question and the answer itself, and writes cells into a file
    "cellwright.commands.workplace:TerminalProgress": {
        *(CHANGES_OF_CELLS | DELTAS - {"TextDelta"} | OF_THE_RECORD),
        *("ApprovalAsked", "HistoryCompacted", "ModelAsked"),
    },
    # the cell above has the question, the caller shows how it ended
    "cellwright_magics.display": {
        *(OF_THE_RECORD | CHANGES_OF_CELLS - {"CellAdded"}),
        *("CellFinished", "HistoryCompacted", "ModelAsked", "RunFinished"),
    },
    # cells alone; the rest is the transcript's
    "cellwright_magics.painted": {
        *(DELTAS | OF_THE_RECORD - {"StateCaptured"}),
        *("ApprovalAsked", "HistoryCompacted", "ModelAsked", "ModelReplied", "ModelRetrying"),
        *("ModelSilent", "Notice", "RunFinished", "ToolProgress", "ToolStarted"),
    },
    # what a chat is doing, in one word
    "cellwright.server.live_run": {
        *(CHANGES_OF_CELLS | RUNS_OF_CELLS | DELTAS | OF_THE_RECORD),
        *("ModelRetrying", "ModelSilent", "Notice", "ToolFinished", "ToolProgress"),
    },
}
"""Modules and classes that draw events, each with the kinds that it leaves out on purpose."""


def drawn(view: str) -> set[str]:
    """The events that a view names, by their classes or by their kinds."""
    module_name, _, name = view.partition(":")
    module = importlib.import_module(module_name)
    tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(module, name) if name else module)))
    by_word = {str(tag_of(cls)): cls.__name__ for cls in EVENT_CLASSES}
    by_word |= {cls.__name__: cls.__name__ for cls in EVENT_CLASSES}
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {by_word[word] for word in words & by_word.keys()}


@pytest.mark.parametrize("view", LEFT_OUT)
def test_a_view_draws_each_kind_of_event_or_leaves_it_out_on_purpose(view: str) -> None:
    kinds = {cls.__name__ for cls in EVENT_CLASSES}
    assert kinds - drawn(view) == LEFT_OUT[view], "draw it, or say that it is left out"
