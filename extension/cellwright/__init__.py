"""A function-calling model at work in your live notebook kernel; every run is a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]


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
