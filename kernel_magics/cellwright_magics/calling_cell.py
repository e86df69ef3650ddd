"""What the magic can know of the cell that called it, and of the front end behind it."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from cellwright.errors import SetupError
from cellwright_magics.easels import Easel


@dataclass(frozen=True)
class CallingCell:
    """The cell that was running when it was looked at."""

    shell: Any
    rich: bool
    """A notebook shows it; otherwise a terminal prints it."""
    interactive: bool
    """Somebody can be asked."""
    token: str
    """Differs from that of every other execution."""
    draws_updates: bool
    """Its front end draws changes of what was displayed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    easel: Easel | None = None
    """Where the cells of a run are painted; None: they are shown in the calling cell."""

    def is_running(self) -> bool:
        """Whether it is still the cell that runs."""
        return calling_cell(self.shell).token == self.token


def calling_cell(shell: Any) -> CallingCell:
    """Look at the request that is being answered."""
    if not hasattr(shell, "kernel"):
        interactive = sys.stdin is not None and sys.stdin.isatty()
        return CallingCell(shell, False, interactive, f"cell {shell.execution_count}", False)
    request: Mapping[str, Any] = shell.get_parent()
    metadata: Mapping[str, Any] = request.get("metadata", {})
    return CallingCell(
        shell,
        rich=True,
        # nbclient and papermill say here that nobody can type.
        interactive=bool(request.get("content", {}).get("allow_stdin", False)),
        token=str(request.get("header", {}).get("msg_id", "")),
        # Notebooks name their cell. What does not (jupyter console, qtconsole, nbclient, papermill)
        # may draw no change, or has nobody who watches one.
        draws_updates="cellId" in metadata or "google.colab" in sys.modules,
        metadata=metadata,
    )


def check_ends_cell(shell: Any, command: str) -> None:
    """Refuse what replaces the kernel where the cell goes on after it: the rest never runs.

    Args:
        shell: In which a cell of the user calls the magic.
        command: What was typed.

    Raises:
        SetupError: Something stands behind it, or takes its value.
    """
    cell: FrameType | None = None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is shell.user_ns:
            cell = frame
        frame = frame.f_back
    if cell is not None and not _is_at_its_end(cell):
        raise SetupError(
            f"{command} has to be the last line of its cell, with nothing that takes its value: it "
            "replaces the kernel, and what is left of the cell does not run.",
            hint="Put it into a cell of its own.",
        )


def _is_at_its_end(cell: FrameType) -> bool:
    """Whether a cell is at its last statement, and that is a plain call of the magic."""
    body = ast.parse("".join(linecache.getlines(cell.f_code.co_filename))).body
    match body[-1:]:
        case []:
            return True  # its source is not known
        case [ast.Expr(ast.Call(ast.Attribute(attr=name), [ast.Constant("agent"), *_])) as last]:
            return name in ("run_line_magic", "run_cell_magic") and cell.f_lineno >= last.lineno
    return False
