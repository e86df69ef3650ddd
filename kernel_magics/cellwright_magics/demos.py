"""``%agent demos``: good recorded runs as examples for typed questions, or for an assistant."""

from __future__ import annotations

import argparse
from pathlib import Path

from cellwright.bench.few_shot_selection import Selection, read_rule, samples_under, select
from cellwright.commands.results import Result
from cellwright.context.few_shot import Demo, DemoSet
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.commands import DEMOS_OPTIONS
from cellwright_magics.wording import one_line

QUESTION_CHARACTERS = 60
USUAL = argparse.Namespace(**{o.names[0][2:]: o.keywords["default"] for o in DEMOS_OPTIONS})
NONE = "No examples. %agent demos from FOLDER takes good runs of a benchmark."


class Demos:
    """The examples of one shell."""

    def __init__(self) -> None:
        self.configured = ""
        """Where they are taken from when no line said so; empty: nowhere."""
        self._chosen: DemoSet | None = None
        self._of_assistant: dict[str, DemoSet] = {}
        self._loaded: tuple[str, DemoSet] = ("", DemoSet())

    def chosen(self) -> DemoSet:
        """What typed questions are asked with.

        Raises:
            SetupError: There are no results where the setting says.
        """
        if self._chosen is not None:
            return self._chosen
        if self.configured != self._loaded[0]:
            self._loaded = (self.configured, _selection(self.configured, USUAL).chosen)
        return self._loaded[1] if self.configured else DemoSet()

    def of(self, assistant: str) -> DemoSet:
        """What an assistant is asked with in plain words; empty: nobody was chosen."""
        return self._of_assistant.get(assistant, DemoSet())

    def run(self, line: CommandLine) -> Result:
        """Do what ``%agent demos …`` says.

        Args:
            line: The command.

        Raises:
            SetupError: There are no results of that name, or the rule for scores is none.
        """
        if line.name == "demos clear":
            self._chosen = DemoSet()
            self._of_assistant.clear()
            return Result("Questions are asked without examples now.")
        if line.name == "demos":
            return Result("\n".join(self._all_listed()) or NONE)
        options = line.arguments
        selection = _selection(line.target, options)
        if options.assistant:
            self._of_assistant[options.assistant] = selection.chosen
        else:
            self._chosen = selection.chosen
        listed = _listed(selection.chosen, _users(options.assistant))
        return Result("\n".join([*listed, *_left_out(selection)]))

    def _all_listed(self) -> list[str]:
        lines = _listed(self.chosen(), _users(""))
        for name, chosen in self._of_assistant.items():
            lines += _listed(chosen, _users(name))
        return lines


def _selection(folder: str, options: argparse.Namespace) -> Selection:
    samples = samples_under(Path(folder).expanduser())
    return select(samples, read_rule(options.score), options.limit, options.tokens)


def _users(assistant: str) -> str:
    return f"@{assistant}" if assistant else "typed questions"


def _listed(chosen: DemoSet, users: str) -> list[str]:
    if not chosen.demos:
        return []
    tokens = sum(demo.tokens for demo in chosen.demos)
    count = "1 example" if len(chosen.demos) == 1 else f"{len(chosen.demos)} examples"
    first = f"{count} for {users}, about {tokens:,} of {chosen.token_limit:,} tokens:"
    return [first, *(f"- {_line(demo)}" for demo in chosen.demos)]


def _line(demo: Demo) -> str:
    asked = one_line(demo.question, QUESTION_CHARACTERS)
    return f"{demo.source}, score {demo.score:g}, {demo.tokens:,} tokens: {asked}"


def _left_out(selection: Selection) -> list[str]:
    lines = []
    if not selection.chosen.demos:
        lines.append(f"None of {selection.scored} scored samples was taken.")
    if selection.held_out:
        lines.append(f"Held out for measuring, so never an example: {selection.held_out}.")
    return lines
