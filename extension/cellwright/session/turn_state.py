"""What a kernel and its notebook are like when a turn begins, as far as it changed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cellwright.context.assemble import TurnState
from cellwright.context.outline import Marks, cell_changes, marks_of, outline
from cellwright.context.own_magics import is_own_error, seen_before, without_own_magics
from cellwright.errors import KernelError, ToolError
from cellwright.kernels import Kernel
from cellwright.notebooks import Notebook
from cellwright.record.attachments import Attachment
from cellwright.record.cells import Cell, VariableSummary
from cellwright.record.events import StateCaptured
from cellwright.record.run_record import RunRecord
from cellwright.session.questions import Place
from cellwright.settings import Mode

LAGGING_LANES = ("magic",)
KERNEL_ENDS = ("kernel_died", "kernel_restarted")
READ_ONLY = (
    "mode: plan. You may only look: no code runs and nothing changes. Find out what you need with "
    "the tools that read, then say step by step what you would do."
)
NO_LONGER_READ_ONLY = "mode: no longer plan. You may act."


class TurnWatch:
    """Remembers what the model was told last, and finds what is new since then."""

    def __init__(self) -> None:
        self._known: dict[str, VariableSummary] = {}
        self._executed_seen = 0
        self._is_resumed = False
        self._kernel_session = ""
        self._mode: Mode = "ask"
        self._log: list[str] = []
        self._packages: Mapping[str, str] | None = None
        self._cells: Marks | None = None

    def resume(self, executed: tuple[str, ...], kernel_session: str) -> None:
        """Go on after these cells; see ``Conversation.resume``."""
        self._log[:] = executed
        self._kernel_session, self._is_resumed = kernel_session, True
        self.tell_all()

    def tell_all(self) -> None:
        """Let the next turn tell everything: what was told is not in the history any more."""
        self._known, self._cells = {}, None

    def look(self, place: Place, folder: str, mode: Mode, *, is_first: bool) -> TurnState:
        """What changed since the last turn.

        Args:
            place: Whose variables and cells are looked at.
            folder: The kernel's.
            mode: In which the question is asked.
            is_first: The model was told nothing yet.
        """
        kernel = place.kernel
        is_new = self._is_new_kernel(kernel)
        now = variables_of(kernel)
        changed = tuple(v for name, v in now.items() if self._known.get(name) != v)
        removed = tuple(name for name in self._known if name not in now)
        executed: list[str] = _probe(kernel, "executed_cells", {}) or []
        seen = seen_before(executed, self._log) if self._is_resumed else self._executed_seen
        new = without_own_magics(executed[seen:])
        self._executed_seen, self._is_resumed = len(executed), False
        self._log.extend(new)
        self._known = now
        cells = place.notebook.cells() if place.notebook is not None else ()
        known, self._cells = self._cells, marks_of(cells)
        # What a file says lags behind the page, so it tells nothing of what a person just did.
        is_live = place.lane not in LAGGING_LANES and known is not None
        return TurnState(
            changed,
            removed,
            tuple(new),
            _last_error(kernel),
            folder if is_first or is_new else "",
            is_new,
            self._mode_line(mode),
            outline(cells) if known is None else (),
            cell_changes(known or {}, cells, new) if is_live else (),
        )

    @property
    def types(self) -> tuple[str, ...]:
        """Of the kernel's variables, each once."""
        return tuple(dict.fromkeys(variable.type for variable in self._known.values()))

    @property
    def executed(self) -> tuple[str, ...]:
        """Every cell that ran in the kernel, as far as it is known."""
        return tuple(self._log)

    def mentioned(self, kernel: Kernel, names: tuple[str, ...]) -> tuple[VariableSummary, ...]:
        """Those of the names that are variables, each in a few lines."""
        found = []
        for name in dict.fromkeys(names):
            text = _probe(kernel, "inspect_variable", {"name": name})
            if text:
                kind = self._known[name].type if name in self._known else ""
                found.append(VariableSummary(name, kind, str(text)))
        return tuple(found)

    def captured(
        self,
        kernel: Kernel,
        notebook: Notebook | None,
        attachments: tuple[Attachment, ...],
        folder: str,
    ) -> StateCaptured:
        """The state that a run starts from, for its record."""
        if self._packages is None:
            self._packages = _probe(kernel, "packages", {}) or {}
        cells: tuple[Cell, ...] = notebook.cells() if notebook is not None else ()
        return StateCaptured(
            cells=cells,
            executed=tuple(self._log),
            packages=self._packages,
            files={item.name: item.sha256 for item in attachments},
            cwd=folder,
            kernel={**asdict(kernel.describe()), "session": kernel.session},
            notebook_path=notebook.path if notebook is not None else "",
        )

    def after(self, record: RunRecord, place: Place) -> None:
        """Keep what a run did, so that the next turn starts from there."""
        self._log.extend(execution.source for execution in record.executions)
        if place.notebook is not None:
            self._cells = marks_of(place.notebook.cells())
        # A kernel that was started during the run had no name when the turn began.
        self._kernel_session = self._kernel_session or place.kernel.session
        if record.status == "cancelled" or record.cause in KERNEL_ENDS:
            return  # whoever pressed Stop does not wait for a kernel that may still be busy
        self._known = variables_of(place.kernel)

    def _is_new_kernel(self, kernel: Kernel) -> bool:
        """Whether the kernel is another one than in the last turn; then forget what it held."""
        session = kernel.session
        before, self._kernel_session = self._kernel_session, session
        if not before or before == session:
            return False
        self._known, self._executed_seen, self._packages = {}, 0, None
        self._log.clear()
        return True

    def _mode_line(self, mode: Mode) -> str:
        before, self._mode = self._mode, mode
        if mode == "plan":
            return READ_ONLY if before != "plan" else ""
        return NO_LONGER_READ_ONLY if before == "plan" else ""


def variables_of(kernel: Kernel, **limits: int) -> dict[str, VariableSummary]:
    """The kernel's variables by name."""
    listed = _probe(kernel, "list_variables", limits) or []
    return {item["name"]: VariableSummary(**item) for item in listed}


def _last_error(kernel: Kernel) -> str:
    found = _probe(kernel, "last_error", {})
    text = str(found.get("text", "")) if isinstance(found, dict) else ""
    return "" if is_own_error(text) else text


def _probe(kernel: Kernel, function: str, arguments: Mapping[str, Any]) -> Any:
    # What the kernel can tell of itself helps; where it cannot, the run goes on without.
    with contextlib.suppress(ToolError, KernelError):
        return kernel.probe(function, arguments)
    return None
