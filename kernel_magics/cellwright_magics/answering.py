"""Answers one call of ``%agent``: a prompt, a command or a call for help."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from cellwright.commands.records import make_redactor
from cellwright.commands.results import Result
from cellwright.errors import (
    CellwrightError,
    ChoiceError,
    KernelError,
    RunCancelled,
    RunFailedError,
    SetupError,
    StoreError,
)
from cellwright.llm.keys import load_settings
from cellwright.record.events import Notice
from cellwright.session.services import DEMO_MODEL
from cellwright.settings import Settings, check_batch_mode
from cellwright.store.chats import ChatStore
from cellwright_magics import wording
from cellwright_magics.arguments import (
    AgentLine,
    CellSettings,
    Configured,
    cell_settings,
    options_help,
    parse,
)
from cellwright_magics.calling_cell import CallingCell, calling_cell
from cellwright_magics.chats import owner_of
from cellwright_magics.command_lines import CommandLine, read_command
from cellwright_magics.command_running import Commands, ShownRun
from cellwright_magics.commands import commands_help
from cellwright_magics.context_commands import (
    attach_command,
    changes_history,
    context_command,
    pin_command,
)
from cellwright_magics.display import (
    NotebookScreen,
    NotebookTranscript,
    QuietTranscript,
    RunDisplay,
    SettledScreen,
)
from cellwright_magics.easels import Easels
from cellwright_magics.painted import PaintedTranscript
from cellwright_magics.reports import unsaved_notice
from cellwright_magics.session import ShellSession, fill_request
from cellwright_magics.terminal import TerminalTranscript

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


OFFERED_RUNS = 20


class ShellConversation:
    """The agent behind the magics of one shell.

    Args:
        shell: Whose variables it works with.
        easels: Which cells the front end can paint under.
    """

    def __init__(self, shell: InteractiveShell, easels: Easels) -> None:
        self._shell = shell
        self._easels = easels
        self._session = ShellSession(shell, easels)
        self._commands = Commands(shell, self._session, self._transcript, lambda: self._configured)
        self._configured = Configured()

    def answer(self, line: str, cell: str | None, configured: Configured) -> object:
        """Do what a line, or a cell, asks for; the value of the calling cell.

        Raises:
            UsageError: It cannot be done; IPython shows it as one line.
            RunFailedError: The same where nobody watches, or a run there did not complete.
        """
        calling = calling_cell(self._shell)
        self._configured = configured
        try:
            return self._answer(line, cell, calling)
        except (SetupError, StoreError, KernelError, ChoiceError) as error:
            raise _shown_plainly(error, calling) from None
        except UsageError as error:
            raise _shown_plainly(SetupError(str(error)), calling) from None
        except KeyboardInterrupt:
            if not calling.interactive:
                raise
            return Result("■ Stopped.")
        except RunCancelled as error:
            if not calling.interactive:
                raise
            return Result(f"■ {error}")

    def run_ids(self) -> tuple[str, ...]:
        """The newest runs."""
        return tuple(run.run_id for run in self._session.store(load_settings()).list(OFFERED_RUNS))

    def model_names(self, configured: str) -> tuple[str, ...]:
        """Models that were named or asked before."""
        settings = load_settings()
        used = [run.model for run in self._session.store(settings).list(OFFERED_RUNS)]
        names = [settings.service.model, configured, *used, DEMO_MODEL]
        return tuple(dict.fromkeys(name for name in names if name))

    def assistant_names(self) -> tuple[str, ...]:
        """Assistants that can be chosen."""
        listed = self._session.assistants.listed(load_settings())
        return tuple(assistant.name for assistant in listed.assistants)

    def close(self) -> None:
        """Stop what was started for this shell."""
        self._commands.close()
        self._session.close()

    def _answer(self, line: str, cell: str | None, calling: CallingCell) -> object:
        asked = parse(line, cell)
        settings = load_settings()
        self._session.mind_going_back(settings, calling)
        command = read_command(asked)
        nothing_asked = not asked.prompt.strip("? ") and not asked.options.files
        if asked.options.help or nothing_asked or (command and command.name == "help"):
            print(f"{options_help()}\n{commands_help()}")
            return None
        self._session.demos.configured = self._configured.demos
        if command is not None:
            return self._do(command, settings, calling)
        return self._ask(asked, settings, calling)

    def _do(self, line: CommandLine, settings: Settings, calling: CallingCell) -> object:
        with self._session.at_work() if line.command.needs_idle_agent else nullcontext():
            return self._command(line, settings, calling)

    def _command(self, line: CommandLine, settings: Settings, calling: CallingCell) -> object:
        session = self._session
        match line.words[:2]:
            case ("assistant" | "scene", *_) | ("tool", "bind" | "unbind"):
                return session.assistants.run(line, settings)
            case ("context" | "compact" | "later" | "system" | "prompt" | "filters", *_):
                return self._context(line, settings, calling)
            case ("demos", *_):
                return session.demos.run(line)
            case ("chat", "new") | ("chats" | "resume" | "attach" | "pin" | "unpin", *_):
                return self._chats([*line.words], settings, calling)
        return self._commands.run(line, settings, calling)

    def _context(self, line: CommandLine, settings: Settings, calling: CallingCell) -> object:
        session = self._session
        conversation = session.conversation(settings, calling)
        if not (changes_history(line) and conversation.messages):
            return context_command(line, conversation, session.words(conversation))
        with session.at_work(), session.in_chat(settings, calling) as conversation:
            return context_command(line, conversation, session.words(conversation))

    def _chats(self, words: list[str], settings: Settings, calling: CallingCell) -> object:
        session = self._session
        if words[0] == "attach":
            return attach_command(words, session.attached, self._shell, session.notebook_path)
        database = session.store(settings).database
        if words[0] in ("pin", "unpin"):
            return pin_command(words, ChatStore(database), session.chats.current)
        if words[0] != "resume":
            before = session.chats.current
            words = [make_redactor(settings).text(word) for word in words]
            done = session.chats.run(words, database, session.notebook_path, owner_of(settings))
            if before != session.chats.current:
                session.reset()  # the chat that went on here was left, or deleted
            return done
        with session.at_work():
            name = words[1] if len(words) > 1 else "last"
            return session.chats.told_of(session.go_on(name, settings, calling))

    def _ask(self, asked: AgentLine, settings: Settings, calling: CallingCell) -> object:
        cell, options = cell_settings(calling.metadata), asked.options
        request = fill_request(options, cell, self._configured, settings)
        if options.best_of is not None:
            request = replace(request, prompt=asked.prompt)
            return self._commands.try_best_of(request, options, settings, calling)
        if options.choose or options.check or options.judge:
            raise SetupError("There is one attempt to choose from.", hint="Add --best-of N.")
        check_batch_mode(request.mode, is_interactive=calling.interactive)
        quiet = asked.options.quiet
        if self._paints(asked, calling):
            calling = replace(calling, easel=self._session.find_easel(calling))
        shown = self._transcript(calling)
        transcript = QuietTranscript(shown) if quiet else shown
        _say_ignored(cell, transcript)
        self._session.gate.quiet = quiet
        self._session.gate.short_errors = self._configured.short_errors and not calling.easel
        request = replace(request, prompt=asked.prompt)
        record = self._session.ask(request, settings, calling, transcript)
        silent = asked.silent or (calling.rich and not quiet)
        storage = self._session.store(settings).storage(record.run_id)
        if storage.problem:
            transcript.show(unsaved_notice(storage))
        run = ShownRun(record, lambda: silent and calling.is_running(), storage.problem)
        if asked.options.out:
            self._shell.user_ns[asked.options.out] = run
        transcript.finish(run)
        if not calling.interactive and run.status != "completed":
            reason = wording.one_line(record.reason) or f"The run ended with {run.status!r}."
            raise RunFailedError(reason, hint=f"See %agent show {run.id}.")
        return run

    def _paints(self, asked: AgentLine, calling: CallingCell) -> bool:
        options = asked.options
        return calling.rich and self._configured.paint and not (options.inline or options.quiet)

    def _transcript(self, calling: CallingCell) -> RunDisplay:
        configured = self._configured
        if not calling.rich:
            return TerminalTranscript(
                show_code=configured.show_code, short_errors=configured.short_errors
            )
        screen = (NotebookScreen if calling.draws_updates else SettledScreen)(self._shell)
        notebook = self._session.notebook_path
        folder = notebook.parent if notebook is not None else Path.cwd()
        if calling.easel is not None:
            return PaintedTranscript(screen, folder)
        return NotebookTranscript(
            screen,
            show_code=configured.show_code,
            short_errors=configured.short_errors,
            folder=folder,
        )


def _say_ignored(cell: CellSettings, transcript: RunDisplay) -> None:
    if cell.ignored:
        names = ", ".join(cell.ignored)
        text = f"The cell's metadata cannot set {names}; it was left out."
        transcript.show(Notice("warning", text, "Use an option or %config AgentMagics."))


def _shown_plainly(error: CellwrightError, calling: CallingCell) -> Exception:
    """The error as one line; where nobody watches, as an output that ends the batch."""
    if calling.interactive:
        return UsageError(str(error))
    return RunFailedError(error.message, hint=error.hint)
