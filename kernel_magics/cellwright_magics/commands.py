"""The commands of ``%agent``: one table, which help, parser and completion are made of.

What a line has to look like to be one of them is in ``command_lines``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cellwright.assistants.fields import KINDS, SET_KEYS
from cellwright.context.normalise import STANDARD_FILTERS
from cellwright.exports import FORMATS, RECORD, FormatNames
from cellwright.installation import COMMANDS as COMMAND_GROUP
from cellwright.installation import list_entry_points, package_of
from cellwright.record.messages import USAGE_GROUPS, budget_amount
from cellwright.settings import MODES
from cellwright_magics.arguments import OPTION, OPTIONS, Option, is_file_name

SENTENCE = """
a about after all an and any are around as at be because before between but by can could do does
during each every for from had has have how i if in into is it its like me more most my no not of
on or our out over per please so some than that the their them then there these they this those
through to under until up was we were what when where which while who why will with without you
your
"""
FUNCTION_WORDS = frozenset(SENTENCE.split())
"""Words that sentences are held together with: a line that has one is more likely a question."""


@dataclass(frozen=True)
class Kind:
    """What an argument can be."""

    label: str
    fits: Callable[[str], bool]
    """Whether a word is one, in a line that is not marked as a command."""
    choices: tuple[str, ...] = ()
    """What completion offers."""
    is_strict: bool = False
    """Nothing else will do, in a marked line either."""
    is_id: bool = False
    is_text: bool = False
    """It takes the rest of the line as it stands, so the line has to be marked as a command."""
    is_rest: bool = False
    """It takes all words that are left, options included."""
    names: Literal["", "runs", "assistants"] = ""
    """Whose names completion offers beside the choices."""
    prefix: str = ""
    """What stands before such a name."""


@dataclass(frozen=True)
class Argument:
    """An argument in its place."""

    kind: Kind
    least: int = 1
    most: int = 1

    @property
    def usage(self) -> str:
        """As help shows it."""
        label = f"{self.kind.label}…" if self.most > 1 else self.kind.label
        return label if self.least else f"[{label}]"


@dataclass(frozen=True)
class MagicCommand:
    """One command: the words it begins with, and what follows them."""

    name: str
    help: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    takes_body: bool = False
    """In a cell, what stands below its line belongs to it."""
    default: str = ""
    """Stands for an argument that is left out."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words it begins with."""
        return tuple(self.name.split())

    @property
    def takes_text(self) -> bool:
        """Whether text of any form follows."""
        return any(argument.kind.is_text for argument in self.arguments)

    @property
    def usage(self) -> str:
        """How it is written, without the slash."""
        options = [option.usage for option in self.options]
        before = options if self.takes_text else []
        after = [] if self.takes_text else options
        arguments = [argument.usage for argument in self.arguments]
        return " ".join([self.name, *before, *arguments, *after])

    def option_names(self) -> tuple[str, ...]:
        """All names of its options."""
        return tuple(name for option in self.options for name in option.names)


def _pattern(text: str) -> Callable[[str], bool]:
    pattern = re.compile(text)
    return lambda word: pattern.fullmatch(word) is not None


def _choice(label: str, choices: Sequence[str]) -> Kind:
    return Kind(label, lambda word: word in choices, tuple(choices), is_strict=True)


def _is_place(word: str) -> bool:
    return "/" in word or "." in word.strip(".") or Path(word.rstrip(",")).expanduser().exists()


def _is_name(word: str) -> bool:
    is_name = re.fullmatch(r"@?[\w][\w .:/-]*", word) is not None
    return is_name and word.lower() not in FUNCTION_WORDS


def _never(_: str) -> bool:
    return False


is_run_name = _pattern(r"last|\d{8}-(\d{6}-)?|(?=.*\d)(?=.{6})[0-9a-f]+(-[0-9a-f]+)*")
"""Whether a word is a run's id, or enough of one that nothing else can be meant."""
is_turn_number = _pattern(r"\d{1,4}")

