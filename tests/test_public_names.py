"""Nothing becomes public, or ceases to be, without somebody deciding it."""

from __future__ import annotations

import importlib

import pytest
from layer_table import module_name, source_files
from public_names import HELD, as_toml, public_names

MODULES = [module_name(file) for file in source_files() if not file.endswith("_version.py")]


def test_the_public_names_are_those_of_the_held_list() -> None:
    assert HELD.read_text("utf-8") == as_toml(public_names()), (
        "if the change is meant: python tests/public_names.py > tests/public_names.toml, "
        "and a line in CHANGELOG.md"
    )


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_calls_public_exists(name: str) -> None:
    module = importlib.import_module(name)
    missing = [public for public in getattr(module, "__all__", []) if not hasattr(module, public)]
    assert missing == []
