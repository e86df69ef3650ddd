"""What the contracts of ``pyproject.toml`` (``lint-imports``) cannot say of imports."""

from __future__ import annotations

import ast
import subprocess
import sys

from source_tree import PROJECT, ROOTS, source_files

DEFERRED = {
    "cellwright/__init__.py": "the magics import cellwright; %load_ext cellwright needs them",
    "cellwright/session/services.py": "the demo model loads where it answers",
    "cellwright/server/first_request.py": "the routes load with the first request",
    "cellwright/server/chat_session.py": "what a run stands on loads with the first prompt",
    "cellwright/server/hub.py": "memories, libraries and tools load with the first prompt",
}
"""The only imports of our own that wait inside a function, and why they must."""
ROOT_FILES_LIMIT = 8
COSTLY = {
    *("griffe", "httpx", "httpx2", "inspect_ai", "jsonschema", "matplotlib", "nbclient"),
    *("nbformat", "numpy", "openai", "pandas", "pydantic"),
}
"""What ``import cellwright_magics`` must not bring into a kernel."""


def waiting_imports() -> set[str]:
    """The files of which a function imports something of ours."""
    found = set()
    for name, path in source_files().items():
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom):
                        targets = [node.module or "cellwright"]
                    elif isinstance(node, ast.Import):
                        targets = [alias.name for alias in node.names]
                    else:
                        continue
                    if any(target.partition(".")[0] in ROOTS for target in targets):
                        found.add(name)
    return found


def test_imports_of_our_own_wait_only_where_a_reason_is_given() -> None:
    assert waiting_imports() == set(DEFERRED)


def test_the_root_of_the_package_stays_small() -> None:
    root = PROJECT / ROOTS["cellwright"] / "cellwright"
    files = sorted(path.name for path in root.glob("*.py"))
    assert len(files) <= ROOT_FILES_LIMIT, f"give one of these a room: {files}"


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_the_magics_brings_no_costly_library_into_a_kernel() -> None:
    kernel = "import IPython, ipykernel.ipkernel"
    added = modules_after(f"{kernel}, cellwright_magics") - modules_after(kernel)
    assert not added & COSTLY, "import it on first use instead"