RUN = Kind("ID", is_run_name, ("last",), is_id=True, names="runs")
TURN = Kind(
    "N|ID",
    lambda word: is_turn_number(word) or is_run_name(word),
    ("last",),
    is_id=True,
    names="runs",
)
CHAT = Kind("CHAT", _pattern(r"last|(?=.*\d)[0-9a-f]{4,16}"), ("last",), is_id=True)
MEMORY = Kind("ID", _pattern(r"[0-9a-f]{2,8}"), is_id=True)
COUNT = Kind("N", is_turn_number, is_strict=True, is_id=True)
OUTPUT = Kind("N", _pattern(r"\[?\d+\]?"), is_strict=True, is_id=True)
NAME = Kind("NAME", _is_name)
ASSISTANT = Kind("NAME", _is_name, names="assistants")
OF_ASSISTANT = Kind("@NAME", _pattern(r"@\S+"), is_strict=True, names="assistants", prefix="@")
KEY = Kind("KEY", lambda word: word in KINDS, SET_KEYS)
GROUP = _choice("|".join(USAGE_GROUPS), USAGE_GROUPS)
SWITCH = _choice("off|on", ("off", "on"))
FILTER = Kind("NAME", lambda word: word in STANDARD_FILTERS, STANDARD_FILTERS)
FILE = Kind("FILE", is_file_name)
PLACE = Kind("PLACE", _is_place)
ONE_PLACE = Kind("PLACE", lambda word: word.lower() not in FUNCTION_WORDS)
QUOTED = Kind('"TEXT"', lambda word: word.lower() not in FUNCTION_WORDS)
VALUE = Kind("VALUE", lambda _: True)
URL = Kind("URL", lambda word: "://" in word)
REST = Kind("OPTIONS", _never, is_rest=True)
WORDS = Kind("WORD", _never, is_rest=True)
SERVICE = Kind("URL | -- PROGRAM | --in FOLDER", lambda word: word[:1] == "-" or _is_place(word),
               is_rest=True)  # fmt: skip
TEXT = Kind("TEXT", _never, is_text=True)

MODEL = Option(("-m", "--model"), {"required": True, "metavar": "MODEL"})
CHAT_OPTIONS = (
    Option(("-m", "--model"), {"default": "", "metavar": "MODEL"}),
    Option(("--mode",), {"default": "", "choices": MODES, "metavar": "MODE"}),
)
EXPORT_OPTIONS = (
    Option(
        ("--to",),
        {"choices": FormatNames(*FORMATS, RECORD), "default": "ipynb", "metavar": "FORMAT"},
    ),
    Option(("-o", "--out"), {"default": "", "metavar": "PATH"}),
)
SAVE_OPTIONS = (
    Option(("--check",), {"action": "append", "default": [], "metavar": "CODE"}),
    Option(("--to",), {"required": True, "metavar": "FOLDER"}),
    Option(("--name",), {"default": "", "metavar": "ID"}),
)
RUNS_OPTIONS = (
    Option(("--find",), {"default": "", "metavar": "WORDS"}),
    Option(("--widget",), {"action": "store_true"}),
)
DOCTOR_OPTIONS = (
    Option(("--send",), {"action": "store_true"}),
    Option(("--repair",), {"action": "store_true"}),
)
DEMOS_OPTIONS = (
    Option(("--score",), {"default": ">=1", "metavar": "RULE"}),
    Option(("--limit",), {"type": int, "default": 4, "metavar": "N"}),
    Option(("--tokens",), {"type": int, "default": 2_000, "metavar": "N"}),
    Option(("--for",), {"dest": "assistant", "default": "", "metavar": "ASSISTANT"}),
)
USAGE_OPTIONS = (
    Option(("--by",), {"choices": USAGE_GROUPS, "default": "month", "metavar": "GROUP"}),
    Option(("--plot",), {"action": "store_true"}),
    Option(("--budget",), {"type": budget_amount, "metavar": "USD"}),
    Option(("--budget-tokens",), {"type": budget_amount, "metavar": "N"}),
)
PROJECT = Option(("--project",), {"action": "store_true"})
APPEND = Option(("--append",), {"action": "store_true"})
LIBRARY = Option(("--name",), {"default": "", "metavar": "NAME"})
ALL = Option(("--all",), {"action": "store_true"})

ONE_RUN = (Argument(RUN, 0),)
MANY = 1_000


def _of_run(name: str, text: str, *options: Option) -> MagicCommand:
    return MagicCommand(name, text, ONE_RUN, options, default="last")


