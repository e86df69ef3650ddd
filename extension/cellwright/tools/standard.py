"""The tools every conversation has, in the one order the model is told of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import ClassVar

from cellwright.errors import ToolError
from cellwright.kernels import Kernel
from cellwright.notebooks import Notebook
from cellwright.record.content import text
from cellwright.record.events import CellAdded, CellEvent
from cellwright.record.outputs import ErrorOutput, StreamOutput
from cellwright.text.cleaning import ESCAPES, clean, is_quick
from cellwright.text.secret_shapes import Strength, strength_of
from cellwright.text.truncation import CHARACTERS_PER_TOKEN, page_lines, shorten
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells, look_again, run_cell
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import discovered
from cellwright.tools.notebook import (
    AddCell,
    ArrangeCell,
    CellTool,
    EditCell,
    ReadNotebook,
    RunCell,
)
from cellwright.tools.packages import checked_requirement, install_failure, installed_version
from cellwright.tools.registry import Registry, ToolSource, distinct, within_caps

# ``submit``: the model hands in its answer and the run ends.


class Submit(Component):
    """Ends the run with an answer."""

    name: ClassVar[str] = "submit"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "hand in the answer"

    def tool_eval(self, context: ToolContext, answer: str) -> Iterator[ToolYield]:
        """Hand in the final answer and end the run.

        Args:
            answer: Short Markdown for the person.
        """
        yield replace(text(answer), final=True)


# ``read_output``: what was cut of an output, page by page or by a pattern.


LINE_COUNT_LIMIT = 2_000
NAMES_SHOWN = 20


class ReadOutput(Component):
    """Reads the full text of an output that was cut."""

    name: ClassVar[str] = "read_output"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"read on in the output of {arguments.get('name')}"

    def tool_eval(  # noqa: PLR0913 (what the model may say)
        self,
        context: ToolContext,
        name: str,
        start_line: int = 1,
        line_count: int = 200,
        pattern: str = "",
        wait_seconds: float = 0,
        interrupt: bool = False,
    ) -> Iterator[ToolYield]:
        """Read more of an output that was cut, or look again at a cell that still runs.

        Args:
            name: As the cut output says, or the running cell's id.
            start_line: First line to read.
            line_count: How many lines.
            pattern: Only lines that match this regular expression.
            wait_seconds: For a running cell: how long to wait for more.
            interrupt: End the running cell.
        """
        again = yield from look_again(context, name, wait_seconds, interrupt=interrupt)
        if again is not None:
            yield again
            return
        full = context.shelf.get(name)
        begun = context.patient.begun if context.patient is not None else ()
        if full is None and (wait_seconds or interrupt or name in begun):
            yield text(f"The cell {name!r} has ended; you were told what it showed.", scope="llm")
            return
        if full is None:
            raise ToolError(f"There is no cut output {name!r}.", hint=_known(context))
        room = context.limits.output_tokens * CHARACTERS_PER_TOKEN
        yield text(_page(page_lines(full), start_line, line_count, pattern, room), scope="llm")


def _known(context: ToolContext) -> str:
    names = context.shelf.names()[-NAMES_SHOWN:]
    return f"There are: {', '.join(names)}." if names else "Nothing has been cut so far."


def _page(lines: list[str], start: int, count: int, pattern: str, room: int) -> str:
    matches = _matcher(pattern)
    first = max(1, start)
    wanted = min(max(1, count), LINE_COUNT_LIMIT)
    page: list[str] = []
    last = first - 1
    for number, line in enumerate(lines[first - 1 :], first):
        if matches(line):
            room -= len(line) + 1
            if len(page) == wanted or (room < 0 and page):
                break
            page.append(f"{number}: {line}" if pattern else line)
        last = number
    if not page:
        what = f"match {pattern!r} from line {first} on" if pattern else f"from line {first} on"
        return f"No lines {what}; there are {len(lines)}."
    more = f"; go on with start_line={last + 1}" if last < len(lines) else ""
    return "\n".join([f"[lines {first} to {last} of {len(lines)}{more}]", *page])


def _matcher(pattern: str) -> Callable[[str], bool]:
    """A test for lines; a broken or dangerous expression is looked for as plain text."""
    if not pattern:
        return lambda line: True
    if is_quick(pattern):
        expression = re.compile(pattern, re.IGNORECASE)
        return lambda line: expression.search(line) is not None
    plain = pattern.casefold()
    return lambda line: plain in line.casefold()


# The kernel's variables and packages.


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


class InstallPackage(CellTool):
    """Installs a package into the kernel's own Python."""

    name: ClassVar[str] = "install_package"
    risk: ClassVar[Risk] = "install"

    def label(self, **arguments: object) -> str:
        """For people: a package may be called otherwise than the module that is asked for."""
        name = str(arguments.get("name"))
        try:
            requirement = checked_requirement(name)
        except ToolError:
            return f"install {name}"
        return f"install {requirement}" + (f" for {name}" if requirement != name.strip() else "")

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


def standard_tools(notebook: Notebook | None) -> tuple[Component, ...]:
    """New tools for one conversation; those for cells only where a notebook can take them."""
    seen = SeenCells()
    cells: list[Component] = []
    if notebook is not None and notebook.is_editable:
        cells += [AddCell(seen), EditCell(seen), ArrangeCell(seen)]
    if notebook is not None:
        cells.append(ReadNotebook(seen))
    return (
        RunCell(seen),
        *cells,
        ReadOutput(),
        ListVariables(),
        InspectVariable(),
        InstallPackage(seen),
        Submit(),
    )


# Which tools the model is offered: our own, and those the person made in the kernel.


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
