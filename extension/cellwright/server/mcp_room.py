"""Where an outside agent works in a Jupyter server: a running kernel, and the notebook as it is
open in a page; never the file under it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cellwright.context.turn_sources import TurnSource
from cellwright.errors import SetupError
from cellwright.kernels import Kernel
from cellwright.mcp_server import OutsideRun
from cellwright.mcp_server.conversing import own_sources
from cellwright.notebooks import Notebook
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.notebooks.saved import SavedNotebook
from cellwright.server.application import Application
from cellwright.server.attached import AttachedNotebook, Driver
from cellwright.server.hub import open_hub
from cellwright.server.mcp_chat import OpenNotebook, OutsideChatSession, OutsideWork
from cellwright.settings import Limits, Mode, Settings
from cellwright.stopping import Stop
from cellwright.text.redaction import Redactor

HOW_TO_ALLOW = (
    "Mode {mode!r} has a person asked, and nobody can be asked here. Tell them: open the notebook "
    "in JupyterLab with the cellwright panel, or connect with ?mode=auto."
)
PLAN = "Tell the person: mode 'plan' only looks; connect with another ?mode= to change anything."
Find = Callable[[str], str]


@dataclass(frozen=True)
class Wish:
    """What a client wants to work in."""

    path: str
    """The notebook's, from the server's root; empty: none, a kernel is started."""
    mode: Mode
    owner: str
    """The name that the person's chats are kept under."""


def settings_of(application: Application) -> Settings:
    """Settings as they are now; tools need no model, so that none may be set."""
    try:
        return application.settings()
    except SetupError:
        return application.chooser.unchecked_settings()


class ServerRoom:
    """``mcp_server.Workroom`` in a Jupyter server. Every method is for worker threads alone.

    Args:
        application: What the server's routes share.
        wish: What the client wants to work in.
        find_kernel: Id of the kernel that a notebook runs in; empty: it has none.
    """

    def __init__(self, application: Application, wish: Wish, find_kernel: Find) -> None:
        self._application, self._wish, self._find_kernel = application, wish, find_kernel
        self._hub = open_hub(application)
        self._chat: OutsideChatSession | None = None
        self._own_kernel = ""
        """Id of a kernel that was started for the session; empty: none was."""
        self._own_cells = MemoryNotebook()

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        return self._wish.mode

    @property
    def limits(self) -> Limits:
        """How long one cell may take."""
        return settings_of(self._application).limits

    @property
    def notebook(self) -> Notebook | None:
        """The notebook as it is now."""
        opened = self._opened()
        if opened is None:
            return self._closed_notebook()
        page, attach = opened.page, opened.attach
        chat_id = self._chat.state.id if self._chat is not None else ""
        attached = AttachedNotebook(chat_id, Driver(lambda: page, attach), Stop())
        attached.load()
        return attached

    @property
    def kernel(self) -> Kernel | None:
        """None: a list of tools does not wait for a kernel that others use."""
        return None

    @property
    def sources(self) -> tuple[TurnSource, ...]:
        """What has tools of its own."""
        application = self._application
        found = self._hub.sources.of(application.runs.database, settings_of(application), ())
        return own_sources(found)

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out."""
        return self._application.redactor()

    def run(self, run: OutsideRun) -> None:
        """Do a run: in the page's notebook where one has it open.

        Raises:
            CellwrightError: It could not begin.
            RunCancelled: It was stopped before it began.
        """
        self._application.configuration.check_mode(self.mode)
        opened = self._opened()
        kernel_id = opened.attach.kernel_id if opened else ""
        work = OutsideWork(
            run,
            settings_of(self._application),
            kernel_id or self._kernel_of_file(),
            self._closed_notebook(),
            self.sources,
            opened,
        )
        self._session().work(work)

    def take_problems(self) -> tuple[str, ...]:
        """None: nothing is saved here."""
        return ()

    def how_to_allow(self) -> str:
        """How to let more run."""
        return PLAN if self.mode == "plan" else HOW_TO_ALLOW.format(mode=self.mode)

    def close(self) -> None:
        """End the kernel that was started for the session, if one was."""
        kernel_id, self._own_kernel = self._own_kernel, ""
        with suppress(TimeoutError):
            self._hub.kernels.shut_down(kernel_id)

    def _session(self) -> OutsideChatSession:
        if self._chat is None:
            wish = self._wish
            chat = self._application.chats.create(wish.path, wish.owner)
            self._chat = OutsideChatSession(chat, self._hub, self._hub)
            self._hub.adopt(chat.chat_id, self._chat)
        return self._chat

    def _opened(self) -> OpenNotebook | None:
        path = self._wish.path
        pages = self._hub.pages_with(path, self._wish.owner) if path else ()
        found = [(page, attach) for page in pages for attach in tuple(page.attached.values())]
        opened = [OpenNotebook(page, attach) for page, attach in found if attach.path == path]
        return opened[-1] if opened else None

    def _closed_notebook(self) -> Notebook:
        """The file, which is only read: a page that we do not know of may have it open."""
        root = self._application.root
        if not self._wish.path or root is None:
            return self._own_cells
        return _ClosedNotebook(root / self._wish.path, self._wish.path)

    def _kernel_of_file(self) -> str:
        found = self._find_kernel(self._wish.path) if self._wish.path else ""
        if found:
            return found
        kernels = self._hub.kernels
        if not kernels.has(self._own_kernel):
            folder = Path(self._wish.path).parent.as_posix()
            name = f"cellwright agent {secrets.token_hex(3)}"
            self._own_kernel = kernels.start("" if folder == "." else folder, name)
        return self._own_kernel


class _ClosedNotebook(SavedNotebook):
    """A notebook file under its path from the server's root."""

    def __init__(self, file: Path, path: str) -> None:
        super().__init__(file)
        self._shown = path

    @property
    def path(self) -> str:
        return self._shown
