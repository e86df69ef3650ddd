"""``%agent demos``: good recorded runs as examples for typed questions, or for an assistant."""

from __future__ import annotations

import argparse
from pathlib import Path

from IPython.core.magic_arguments import MagicArgumentParser

from cellwright.few_shot import Demo, DemoSet
from cellwright.few_shot_selection import Selection, read_rule, samples_under, select
from cellwright_magics.arguments import OPTION
from cellwright_magics.commands import DEMOS_OPTIONS
from cellwright_magics.reports import Advice
from cellwright_magics.wording import one_line

__all__ = ["Demos", "is_demos_command"]

QUESTION_CHARACTERS = 60
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
            self._loaded = (self.configured, _selected(_parser().parse_args([self.configured])))
        return self._loaded[1] if self.configured else DemoSet()

    def of(self, assistant: str) -> DemoSet:
        """What an assistant is asked with in plain words; empty: nobody was chosen."""
        return self._of_assistant.get(assistant, DemoSet())

    def run(self, words: list[str]) -> Advice:
        """Do what ``%agent demos …`` says.

        Args:
            words: Those after ``%agent``.

        Raises:
            SetupError: There are no results of that name, or the rule for scores is none.
        """
        if words[1:] == ["clear"]:
            self._chosen = DemoSet()
            self._of_assistant.clear()
            return Advice("Questions are asked without examples now.")
        if len(words) < 2:
            return Advice("\n".join(self._all_listed()) or NONE)
        options = _parser().parse_args(words[2:])
        selection = _selection(options)
        if options.assistant:
            self._of_assistant[options.assistant] = selection.chosen
        else:
            self._chosen = selection.chosen
        listed = _listed(selection.chosen, _users(options.assistant))
        return Advice("\n".join([*listed, *_left_out(selection)]))

    def _all_listed(self) -> list[str]:
        lines = _listed(self.chosen(), _users(""))
        for name, chosen in self._of_assistant.items():
            lines += _listed(chosen, _users(name))
        return lines


def is_demos_command(words: list[str]) -> bool:
    """Whether the words after ``%agent`` are a command on examples, and no prompt."""
    if words[:1] != ["demos"] or words[1:] in ([], ["clear"]):
        return words[:1] == ["demos"]
    names = [
        word
        for before, word in zip(words[1:], words[2:], strict=False)
        if not (OPTION.fullmatch(word) or OPTION.fullmatch(before))
    ]
    return words[1] == "from" and len(names) <= 1


def _selected(options: argparse.Namespace) -> DemoSet:
    return _selection(options).chosen


def _selection(options: argparse.Namespace) -> Selection:
    samples = samples_under(Path(options.folder).expanduser())
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


def _parser() -> argparse.ArgumentParser:
    parser = MagicArgumentParser("agent demos from")  # type: ignore[no-untyped-call]
    parser.add_argument("folder", nargs="?", default="runs")
    for option in DEMOS_OPTIONS:
        parser.add_argument(*option.names, **option.keywords)
    return parser
