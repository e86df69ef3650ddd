"""A function-calling model at work in your live notebook kernel; every run is a sample."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cellwright._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cellwright.api.answers import Answer, AnswerFile
    from cellwright.api.benchmarks import bench
    from cellwright.api.records import Replay, export, load_run, replay, rerun
    from cellwright.api.session import Session
    from cellwright.errors import CellwrightError, RunFailedError, SetupError
    from cellwright.llm.signatures import Signature
    from cellwright.session.run import Run
    from cellwright.tools.functions import tool

__all__ = [
    "Answer",
    "AnswerFile",
    "CellwrightError",
    "Replay",
    "Run",
    "RunFailedError",
    "Session",
    "SetupError",
    "Signature",
    "__version__",
    "bench",
    "export",
    "load_ipython_extension",
    "load_run",
    "replay",
    "rerun",
    "tool",
    "unload_ipython_extension",
]

_PLACES = {
    "Answer": "api.answers",
    "AnswerFile": "api.answers",
    "CellwrightError": "errors",
    "Replay": "api.records",
    "Run": "session.run",
    "RunFailedError": "errors",
    "Session": "api.session",
    "SetupError": "errors",
    "Signature": "llm.signatures",
    "export": "api.records",
    "load_run": "api.records",
    "replay": "api.records",
    "rerun": "api.records",
    "tool": "tools.functions",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: kernels and Jupyter import this package for its hooks alone.
    if name == "bench":  # a room that can be called, see there
        return importlib.import_module(f"{__name__}.bench")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Load the ``%agent`` magics: what ``%load_ext cellwright`` calls."""
    # The magics import this package, so this import has to wait, here and below.
    import cellwright_magics

    cellwright_magics.load_ipython_extension(ipython)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Take the magics out again: what ``%unload_ext cellwright`` calls."""
    import cellwright_magics

    cellwright_magics.unload_ipython_extension(ipython)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell JupyterLab where the prebuilt extension lies."""
    return [{"src": "labextension", "dest": "cellwright"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell Jupyter Server which module to load, without importing it."""
    return [{"module": "cellwright.server"}]
