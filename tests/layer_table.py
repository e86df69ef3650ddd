"""The table of layers, and the imports of every file it speaks of."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TABLE = tomllib.loads((PROJECT / "tests" / "layers.toml").read_text("utf-8"))
LAYERS: dict[str, int] = TABLE["layers"]
ROOTS: dict[str, str] = TABLE["roots"]


@dataclass(frozen=True)
class Import:
    """One import statement's target, seen from the file that has it."""

    target: str
    """Dotted name of a module."""

    line: int
    function: str
    """Name of the function it stands in; empty at the top of the file."""


def source_files() -> dict[str, Path]:
    """Every Python file of ours, by its name in the table."""
    return {
        path.relative_to(PROJECT / root).as_posix(): path
        for package, root in ROOTS.items()
        for path in sorted((PROJECT / root / package).rglob("*.py"))
    }


def module_name(file: str) -> str:
    """``cellwright/lm/__init__.py`` is ``cellwright.lm``."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(file: str, source: str, modules: frozenset[str]) -> Iterator[Import]:
    """Every import in one file, those inside functions and type-checking blocks too."""
    package = file.rpartition("/")[0].replace("/", ".")
    for node, function in _walk(ast.parse(source), ""):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            names = [f"{origin}.{alias.name}" for alias in node.names]
            targets = [name if name in modules else origin for name in names]
        else:
            continue
        for target in dict.fromkeys(targets):
            yield Import(target, node.lineno, function)


def _walk(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    for child in ast.iter_child_nodes(node):
        yield child, function
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else ""
        yield from _walk(child, inside or function)


def _origin(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    above = parents[: len(parents) - node.level + 1]
    return ".".join([*above, *filter(None, [node.module])])
