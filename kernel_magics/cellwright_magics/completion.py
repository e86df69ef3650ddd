"""Completion of what can follow ``%agent`` and ``%%agent``, from the table of commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cellwright_magics.arguments import OPTION, OPTIONS, Option
from cellwright_magics.commands import COMMANDS, Command

LINE = re.compile(r"(?:.*=\s*)?(?P<magic>%%?)agent[ \t]+(?P<before>.*?)(?P<word>\S*)")


@dataclass(frozen=True)
class Completed:
    """A word and what it can become."""

    word: str
    offers: tuple[str, ...]


class Offers:
    """What can be written next.

    Args:
        runs: Ids of the newest runs.
        models: Names of models that can be asked.
        assistants: Names of assistants that can be chosen.
    """

    def __init__(
        self,
        runs: Callable[[], Sequence[str]],
        models: Callable[[], Sequence[str]],
        assistants: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._runs = runs
        self._models = models
        self._assistants = assistants

    def complete(self, text_until_cursor: str) -> Completed | None:
        """What the word before the cursor can become; None for lines of others."""
        found = LINE.fullmatch(text_until_cursor)
        if found is None:
            return None
        word, words = found["word"], found["before"].split()
        is_marked = (words or [word])[0].startswith("/")
        line = found["magic"] == "%"
        offers = self.after(words, line=line, is_marked=is_marked)
        fitting = dict.fromkeys(offer for offer in offers if offer.startswith(word))
        return Completed(word, tuple(fitting))

    def after(self, words: Sequence[str], *, line: bool, is_marked: bool = False) -> Iterator[str]:
        """What can follow these words.

        Args:
            words: Those after ``%agent``.
            line: It is ``%agent``, so a command needs no slash.
            is_marked: The first word begins with a slash, or will.
        """
        said = tuple(word.removeprefix("/") if not at else word for at, word in enumerate(words))
        known = [c for c in COMMANDS if is_marked or (line and not c.takes_text)]
        if words and any(command.words[0] == said[0] for command in known):
            yield from self._of_commands(said, known)
            return
        if words and (option := _option(words[-1], OPTIONS)):
            yield from self._values(option)
            return
        if not is_marked:
            yield from (name for option in OPTIONS for name in option.names)
        if not words:
            yield from (f"{'/' if is_marked else ''}{command.words[0]}" for command in known)

    def _of_commands(self, said: tuple[str, ...], known: Sequence[Command]) -> Iterator[str]:
        begun = [command for command in known if command.words == said[: len(command.words)]]
        for command in begun:
            if option := _option(said[-1], command.options):
                yield from self._values(option)
                return
        for command in begun:
            yield from self._arguments(command, said[len(command.words) :])
        for command in known:
            if command.words[: len(said)] == said and len(command.words) > len(said):
                yield command.words[len(said)]
        for command in begun:
            yield from command.option_names()

    def _arguments(self, command: Command, given: Sequence[str]) -> Iterator[str]:
        place = sum(not OPTION.fullmatch(word) for word in given)
        most = sum(argument.most for argument in command.arguments)
        if place >= most:
            return
        argument = command.arguments[min(place, len(command.arguments) - 1)]
        yield from argument.kind.choices
        if argument.kind.names == "runs":
            yield from self._runs()
        elif argument.kind.names == "assistants":
            yield from (f"{argument.kind.prefix}{name}" for name in self._assistants())

    def _values(self, option: Option) -> Iterator[str]:
        if option.names[-1] == "--model":
            yield from self._models()
        elif option.names[-1] == "--assistant" or option.keywords.get("metavar") == "ASSISTANT":
            yield from self._assistants()
        yield from option.keywords.get("choices", ())


def _option(word: str, options: Sequence[Option]) -> Option | None:
    """The option that a word is, where a value follows it."""
    return next((o for o in options if word in o.names and o.takes_value), None)
