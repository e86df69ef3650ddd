"""What one cell changes: variables, files, folder; and what it may not do to the kernel.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later.
"""

from __future__ import annotations

import builtins
import contextlib
import getpass
import json
import os
import sys
import time
from typing import Any

from . import kept_files
from .drain import Drain
from .figures import FigureWatch
from .inspection import describe, headline, is_module, kind, length_of, type_name
from .interrupt_watch import InterruptWatch
from .sent_outputs import SentOutputs

FILE_LIMIT = 2_000
FILE_SECONDS = 0.002
"""So long the folders below are looked through, after the first, which is always seen whole."""
PATIENT_SECONDS = 0.05
"""The same where files are kept, and what is changed unheard has to be named."""
CLOCK_STEP_NS = 10_000_000
"""File times lag behind the clock by up to this much."""
CHANGED_LIMIT = 40
SKIPPED_FOLDERS = ("node_modules", "__pycache__")
NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"
"""Names the kernel's own notebook, which is saved while cells run and not by them."""
NOTEBOOK = ".ipynb"
CHANGING = ("os.rename", "os.remove", "os.link", "os.symlink", "os.truncate")
"""Audit events that change the files they name; ``open`` does where it is opened to be written."""
STARTING = ("subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.posix_spawn")
"""Audit events of a child process, whose files are not seen from here."""
HEARD = kept_files.HEARD.union(CHANGING, STARTING)
RECORD = "runs.sqlite"
"""Our own record; what is written into its folder is no cell's doing."""
NO_KEYBOARD = (
    "there is no keyboard here: input() cannot be answered. Put the value into the code, or ask "
    "the person in your answer."
)
NO_EXIT = "exit() and quit() did nothing: the kernel belongs to the person."


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        # The folder was removed.
        return ""


class _NotebookWrites:
    """Which notebooks this process writes while a cell runs.

    Jupyter saves open notebooks at any time, and a time stamp does not tell who wrote a file.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.is_certain = True
        """False: something ran that may have written notebooks unseen."""

    def may_include(self, path: str) -> bool:
        """Whether the cell may have written this file; of others than notebooks always true."""
        is_other = not path.endswith(NOTEBOOK)
        return is_other or not self.is_certain or os.path.basename(path) in self.names

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if _is_writing(arguments[2]):
                self._add(arguments[0])
        elif event in CHANGING:
            for named in arguments[:2]:
                self._add(named)
                # whole folders are moved by their own name, with the notebooks in them
                self.is_certain &= not (event == "os.rename" and _is_folder(named))
        elif event in STARTING:
            self.is_certain = False

    def _add(self, named: Any) -> None:
        name = os.fsdecode(named) if isinstance(named, (str, bytes, os.PathLike)) else ""
        if name.endswith(NOTEBOOK):
            self.names.add(os.path.basename(name))


def _is_folder(named: Any) -> bool:
    return isinstance(named, (str, bytes, os.PathLike)) and os.path.isdir(named)


def _is_writing(flags: Any) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _hear_audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Called for every audit event of the process, for ever: it has to be quick."""
    if event not in HEARD or STATE.cell is None:
        return
    if event == "open" and not _is_writing(arguments[2]):
        return
    with contextlib.suppress(Exception):  # else what the cell does would fail
        kept_files.hear(event, arguments)
    cell: _Cell | None = STATE.cell
    while cell is not None:
        with contextlib.suppress(Exception):  # else what the cell does would fail
            cell.notebook_writes.note(event, arguments)
        cell = cell.outer


class _Cell:
    """What was so before the cell that runs now."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.outer = STATE.cell
        self.variables = _marks(shell)
        self.cwd = _folder()
        self.files = STATE.known_files(self.cwd)
        self.notebook_writes = _NotebookWrites()
        self.began_ns = time.time_ns()
        self.cpu_seconds = time.process_time()
        self.notes: list[str] = []
        self.interrupts = InterruptWatch()
        self.input = builtins.input
        self.getpass = getpass.getpass
        self.waited_seconds = 0.0
        self.asked_at: float | None = None
        self.ask_exit = shell.__dict__.get("ask_exit")
        self.figures = FigureWatch(getattr(shell, "display_formatter", None))
        self.stdout = sys.stdout
        self.error = getattr(sys, "last_value", None)


class State:
    """All that the probe keeps between two questions."""

    cell: _Cell | None = None
    own_counts: set[int] = set()
    """Execution counts of cells that were not the person's."""
    own_error: BaseException | None = None
    persons_error: BaseException | None = None
    hears_audit = False
    files: _Files | None = None
    """The files as the last cell of ours left them, while nobody else's cell ran."""

    sent: SentOutputs | None = None
    """What the last cell of a request of ours has sent."""

    def known_files(self, folder: str) -> _Files:
        """The files before a cell runs."""
        known, self.files = self.files, None
        if kept_files.is_watching():
            # What the person did since must not be taken for the cell's.
            return _Files(folder, PATIENT_SECONDS)
        return known if known is not None and known.root == folder else _Files(folder)


