"""Which lines are sub-commands and which are prompts."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from cellwright_magics.commands import COMMANDS, command_of, commands_help

RUN = "20261121-093015-ab12cd"


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("chat", "chat", {"model": "", "mode": ""}),
        ("chat -m small --mode plan", "chat", {"model": "small", "mode": "plan"}),
        ("usage", "usage", {"target": "", "by": "month"}),
        ("usage model --plot", "usage", {"target": "model", "plot": True}),
        ("usage by chat", "usage", {"by": "chat"}),
        ("runs", "runs", {"target": "20", "find": "", "widget": False}),
        ("runs 9 --widget", "runs", {"target": "9", "widget": True}),
        ("runs 5 --find 'sales report'", "runs", {"target": "5", "find": "sales report"}),
        ("show", "show", {"target": "last"}),
        (f"show {RUN}", "show", {"target": RUN}),
        ("show 20261121", "show", {"target": "20261121"}),
        ("show 20261121-0930", "show", {"target": "20261121-0930"}),
        ("show ab12cd", "show", {"target": "ab12cd"}),
        ("replay last", "replay", {"target": "last"}),
        ("rerun last -m other", "rerun", {"target": "last", "model": "other"}),
        ("rerun -m other", "rerun", {"target": "last", "model": "other"}),
        ("undo", "undo", {"target": "last"}),
        ("export", "export", {"target": "last", "to": "ipynb", "out": ""}),
        (f"export {RUN} --to html -o a.html", "export", {"to": "html", "out": "a.html"}),
        (
            'save-sample --check "x.shape == (12, 3)" --to "my tasks"',
            "save-sample",
            {"check": ["x.shape == (12, 3)"], "to": "my tasks", "target": "last"},
        ),
        ("cells", "cells", {"target": "last"}),
        ("doctor --send", "doctor", {"send": True}),
        ("doctor", "doctor", {"send": False}),
        ("reset", "reset", {}),
        ("help", "help", {}),
    ],
)
def test_a_line_that_fits_is_a_sub_command(
    line: str, name: str, arguments: dict[str, object]
) -> None:
    command = command_of(line)
    assert command is not None
    assert command.name == name
    assert vars(command.arguments).items() >= arguments.items()


@pytest.mark.parametrize(
    "line",
    [
        "chat about the sales",
        "show me the columns",
        "usage of memory by column",
        "show last month's revenue",
        "show decade",
        "runs of failures",
        "reset the index of df",
        "undo the last change to df",
        "help me with this plot",
        "export the table to csv",
        "doctor visits by month",
        "",
        "what are cells",
    ],
)
def test_a_line_that_goes_on_is_a_prompt(line: str) -> None:
    assert command_of(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export last --to pdf", "invalid choice: 'pdf'"),
        ("chat --mode wild", "invalid choice: 'wild'"),
        ("rerun last", "-m/--model"),
        ("show last --fast", "unrecognized arguments: --fast"),
    ],
)
def test_a_wrong_option_of_a_sub_command_is_named(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        command_of(line)


def test_help_names_every_sub_command_and_tells_the_rule() -> None:
    text = commands_help()
    for command in COMMANDS.values():
        assert command.usage in text
    assert "%agent show me the columns" in text
