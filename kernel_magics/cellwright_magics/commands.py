"""The sub-commands of ``%agent``: which lines are one, and what each is asked to do.

A line is a sub-command only when all of it fits one: ``%agent show last`` is, while
``%agent show me the columns`` is a prompt.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

from IPython.core.magic_arguments import MagicArgumentParser

from cellwright.exports import FORMATS
from cellwright.settings import MODES
from cellwright_magics.arguments import OPTION, Option, split_words

__all__ = [
    "COMMANDS",
    "DEMOS_OPTIONS",
    "Command",
    "CommandLine",
    "command_of",
    "commands_help",
]

RUN_NAME = re.compile(r"last|\d{8}(?:-\d{0,6}(?:-[0-9a-f]{0,6})?)?|(?=[a-f]*\d)[0-9a-f]{6}")
NUMBER = re.compile(r"\d{1,4}")


@dataclass(frozen=True)
class CommandLine:
    """A sub-command with its arguments."""

    name: str
    arguments: argparse.Namespace


@dataclass(frozen=True)
class Command:
    """One sub-command."""

    name: str
    usage: str
    help: str
    takes: re.Pattern[str] | None = None
    """What its one argument looks like; None: it has none."""
    default: str = ""
    options: tuple[Option, ...] = ()

    def option_names(self) -> tuple[str, ...]:
        """All names of its options."""
        return tuple(name for option in self.options for name in option.names)

    def fits(self, words: list[str]) -> bool:
        """Whether these words can be its arguments."""
        found = self._positionals(words)
        if not found:
            return True
        return len(found) == 1 and self.takes is not None and bool(self.takes.fullmatch(found[0]))

    def parser(self) -> argparse.ArgumentParser:
        """The parser of its words."""
        parser = MagicArgumentParser(f"agent {self.name}")  # type: ignore[no-untyped-call]
        if self.takes is not None:
            parser.add_argument("target", nargs="?", default=self.default)
        for option in self.options:
            parser.add_argument(*option.names, **option.keywords)
        return parser

    def _positionals(self, words: list[str]) -> list[str]:
        valued = {n for option in self.options if option.takes_value for n in option.names}
        found, skip = [], False
        for word in words:
            if not skip and not OPTION.fullmatch(word):
                found.append(word)
            skip = not skip and word in valued
        return found


MODEL_OPTION = Option(("-m", "--model"), {"required": True, "help": "The other model."})
EXPORT_OPTIONS = (
    Option(("--to",), {"choices": FORMATS, "default": "ipynb"}),
    Option(("-o", "--out"), {"default": "", "metavar": "PATH"}),
)
CHAT_OPTIONS = (
    Option(("-m", "--model"), {"default": ""}),
    Option(("--mode",), {"default": "", "choices": MODES}),
)
SAVE_OPTIONS = (
    Option(("--check",), {"action": "append", "default": [], "metavar": "CODE"}),
    Option(("--to",), {"required": True, "metavar": "FOLDER"}),
    Option(("--name",), {"default": "", "metavar": "ID"}),
)
RUNS_OPTIONS = (
    Option(("--find",), {"default": ""}),
    Option(("--widget",), {"action": "store_true"}),
)
DEMOS_OPTIONS = (
    Option(("--score",), {"default": ">=1", "metavar": "RULE", "help": "Scores that are good."}),
    Option(("--limit",), {"type": int, "default": 4, "metavar": "N"}),
    Option(("--tokens",), {"type": int, "default": 2_000, "metavar": "N"}),
)
DEMOS_USAGE = "demos | from FOLDER [--score RULE] [--limit N] [--tokens N] | clear"
TOOL_USAGE = "tool add NAME… | check NAME… | remove NAME… | list"
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("chat", "chat [-m MODEL] [--mode MODE]", "Open a chat under this cell.", None, "",
                CHAT_OPTIONS),
        Command("runs", "runs [N] [--find WORDS] [--widget]", "List the newest runs; --widget "
                "browses them.", NUMBER, "20", RUNS_OPTIONS),
        Command("show", "show [ID]", "Show a run again.", RUN_NAME, "last"),
        Command("replay", "replay [ID]", "Run a run's code again with its recorded answers, in a "
                "fresh kernel, and say what differs.", RUN_NAME, "last"),
        Command("rerun", "rerun [ID] -m MODEL", "Ask another model the same, from the same start, "
                "in a fresh kernel.", RUN_NAME, "last", (MODEL_OPTION,)),
        Command("undo", "undo [ID]", "How to get back to before a run.", RUN_NAME, "last"),
        Command("export", "export [ID] --to FORMAT [-o PATH]", f"Write a run to a file: "
                f"{', '.join(FORMATS)}.", RUN_NAME, "last", EXPORT_OPTIONS),
        Command("save-sample", "save-sample [ID] --check CODE --to FOLDER [--name ID]", "Make a "
                "run a sample of a benchmark.", RUN_NAME, "last", SAVE_OPTIONS),
        Command("cells", "cells [ID]", "Put a run's code into the next cell.", RUN_NAME, "last"),
        Command("doctor", "doctor [--send]", "Check key, endpoint, model, kernel and record.", None,
                "", (Option(("--send",), {"action": "store_true"}),)),
        Command("tool", TOOL_USAGE, "Functions of yours that the agent may call."),
        Command("demos", DEMOS_USAGE, "Good runs of a benchmark as examples for typed questions.",
                None, "", DEMOS_OPTIONS),
        Command("reset", "reset", "Forget the conversation; variables stay."),
        Command("help", "help", "Show this text."),
    )
}  # fmt: skip


def command_of(line: str) -> CommandLine | None:
    """The sub-command a line is, or None when it is a prompt.

    Raises:
        UsageError: It is one, with an option it does not have or a value that cannot be used.
    """
    words = split_words(line)
    command = COMMANDS.get(words[0]) if words else None
    if command is None or not command.fits(words[1:]):
        return None
    return CommandLine(command.name, command.parser().parse_args(words[1:]))


def commands_help() -> str:
    """The sub-commands as text."""
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = [f"  {command.usage:<{width}}  {command.help}" for command in COMMANDS.values()]
    rule = (
        "ID is a run's id, its start or end, or 'last' (the default). A line that goes on with\n"
        "other words is a prompt: '%agent show me the columns' asks the model."
    )
    return "Sub-commands of %agent:\n" + "\n".join(lines) + f"\n\n{rule}"