STATE = State()


def hear_changes() -> None:
    """Hear from now on which files code changes; Python never lets go of an audit hook."""
    if not STATE.hears_audit:
        STATE.hears_audit = True
        sys.addaudithook(_hear_audit)


def before_cell(shell: Any, *, is_nested: bool = False, has_keyboard: bool = False) -> None:
    """Remember what there is, and keep the cell from asking or ending what is not its own.

    Args:
        shell: The person's.
        is_nested: The cell runs inside another one.
        has_keyboard: Somebody answers what it asks.
    """
    hear_changes()
    cell = STATE.cell = _Cell(shell)
    cell.interrupts = InterruptWatch(is_nested=is_nested)

    def refuse(*_arguments: Any, **_options: Any) -> str:
        __tracebackhide__ = True
        raise EOFError(NO_KEYBOARD)

    if not has_keyboard:
        builtins.input = getpass.getpass = refuse
    else:
        builtins.input = _timed(cell, cell.input)
        getpass.getpass = _timed(cell, cell.getpass)
    shell.ask_exit = lambda: cell.notes.append(NO_EXIT)
    cell.figures.start()
    cell.interrupts.start()
    if cell.outer is None:
        kept_files.cell_begins(cell.cwd, cell.files.found)


def _timed(cell: _Cell, ask: Any) -> Any:
    """``ask``, with the time that the cell waits for an answer counted."""

    def timed(*arguments: Any, **options: Any) -> Any:
        cell.asked_at = time.monotonic()
        try:
            return ask(*arguments, **options)
        finally:
            cell.waited_seconds += time.monotonic() - cell.asked_at
            cell.asked_at = None

    return timed


def waited_seconds() -> float:
    """How long the cell that runs has waited for somebody to type; from any thread."""
    cell = STATE.cell
    if cell is None:
        return 0.0
    asked_at = cell.asked_at
    return cell.waited_seconds + (time.monotonic() - asked_at if asked_at is not None else 0.0)


def after_cell(shell: Any, result: Any = None) -> dict[str, Any]:
    """What the cell changed, and a compact text for the value of its last expression."""
    cell = STATE.cell
    if cell is None:
        return {}
    STATE.cell = cell.outer
    _restore(cell)
    cpu_seconds = time.process_time() - cell.cpu_seconds
    files = _file_changes(cell)
    if cell.outer is None:
        kept_files.cell_ends(files)
    now = _marks(shell)
    namespace = shell.user_ns
    changed = [name for name, mark in now.items() if cell.variables.get(name) != mark]
    if cell.stdout is not sys.stdout or getattr(sys.stdout, "closed", False):
        cell.notes.append("sys.stdout was replaced or closed: what is printed is not seen.")
    return {
        "changed": [row(name, namespace[name]) for name in changed[:CHANGED_LIMIT]],
        "removed": [name for name in cell.variables if name not in namespace][:CHANGED_LIMIT],
        "files": files[:CHANGED_LIMIT],
        "cwd": _folder(),
        "interrupted": cell.interrupts.seen or cell.interrupts.may_have_missed(result),
        "result_summary": summarise_result(getattr(result, "result", None)),
        "figures": cell.figures.seen,
        "cpu_seconds": cpu_seconds,
        "rss_bytes": _memory(),
        "waited_seconds": cell.waited_seconds,
        "notes": list(dict.fromkeys(cell.notes)),
    }


def _memory() -> int | None:
    """Bytes this process has in memory, where the system tells it in a file."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _restore(cell: _Cell) -> None:
    cell.interrupts.stop()
    cell.figures.stop()
    builtins.input, getpass.getpass = cell.input, cell.getpass
    cell.shell.__dict__.pop("ask_exit", None)
    if cell.ask_exit is not None:
        cell.shell.ask_exit = cell.ask_exit
    error = getattr(sys, "last_value", None)
    if error is not cell.error:
        if cell.error is not STATE.own_error:
            STATE.persons_error = cell.error
        STATE.own_error = error


def install(shell: Any) -> None:
    """Watch the cells that are marked as ours in their request's metadata."""
    watch = _Watch(shell)
    for event, hook in (("pre_run_cell", watch.before), ("post_run_cell", watch.after)):
        for old in list(shell.events.callbacks[event]):
            if getattr(old, "__module__", "") == __name__:
                shell.events.unregister(event, old)
        shell.events.register(event, hook)
    if hasattr(shell, "enable_tip"):
        # For its banner, which clients ask for whenever they connect, IPython draws a tip with the
        # person's own ``random``: what their next cell draws would depend on us.
        shell.enable_tip = False


