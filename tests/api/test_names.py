"""The names of ``import cellwright``: which there are, what importing them costs, what they are."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
HOOKS = {"__version__", "load_ipython_extension", "unload_ipython_extension"}
NAMES = [
    *("Answer", "AnswerFile", "CellwrightError", "Replay", "Run", "RunFailedError", "Session"),
    *("SetupError", "Signature", "bench", "export", "load_run", "replay", "rerun", "tool"),
]


def test_these_are_the_names_and_each_is_described_with_its_stability() -> None:
    assert sorted({*cellwright.__all__} - HOOKS) == sorted(NAMES)
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    described = {line.split("`")[1].partition("(")[0]: line for line in rows}
    assert sorted(described.keys() & set(NAMES)) == sorted(NAMES)
    for name in NAMES:
        word = described[name].split("|")[2].strip()
        assert word in ("stable", "provisional")
        documented = inspect.getdoc(getattr(cellwright, name)) or ""
        assert re.search(rf"Stability( of that)?: {word}\.", documented), name


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(cellwright, name)
    assert inspect.getdoc(found)
    assert name in dir(cellwright)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        cellwright.nothing_like_it  # noqa: B018


def test_importing_the_package_loads_two_modules_of_ours_and_no_library() -> None:
    code = (
        "import json, sys; before = set(sys.modules); import cellwright; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    added = json.loads(done.stdout)
    ours = [name for name in added if name.startswith("cellwright")]
    assert ours == ["cellwright", "cellwright._version"]
    assert not {name for name in added if name.partition(".")[0] in {"pandas", "openai", "IPython"}}


def test_bench_can_be_called_whatever_was_imported_before() -> None:
    importlib.import_module("cellwright.bench.runner")
    assert callable(cellwright.bench)
    with pytest.raises(TypeError, match="no option 'colour'"):
        cellwright.bench("suite", colour="red")


def test_the_options_of_a_session_are_those_that_resume_and_rerun_take() -> None:
    from cellwright.api.session import SessionOptions

    taken = set(inspect.signature(cellwright.Session).parameters)
    assert taken == set(SessionOptions.__annotations__)


def test_examples_of_the_page_are_python() -> None:
    blocks = PAGE.split("```python\n")[1:]
    for block in blocks:
        ast.parse(block.partition("```")[0], feature_version=(3, 11))
    assert len(blocks) > 5
