"""sqlite-vec: used where it can be loaded, and where not, said why."""

from __future__ import annotations

import array
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.commands.doctor import checks
from cellwright.knowledge.library.store import id_range
from cellwright.knowledge.library.store_vectors import keep_vectors
from cellwright.knowledge.library.vector_extension import (
    Compared,
    ComparedWith,
    compare_all,
    extension_problem,
    load,
)
from cellwright.settings import Settings
from cellwright.store.database import Database, Statement

needs_extension = pytest.mark.skipif(
    bool(extension_problem()), reason=f"Without sqlite-vec: {extension_problem()}."
)
PIECE = "INSERT INTO library_chunks VALUES (?, 'd', 0, '', '', ?, ?)"
FIRST, _ = id_range(7)


class LoadingConnection:
    """A connection of a Python that can load extensions."""

    def __init__(self) -> None:
        self.allowed: list[bool] = []

    def enable_load_extension(self, is_allowed: bool) -> None:
        """Remembers what was allowed."""
        self.allowed.append(is_allowed)


class Extension:
    """What the package offers."""

    def __init__(self, load: Callable[[Any], None]) -> None:
        self.load = load


def fail(connection: Any) -> None:
    raise sqlite3.OperationalError("vec0.so: no such file")


@pytest.fixture
def filled(database: Database) -> Database:
    """Three pieces, of which two have the same words, and one whose vector has no length."""
    texts = ["a", "b", "a", "nothing"]
    database.write(*(Statement(PIECE, (FIRST + n, text, text)) for n, text in enumerate(texts, 1)))
    vectors = {"a": vector(1.0, 0.0), "b": vector(0.6, 0.8), "nothing": vector(0.0, 0.0)}
    keep_vectors(database, "m", vectors.items())
    return database


def vector(*numbers: float) -> bytes:
    return array.array("f", numbers).tobytes()


def wanted(limit: int, model: str = "m") -> ComparedWith:
    return ComparedWith(7, model, vector(1.0, 0.0), limit, 1e-6)


def test_a_python_that_loads_nothing_is_the_reason() -> None:
    assert load(object()) == "this Python loads no extensions of SQLite"


def test_a_package_that_is_not_there_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    connection = LoadingConnection()
    assert load(connection) == "sqlite-vec is not installed"
    assert connection.allowed == []


@pytest.mark.parametrize(
    ("does", "problem"),
    [(id, ""), (fail, "sqlite-vec cannot be loaded (vec0.so: no such file)")],
)
def test_nothing_else_can_be_loaded_afterwards(
    monkeypatch: pytest.MonkeyPatch, does: Callable[[Any], None], problem: str
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", Extension(does))
    connection = LoadingConnection()
    assert load(connection) == problem
    assert connection.allowed == [True, False]


def test_a_record_without_a_file_is_not_compared_by_it() -> None:
    assert compare_all(None, wanted(1)) is None


@pytest.mark.parametrize("memory_bytes", [2**20, 2**28])
def test_doctor_says_how_a_large_library_is_asked(tmp_path: Path, memory_bytes: int) -> None:
    settings = Settings(home=tmp_path, embedding_model="m", vector_memory_bytes=memory_bytes)
    (check,) = [check for check in checks(settings) if check.name == "vectors"]
    assert f"up to {memory_bytes // 2**20} MB" in check.text
    assert (extension_problem() or "sqlite-vec") in check.text
    without = Settings(home=tmp_path)
    assert "vectors" not in [check.name for check in checks(without)]


@needs_extension
def test_one_statement_finds_the_nearest_and_how_near_all_are(filled: Database) -> None:
    found = compare_all(filled.path, wanted(1))
    assert found is not None
    assert sorted(found.nearest) == [FIRST + 1, FIRST + 3], "both are as near"
    assert (found.count, found.mean) == (4, pytest.approx(2.6 / 4))
    assert found.deviation == pytest.approx((2.36 / 4 - 0.65**2) ** 0.5)
    assert compare_all(filled.path, wanted(1, "unknown")) == Compared((), 0, 0.0, 0.0)


@needs_extension
def test_a_file_that_cannot_be_read_beside_others_is_left_to_the_store(filled: Database) -> None:
    assert filled.path is not None
    assert compare_all(filled.path.parent / "none.sqlite", wanted(1)) is None
    path = filled.path
    filled.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.close()
    assert compare_all(path, wanted(1)) is None