class _Watch:
    """Called around every cell of the kernel; looks at ours only."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._request = ""
        self._depth = 0
        # How many run_cell deep it is: a cell may run cells itself.
        self._drain = Drain()

    def before(self, _info: Any) -> None:
        request = marked_request(self._shell)
        if not request:
            STATE.files = None
            return
        if request != self._request:
            self._request, self._depth = request, 0
        self._depth += 1
        if self._depth == 1:
            self._drain = Drain()
            self._count_outputs(request)
            before_cell(self._shell, has_keyboard=bool(request_marks(self._shell).get("input")))

    def after(self, result: Any) -> None:
        if not marked_request(self._shell):
            return
        self._depth -= 1
        if self._depth == 0:
            # What the streams still hold would be sent behind the count.
            self._drain.finish()
            STATE.own_counts.add(getattr(result, "execution_count", None) or 0)
            report = after_cell(self._shell, result)
            if STATE.sent is not None:
                STATE.sent.stop()
                report["sent"] = STATE.sent.count
            text = json.dumps(report)
            self._shell.payload_manager.write_payload({"source": "cellwright", "text": text})

    def _count_outputs(self, request: str) -> None:
        STATE.sent = None
        session = getattr(getattr(self._shell, "kernel", None), "session", None)
        if session is not None:
            STATE.sent = SentOutputs(session, request)
            STATE.sent.start()


def marked_request(shell: Any) -> str:
    """The id of the request that runs, if it is one of ours."""
    parent = shell.get_parent() or {}
    if "cellwright" not in (parent.get("metadata") or {}):
        return ""
    return str(parent.get("header", {}).get("msg_id", ""))


def request_marks(shell: Any) -> Any:
    """What a request of ours says of its cell."""
    return (shell.get_parent() or {})["metadata"]["cellwright"]


def summarise_result(value: Any) -> str:
    """A compact text where it says more than ``text/plain``; else the empty string."""
    if kind(value) or (length_of(value) or 0) > 50:
        return describe(value)
    return ""


def row(name: str, value: Any) -> dict[str, str]:
    return {"name": name, "type": type_name(value), "text": headline(value)}


def own_names(shell: Any) -> list[str]:
    hidden = shell.user_ns_hidden
    return [
        name
        for name, value in list(shell.user_ns.items())
        if not name.startswith("_")
        and not is_module(value)
        and not (name in hidden and hidden[name] is value)
    ]


def _marks(shell: Any) -> dict[str, Any]:
    """What tells that a variable is another one, or has grown, cheaply."""
    namespace = shell.user_ns
    return {name: _mark(namespace[name]) for name in own_names(shell) if name in namespace}


def _mark(value: Any) -> Any:
    cls = type(value)
    if value is None or cls is bool or cls is int or cls is float:
        return (id(cls), repr(value) if cls is float else value)
    size: Any = length_of(value)
    if kind(value):
        try:
            size = tuple(value.shape)
        except Exception:
            size = None
    # The class itself would be compared by its metaclass.
    return (id(value), id(cls), size)


class _Files:
    """Time and size of the files below a folder, the nearest ones first."""

    def __init__(self, root: str, seconds: float = FILE_SECONDS) -> None:
        self.root = root
        self.found: dict[str, tuple[int, int]] = {}
        folders, until = [root] if root else [], time.monotonic() + seconds
        while folders and len(self.found) < FILE_LIMIT and time.monotonic() < until:
            _scan(folders.pop(0), root, folders, self.found)
        self.is_complete = not folders and len(self.found) < FILE_LIMIT


def _scan(folder: str, root: str, folders: list[str], found: dict[str, tuple[int, int]]) -> None:
    try:
        with os.scandir(folder) as entries:
            listed = list(entries)
            if folder != root and any(entry.name == RECORD for entry in listed):
                return
            for entry in listed:
                if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif len(found) < FILE_LIMIT:
                    state = entry.stat(follow_symlinks=False)
                    found[entry.path[len(root) :].lstrip(os.sep)] = (
                        state.st_mtime_ns,
                        state.st_size,
                    )
    except OSError:
        # A folder that cannot be read has nothing to tell.
        return


def _file_changes(cell: _Cell) -> list[dict[str, Any]]:
    seconds = PATIENT_SECONDS if kept_files.is_watching() else FILE_SECONDS
    seen = STATE.files = _Files(cell.cwd, seconds)
    before, now = cell.files.found, seen.found
    is_complete = cell.files.is_complete and seen.is_complete
    rows = []
    named = os.environ.get(NOTEBOOK_VARIABLE, "")
    own = os.path.realpath(named) if os.path.isabs(named) else ""
    for path in sorted(set(before) | set(now)):
        if before.get(path) == now.get(path) or os.path.join(seen.root, path) == own:
            continue
        change = _change(path, before, now)
        if change != "deleted" and not cell.notebook_writes.may_include(path):
            continue  # Jupyter saved it meanwhile
        if change == "modified" or is_complete or _is_fresh(now.get(path), cell.began_ns):
            size = now[path][1] if path in now else 0
            rows.append({"path": path, "change": change, "size_bytes": size})
    return rows


def _change(path: str, before: Any, now: Any) -> str:
    if path not in now:
        return "deleted"
    return "modified" if path in before else "created"


def _is_fresh(state: Any, began_ns: int) -> bool:
    """Of files that may only have been overlooked before, those that were just written."""
    return state is not None and bool(state[0] >= began_ns - CLOCK_STEP_NS)
