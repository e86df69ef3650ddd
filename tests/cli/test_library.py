"""``cellwright library``: the same in a shell."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from cellwright.cli import main
from cellwright.commands import calling as module
from cellwright.commands.terminal import Console


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "docs" / "returns.md").write_text("# Returns\nGoods come back in thirty days.")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    return folder


def test_documents_are_added_listed_found_and_removed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["library"]) == 0
    assert "The library is empty. cellwright library add" in capsys.readouterr().out
    assert main(["library", "add", "docs"]) == 0
    assert capsys.readouterr().out == "1 document read; 1 of 1 looked at.\n"
    assert main(["library", "search", "goods", "back"]) == 0
    assert capsys.readouterr().out.startswith("[1] docs/returns.md › Returns (line 1)\n    Returns")
    assert main(["library", "--json", "list"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["documents"]
    assert document["name"] == "docs/returns.md"
    assert main(["library", "list"]) == 0
    assert "docs/returns.md" in capsys.readouterr().out
    assert main(["library", "default", "default"]) == 0
    assert main(["library", "remove", document["document_id"]]) == 0
    assert ": docs/returns.md." in capsys.readouterr().out
    assert main(["library", "search", "goods"]) == 1
    assert capsys.readouterr().out == "Nothing was found.\n"


def test_a_key_in_a_document_is_not_shown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "sk-proj-Abcdefghij0123456789Klmnop"
    (project / "docs" / "returns.md").write_text(f"# Returns\nThe wombat uses {key} as key.")
    assert main(["library", "add", "docs"]) == 0
    for words in (["library", "search", "wombat"], ["library", "--json", "search", "wombat"]):
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert "wombat" in shown
        assert key not in shown


def test_a_library_is_forgotten_with_its_documents_where_that_is_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["library", "add", "docs"]) == 0
    assert main(["library", "forget", "default"]) == 2
    assert "has documents: 1" in capsys.readouterr().err
    assert main(["library", "forget", "default", "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forgotten"] == "default"
    assert main(["library"]) == 0
    assert "The library is empty." in capsys.readouterr().out


def test_a_document_that_cannot_be_read_is_counted(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_SECONDS", 0.0)
    (project / "docs" / "broken.ipynb").write_text("{")
    assert main(["library", "add", "docs"]) == 1
    streams = capsys.readouterr()
    said, reason = streams.out.splitlines()
    assert said == "1 document read; 2 of 2 looked at. 1 cannot be read:"
    assert ": " in reason
    assert streams.err == "0 of 2  docs/broken.ipynb\n1 of 2  docs/returns.md\n"
    assert main(["library", "update", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add"], "cellwright library add PLACE"),
        (["list", "x"], "It is written: cellwright library list."),
        (["frobnicate"], "See cellwright library --help"),
        (["add", "x"], "no file"),
    ],
)
def test_wrong_use_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["library", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_service_that_gives_no_vectors_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CELLWRIGHT_EMBEDDING_MODEL", "m")
    assert main(["library", "add", "docs"]) == 0
    assert "There are no vectors" in capsys.readouterr().out
    assert main(["library", "search", "goods"]) == 0
    assert "by words alone" in capsys.readouterr().out


def test_ctrl_c_keeps_what_was_read(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(console: Console, text: str) -> None:
        signal.raise_signal(signal.SIGINT)

    for number in range(5):
        (project / "docs" / f"{number}.md").write_text(f"words of {number}")
    monkeypatch.setattr(module, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(Console, "note", press)
    assert main(["library", "add", "docs"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert main(["library", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["documents"]) == 1
