"""What the routes and the socket share while a server runs: stores, settings, threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from jupyter_server.services.contents.filemanager import FileContentsManager
from tornado import web

from cellwright.errors import SetupError, StoreError
from cellwright.kernels.going_back import ChangedFiles, GoneBack, KernelSnapshots
from cellwright.llm.keys import SignIns
from cellwright.record.outputs import VariableSummary
from cellwright.server.configuration import Cellwright
from cellwright.server.service_choice import ServiceChooser
from cellwright.server.uploads import Uploads
from cellwright.settings import Settings
from cellwright.store.chat_rows import Chat
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, open_database
from cellwright.store.runs import CellReviews, FileUses, RunStore
from cellwright.text.redaction import Redactor

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
import functools
import logging
import typing
from collections.abc import Container
from dataclasses import fields, is_dataclass
from typing import Any

from cellwright.errors import CellwrightError
from cellwright.server.frames import ObjectName, RefusedError
from cellwright.stopping import WorkerThread
from cellwright.store.chat_rows import is_guest, may_open

# Expired chats and files: removed every hour, a bounded number, while no run goes on.


log = logging.getLogger(__name__)
FIRST_SECONDS = 60.0
"""A start is not the time for it."""
HOUR_SECONDS = 3_600.0


class ExpiryWatch:
    """A thread that sleeps most of the time.

    Args:
        chats: Opens the chats, when they are needed.
        is_busy: Whether a run goes on: then nothing is removed.
        first_seconds: How long after the start it looks for the first time.
        files: Removes the files that no run was given.
    """

    def __init__(
        self,
        chats: Callable[[], ChatStore],
        is_busy: Callable[[], bool],
        first_seconds: float = FIRST_SECONDS,
        *,
        files: Callable[[], object] = int,
    ) -> None:
        self._chats, self._is_busy, self._files = chats, is_busy, files
        self._first_seconds = first_seconds
        self._ended = threading.Event()
        self._thread = WorkerThread(self._work, name="expiry")

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def look(self) -> int:
        """Remove what has expired; how many chats that were."""
        try:
            removed = self._chats().purge_expired(may_go_on=self._may_go_on)
            if self._may_go_on():
                self._files()  # a chat that went may have been the last to use some
        except CellwrightError as error:
            log.info("cellwright: what has expired stays for now: %s", error)
            return 0
        return removed

    def close(self, seconds: float) -> None:
        """Watch no more, and wait that long for what is being done."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _may_go_on(self) -> bool:
        return not self._ended.is_set() and not self._is_busy()

    def _work(self) -> None:
        wait = self._first_seconds
        while not self._ended.wait(wait):
            self.look()
            wait = HOUR_SECONDS


T = TypeVar("T")
THREADS = 4
SLOW_THREADS = 16
"""For what waits for kernels or people; nothing else waits for these."""
EXPIRY_SECONDS = 1.0
STOPPING_STATUS = 503


class KernelAccess(Protocol):
    """Asks a running kernel about its variables; may wait, so never on the event loop."""

    def variables(self, kernel_id: str) -> Sequence[VariableSummary]:
        """The person's variables.

        Raises:
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def variable(self, kernel_id: str, name: str) -> str:
        """One variable in a few lines.

        Raises:
            SetupError: There is no such variable.
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def go_back(self, kernel_id: str, run_id: str, kept: int, step: int) -> GoneBack:
        """Bring the variables back as before a run, or a cell of it; no run: forth again.

        Raises:
            SetupError: It cannot be done.
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def files_before(self, kernel_id: str, run_id: str, step: int) -> ChangedFiles:
        """Which files could be put back as before a run, or a cell of it, and which not.

        Raises:
            SetupError: The kernel is not there.
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def put_files_back(self, kernel_id: str, run_id: str, step: int) -> ChangedFiles:
        """Put files back as before a run, or a cell of it; no run: forth again.

        Raises:
            SetupError: The kernel is not there.
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def snapshots(self, kernel_id: str, *, measured: bool) -> KernelSnapshots:
        """The states that it can be taken back to, and how much memory they hold if asked.

        Raises:
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...

    def forget_snapshots(self, kernel_id: str) -> KernelSnapshots:
        """End them; what is left.

        Raises:
            KernelNotReadyError: The kernel is busy.
            KernelError: The kernel is gone, or does not answer.
        """
        ...


class HandRuns(Protocol):
    """The components that people called by hand and that go on."""

    @property
    def is_busy(self) -> bool:
        """Whether any goes on."""
        ...

    def close(self) -> None:
        """Stop every one and wait a little for it; the stores are closed after this."""
        ...


