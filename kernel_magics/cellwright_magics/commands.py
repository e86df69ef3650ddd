"""The sub-commands of ``%agent``: which lines are one, and what each is asked to do.

A line is a sub-command only when all of it fits one: ``%agent show last`` is, while
``%agent show me the columns`` is a prompt.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

from IPython.core.magic_arguments import MagicArgumentParser

from cellwright.exports import FORMATS, RECORD
from cellwright.settings import MODES
from cellwright.usage import USAGE_GROUPS, budget_amount
from cellwright_magics.arguments import OPTION, Option, split_words

__all__ = [
    "COMMANDS",
    "DEMOS_OPTIONS",
    "LIBRARY_OPTIONS",
    "NUMBER",
    "RUN_NAME",
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
    Option(("--to",), {"choices": (*FORMATS, RECORD), "default": "ipynb"}),
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
DOCTOR_OPTIONS = (
    Option(("--send",), {"action": "store_true"}),
    Option(("--repair",), {"action": "store_true"}),
)
DEMOS_OPTIONS = (
    Option(("--score",), {"default": ">=1", "metavar": "RULE", "help": "Scores that are good."}),
    Option(("--limit",), {"type": int, "default": 4, "metavar": "N"}),
    Option(("--tokens",), {"type": int, "default": 2_000, "metavar": "N"}),
    Option(("--for",), {"dest": "assistant", "default": "", "metavar": "ASSISTANT"}),
)
USAGE_GROUP = re.compile("|".join(USAGE_GROUPS))
USAGE_OPTIONS = (
    Option(("--by",), {"choices": USAGE_GROUPS, "default": "month"}),
    Option(("--plot",), {"action": "store_true"}),
    Option(("--budget",), {"type": budget_amount, "metavar": "USD", "help": "For a month."}),
    Option(("--budget-tokens",), {"type": budget_amount, "metavar": "N", "help": "For a month."}),
)
CHATS_USAGE = "chats [all | find WORDS | rename CHAT TITLE | delete CHAT]"
ASSISTANT_USAGE = (
    "assistant list | show NAME | use NAME | new NAME [INSTRUCTIONS] | set NAME KEY VALUE | "
    "rename OLD NEW | delete NAME"
)
SCENE_USAGE = 'scene list [@NAME] | add LABEL "PROMPT" [@NAME] | remove LABEL [@NAME]'
DEMOS_USAGE = (
    "demos | from FOLDER [--score RULE] [--limit N] [--tokens N] [--for ASSISTANT] | clear"
)
CONTEXT_USAGE = "context [summary [TEXT]]"
PROMPT_USAGE = "prompt [[--append] TEXT | clear]"
FILTERS_USAGE = "filters [NAME on|off | NAME… | off | reset]"
LIBRARY_OPTIONS = (
    Option(("--name",), {"default": "", "metavar": "NAME", "help": "Add to this library."}),
    Option(("--all",), {"action": "store_true", "help": "Forget its documents too."}),
)
LIBRARY_USAGE = (
    "library add PLACE… [--name NAME] | list | search WORDS | remove ID | update | default NAME | "
    "forget NAME [--all]"
)
MEMORY_USAGE = "memory [list|add TEXT|edit ID TEXT|forget ID|proposals|accept ID|reject ID|on|off]"
TOOL_USAGE = (
    "tool add NAME… | check NAME… | remove NAME… | list | bind NAME @WHO | unbind NAME @WHO | "
    "discover URL | connect NAME [URL | -- PROGRAM…] | refresh NAME"
)
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("chat", "chat [-m MODEL] [--mode MODE]", "Open a chat under this cell.", None, "",
                CHAT_OPTIONS),
        Command("chats", CHATS_USAGE, "Chats of this notebook, or all; 'chat new' begins another "
                "one."),
        Command("resume", "resume [CHAT|last]", "Go on with a chat, also after a restart."),
        Command("runs", "runs [N] [--find WORDS] [--widget]", "List the newest runs; --widget "
                "browses them.", NUMBER, "20", RUNS_OPTIONS),
        Command("show", "show [ID]", "Show a run again.", RUN_NAME, "last"),
        Command("replay", "replay [ID]", "Run a run's code again with its recorded answers, in a "
                "fresh kernel, and say what differs.", RUN_NAME, "last"),
        Command("rerun", "rerun [ID] -m MODEL", "Ask another model the same, from the same start, "
                "in a fresh kernel.", RUN_NAME, "last", (MODEL_OPTION,)),
        Command("undo", "undo [ID]", "How to get back to before a run.", RUN_NAME, "last"),
        Command("export", "export [ID] --to FORMAT [-o PATH]", f"Write a run to a file: "
                f"{', '.join((*FORMATS, RECORD))}.", RUN_NAME, "last", EXPORT_OPTIONS),
        Command("save-sample", "save-sample [ID] --check CODE --to FOLDER [--name ID]", "Make a "
                "run a sample of a benchmark.", RUN_NAME, "last", SAVE_OPTIONS),
        Command("cells", "cells [ID]", "Put a run's code into the next cell.", RUN_NAME, "last"),
        Command("doctor", "doctor [--send] [--repair]", "Check key, endpoint, model, kernel and "
                "record; --repair reads back what a damaged record holds.", None, "",
                DOCTOR_OPTIONS),
        Command("usage", f"usage [{'|'.join(USAGE_GROUPS)}] [--plot] [--budget USD] "
                "[--budget-tokens N]", "What models have cost; a month's budget, 'off' for none.",
                USAGE_GROUP, "", USAGE_OPTIONS),
        Command("assistant", ASSISTANT_USAGE, "Who answers: files that name instructions, a model "
                "and tools."),
        Command("scene", SCENE_USAGE, "What an assistant is told in some situations."),
        Command("tool", TOOL_USAGE, "Functions and services that the agent may call."),
        Command("memory", MEMORY_USAGE, "What is kept for later conversations."),
        Command("context", CONTEXT_USAGE, "What the model is given and what it costs; what stands "
                "for older turns."),
        Command("pin", "pin [N | ID | list]", "Keep a turn's question and answer in the context, "
                "however long it gets.", RUN_NAME, "last"),
        Command("unpin", "unpin [N | ID | all]", "Let a pinned turn go.", RUN_NAME, "last"),
        Command("compact", "compact", "Make a long conversation shorter now."),
        Command("attach", "attach [FILE… | output N | clear]", "What the next question takes "
                "along: files, what a cell showed."),
        Command("later", "later TEXT", "A note that the next question takes along."),
        Command("system", "system TEXT", "An instruction for the rest of the conversation."),
        Command("prompt", PROMPT_USAGE, "The conversation's own words in place of an assistant's."),
        Command("filters", FILTERS_USAGE, "What is done to your words before they are sent."),
        Command("demos", DEMOS_USAGE, "Good runs of a benchmark as examples.",
                None, "", DEMOS_OPTIONS),
        Command("library", LIBRARY_USAGE, "Documents that models ask: add files, folders, pages.",
                None, "", LIBRARY_OPTIONS),
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
    if words[:2] == ["usage", "by"]:
        words[1] = "--by"
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
