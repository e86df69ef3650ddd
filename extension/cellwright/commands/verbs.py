"""The verbs that a notebook and a terminal share, each in one place.

To add one, add it to ``VERBS`` and write its function in a module of this room. ``%agent`` and
``cellwright`` have it then, with parser, completion, help and ``--json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from cellwright.commands import Argument, Kind, Option, Verb
from cellwright.errors import SetupError
from cellwright.exports import FORMATS, RECORD, FormatNames
from cellwright.installation import COMMANDS, find_plugin, list_entry_points, package_of
from cellwright.record.messages import USAGE_GROUPS, budget_amount
from cellwright.settings import MODES

SENTENCE = """
a about after all an and any are around as at be because before between but by can could do does
during each every for from had has have how i if in into is it its like me more most my no not of
on or our out over per please so some than that the their them then there these they this those
through to under until up was we were what when where which while who why will with without you
your
"""
FUNCTION_WORDS = frozenset(SENTENCE.split())
"""Words that sentences are held together with: a line that has one is more likely a question."""


# What arguments can be.


def match_pattern(text: str) -> Callable[[str], bool]:
    """Make the test whether a word is all of a pattern."""
    pattern = re.compile(text)
    return lambda word: pattern.fullmatch(word) is not None


def choose_from(label: str, choices: Sequence[str]) -> Kind:
    """Make the kind of an argument that is one of a few words."""
    return Kind(label, lambda word: word in choices, tuple(choices), is_strict=True)


def is_place(word: str) -> bool:
    """Whether a word looks like a file, a folder or an address, or is one."""
    return "/" in word or "." in word.strip(".") or Path(word.rstrip(",")).expanduser().exists()


def is_name(word: str) -> bool:
    """Whether a word can be a name, and is not one that sentences are made of."""
    return (
        re.fullmatch(r"@?[\w][\w .:/-]*", word) is not None and word.lower() not in FUNCTION_WORDS
    )


def positive_number(text: str) -> float:
    """A number above zero.

    Raises:
        ValueError: It is none.
    """
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


positive_number.__name__ = "positive number"


def _never(_: str) -> bool:
    return False


is_run_name = match_pattern(r"last|\d{8}-(\d{6}-)?|(?=.*\d)(?=.{6})[0-9a-f]+(-[0-9a-f]+)*")
"""Whether a word is a run's id, or enough of one that nothing else can be meant."""
is_turn_number = match_pattern(r"\d{1,4}")

RUN = Kind("ID", is_run_name, ("last",), is_id=True, names="runs")
COUNT = Kind("N", is_turn_number, is_strict=True, is_id=True)
GROUP = choose_from("|".join(USAGE_GROUPS), USAGE_GROUPS)
MEMORY = Kind("ID", match_pattern(r"[0-9a-f]{2,8}"), is_id=True)
TEXT_ID = Kind("ID", match_pattern(r"[0-9a-f]{8}"), is_id=True)
NAME = Kind("NAME", is_name)
PLACE = Kind("PLACE", is_place)
ONE_PLACE = Kind("PLACE", lambda word: word.lower() not in FUNCTION_WORDS)
WORDS = Kind("WORD", _never, is_rest=True)
TEXT = Kind("TEXT", _never, is_text=True)
URL = Kind("URL", lambda word: "://" in word)
REST = replace(WORDS, label="OPTIONS")
SERVICE = Kind("URL | -- PROGRAM | --in FOLDER", lambda word: word[:1] == "-" or is_place(word),
               is_rest=True)  # fmt: skip

SCORE = Kind("up|down|POINTS", match_pattern(r"up|down|\d{1,4}(\.\d+)?"), ("up", "down"),
             is_strict=True)  # fmt: skip

MANY = 1_000
ONE_RUN = (Argument(RUN, 0),)
ANY_WORDS = (Argument(WORDS, 0, MANY),)


def _option(
    *names: str, only_in: Literal["", "cell", "terminal"] = "", **keywords: object
) -> Option:
    return Option(names, keywords, only_in)


