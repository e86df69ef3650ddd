"""The gate of changed lines, and how the suite is laid out (requirements 000-50 to 000-53)."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from changed_lines import Changed, changed_lines, report

ROOT = Path(__file__).parent.parent
DIFFERENCE = """\
diff --git a/extension/cellwright/a.py b/extension/cellwright/a.py
--- a/extension/cellwright/a.py
+++ b/extension/cellwright/a.py
@@ -1 +1,3 @@ def f():
-old
+new
+new
+new
@@ -9,2 +12,0 @@
-gone
-gone
@@ -20 +21 @@
-old
+new
diff --git a/docs/a.md b/docs/a.md
--- a/docs/a.md
+++ b/docs/a.md
@@ -1 +1 @@
-old
+new
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-old
"""


def test_000_50_added_and_changed_lines_of_code_count_and_removed_ones_do_not() -> None:
    assert changed_lines(DIFFERENCE) == {"extension/cellwright/a.py": {1, 2, 3, 21}}


def test_000_50_too_little_is_told_with_the_lines_that_no_test_ran() -> None:
    found = [
        Changed("a.py", frozenset(range(1, 10)), frozenset({2})),
        Changed("b.py", frozenset({5})),
        Changed("c.py"),
    ]
    text, enough = report(found, 90)
    assert enough
    assert text == "a.py: [2]\n90.0 % of 10 changed lines were run; 90 wanted."
    assert report(found, 91)[1] is False
    assert report([], 90) == ("100.0 % of 0 changed lines were run; 90 wanted.", True)


def test_000_51_branches_are_held_to_a_percentage() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "tests/coverage_gate.py --branches $(BRANCHES)" in makefile
    (percent,) = [line for line in makefile.splitlines() if line.startswith("BRANCHES = ")]
    assert int(percent.rpartition(" ")[2]) >= 95


def test_000_52_every_test_is_found_by_its_name() -> None:
    lost = []
    for path in ROOT.glob("tests/**/test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            is_class = isinstance(node, ast.ClassDef)
            functions = node.body if isinstance(node, ast.ClassDef) else [node]
            tests = [
                item
                for item in functions
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
                and item.name.startswith("test_")
            ]
            if is_class and tests and not node.name.startswith("Test"):  # type: ignore[attr-defined]
                lost.append(f"{path.name}: {node.name}")  # type: ignore[attr-defined]
    assert lost == []


def test_000_53_tests_run_side_by_side_but_for_those_that_are_marked_serial() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    markers = project["tool"]["pytest"]["ini_options"]["markers"]
    names = {marker.partition(":")[0] for marker in markers}
    assert {"kernel", "serial"} <= names
    makefile = (ROOT / "Makefile").read_text("utf-8")
    unit, serial = (
        re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE).group(1)  # type: ignore[union-attr]
        for target in ("test-unit", "test-serial")
    )
    assert " -n " in unit
    assert "not serial" in unit
    assert "-m serial" in serial
    assert " -n " not in serial
