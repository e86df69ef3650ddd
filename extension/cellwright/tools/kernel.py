"""The kernel's variables and packages."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import ClassVar

from cellwright.errors import ToolError
from cellwright.record.content import text
from cellwright.record.events import CellAdded, CellEvent
from cellwright.record.outputs import ErrorOutput, StreamOutput
from cellwright.text.cleaning import ESCAPES, clean
from cellwright.text.secret_names import Strength, strength_of
from cellwright.text.truncation import shorten
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells, run_cell
from cellwright.tools.packages import checked_requirement, install_failure, installed_version

VARIABLE_LIMIT = 60
WORD = re.compile(r"\w+")
INSTALL_TIMEOUT_SECONDS = 600.0
PIP_CODE = """\
%pip install --no-input --disable-pip-version-check {requirement}
__import__("importlib").invalidate_caches()"""
UV_CODE = """\
!uv pip install --python "{{__import__('sys').executable}}" {requirement}
__import__("importlib").invalidate_caches()"""
NO_PIP = re.compile(r"No module named '?pip\b")
REPLACED = re.compile(r"Successfully uninstalled|^ *- [\w.-]+==", re.MULTILINE)
RESTART = (
    " It replaced another version: if that was imported already, the kernel must be restarted "
    "before the new one is used; tell the person."
)


class ListVariables(Component):
    """Lists what the kernel holds."""

    name: ClassVar[str] = "list_variables"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "look at the variables"

    def tool_eval(self, context: ToolContext, pattern: str = "") -> Iterator[ToolYield]:
        """List the kernel's variables: name, type, size or value.

        Args:
            pattern: Only names like this, such as `df*`.
        """
        found = context.kernel.probe("list_variables", {"pattern": pattern})
        lines = [
            f"{item['name']}: {item['type']} {item['text']}".rstrip()
            for item in found[:VARIABLE_LIMIT]
        ]
        if len(found) > VARIABLE_LIMIT:
            lines.append(f"[… {len(found) - VARIABLE_LIMIT} more; give a pattern …]")
        none = f"No variables match {pattern!r}." if pattern else "No variables yet."
        yield text("\n".join(lines) or none, scope="llm")


class InspectVariable(Component):
    """Sums up one variable."""

    name: ClassVar[str] = "inspect_variable"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"look at {arguments.get('name')}"

    def tool_eval(self, context: ToolContext, name: str) -> Iterator[ToolYield]:
        """Sum up a variable; of a table: shape, and of each column type, gaps, range, values.

        Args:
            name: The variable, or a part such as `df.price` or `d["a"]`.
        """
        said = clean(str(context.kernel.probe("inspect_variable", {"name": name})))
        if any(strength_of(word) is not Strength.NONE for word in WORD.findall(name)):
            # Beside its name a password is known for one.
            said = f"{name}: {said}"
        short = shorten(said, context.limits.output_tokens, name)
        if short.was_cut:
            context.shelf.keep(name, said)
        yield text(short.text, scope="llm")


class InstallPackage(Component):
    """Installs a package into the kernel's own Python."""

    name: ClassVar[str] = "install_package"
    risk: ClassVar[Risk] = "install"

    def __init__(self, seen: SeenCells) -> None:
        self._seen = seen

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"install {arguments.get('name')}"

    def tool_eval(self, context: ToolContext, name: str) -> Iterator[ToolYield]:
        """Install a package for this kernel; the person is asked.

        Args:
            name: The package or the module it provides, such as `sklearn` or `pandas>=2.2`.
        """
        requirement = checked_requirement(name)
        printed = yield from self._run(context, PIP_CODE, requirement)
        if NO_PIP.search(printed):
            printed = yield from self._run(context, UV_CODE, requirement)
        installed = installed_version(requirement, printed)
        if not installed:
            reason = install_failure(printed) or "The installer did not say why."
            raise ToolError(f"{requirement} was not installed. {reason}")
        replaced = REPLACED.search(printed) is not None
        yield text(f"{installed} is installed.{RESTART if replaced else ''}", scope="llm")

    def _run(
        self, context: ToolContext, template: str, requirement: str
    ) -> Generator[CellEvent, None, str]:
        """Run the installer in a cell of its own; what it printed."""
        code = template.format(requirement=f'"{requirement}"')
        cell_id = context.new_cell_id()
        yield CellAdded(cell_id, code, call_id=context.call_id)
        self._seen.note(cell_id, code)
        ran = yield from run_cell(context, self._seen, cell_id, code, INSTALL_TIMEOUT_SECONDS)
        streams = (output for output in ran.outputs if isinstance(output, StreamOutput))
        errors = (output for output in ran.outputs if isinstance(output, ErrorOutput))
        words = [output.text for output in streams] + [output.evalue for output in errors]
        return ESCAPES.sub("", "\n".join(words))