class LiveChats(Protocol):
    """The chats that tabs follow and in which runs go on; may be told things from any thread."""

    @property
    def is_busy(self) -> bool:
        """Whether any run goes on: the server must not stop for want of activity."""
        ...

    def running(self, chat_id: str) -> str:
        """Id of the run that goes on in a chat; empty: none."""
        ...

    def waits_for_answer(self, chat_id: str) -> bool:
        """Whether the run that goes on in a chat waits for the person."""
        ...

    def is_open_elsewhere(self, path: str, tab: str, owner: str) -> bool:
        """Whether another page of this person has the notebook open."""
        ...

    def chat_changed(self, chat: Chat) -> None:
        """A chat has another title or notebook."""
        ...

    def chat_deleted(self, chat_id: str) -> None:
        """A chat is gone."""
        ...

    def close(self) -> None:
        """Stop every run and wait for it; the stores are closed after this."""
        ...


class Application:
    """One server's cellwright; what is costly is opened on first use.

    Args:
        configuration: What the administrator set.
        server: The server it runs in.
    """

    def __init__(self, configuration: Cellwright, server: ServerApp) -> None:
        self.configuration = configuration
        self.server = server
        self.chooser = ServiceChooser(configuration)
        self.uploads = Uploads(
            self.chooser.home() / "files", used=lambda: FileUses(self.database).hashes()
        )
        self.kernels: KernelAccess | None = None
        """None: nothing has reached into a kernel yet."""
        self.live: LiveChats | None = None
        """None: no chat is followed yet."""
        self.hand_runs: HandRuns | None = None
        """None: nobody has asked for components yet."""
        self.library: HandRuns | None = None
        """What is read into libraries; None: nothing was yet."""
        self.outside: HandRuns | None = None
        """Agents of others that work here; None: none did yet."""
        self.is_stopping = False
        """Nothing that is asked from now on is begun."""
        self._opening = threading.RLock()
        self._closed = False
        self._stores: _Stores | None = None
        self._expiry = ExpiryWatch(
            lambda: self.chats,
            lambda: self.live is not None and self.live.is_busy,
            files=self.uploads.expire,
        )
        self._expiry.start()
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="cellwright")
        self._slow = ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="cellwright-slow")

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Make something that routes share, one thread at a time.

        Raises:
            HTTPError: The server is stopping.
        """
        with self._opening:
            if self.is_stopping:
                raise web.HTTPError(STOPPING_STATUS)
            yield

    @property
    def database(self) -> Database:
        """The file of runs and chats.

        Raises:
            StoreError: The server is stopping.
        """
        return self._open().database

    @property
    def runs(self) -> RunStore:
        """The runs."""
        return self._open().runs

    @property
    def chats(self) -> ChatStore:
        """The chats that the runs belong to."""
        return self._open().chats

    @property
    def fates(self) -> CellReviews:
        """What became of the runs' cells."""
        return self._open().fates

    @property
    def root(self) -> Path | None:
        """The folder that paths of notebooks start from; None: they are not files."""
        folder = _folder(self.server)
        return Path(folder) if folder else None

    def settings(self) -> Settings:
        """Everything that a run uses, as it is set now.

        Raises:
            SetupError: It cannot be used, or an administrator forbids it.
        """
        return self.chooser.settings()

    def settings_for_tools(self) -> Settings:
        """Settings as they are now; tools need no model, so that none may be set."""
        try:
            return self.settings()
        except SetupError:
            return self.chooser.unchecked_settings()

    def redactor(self, key: str = "") -> Redactor:
        """Takes out the secrets of the environment and a key; empty: the one that is chosen."""
        chosen = key or self.chooser.choice().api_key
        tokens = SignIns(self.chooser.home()).secrets()
        return Redactor.from_environment(self.chooser.environ, chosen, tokens)

    async def in_thread(self, work: Callable[[], T], *, is_slow: bool = False) -> T:
        """What ``work`` returns, done where it does not hold up the server.

        Args:
            work: What to do.
            is_slow: It may take many seconds: other requests do not wait for its thread.

        Raises:
            HTTPError: The server is stopping, so that it was not begun.
        """
        executor = self._slow if is_slow else self._executor
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, work)
        except (RuntimeError, asyncio.CancelledError) as error:
            # The executor takes nothing more, or has cancelled what waited for a thread.
            if self.is_stopping:
                raise web.HTTPError(STOPPING_STATUS) from error
            raise

    def close(self) -> None:
        """Stop runs, wait for threads and let go of the file; waits, so not on the event loop."""
        with self._opening:
            self.is_stopping = True
        if self.outside is not None:
            self.outside.close()
        if self.live is not None:
            self.live.close()
        if self.hand_runs is not None:
            self.hand_runs.close()
        if self.library is not None:
            self.library.close()
        self._expiry.close(EXPIRY_SECONDS)
        for executor in (self._executor, self._slow):
            executor.shutdown(wait=True, cancel_futures=True)
        with self._opening:
            self._closed = True
            if self._stores is not None:
                self._stores.database.close()

    def _open(self) -> _Stores:
        with self._opening:
            if self._closed:
                raise StoreError("The server is stopping.")
            if self._stores is None:
                database = open_database(self.chooser.home() / "runs.sqlite")
                chats = ChatStore(database, root=_folder(self.server))
                self._stores = _Stores(database, RunStore(database), chats, CellReviews(database))
            return self._stores


