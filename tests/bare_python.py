"""A Python that has what runs a notebook and pandas, and nothing of ours: for strangers."""

from __future__ import annotations

import os
import subprocess
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import nbformat
from packaging.requirements import Requirement

RUN = """
import json, sys, nbformat
from nbclient import NotebookClient
try:
    import cellwright
except ImportError:
    pass
else:
    raise SystemExit("cellwright is here")
book = nbformat.read(sys.argv[1], as_version=4)
folder = sys.argv[1].rpartition("/")[0]
NotebookClient(book, timeout=120, resources={"metadata": {"path": folder}}).execute()
nbformat.write(book, sys.argv[1])
"""


def make_bare_python(folder: Path, *packages: str) -> Path:
    """Make an environment with links to some installed packages and what these need.

    Args:
        folder: Where to.
        packages: Names of distributions.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    taken: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop()
        if name.lower() in taken:
            continue
        taken.add(name.lower())
        try:
            found = distribution(name)
        except PackageNotFoundError:  # for another system or Python
            continue
        for top in {str(path).split("/")[0] for path in found.files or ()} - {"..", "__pycache__"}:
            source = Path(str(found.locate_file(top)))
            if source.exists() and not (site / top).exists():
                (site / top).symlink_to(source)
        requirements = [Requirement(text) for text in found.requires or ()]
        waiting += [
            each.name
            for each in requirements
            if each.marker is None or each.marker.evaluate({"extra": ""})
        ]
    return folder / "bin" / "python"


def run_notebook(python: Path, book: Path, home: Path) -> dict[str, Any]:
    """Run a notebook with nbclient in that environment; what is in the file then."""
    environ = {"PATH": os.defpath, "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home / "run")}
    program = home / "run_notebook.py"
    home.mkdir(exist_ok=True)
    program.write_text(RUN)
    ran = subprocess.run(
        [str(python), "-I", str(program), str(book)],
        env=environ, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return read_notebook(book)


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook with its texts in one piece."""
    found: dict[str, Any] = nbformat.read(path, as_version=4)
    return found


def last_line(book: dict[str, Any]) -> str:
    """What the last cell printed at its end."""
    text = "".join("".join(output.get("text", "")) for output in book["cells"][-1]["outputs"])
    return text.strip().splitlines()[-1]


BARE_PACKAGES = ("ipykernel", "nbclient", "pandas")
