"""One version everywhere."""

from __future__ import annotations

import json
import re
from importlib.metadata import version

from source_tree import PROJECT

import cellwright

PACKAGE_VERSION: str = json.loads((PROJECT / "package.json").read_text("utf-8"))["version"]


def changelog_versions() -> list[str]:
    return re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def test_the_newest_entry_of_the_changelog_is_the_version_of_the_package() -> None:
    assert changelog_versions()[0] == PACKAGE_VERSION


def test_every_version_has_one_entry() -> None:
    assert sorted(set(changelog_versions())) == sorted(changelog_versions())


def test_the_installed_package_has_the_version_of_the_checkout() -> None:
    assert cellwright.__version__ == PACKAGE_VERSION, "run `make setup` again"
    assert version("cellwright") == PACKAGE_VERSION
