"""What cellwright does on one command: each verb is a value, which every face is made of.

A ``Verb`` has a name, a summary, typed arguments and options, and a function of a ``VerbContext``
that returns a ``Result`` (``results.py``). Those that notebook and terminal share are in
``verbs.py``. Of these values ``%agent`` makes its parser, completion and help, and ``cli.py`` its
parser and ``--json``. What only a terminal can do is a function of an ``Invocation``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cellwright.settings import Mode, Settings

if TYPE_CHECKING:
    # The magics load this module when they are loaded, and must stay cheap.
    from cellwright.commands.notebook_files import NotebookFile
    from cellwright.commands.terminal import Console
    from cellwright.external.source import OutsideTools
    from cellwright.kernels import Kernel
    from cellwright.record.events import Event
    from cellwright.record.run_record import RunRecord
    from cellwright.session.questions import RunContext
    from cellwright.session.services import ModelService
    from cellwright.stopping import Stop
    from cellwright.store.runs import RunStorage, RunStore

COMPLETED = 0
NOT_COMPLETED = 1
"""The run ended otherwise, a replay differs, or a check failed."""
WRONG_USE = 2
"""Something is to be set or written differently; nothing was asked of a model."""
SERVICE_FAILED = 3
NOT_RECORDED = 4
"""The run completed, but its record is not on disk."""
INTERRUPTED = 130


@dataclass(frozen=True)
class Invocation:
    """One call of the command line."""

    options: argparse.Namespace
    settings: Settings
    console: Console


@dataclass(frozen=True)
class Option:
    """One option as argparse and the completion know it."""

    names: tuple[str, ...]
    keywords: dict[str, Any]
    only_in: Literal["", "cell", "terminal"] = ""
    """The one face that has it; empty: both do."""

    @property
    def takes_value(self) -> bool:
        """Whether a value follows."""
        return self.keywords.get("action") != "store_true"

    @property
    def takes_files(self) -> bool:
        """Whether several file names follow."""
        return self.keywords.get("nargs") == "+"

    @property
    def usage(self) -> str:
        """As help shows it."""
        value = f" {self.keywords.get('metavar', 'VALUE')}" if self.takes_value else ""
        whole = f"{self.names[0]}{value}"
        return whole if self.keywords.get("required") else f"[{whole}]"


@dataclass(frozen=True)
class Kind:
    """What an argument can be."""

    label: str
    fits: Callable[[str], bool]
    """Whether a word is one, in a line that is not marked as a command."""
    choices: tuple[str, ...] = ()
    """What completion offers."""
    is_strict: bool = False
    """Nothing else will do, in a marked line either."""
    is_id: bool = False
    is_text: bool = False
    """It takes the rest of the line as it stands, so the line has to be marked as a command."""
    is_rest: bool = False
    """It takes all words that are left, options included."""
    names: Literal["", "runs", "assistants"] = ""
    """Whose names completion offers beside the choices."""
    prefix: str = ""
    """What stands before such a name."""


@dataclass(frozen=True)
class Argument:
    """An argument in its place."""

    kind: Kind
    least: int = 1
    most: int = 1

    @property
    def usage(self) -> str:
        """As help shows it."""
        label = f"{self.kind.label}…" if self.most > 1 else self.kind.label
        return label if self.least else f"[{label}]"


@dataclass(frozen=True)
class Verb:
    """One command: the words it begins with, what follows them, and what it does."""

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    takes_body: bool = False
    """In a cell, what stands below its line belongs to it."""
    default: str = ""
    """Stands for an argument that is left out."""
    run: str | Callable[[VerbContext], object] = ""
    """``module:function`` of this room, imported when it is called; empty: its face does it."""
    shows_progress: bool = False
    """It may take long and tells how far it is."""
    needs_idle_agent: bool = False
    """The code of a run must not do it."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words it begins with."""
        return tuple(self.name.split())

    @property
    def takes_text(self) -> bool:
        """Whether text of any form follows."""
        return any(argument.kind.is_text for argument in self.arguments)

    @property
    def usage(self) -> str:
        """How it is written, without what stands before a verb in its face."""
        options = [option.usage for option in self.options]
        before = options if self.takes_text else []
        after = [] if self.takes_text else options
        arguments = [argument.usage for argument in self.arguments]
        return " ".join([self.name, *before, *arguments, *after])

    def option_names(self) -> tuple[str, ...]:
        """All names of its options."""
        return tuple(name for option in self.options for name in option.names)