SCORE_OPTIONS = (
    _option("--comment", default="", metavar="TEXT", help="why"),
    _option("--points", type=positive_number, default=1.0, metavar="N",
            help="what it counts; a number you give is of so many points (1)"),
    _option("--name", default="", metavar="NAME",
            help="what the score is called (thumb, score, or the check's code)"),
    _option("--check", action="append", default=[], metavar="CODE",
            help="run the cells again in a fresh kernel and check that this is true, such as "
            "'best.shape == (12, 3)'; repeatable"),
    _option("--remove", action="store_true", help="take the score of that name back, or all"),
)  # fmt: skip

USAGE_OPTIONS = (
    _option("--by", choices=USAGE_GROUPS, default="month", metavar="GROUP",
            help="what the rows are (month)"),
    _option("--plot", only_in="cell", action="store_true", help="draw them"),
    _option("--budget", type=budget_amount, metavar="USD",
            help="dollars for a month; 'off': no limit"),
    _option("--budget-tokens", type=budget_amount, metavar="N",
            help="tokens for a month, or 'off'"),
)  # fmt: skip

REPEAT_OPTIONS = (
    _option("--cwd", metavar="DIR", help="folder to run in (the recorded one)"),
    _option("-o", "--output", metavar="FILE", help="write the notebook with its cells"),
    _option("--kernel", default="", metavar="NAME", help="kernel to start (python3)"),
    _option("--record", only_in="terminal", default="", metavar="FILE",
            help="write the run to a record of its own, too, whatever becomes of the usual one"),
)  # fmt: skip

PROJECT = _option(
    "--project",
    action="store_true",
    help="keep it for the folder of the notebook, or the current one, alone",
)
LIBRARY = _option("--name", default="", metavar="NAME", help="add to the library NAME")
ALL = _option("--all", action="store_true", help="forget a library's documents with it")


def _changes_memory(
    action: str, summary: str, run: str, *arguments: Argument, options: tuple[Option, ...] = ()
) -> Verb:
    takes_body = any(argument.kind.is_text for argument in arguments)
    return Verb(
        f"memory {action}",
        summary,
        arguments,
        options,
        takes_body,
        run=f"memory:{run}",
        needs_idle_agent=True,
    )


def _adds_to_library(summary: str, *arguments: Argument) -> Verb:
    return Verb(
        "library add", summary, arguments, (LIBRARY,), run="library:add", shows_progress=True
    )


