"""The commands of ``%agent``: one table, which help, parser and completion are made of.

What a line has to look like to be one of them is in ``command_lines``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cellwright.assistants.fields import KINDS, SET_KEYS
from cellwright.commands import Argument, Kind, Option, Verb
from cellwright.commands.verbs import (
    COUNT,
    FUNCTION_WORDS,
    MANY,
    NAME,
    ONE_PLACE,
    ONE_RUN,
    TEXT,
    choose_from,
    is_name,
    is_run_name,
    is_turn_number,
    list_plugin_verbs,
    list_verbs,
    match_pattern,
)
from cellwright.context.normalise import STANDARD_FILTERS
from cellwright.settings import MODES
from cellwright_magics.arguments import CHOOSING_OPTIONS, OPTION, OPTIONS, is_file_name

TURN = Kind(
    "N|ID",
    lambda word: is_turn_number(word) or is_run_name(word),
    ("last",),
    is_id=True,
    names="runs",
)
CHAT = Kind("CHAT", match_pattern(r"last|(?=.*\d)[0-9a-f]{4,16}"), ("last",), is_id=True)
OUTPUT = Kind("N", match_pattern(r"\[?\d+\]?"), is_strict=True, is_id=True)
ASSISTANT = Kind("NAME", is_name, names="assistants")
OF_ASSISTANT = Kind("@NAME", match_pattern(r"@\S+"), is_strict=True, names="assistants", prefix="@")
KEY = Kind("KEY", lambda word: word in KINDS, SET_KEYS)
SWITCH = choose_from("off|on", ("off", "on"))
FILTER = Kind("NAME", lambda word: word in STANDARD_FILTERS, STANDARD_FILTERS)
FILE = Kind("FILE", is_file_name)
QUOTED = Kind('"TEXT"', lambda word: word.lower() not in FUNCTION_WORDS)
VALUE = Kind("VALUE", lambda _: True)

CHAT_OPTIONS = (
    Option(("-m", "--model"), {"default": "", "metavar": "MODEL"}),
    Option(("--mode",), {"default": "", "choices": MODES, "metavar": "MODE"}),
)
DEMOS_OPTIONS = (
    Option(("--score",), {"default": ">=1", "metavar": "RULE"}),
    Option(("--limit",), {"type": int, "default": 4, "metavar": "N"}),
    Option(("--tokens",), {"type": int, "default": 2_000, "metavar": "N"}),
    Option(("--for",), {"dest": "assistant", "default": "", "metavar": "ASSISTANT"}),
)
BRANCH_OPTIONS = (
    Option(("-m", "--models"), {"default": "", "metavar": "A,B,C"}),
    Option(("--approaches",), {"default": "", "metavar": '"A | B"'}),
    Option(("--mode",), {"default": "", "choices": MODES, "metavar": "MODE"}),
    Option(("--files",), {"nargs": "+", "default": [], "metavar": "FILE"}),
    *CHOOSING_OPTIONS,
)
FILES_TOO = Option(("--files",), {"action": "store_true"})
APPEND = Option(("--append",), {"action": "store_true"})


def _of_run(name: str, text: str) -> Verb:
    return Verb(name, text, ONE_RUN, default="last")


COMMANDS = (
    *list_verbs("cell"),
    Verb("chat", "open a chat under this cell", options=CHAT_OPTIONS),
    Verb("chat new", "let the next question begin another chat"),
    Verb("chats", "the chats of this notebook"),
    Verb("chats all", "all chats"),
    Verb("chats find", "chats in which these words were said", (Argument(TEXT),)),
    Verb("chats rename", "give a chat a title", (Argument(CHAT), Argument(TEXT))),
    Verb("chats delete", "delete a chat with its runs", (Argument(CHAT),)),
    Verb("resume", "go on with a chat, also after a restart", (Argument(CHAT, 0),)),
    Verb(
        "undo",
        "bring the variables back as before a run, or before cell N of the last one",
        (Argument(TURN, 0),),
        (FILES_TOO,),
        default="last",
    ),
    Verb("redo", "bring them forth again, as the last undo found them", options=(FILES_TOO,)),
    Verb("branch list", "the attempts that are open, side by side"),
    Verb("branch keep", "let an attempt take the kernel's place", (Argument(COUNT),)),
    Verb("branch drop", "end the attempts; nothing of them happened here"),
    Verb(
        "branch",
        "try something several times at once, in copies of this kernel",
        (Argument(COUNT), Argument(QUOTED, 0)),
        BRANCH_OPTIONS,
        takes_body=True,
    ),
    Verb(
        "branch",
        "the same, once for each model or approach",
        (Argument(QUOTED, 0),),
        BRANCH_OPTIONS,
        takes_body=True,
    ),
    _of_run("cells", "put a run's code into the next cell"),
    Verb("assistant", "who can answer"),
    Verb("assistant list", "the same"),
    Verb("assistant show", "an assistant's file", (Argument(ASSISTANT),)),
    Verb(
        "assistant use",
        "who answers in this kernel from now on",
        (Argument(ASSISTANT),),
        needs_idle_agent=True,
    ),
    Verb(
        "assistant new",
        "write an assistant's file",
        (Argument(NAME), Argument(QUOTED, 0)),
        takes_body=True,
        needs_idle_agent=True,
    ),
    Verb(
        "assistant set",
        "change a key of an assistant's file",
        (Argument(ASSISTANT), Argument(KEY), Argument(VALUE, 0, MANY)),
        takes_body=True,
        needs_idle_agent=True,
    ),
    Verb(
        "assistant rename",
        "give an assistant another name",
        (Argument(ASSISTANT), Argument(NAME)),
        needs_idle_agent=True,
    ),
    Verb("assistant delete", "delete an assistant's file", (Argument(ASSISTANT),)),
    Verb("scene", "what assistants are told in some situations"),
    Verb("scene list", "the same, or those of one assistant", (Argument(OF_ASSISTANT, 0),)),
    Verb(
        "scene add",
        "add a scene",
        (Argument(NAME), Argument(QUOTED), Argument(OF_ASSISTANT, 0)),
        needs_idle_agent=True,
    ),
    Verb("scene remove", "take a scene out", (Argument(NAME), Argument(OF_ASSISTANT, 0))),
    Verb("tool add", "offer functions of this kernel", (Argument(NAME, 1, MANY),), run="tools:add"),
    Verb(
        "tool bind",
        "let an assistant use a tool",
        (Argument(NAME), Argument(OF_ASSISTANT)),
        needs_idle_agent=True,
    ),
    Verb("tool unbind", "take a tool from an assistant", (Argument(NAME), Argument(OF_ASSISTANT))),
    Verb("demos", "good runs of a benchmark as examples"),
    Verb("demos clear", "ask without examples"),
    Verb("demos from", "take some", (Argument(ONE_PLACE, 0),), DEMOS_OPTIONS, default="runs"),
    Verb("context", "what the model is given, and what it costs"),
    Verb("context summary", "what stands for older turns", takes_body=True),
    Verb("context summary clear", "take your words out of it"),
    Verb("context summary", "put your words into it", (Argument(TEXT),)),
    Verb(
        "pin",
        "keep a turn in the context, however long it gets",
        (Argument(TURN, 0),),
        default="last",
    ),
    Verb("pin list", "what is pinned"),
    Verb("unpin", "let a pinned turn go", (Argument(TURN, 0),), default="last"),
    Verb("unpin all", "let all of them go"),
    Verb("compact", "make a long conversation shorter now"),
    Verb("attach", "what the next question takes along"),
    Verb("attach clear", "let it take nothing along"),
    Verb("attach output", "let it take along what a cell showed", (Argument(OUTPUT),)),
    Verb("attach", "let it take files along", (Argument(FILE, 1, MANY),)),
    Verb("later", "a note that the next question takes along", (Argument(TEXT),), takes_body=True),
    Verb(
        "system",
        "an instruction for the rest of the conversation",
        (Argument(TEXT),),
        takes_body=True,
    ),
    Verb("prompt", "the conversation's own instructions"),
    Verb("prompt clear", "take them out"),
    Verb(
        "prompt",
        "give it some, in place of an assistant's or beside them",
        (Argument(TEXT),),
        (APPEND,),
        takes_body=True,
    ),
    Verb("filters", "what is done to your words before they are sent"),
    Verb("filters off", "nothing"),
    Verb("filters reset", "what is usual"),
    Verb("filters", "switch one", (Argument(FILTER), Argument(SWITCH))),
    Verb("filters", "these alone, in this order", (Argument(FILTER, 1, MANY),)),
    Verb("reset", "forget the conversation; variables stay"),
    Verb("help", "this text"),
)
"""All there are. Of two that a line fits, the one with more words before its arguments counts,
then the first."""


def commands_help() -> str:
    """The commands as text."""
    width = max(len(command.usage) for command in COMMANDS if len(command.usage) < 60)
    shown = (*COMMANDS, *list_plugin_verbs())
    lines = [f"  /{command.usage:<{width}}  {command.summary}" for command in shown]
    rule = (
        "ID is a run's id, a part of it, or 'last' (the default). A line that begins with a slash\n"
        "is a command. Without the slash it is one only as a whole, and never where TEXT follows:\n"
        "'%agent show last' shows a run, '%agent show me the columns' asks the model. What comes\n"
        "after '--' is always a question: '%agent -- show last'."
    )
    return f"Commands of %agent:\n{chr(10).join(lines)}\n\n{rule}"


# Completion of what can follow ``%agent`` and ``%%agent``, from the table of commands.


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
        if is_marked:
            known += list_plugin_verbs()
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

    def _of_commands(self, said: tuple[str, ...], known: Sequence[Verb]) -> Iterator[str]:
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

    def _arguments(self, command: Verb, given: Sequence[str]) -> Iterator[str]:
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
