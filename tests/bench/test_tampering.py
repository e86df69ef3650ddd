"""A look at a process tells what was changed in it since the look before."""

from __future__ import annotations

import builtins
import math
import sys
import types
from typing import Any

import pytest

from cellwright.bench.tampering import look


def changed(before: dict[str, str]) -> set[str]:
    after = look({}, {})
    return {name for name in before | after if before.get(name) != after.get(name)}


def of_cell(*_: Any) -> Any:
    """Stands for a function of a cell."""


of_cell.__module__ = "__main__"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """The parts of a kernel's shell that are looked at."""
    import IPython

    manager = types.SimpleNamespace(
        cleanup_transforms=[], line_transforms=[], token_transformers=[]
    )
    kernel = types.SimpleNamespace(session=types.SimpleNamespace())
    events = types.SimpleNamespace(callbacks={"pre_run_cell": []})
    made = types.SimpleNamespace(
        kernel=kernel,
        events=events,
        input_transformer_manager=manager,
        input_transformers_post=[],
        ast_transformers=[],
    )
    monkeypatch.setattr(IPython, "get_ipython", lambda: made)
    return made


def test_nothing_has_changed_where_nothing_was_done(shell: types.SimpleNamespace) -> None:
    assert changed(look({}, {})) == set()


def test_what_was_put_in_the_place_of_something_is_named(
    shell: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = look({}, {})
    monkeypatch.setattr(math, "isclose", of_cell)
    monkeypatch.setattr(builtins, "sum", of_cell)
    monkeypatch.setattr(sys, "excepthook", of_cell)
    shell.events.callbacks["pre_run_cell"].append(of_cell)
    shell.ast_transformers.append(of_cell)
    shell.kernel.session.send = of_cell
    found = changed(before)
    assert {"math.isclose", "builtins.sum", "sys.excepthook"} <= found
    assert {"IPython event pre_run_cell", "IPython ast_transformers"} <= found


def test_a_module_of_the_folder_in_the_place_of_another_is_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "colorsys.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    before = look({}, {})
    __import__("colorsys")
    assert any("colorsys" in name for name in changed(before))
    sys.modules.pop("colorsys")


WATCH = """
import gc, signal, sys, threading
def watch(*given): pass
gc.callbacks.append(watch)
before = signal.signal(signal.SIGUSR2, watch)
sys.addaudithook(watch)
class Equal(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
class Own:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return isinstance(other, Own) and self.n == other.n
def wait(): done.wait(60)
done = threading.Event()
thread = threading.Thread(target=wait)
thread.start()
"""


def test_what_watches_code_as_it_runs_and_what_is_equal_to_anything_is_named() -> None:
    before = look({}, {})
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(WATCH, "a cell", "exec"), cell)
    try:
        found = changed(before)
    finally:
        cell["done"].set()
        cell["thread"].join()
        cell["signal"].signal(cell["signal"].SIGUSR2, cell["before"])
        cell["gc"].callbacks.remove(cell["watch"])
    assert found == {
        "sys.addaudithook",
        "gc.callbacks",
        "signal handlers",
        "threads",
        "added Equal, equal to anything",
    }