VERBS = (
    Verb(
        "runs",
        "the newest runs",
        (Argument(COUNT, 0),),
        (
            _option("--find", "--search", default="", metavar="WORDS",
                    help="only runs with these words"),
            _option("--limit", type=int, metavar="N", help="at most N runs (20)"),
            _option("--widget", only_in="cell", action="store_true",
                    help="browse them"),
        ),
        run="listing:runs",
    ),
    Verb("show", "show a run again", ONE_RUN, default="last", run="listing:show"),
    Verb("replay", "run a run's code again in a fresh kernel, and say what differs", ONE_RUN,
         REPEAT_OPTIONS, default="last", run="repeating:replay", shows_progress=True,
         needs_idle_agent=True),
    Verb(
        "rerun",
        "ask another model the same, from the same start",
        ONE_RUN,
        (
            _option("-m", "--model", only_in="cell", required=True, metavar="MODEL"),
            _option("-m", "--model", only_in="terminal", default="", metavar="MODEL",
                    help="which model answers (the recorded one)"),
            _option("--mode", choices=MODES, metavar="MODE",
                    help="only look and plan, ask before everything, allow edits, or allow "
                    "running code (the recorded one)"),
            _option("--fresh", only_in="cell", action="store_true",
                    help="run the cells before it again in a fresh kernel, also where the state "
                    "that it began in is kept"),
            *REPEAT_OPTIONS,
        ),
        default="last",
        run="repeating:rerun",
        shows_progress=True,
        needs_idle_agent=True,
    ),
    Verb("score", "say what you think of the last run", (Argument(SCORE),), SCORE_OPTIONS,
         run="scoring:score"),
    Verb("score", "what a run was found worth; with --check, check it in a fresh kernel",
         ONE_RUN, SCORE_OPTIONS, default="last", run="scoring:score"),
    Verb("score", "say what you think of a run: up, down, or points",
         (Argument(RUN), Argument(SCORE)), SCORE_OPTIONS, run="scoring:score"),
    Verb(
        "export",
        f"write a run to a file: {', '.join((*FORMATS, RECORD))}",
        (Argument(RUN, 0, MANY),),
        (
            _option("--to", choices=FormatNames(*FORMATS, "notebooks", RECORD), default="",
                    metavar="FORMAT",
                    help=f"{', '.join((*FORMATS, RECORD))}, or a format of an installed package "
                    "(what the end of FILE says, else ipynb)"),
            _option("-o", "--out", "--output", default="", metavar="FILE",
                    help="where to (ID with the format's ending); - is stdout; of several runs "
                    "or with notebooks, the folder"),
            _option("--gradebook", action="store_true",
                    help="with notebooks or html: points of all runs in gradebook.csv, too"),
        ),
        default="last",
        run="exporting:export",
    ),
    Verb(
        "save-sample",
        "make a run a sample of a benchmark, with its code as the reference",
        ONE_RUN,
        (
            _option("--check", action="append", default=[], metavar="CODE",
                    help="what is true when it is solved, such as 'best.shape == (12, 3)'; "
                    "repeatable"),
            _option("--to", required=True, metavar="FOLDER", help="the suite's folder"),
            _option("--name", default="", metavar="ID", help="the sample's id (the run's)"),
        ),
        default="last",
        run="exporting:save_sample",
    ),
    Verb(
        "doctor",
        "check key, endpoint, model, tool calling, kernel and record; --repair reads back what a "
        "damaged record holds; --provider tries what a service can do, which costs",
        options=(
            _option("--send", action="store_true",
                    help="send one small request, which may cost a little"),
            _option("--repair", metavar="FILE", nargs="?", const="",
                    help="read back what can be read of a damaged record, or of FILE"),
            _option("--provider", metavar="NAME", nargs="?", const="",
                    help="try twelve probes on a provider, or on the service that is set"),
            _option("-m", "--model", default="", metavar="MODEL",
                    help="which model is probed (the usual one)"),
            _option("--max-tokens", type=int, metavar="N",
                    help="what the probes may take together (20,000)"),
        ),
        run="checking:doctor",
        shows_progress=True,
    ),
    Verb(
        "usage",
        "what models have cost; a month's budget, 'off' for none",
        (Argument(GROUP, 0),),
        USAGE_OPTIONS,
        run="usage:usage",
    ),
    Verb("usage by", "the same, by a group", (Argument(GROUP),), USAGE_OPTIONS[1:],
         run="usage:usage"),
    Verb("memory", "what is kept for later conversations", run="memory:list_memories"),
    Verb("memory list", "the same, or what has a word in it", (Argument(NAME, 0),),
         run="memory:list_memories"),
    Verb("memory list", "what has to do with these words", (Argument(TEXT),),
         run="memory:list_memories"),
    _changes_memory("add", "keep a text", "add", Argument(TEXT), options=(PROJECT,)),
    _changes_memory("edit", "change what is kept", "edit", Argument(MEMORY), Argument(TEXT)),
    _changes_memory("forget", "forget it for good", "forget", Argument(MEMORY)),
    Verb("memory proposals", "what waits for your word", run="memory:list_proposals"),
    _changes_memory("accept", "keep what is proposed", "accept", Argument(MEMORY)),
    _changes_memory("reject", "do not keep it", "reject", Argument(MEMORY)),
    _changes_memory("on", "read and keep memories", "switch_on"),
    _changes_memory("off", "neither read nor keep any", "switch_off"),
    Verb("instructions", "what this project tells every agent: AGENTS.md and the like, skills",
         run="instructions:list_texts"),
    Verb("instructions list", "the same", run="instructions:list_texts"),
    Verb("instructions show", "one of them, whole", (Argument(TEXT_ID),),
         run="instructions:show"),
    Verb("instructions allow", "let models read them, as they are now",
         (Argument(TEXT_ID, 1, MANY),), run="instructions:allow", needs_idle_agent=True),
    Verb("instructions refuse", "let no model read them", (Argument(TEXT_ID, 1, MANY),),
         run="instructions:refuse", needs_idle_agent=True),
    Verb("library", "the documents that models may ask", run="library:list_documents"),
    Verb("library list", "the same", run="library:list_documents"),
    _adds_to_library("add a file, a folder or a page", Argument(ONE_PLACE)),
    _adds_to_library("add several", Argument(PLACE, 2, MANY)),
    Verb("library search", "what would be found, without a model", (Argument(TEXT),),
         run="library:search"),
    Verb("library remove", "take a document out", (Argument(NAME, 1, MANY),),
         run="library:remove"),
    Verb("library update", "look at all places again", run="library:update",
         shows_progress=True),
    Verb("library default", "which library is asked", (Argument(NAME, 1, MANY),),
         run="library:make_default"),
    Verb("library forget", "delete a library", (Argument(NAME, 1, MANY),), (ALL,),
         run="library:forget"),
    Verb("tool", "what the agent may call", run="tools:list_tools"),
    Verb("tool list", "the same", run="tools:list_tools"),
    Verb("tool check", "what is wrong with tools", (Argument(NAME, 0, MANY),), run="tools:check"),
    Verb("tool remove", "take tools back", (Argument(NAME, 1, MANY),), run="tools:remove"),
    Verb("tool discover", "use a service that says what it can do",
         (Argument(URL), Argument(REST, 0, MANY)), run="tools:discover", needs_idle_agent=True),
    Verb("tool connect", "use an MCP server or an OpenAPI document",
         (Argument(NAME), Argument(SERVICE, 0, MANY)), run="tools:connect",
         needs_idle_agent=True),
    Verb("tool refresh", "ask services again what they can do", (Argument(NAME, 1, MANY),),
         run="tools:refresh", needs_idle_agent=True),
    Verb("mcp login", "sign in to an MCP server", (Argument(NAME, 1, MANY),), run="tools:login",
         needs_idle_agent=True),
    Verb("mcp logout", "sign out of an MCP server", (Argument(NAME, 1, MANY),),
         run="tools:logout"),
)  # fmt: skip
"""Of two that a line fits, the one with more words before its arguments counts, then the first."""