def _folder(server: ServerApp) -> str:
    """The folder that paths of notebooks start from; empty: they are not files."""
    manager = server.contents_manager
    is_files = isinstance(manager, FileContentsManager)
    return Path(manager.root_dir).resolve().as_posix() if is_files else ""


@dataclass(frozen=True)
class _Stores:
    database: Database
    runs: RunStore
    chats: ChatStore
    fates: CellReviews


# Whose the objects are that a request names: the one check for REST routes and frames alike.


LIST_HINT = "See the list of chats."


@dataclass(frozen=True)
class Person:
    """Who asks."""

    name: str = ""
    """The name that their chats are kept under; empty: everybody here shares one token."""
    may_use_kernels: bool = True
    """The server lets them run code in its kernels."""


def open_chat(shared: Application, owner: str, chat_id: str) -> Chat:
    """The chat, if this person may open it.

    Raises:
        RefusedError: There is no such chat for them; whether it exists is not said.
    """
    chat = shared.chats.find(chat_id)
    if chat is None or not may_open(owner, chat.owner):
        raise RefusedError("not_found", f"There is no chat {chat_id!r}.", hint=LIST_HINT)
    return chat


def check_run(shared: Application, owner: str, run_id: str, *, may_be_gone: bool = False) -> None:
    """Return if this person may see and change what is kept of a run.

    Raises:
        RefusedError: There is no such run for them; whether it exists is not said.
    """
    chat_id = shared.chats.chat_of(run_id)
    chat = shared.chats.find(chat_id) if chat_id else None
    if chat_id:
        is_theirs = chat is not None and may_open(owner, chat.owner)
    elif shared.runs.events(run_id):
        is_theirs = not is_guest(owner)
    else:
        is_theirs = may_be_gone
    if not is_theirs:
        # Not ``not_found``: that is what tells a page that the chat of the frame is gone.
        raise RefusedError("no_run", f"There is no run {run_id!r}.", hint=LIST_HINT)


def check_objects(
    shared: Application, person: Person, frame: Any, attached: Container[str]
) -> None:
    """Return if everything that a frame names is this person's to use.

    Args:
        shared: Stores.
        person: Who sent it.
        frame: What a page sent.
        attached: The notebooks that the page has open.

    Raises:
        RefusedError: Something is another person's, or is not there.
    """
    for name, value in _named_objects(frame):
        match name.kind:
            case "chat":
                open_chat(shared, person.name, value)
            case "run":
                check_run(shared, person.name, value, may_be_gone=name.may_be_gone)
            case "file":
                _check_file(shared, person, value)
            case "kernel":
                check_kernels(person)
            case "notebook" if value not in attached:
                raise RefusedError("no_notebook", "That notebook is not open in this tab.")


def _check_file(shared: Application, person: Person, file: str) -> None:
    if is_guest(person.name) and not shared.uploads.is_from(person.name, file):
        raise RefusedError(
            "no_file", f"There is no file {file!r}.", hint="Add it to the prompt again."
        )


def check_kernels(person: Person) -> None:
    """Return if this person may run code in the server's kernels.

    Raises:
        RefusedError: They may not.
    """
    if not person.may_use_kernels:
        raise RefusedError("not_allowed", "You may not run code in kernels on this server.")


def _named_objects(value: Any) -> Iterator[tuple[ObjectName, str]]:
    """Each object that a frame names, those inside of its parts included."""
    if isinstance(value, tuple):
        for item in value:
            yield from _named_objects(item)
    elif is_dataclass(value) and not isinstance(value, type):
        names = _names_in(type(value))
        for each in fields(value):
            content = getattr(value, each.name)
            name = names.get(each.name)
            if name is None:
                yield from _named_objects(content)
            elif content:
                yield name, content


@functools.cache
def _names_in(cls: type) -> dict[str, ObjectName]:
    hints = typing.get_type_hints(cls, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {
        name: mark
        for name, found in marks.items()
        for mark in found
        if isinstance(mark, ObjectName)
    }
