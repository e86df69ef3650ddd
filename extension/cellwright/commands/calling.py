"""Calls a verb, ours or a package's; and from the command line, where its result is printed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

from cellwright.commands import Face, Invocation, Verb, VerbContext, fit_arguments
from cellwright.commands.records import open_store
from cellwright.commands.results import Result
from cellwright.commands.terminal import Console, one_line
from cellwright.errors import SetupError

LINE_SECONDS = 2.0
"""After so long another line of progress is written."""


def run_verb(verb: Verb, context: VerbContext) -> object:
    """Do it; what it returns is a ``Result``, unless a package's verb returns something else.

    Raises:
        SetupError: It cannot be done.
    """
    if callable(verb.run):
        return verb.run(context)
    module, _, function = verb.run.partition(":")
    return getattr(importlib.import_module(f"cellwright.commands.{module}"), function)(context)


def call(invocation: Invocation) -> int:
    """Run the verb that a command line names, and print its result.

    Raises:
        SetupError: Words are missing or too many, or it cannot be done.
    """
    options, console = invocation.options, invocation.console
    verb, words = _choose_form(options.forms, options.words)
    context = VerbContext(
        words,
        invocation.settings,
        lambda: open_store(invocation),
        options,
        show_progress=_lines_of_progress(console),
        note=console.note,
        open_face=lambda: _terminal_face(invocation),
    )
    result = run_verb(verb, context)
    if not isinstance(result, Result):
        result = Result(str(result), document={"command": verb.name, "result": result})
    return print_result(console, result)


def print_result(console: Console, result: Result) -> int:
    """Print it as text or as JSON; its exit code."""
    text = result.to_terminal()
    console.result(text if result.document is None else result.document, text)
    return result.exit_code


def _lines_of_progress(console: Console) -> Callable[[int, int, str], None]:
    """Make what says how far a verb is, once that takes long."""
    due = time.monotonic() + LINE_SECONDS

    def show_progress(done: int, total: int, name: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            console.note(f"{done:,} of {total:,}  {one_line(name)}")

    return show_progress


def _terminal_face(invocation: Invocation) -> Face:
    # Most verbs run no code and need not load what runs it.
    from cellwright.commands.workplace import TerminalFace

    return TerminalFace(invocation)


def _choose_form(forms: tuple[Verb, ...], words: list[str]) -> tuple[Verb, tuple[str, ...]]:
    for verb in forms:
        given = _join_text(verb, words)
        if fit_arguments(given, verb.arguments):
            return verb, given or ((verb.default,) if verb.default else ())
    written = " or ".join(f"cellwright {verb.usage}" for verb in forms)
    raise SetupError(f"It is written: {written}.", hint=f"See cellwright {forms[0].name} --help.")


def _join_text(verb: Verb, words: list[str]) -> tuple[str, ...]:
    """The words, with free text as one."""
    named = len(verb.arguments) - 1 if verb.takes_text else len(words)
    text = " ".join(words[named:])
    return (*words[:named], *([text] if text else []))