def list_plugin_verbs() -> tuple[Verb, ...]:
    """List the verbs of installed packages by name; nothing of theirs is imported."""
    taken = {verb.words[0] for verb in VERBS}
    return tuple(
        Verb(point.name, _of_package(package_of(point)), ANY_WORDS)
        for point in list_entry_points(COMMANDS)
        if point.name not in taken
    )


def load_plugin_verb(name: str) -> Verb:
    """Import a package's verb: a ``Verb``, or a function of a ``VerbContext`` that words follow.

    Raises:
        SetupError: It cannot be imported.
    """
    plugin = find_plugin(COMMANDS, name)
    if plugin is None:
        raise SetupError(f"No installed package has a command {name!r}.")
    if isinstance(plugin.value, Verb):
        call = replace(plugin, value=plugin.value.run).call
        return replace(plugin.value, name=name, run=call)
    return Verb(name, _of_package(plugin.package), ANY_WORDS, run=plugin.call)


def _of_package(package: str) -> str:
    return f"a command of the package {package}"


def list_verbs(face: Literal["cell", "terminal"]) -> tuple[Verb, ...]:
    """The verbs with the options that a face has."""
    return tuple(
        replace(verb, options=tuple(each for each in verb.options if each.only_in in ("", face)))
        for verb in VERBS
    )


def find_forms(name: str) -> tuple[Verb, ...]:
    """The ways in which a terminal has a verb; empty: it has none of that name."""
    return tuple(verb for verb in list_verbs("terminal") if verb.name == name)
