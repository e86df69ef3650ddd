"""Opens a chat under the calling cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cellwright.errors import SetupError
from cellwright.record.run_record import RunRecord
from cellwright.settings import MODES, from_env
from cellwright.stopping import Stop
from cellwright_magics.calling_cell import CallingCell
from cellwright_magics.chat import Asking, Chat, ChatParts
from cellwright_magics.chat_approval import ButtonApprover
from cellwright_magics.chat_view import ChatView
from cellwright_magics.choices import Choices
from cellwright_magics.own_kernel import OwnKernel
from cellwright_magics.preparing import Wanted
from cellwright_magics.run_view import conversation_text, folded_html, run_html
from cellwright_magics.session import Session
from cellwright_magics.widget_display import WidgetDisplay
from cellwright_magics.widget_library import widget_library

TITLE = "A chat with the agent. What was said is kept below."
NOTHING_YET = "Nothing has been said yet."
WAITING = "waiting for a cell of yours to end…"


class Kept:
    """What was said so far, for the saved file.

    Args:
        display: Where it is kept.
    """

    def __init__(self, display: WidgetDisplay) -> None:
        self._display = display
        self._texts: list[str] = []
        self._html: list[str] = []

    def add(self, record: RunRecord) -> None:
        """A run has ended."""
        self._texts.append(conversation_text((record,)))
        self._html.append(run_html(record))
        self._keep(is_open=False)

    def close(self) -> None:
        """The chat goes; what was said takes its place on the page."""
        if self._html:
            self._keep(is_open=True)
        self._display.close()

    def _keep(self, *, is_open: bool) -> None:
        answers = "1 answer" if len(self._html) == 1 else f"{len(self._html)} answers"
        html = folded_html(answers, "<hr>".join(self._html), is_open=is_open)
        self._display.keep("\n\n".join(self._texts), html)


class Workplace:
    """Where the answers of a chat are worked out.

    Args:
        session: Whose record and services are used.
        kernel: Where code runs.
        view: Where the person is told and asked.
        choices_in: What counts in a mode.
    """

    def __init__(
        self,
        session: Session,
        kernel: OwnKernel,
        view: ChatView,
        choices_in: Callable[[str], Choices],
    ) -> None:
        self._session, self._kernel = session, kernel
        self._view, self._choices_in = view, choices_in

    @contextmanager
    def asking(self, prompt: str, stop: Stop) -> Iterator[Asking]:
        """A question on its way, with a connection for as long as it is."""
        session, view = self._session, self._view
        settings, choices = from_env(), self._choices_in(view.mode)
        with session.at_work(), self._kernel.connected(self._tell_waiting) as connected:
            prepared = session.prepared(Wanted(prompt, choices), settings)
            place = session.place_with(settings, connected, ButtonApprover(view, stop))
            yield Asking(place, prepared.question, prepared.service)

    def _tell_waiting(self, waits: bool) -> None:
        self._view.tell(WAITING if waits else "")


def open_chat(
    session: Session,
    calling: CallingCell,
    choices_in: Callable[[str], Choices],
    *,
    short_errors: bool,
) -> Chat:
    """Show a chat under the calling cell.

    Args:
        session: Whose record and services it uses.
        calling: The cell.
        choices_in: What counts in a mode; empty: the one to begin with.
        short_errors: Whether errors of the code are shown in brief.

    Raises:
        SetupError: Widgets cannot be shown here.
    """
    if not calling.rich:
        raise SetupError(
            "A chat needs a notebook; this is a terminal.", hint="Ask with %agent and a prompt."
        )
    widgets, mode = widget_library(), choices_in("").mode
    kernel = OwnKernel(calling.shell)
    subshell = kernel.open_subshell()
    view = ChatView(widgets, MODES, mode, subshell)
    display = WidgetDisplay(calling.shell, view.widget, TITLE)

    kept = Kept(display)

    def let_go() -> None:
        kept.close()
        if subshell:
            kernel.close_subshell(subshell)

    display.show(NOTHING_YET, f"<p><small>{NOTHING_YET}</small></p>")
    work = Workplace(session, kernel, view, choices_in)
    return Chat(view, ChatParts(work.asking, kept.add, let_go, short_errors))
