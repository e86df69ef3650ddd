"""What the contracts of ``pyproject.toml`` (``lint-imports``) cannot say of imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter

import grimp
import pytest
from source_tree import PROJECT, ROOTS, source_files

DEFERRED = {
    "cellwright/__init__.py": "the magics import cellwright; %load_ext cellwright needs them",
    "cellwright/cli.py": "--help needs no keys, and what they stand on takes a quarter of its time",
    "cellwright/commands/calling.py": "most verbs run no code and need not load what runs it",
    "cellwright/server/first_request.py": "the routes load with the first request",
    "cellwright/server/hub.py": "what a run stands on loads with the first prompt",
}
"""The only imports of our own that wait inside a function, and why they must."""
ROOT_FILES_LIMIT = 8
COSTLY = {
    *("griffe", "httpx", "httpx2", "inspect_ai", "jsonschema", "matplotlib", "nbclient"),
    *("nbformat", "numpy", "openai", "pandas", "pydantic"),
}
"""What ``import cellwright_magics`` must not bring into a kernel."""

UNNAMED = {
    "cellwright/__init__.py: _jupyter_labextension_paths": "JupyterLab asks for it",
    "cellwright/__init__.py: _jupyter_server_extension_points": "Jupyter Server asks for it",
    "cellwright/server/__init__.py: _load_jupyter_server_extension": "Jupyter Server calls it",
    "cellwright/server/wire_events.py: EventsFrame": "`make wire` describes it to the panel",
    "cellwright/commands/serving.py: demo_server": "the CLI makes its name of 'demo-server'",
    "cellwright/exports/agentbench.py: sample_of_line": "what is exported can be read back",
    "cellwright/exports/notebook.py: sample_of_notebook": "what is exported can be read back",
    "cellwright/llm/signatures.py: InputField": "for those who write a signature as a class",
    "cellwright/llm/signatures.py: OutputField": "for those who write a signature as a class",
    "cellwright/llm/signatures.py: SignatureClass": "for those who write a signature as a class",
}
"""Top-level names that nothing of ours names, and who needs them."""
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class SourceFile:
    """A file of ours, parsed and walked once for all tests: both take seconds."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]


@pytest.fixture(scope="module")
def sources() -> dict[str, SourceFile]:
    """Every Python file of ours."""
    found = {}
    for name, path in source_files().items():
        tree = ast.parse(path.read_text("utf-8"))
        found[name] = SourceFile(tree, tuple(ast.walk(tree)))
    return found


def imports_of_our_own(function: ast.AST) -> bool:
    """Whether an import of something of ours stands inside a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            targets = [node.module or "cellwright"]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            continue
        if any(target.partition(".")[0] in ROOTS for target in targets):
            return True
    return False


def test_imports_of_our_own_wait_only_where_a_reason_is_given(
    sources: dict[str, SourceFile],
) -> None:
    waiting = {
        name
        for name, source in sources.items()
        for node in source.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and imports_of_our_own(node)
    }
    assert waiting == set(DEFERRED)


def test_the_root_of_the_package_stays_small() -> None:
    root = PROJECT / ROOTS["cellwright"] / "cellwright"
    files = sorted(path.name for path in root.glob("*.py"))
    assert len(files) <= ROOT_FILES_LIMIT, f"give one of these a room: {files}"


def test_no_file_is_imported_by_what_it_imports_even_for_its_types() -> None:
    """``prepare`` raises ``CycleError``, which names the files of a circle."""
    imports = grimp.build_graph(*ROOTS, cache_dir=None)
    graph = {name: imports.find_modules_directly_imported_by(name) for name in imports.modules}
    TopologicalSorter(graph).prepare()


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_the_magics_brings_no_costly_library_into_a_kernel() -> None:
    kernel = "import IPython, ipykernel.ipkernel"
    added = modules_after(f"{kernel}, cellwright_magics") - modules_after(kernel)
    assert not added & COSTLY, "import it on first use instead"


def defined_names(statement: ast.stmt) -> list[str]:
    """The names that a statement on the top level of a file defines."""
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def named_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The words of names and of texts, which may be code or a key of a table; not docstrings."""
    nodes = list(nodes)
    prose = {
        id(body[0].value)
        for each in nodes
        if isinstance(each, (ast.Module, *DEFINITIONS))
        if (body := each.body) and isinstance(body[0], ast.Expr)
    }
    for each in nodes:
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.alias):
            yield each.name
        elif (
            isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in prose
        ):
            yield from WORD.findall(each.value)


def is_registered(statement: ast.stmt, tree: ast.Module) -> bool:
    """Whether a decorator of the same file takes the function in, as a rule of a list."""
    own = {name for each in tree.body for name in defined_names(each)}
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in own
        for each in getattr(statement, "decorator_list", ())
    )


def test_every_top_level_name_is_named_by_something_else(sources: dict[str, SourceFile]) -> None:
    """Nothing stays that only its own definition, or a test, knows."""
    guides = [page for page in PROJECT.glob("docs/*/*.md") if page.parent.name != "decisions"]
    pages = [*guides, PROJECT / "README.md", PROJECT / "pyproject.toml"]
    documented = {word for page in pages for word in WORD.findall(page.read_text("utf-8"))}
    named = Counter(word for source in sources.values() for word in named_in(source.nodes))
    unnamed = {
        f"{file}: {name}"
        for file, source in sources.items()
        for statement in source.tree.body
        for name in defined_names(statement)
        if not name.startswith("__") and name not in documented
        if not is_registered(statement, source.tree)
        if named[name] <= Counter(named_in(ast.walk(statement)))[name]
    }
    assert unnamed - UNNAMED.keys() == set(), "delete them, or say in UNNAMED who needs them"
    assert UNNAMED.keys() - unnamed == set(), "these are named now: their reason can go"


def test_no_two_classes_have_the_same_name(sources: dict[str, SourceFile]) -> None:
    found: dict[str, list[str]] = {}
    for file, source in sources.items():
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(file)
    # AgentBench calls a sample's talk with its agent a Session, and tasks written for it say so.
    assert found.pop("Session") == ["cellwright/api/session.py", "cellwright/bench/task.py"]
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def is_thread(called: ast.expr) -> bool:
    """Whether ``threading.Thread`` or ``Thread`` is called."""
    if isinstance(called, ast.Attribute):
        return called.attr == "Thread" and ast.unparse(called.value) == "threading"
    return isinstance(called, ast.Name) and called.id == "Thread"


def test_every_thread_is_one_that_can_be_listed_and_joined(
    sources: dict[str, SourceFile],
) -> None:
    makers = {
        file
        for file, source in sources.items()
        for node in source.nodes
        if isinstance(node, ast.Call) and is_thread(node.func)
    }
    assert not makers, "start a stopping.WorkerThread instead"
