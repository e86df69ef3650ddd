"""``cellwright memory``: what is kept, from a shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Shell

from cellwright.cli import main
from cellwright.knowledge.memory import Whose
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.suggestions import Suggestion
from cellwright.store.database import open_database

Call = Callable[..., str]


@pytest.fixture
def call(shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls ``cellwright memory``; what it printed."""
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")

    def called(*words: str, code: int = 0) -> str:
        assert main(["memory", *words]) == code
        streams = capsys.readouterr()
        return streams.err if code else streams.out

    return called


def test_002_95_a_text_is_added_changed_listed_and_forgotten(call: Call) -> None:
    assert call() == "Nothing is kept yet. Keep something: cellwright memory add TEXT\n"
    said = call("add", "I", "prefer", "pandas")
    name = said.split()[2].rstrip(",")
    assert said == f"Kept as {name}, everywhere: I prefer pandas\n"
    assert call("add", "i prefer pandas.") == f"That is kept already, as {name}.\n"
    assert call("edit", name[:6], "I prefer polars") == (
        f"Changed {name}: I prefer polars\nBefore: I prefer pandas\n"
        f"To change it back: cellwright memory edit {name} I prefer pandas\n"
    )
    call("add", "Column amt is in euros", "--project")
    lines = call().splitlines()
    assert lines[0].split() == ["ID", "WHERE", "SINCE", "RUN", "TEXT"]
    assert f"folder {Path.cwd().name.lower()}" in lines[1].lower()
    assert call("list", "polars").count("\n") == 2
    assert call("forget", name) == (
        "Forgotten: I prefer polars\nTo keep it again: cellwright memory add I prefer polars\n"
    )
    document = json.loads(call("list", "--json"))
    assert [memory["text"] for memory in document["memories"]] == ["Column amt is in euros"]


def test_002_95_a_similar_text_is_told(call: Call) -> None:
    call("add", "Our fiscal year starts in April")
    assert "Nearly the same is kept as" in call("add", "Our fiscal year starts in July")


def test_002_95_proposals_are_listed_and_decided(call: Call, shell: Shell) -> None:
    assert call("proposals") == "Nothing is proposed.\n"
    path = f"{shell.environ['CELLWRIGHT_HOME']}/runs.sqlite"
    database = open_database(Path(path))
    keeper = MemoryKeeper(database)
    keeper.keep(Whose(), "Tax is 19 percent")
    wanted = [
        Suggestion("keep", "I prefer polars", "So."),
        Suggestion("keep", "Dates are in ISO format", "So."),
        Suggestion("forget", "tax is 19 percent", "So."),
    ]
    names = [p.proposal_id for each in wanted if (p := keeper.propose(Whose(), each)) is not None]
    database.close()
    assert [line.split()[1] for line in call("proposals").splitlines()] == [
        "CHANGE",
        "forget",
        "remember",
        "remember",
    ]
    assert len(json.loads(call("proposals", "--json"))["proposals"]) == 3
    assert "I prefer polars" in call("accept", names[0])
    assert call("reject", names[1]) == "Rejected. It is not proposed again.\n"
    assert call("accept", names[2]).startswith("Forgotten: Tax is 19 percent\nTo keep it again: ")
    assert [memory["text"] for memory in json.loads(call("--json"))["memories"]] == [
        "I prefer polars"
    ]


def test_002_97_it_is_switched_off_and_on(call: Call) -> None:
    assert call("off") == "The memory is off. What is kept stays.\n"
    assert call().startswith("The memory is off")
    assert call("on") == "The memory is on.\n"
    assert json.loads(call("--json")) == {"is_on": True, "memories": []}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add"], "cellwright memory add [--project] TEXT."),
        (["edit", "3f2a"], "cellwright memory edit ID TEXT."),
        (["forget"], "cellwright memory forget ID."),
        (["forget", "3f2a", "now"], "cellwright memory forget ID."),
        (["off", "please"], "cellwright memory off."),
        (["accept", "3f2a"], "There is no open proposal '3f2a'."),
        (["add", "the password is swordfish"], "This is not kept"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(call: Call, words: list[str], told: str) -> None:
    said = call(*words, code=2)
    assert told in said
    assert "swordfish" not in said
