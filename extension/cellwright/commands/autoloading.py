"""``cellwright enable`` and ``disable``: the magics, loaded whenever IPython starts."""

from __future__ import annotations

from pathlib import Path

from cellwright.commands import COMPLETED, Invocation
from cellwright.errors import SetupError

# The magics in every new kernel: a start-up file of IPython's default profile.
#
# A file of our own leaves the person's configuration alone, and it does nothing in environments
# where cellwright is not installed: a profile is shared by all of them.


FILE_NAME = "50-cellwright.py"
TEXT = """\
# Written by "cellwright enable"; "cellwright disable" removes it.
__import__("importlib.util").util.find_spec("cellwright") and get_ipython().run_line_magic(
    "load_ext", "cellwright"
)
"""


def write_startup_file(ipython_folder: Path | None = None) -> Path:
    """Have IPython load the magics whenever it starts; the file that says so.

    Args:
        ipython_folder: IPython's folder; by default the person's.

    Raises:
        SetupError: The file cannot be written.
    """
    path = _path(ipython_folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT, encoding="utf-8")
    except OSError as error:
        raise _refused(path, error) from error
    return path


def remove_startup_file(ipython_folder: Path | None = None) -> Path:
    """Leave loading to ``%load_ext cellwright``; the file that is gone now.

    Raises:
        SetupError: The file cannot be removed.
    """
    path = _path(ipython_folder)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, error) from error
    return path


def _path(ipython_folder: Path | None) -> Path:
    if ipython_folder is None:
        from IPython.paths import get_ipython_dir

        ipython_folder = Path(get_ipython_dir())
    return ipython_folder / "profile_default" / "startup" / FILE_NAME


def _refused(path: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{str(path)!r} cannot be changed: {error}.",
        hint="Give yourself the right to write there, or use %load_ext cellwright.",
    )


def enable(invocation: Invocation) -> int:
    """Load the magics in every new kernel and IPython session of this person."""
    path = write_startup_file()
    document = {"enabled": True, "path": str(path)}
    invocation.console.result(document, f"%agent is loaded in new kernels from now on ({path}).")
    return COMPLETED


def disable(invocation: Invocation) -> int:
    """Leave it to ``%load_ext cellwright``."""
    path = remove_startup_file()
    document = {"enabled": False, "path": str(path)}
    invocation.console.result(document, "%agent is loaded only with %load_ext cellwright now.")
    return COMPLETED