def fit_arguments(
    words: Sequence[str], arguments: Sequence[Argument], *, is_marked: bool = True
) -> bool:
    """Whether words are as many as the arguments, and of their kinds.

    Args:
        words: What was written.
        arguments: What is wanted.
        is_marked: No question to a model is possible, so only strict kinds are looked at.
    """
    least = sum(argument.least for argument in arguments)
    if not least <= len(words) <= sum(argument.most for argument in arguments):
        return False
    # only the last may come more than once
    kinds = [argument.kind for argument in arguments]
    kinds += kinds[-1:] * (len(words) - len(kinds))
    return all(
        kind.fits(word) or (is_marked and not kind.is_strict)
        for word, kind in zip(words, kinds, strict=False)
    )


@dataclass(frozen=True)
class KernelChoice:
    """Which kernel is started, and where."""

    folder: Path
    name: str = ""
    """Empty: the notebook's own, else ``python3``."""


@dataclass(frozen=True)
class EndedRun:
    """A run that a command has recorded, and where its record is."""

    record: RunRecord
    storage: RunStorage
    file: str = ""
    """A record of its own that the user named; empty: there is none."""
    unwritten: str = ""
    """Why the notebook is not where the user wants it; empty: it is, or none was wanted."""

    @property
    def problem(self) -> str:
        """What of the run is lost when the process ends; empty: nothing."""
        return "" if self.file else self.storage.problem


class Face(Protocol):
    """What a verb asks of the face that called it, where it runs code or reaches a service."""

    @property
    def variables(self) -> Mapping[str, Any] | None:
        """Those of the kernel that the face is in; None: it is in none."""

    def warn(self, text: str) -> None:
        """Tell the user what they should know before it starts."""

    def check_mode(self, mode: Mode) -> None:
        """Refuse a mode that asks where nobody can be asked."""

    def open_tools(self, store: RunStore) -> AbstractContextManager[OutsideTools]:
        """Open the services whose functions the agent may call."""

    def open_service(self, model: str) -> AbstractContextManager[ModelService]:
        """Open the service that answers for a model."""

    def open_kernel(
        self, choice: KernelChoice, notebook: NotebookFile, stop: Stop
    ) -> AbstractContextManager[Kernel]:
        """Start a kernel that ends with the verb."""

    def open_state(self, run_id: str, stop: Stop) -> AbstractContextManager[Kernel] | None:
        """Copy the state in which a run began, where it is still kept; None: it is not."""

    def make_place(self, kernel: Kernel, store: RunStore, notebook: NotebookFile) -> RunContext:
        """The kernel, with everything else that a run needs here."""

    def follow(self, events: Generator[Event, None, None], stop: Stop) -> None:
        """Show what happens until the run has ended."""

    def end_run(self, store: RunStore) -> EndedRun:
        """The run that was recorded last, and where its record is."""

    def finish(self, ended: EndedRun, source_run: str) -> object:
        """Tell how a run ended; what a verb returns that has nothing else to say of it."""

    def tell_lost(self, ended: EndedRun) -> None:
        """Say what of a run is not where it should be."""


def _show_nothing(*_: object) -> None:
    """Where nobody watches."""


def _no_face() -> Face:
    raise NotImplementedError("No face was given to this verb.")


@dataclass(frozen=True)
class VerbContext:
    """What a verb is given by the face that called it."""

    words: tuple[str, ...]
    """Its arguments; free text is the last of them."""
    settings: Settings
    """What is set, such as ``home``, the folder of the record."""
    open_store: Callable[[], AbstractContextManager[RunStore]]
    """Opens the record for as long as it is needed."""
    options: argparse.Namespace = field(default_factory=argparse.Namespace)
    """The values of its options."""
    prefix: str = "cellwright "
    """What the user writes before a verb here."""
    folder: Path = field(default_factory=Path.cwd)
    """The notebook's folder, or the current one."""
    show_progress: Callable[[int, int, str], None] = _show_nothing
    """Is called with how many are done, of how many, and what comes next."""
    note: Callable[[str], None] = _show_nothing
    """Is called with what the user should read before the verb does what it does."""
    open_face: Callable[[], Face] = _no_face
    """Gives a verb that runs code what is special here."""
