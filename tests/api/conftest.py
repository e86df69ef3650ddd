"""A folder with a table in it, and a service that answers by a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fake_service import MODEL, FakeService, Script

IRIS = """\
sepal_length,sepal_width,petal_length,petal_width,species
5.1,3.5,1.4,0.2,setosa
4.9,3.0,1.4,0.2,setosa
7.0,3.2,4.7,1.4,versicolor
6.3,3.3,6.0,2.5,virginica
5.8,2.7,5.1,1.9,virginica
7.1,3.0,5.9,2.1,virginica
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with ``iris.csv``; code runs without asking."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "iris.csv").write_text(IRIS, encoding="utf-8")
    monkeypatch.chdir(work)
    monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")
    monkeypatch.setenv("CELLWRIGHT_MODE", "auto")
    return work


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], FakeService]]:
    """Let a service with this script be the one that is set."""
    with ExitStack() as stack:

        def start(script: Script) -> FakeService:
            service = stack.enter_context(FakeService(script))
            monkeypatch.setenv("CELLWRIGHT_BASE_URL", service.base_url)
            monkeypatch.setenv("CELLWRIGHT_API_KEY", "no-key")
            monkeypatch.setenv("CELLWRIGHT_MODEL", MODEL)
            return service

        yield start