COMMANDS = (
    MagicCommand("chat", "open a chat under this cell", options=CHAT_OPTIONS),
    MagicCommand("chat new", "let the next question begin another chat"),
    MagicCommand("chats", "the chats of this notebook"),
    MagicCommand("chats all", "all chats"),
    MagicCommand("chats find", "chats in which these words were said", (Argument(TEXT),)),
    MagicCommand("chats rename", "give a chat a title", (Argument(CHAT), Argument(TEXT))),
    MagicCommand("chats delete", "delete a chat with its runs", (Argument(CHAT),)),
    MagicCommand("resume", "go on with a chat, also after a restart", (Argument(CHAT, 0),)),
    MagicCommand(
        "runs",
        "the newest runs; --widget browses them",
        (Argument(COUNT, 0),),
        RUNS_OPTIONS,
        default="20",
    ),
    _of_run("show", "show a run again"),
    _of_run("replay", "run a run's code again in a fresh kernel, and say what differs"),
    _of_run("rerun", "ask another model the same, from the same start", MODEL),
    _of_run("undo", "how to get back to before a run"),
    _of_run("export", f"write a run to a file: {', '.join((*FORMATS, RECORD))}", *EXPORT_OPTIONS),
    _of_run("save-sample", "make a run a sample of a benchmark", *SAVE_OPTIONS),
    _of_run("cells", "put a run's code into the next cell"),
    MagicCommand(
        "doctor",
        "check key, endpoint, model, kernel and record; --repair reads back what a "
        "damaged record holds",
        options=DOCTOR_OPTIONS,
    ),
    MagicCommand(
        "usage",
        "what models have cost; a month's budget, 'off' for none",
        (Argument(GROUP, 0),),
        USAGE_OPTIONS,
    ),
    MagicCommand("usage by", "the same, by a group", (Argument(GROUP),), USAGE_OPTIONS[1:]),
    MagicCommand("assistant", "who can answer"),
    MagicCommand("assistant list", "the same"),
    MagicCommand("assistant show", "an assistant's file", (Argument(ASSISTANT),)),
    MagicCommand("assistant use", "who answers in this kernel from now on", (Argument(ASSISTANT),)),
    MagicCommand(
        "assistant new",
        "write an assistant's file",
        (Argument(NAME), Argument(QUOTED, 0)),
        takes_body=True,
    ),
    MagicCommand(
        "assistant set",
        "change a key of an assistant's file",
        (Argument(ASSISTANT), Argument(KEY), Argument(VALUE, 0, MANY)),
        takes_body=True,
    ),
    MagicCommand(
        "assistant rename", "give an assistant another name", (Argument(ASSISTANT), Argument(NAME))
    ),
    MagicCommand("assistant delete", "delete an assistant's file", (Argument(ASSISTANT),)),
    MagicCommand("scene", "what assistants are told in some situations"),
    MagicCommand("scene list", "the same, or those of one assistant", (Argument(OF_ASSISTANT, 0),)),
    MagicCommand(
        "scene add", "add a scene", (Argument(NAME), Argument(QUOTED), Argument(OF_ASSISTANT, 0))
    ),
    MagicCommand("scene remove", "take a scene out", (Argument(NAME), Argument(OF_ASSISTANT, 0))),
    MagicCommand("tool", "what the agent may call"),
    MagicCommand("tool list", "the same"),
    MagicCommand("tool add", "offer functions of this kernel", (Argument(NAME, 1, MANY),)),
    MagicCommand("tool check", "what is wrong with tools", (Argument(NAME, 0, MANY),)),
    MagicCommand("tool remove", "take tools back", (Argument(NAME, 1, MANY),)),
    MagicCommand(
        "tool bind", "let an assistant use a tool", (Argument(NAME), Argument(OF_ASSISTANT))
    ),
    MagicCommand(
        "tool unbind", "take a tool from an assistant", (Argument(NAME), Argument(OF_ASSISTANT))
    ),
    MagicCommand(
        "tool discover",
        "use a service that says what it can do",
        (Argument(URL), Argument(REST, 0, MANY)),
    ),
    MagicCommand(
        "tool connect",
        "use an MCP server or an OpenAPI document",
        (Argument(NAME), Argument(SERVICE, 0, MANY)),
    ),
    MagicCommand("tool refresh", "ask services again what they can do", (Argument(NAME, 1, MANY),)),
    MagicCommand("memory", "what is kept for later conversations"),
    MagicCommand("memory list", "the same, or what has a word in it", (Argument(NAME, 0),)),
    MagicCommand("memory add", "keep a text", (Argument(TEXT),), (PROJECT,), takes_body=True),
    MagicCommand(
        "memory edit", "change what is kept", (Argument(MEMORY), Argument(TEXT)), takes_body=True
    ),
    MagicCommand("memory forget", "forget it for good", (Argument(MEMORY),)),
    MagicCommand("memory proposals", "what waits for your word"),
    MagicCommand("memory accept", "keep what is proposed", (Argument(MEMORY),)),
    MagicCommand("memory reject", "do not keep it", (Argument(MEMORY),)),
    MagicCommand("memory on", "read and keep memories"),
    MagicCommand("memory off", "neither read nor keep any"),
    MagicCommand("library", "the documents that models may ask"),
    MagicCommand("library list", "the same"),
    MagicCommand(
        "library add", "add a file, a folder or a page", (Argument(ONE_PLACE),), (LIBRARY,)
    ),
    MagicCommand("library add", "add several", (Argument(PLACE, 2, MANY),), (LIBRARY,)),
    MagicCommand("library search", "what would be found, without a model", (Argument(TEXT),)),
    MagicCommand("library remove", "take a document out", (Argument(NAME, 1, MANY),)),
    MagicCommand("library update", "look at all places again"),
    MagicCommand("library default", "which library is asked", (Argument(NAME, 1, MANY),)),
    MagicCommand("library forget", "delete a library", (Argument(NAME, 1, MANY),), (ALL,)),
    MagicCommand("demos", "good runs of a benchmark as examples"),
    MagicCommand("demos clear", "ask without examples"),
    MagicCommand(
        "demos from", "take some", (Argument(ONE_PLACE, 0),), DEMOS_OPTIONS, default="runs"
    ),
    MagicCommand("context", "what the model is given, and what it costs"),
    MagicCommand("context summary", "what stands for older turns", takes_body=True),
    MagicCommand("context summary clear", "take your words out of it"),
    MagicCommand("context summary", "put your words into it", (Argument(TEXT),)),
    MagicCommand(
        "pin",
        "keep a turn in the context, however long it gets",
        (Argument(TURN, 0),),
        default="last",
    ),
    MagicCommand("pin list", "what is pinned"),
    MagicCommand("unpin", "let a pinned turn go", (Argument(TURN, 0),), default="last"),
    MagicCommand("unpin all", "let all of them go"),
    MagicCommand("compact", "make a long conversation shorter now"),
    MagicCommand("attach", "what the next question takes along"),
    MagicCommand("attach clear", "let it take nothing along"),
    MagicCommand("attach output", "let it take along what a cell showed", (Argument(OUTPUT),)),
    MagicCommand("attach", "let it take files along", (Argument(FILE, 1, MANY),)),
    MagicCommand(
        "later", "a note that the next question takes along", (Argument(TEXT),), takes_body=True
    ),
    MagicCommand(
        "system",
        "an instruction for the rest of the conversation",
        (Argument(TEXT),),
        takes_body=True,
    ),
    MagicCommand("prompt", "the conversation's own instructions"),
    MagicCommand("prompt clear", "take them out"),
    MagicCommand(
        "prompt",
        "give it some, in place of an assistant's or beside them",
        (Argument(TEXT),),
        (APPEND,),
        takes_body=True,
    ),
    MagicCommand("filters", "what is done to your words before they are sent"),
    MagicCommand("filters off", "nothing"),
    MagicCommand("filters reset", "what is usual"),
    MagicCommand("filters", "switch one", (Argument(FILTER), Argument(SWITCH))),
    MagicCommand("filters", "these alone, in this order", (Argument(FILTER, 1, MANY),)),
    MagicCommand("reset", "forget the conversation; variables stay"),
    MagicCommand("help", "this text"),
)
"""All there are. Of two that a line fits, the one with more words before its arguments counts,
then the first."""


def plugin_commands() -> tuple[MagicCommand, ...]:
    """The commands of installed packages; they are written with a slash."""
    taken = {command.words[0] for command in COMMANDS}
    words = (Argument(WORDS, 0, MANY),)
    return tuple(
        MagicCommand(point.name, f"a command of the package {package_of(point)}", words)
        for point in list_entry_points(COMMAND_GROUP)
        if point.name not in taken
    )


def commands_help() -> str:
    """The commands as text."""
    width = max(len(command.usage) for command in COMMANDS if len(command.usage) < 60)
    shown = (*COMMANDS, *plugin_commands())
    lines = [f"  /{command.usage:<{width}}  {command.help}" for command in shown]
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
            known += plugin_commands()
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

    def _of_commands(self, said: tuple[str, ...], known: Sequence[MagicCommand]) -> Iterator[str]:
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

    def _arguments(self, command: MagicCommand, given: Sequence[str]) -> Iterator[str]:
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
