"""Which tools the model is offered: our own, and those the person made in the kernel."""

from __future__ import annotations

from cellwright.kernels import Kernel
from cellwright.notebooks import Notebook
from cellwright.tools import Component
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import discovered
from cellwright.tools.registry import Registry, ToolSource, distinct, within_caps
from cellwright.tools.standard import standard_tools


class ToolOffer:
    """The tools stay the same for as long as the notebook's kind and the kernel's tools do."""

    def __init__(self) -> None:
        self.registry = Registry(())
        self._notebook_kind: tuple[bool, bool] | None = None
        self._standard: tuple[Component, ...] = ()
        self._live: tuple[LiveRow, ...] = ()
        self._problems: tuple[str, ...] = ()
        self._added: tuple[ToolSource, ...] = ()

    def renew(
        self, kernel: Kernel, notebook: Notebook | None, added: tuple[ToolSource, ...] = ()
    ) -> tuple[str, ...]:
        """Look at what there is now; what the person should know of tools that were left out."""
        kind = (notebook is not None, notebook is not None and notebook.is_editable)
        live = discovered(kernel)
        new = tuple(problem for problem in live.problems if problem not in self._problems)
        self._problems = live.problems
        if kind != self._notebook_kind:
            self._standard = standard_tools(notebook)
        elif (live.rows, added) == (self._live, self._added):
            return new
        standard = ToolSource("standard", self._standard, is_standard=True)
        once = distinct([standard, live.source, *added])
        offer = within_caps(once.sources)
        self._notebook_kind, self._live, self._added = kind, live.rows, added
        self.registry = Registry(offer.components)
        return (*new, *once.reports, *offer.reports, *filter(None, [self.registry.warning]))
