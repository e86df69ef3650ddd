"""From a request to a call: the component, its arguments, and whether the mode lets it run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cellwright.agent.policy import assess, decide
from cellwright.errors import SetupError
from cellwright.kernels import Kernel
from cellwright.record.prompts import Manifest
from cellwright.server.application import Application
from cellwright.server.component_arguments import checked_arguments
from cellwright.server.component_catalogue import Catalogue, Listed, listed
from cellwright.server.component_envelopes import VIEWS, View
from cellwright.server.component_runs import HandCall, Surroundings
from cellwright.server.kernel_access import ConnectedKernel, ServerKernels
from cellwright.server.no_kernel import NoKernel
from cellwright.server.routes import Refusal
from cellwright.settings import Mode, Settings
from cellwright.tools import Component
from cellwright.tools.live_tools import discovered

CONFIRM_HINT = 'Send "confirm": true if that is what you want.'


@dataclass(frozen=True)
class Asked:
    """What a request asks for."""

    name: str
    version: str
    fields: Mapping[str, Any]
    """Of the body, each of its type."""
    is_streamed: bool = False
    chat_id: str = ""
    trace: str = ""
    user: str = ""

    @property
    def view(self) -> View:
        """Whose contents are told.

        Raises:
            Refusal: There is no such scope.
        """
        scope = self.fields.get("scope", "user")
        if scope not in VIEWS:
            raise Refusal(400, f"There is no scope {scope!r}.", f"Use one of: {', '.join(VIEWS)}.")
        return cast("View", scope)


@dataclass(frozen=True)
class NamedKernel:
    """The kernel that a request names; no id: it names none."""

    kernel_id: str = ""
    kernels: ServerKernels | None = None

    def open(self) -> Kernel:
        """A connection to it, to be closed by ``close``; for worker threads.

        Raises:
            KernelError: A cell runs in it, or it does not answer.
            SetupError: It is dead.
        """
        if self.kernels is None:
            return NoKernel()
        kernel = self.kernels.connect(self.kernel_id)
        try:
            self.kernels.check_free(self.kernel_id)
            kernel.describe()
        except BaseException:
            kernel.close()
            raise
        return kernel

    def close(self, kernel: Kernel) -> None:
        """Let go of it."""
        if isinstance(kernel, ConnectedKernel):
            kernel.close()

    def catalogue(self, own: Catalogue) -> Catalogue:
        """The server's own components, behind those that live in the kernel."""
        kernel = self.open()
        try:
            return _with_live(own, kernel)
        finally:
            self.close(kernel)


@dataclass(frozen=True)
class Prepared:
    """A call that may be made."""

    call: HandCall
    surroundings: Surroundings
    close: Callable[[], None]
    """Lets go of the kernel."""


def component_of(catalogue: Catalogue, name: str, version: str) -> Listed:
    """One component.

    Raises:
        Refusal: There is none of that name, or not in that version.
    """
    found = catalogue.find(name, version)
    if found is not None:
        return found
    versions = catalogue.versions(name)
    if not versions:
        raise Refusal(404, f"There is no component {name!r}.", "See the list of components.")
    there = ", ".join(repr(known) for known in versions)
    raise Refusal(404, f"{name!r} has no version {version!r}.", f"There is {there}.")


def prepared(
    shared: Application, asked: Asked, named: NamedKernel, own: Callable[[], Catalogue]
) -> Prepared:
    """The call that a request asks for; for worker threads.

    Raises:
        Refusal: It cannot be made, or may not.
        CellwrightError: The kernel cannot be used.
    """
    view = asked.view
    kernel = named.open()
    try:
        found = component_of(_with_live(own(), kernel), asked.name, asked.version)
        manifest = _manifest(found.component, asked.fields.get("tool", ""))
        arguments = checked_arguments(manifest, asked.fields.get("arguments", {}))
        settings = _settings(shared)
        mode = cast("Mode", asked.fields.get("mode") or settings.mode)
        shared.configuration.check_mode(mode)
        _check_permitted(found.component, arguments, mode, asked.fields.get("confirm", False))
    except BaseException:
        named.close(kernel)
        raise
    call = HandCall(
        found.component,
        manifest.name,
        arguments,
        mode,
        view,
        asked.is_streamed,
        asked.chat_id,
        asked.trace,
    )
    place = Surroundings(kernel, shared.runs, shared.redactor(), settings, asked.user)
    return Prepared(call, place, lambda: named.close(kernel))


def _with_live(own: Catalogue, kernel: Kernel) -> Catalogue:
    if isinstance(kernel, NoKernel):
        return own
    live = discovered(kernel)
    found = listed([live.source])
    return Catalogue(found.listed, (*live.problems, *found.reports)).before(own)


def _manifest(component: Component, tool: str) -> Manifest:
    manifests = component.tool_manifests()
    names = [manifest.name for manifest in manifests]
    if tool and tool not in names:
        there = ", ".join(repr(name) for name in names)
        raise Refusal(404, f"{component.name!r} has no tool {tool!r}.", f"There is {there}.")
    return manifests[names.index(tool) if tool else 0]


def _settings(shared: Application) -> Settings:
    try:
        return shared.settings()
    except SetupError:
        # A component needs no model; limits and mode are there all the same.
        return shared.chooser.unchecked_settings()


def _check_permitted(
    component: Component, arguments: Mapping[str, Any], mode: Mode, confirmed: bool
) -> None:
    """The mode's rule for the agent is the rule for a call by hand; ``confirm`` answers it."""
    assessment = assess(component, arguments)
    decision = decide(mode, assessment)
    refusal = None
    if decision.kind == "refuse":
        hint = "Choose another mode."
        refusal = Refusal(403, f"Mode {mode!r} only looks. {assessment.reason}", hint, "mode")
    elif decision.kind == "ask" and not confirmed:
        refusal = Refusal(409, assessment.reason, CONFIRM_HINT, "confirm")
    if refusal is not None:
        refusal.details = {"risk": assessment.risk}
        raise refusal
