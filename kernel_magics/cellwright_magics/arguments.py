"""The options of ``%agent`` and ``%%agent``, and what a cell and ``%config`` say besides.

Options come first; everything after them is the prompt, as it stands: quotes, apostrophes,
braces and dollar signs are text.
"""

from __future__ import annotations

import argparse
import difflib
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments

from cellwright.commands import Option
from cellwright.record.choices import WAYS
from cellwright.settings import MODES, PARAMETER_OPTIONS

Function = TypeVar("Function", bound=Callable[..., Any])
WORD = re.compile(r"\s*((?:\"[^\"]*\"|'[^']*')(?=,?(?:\s|$)),?|\S+)")
OPTION = re.compile(r"--?[A-Za-z][\w-]*(?:=.*)?", re.DOTALL)
FILE_NAME = re.compile(r"[^\s?!]*\w\.[A-Za-z]\w{0,7}")


@dataclass(frozen=True)
class AgentOptions:
    """What was said in front of the prompt; None: not said."""

    model: str | None = None
    files: tuple[str, ...] = ()
    mode: str | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    budget: float | None = None
    timeout: float | None = None
    effort: str | None = None
    verbosity: str | None = None
    max_output: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    service_tier: str | None = None
    body: list[tuple[str, Any]] | None = None
    var: tuple[tuple[str, str], ...] = ()
    """Names and values that are put into prompts and told to tools."""
    out: str | None = None
    quiet: bool = False
    inline: bool = False
    best_of: int | None = None
    choose: str = ""
    check: tuple[str, ...] = ()
    judge: str = ""
    help: bool = False
    assistant: str | None = None


@dataclass(frozen=True)
class AgentLine:
    """A line, and a cell's body, taken apart."""

    options: AgentOptions
    prompt: str
    silent: bool = False
    """The prompt ended with ``;``: the value of the cell is not shown."""
    line: str = ""
    """What stood on the magic's line after the options."""
    body: str | None = None
    """What stood below it; None: it was a line."""
    has_options: bool = False
    is_question: bool = False
    """It was said, with ``--``, that no command is meant."""


def _above_zero(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text!r} is not above zero")
        return value

    convert.__name__ = kind.__name__
    return convert


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not written NAME=VALUE")
    return name, value


def _variable_name(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be a variable's name")
    return text


def _option(*names: str, **keywords: Any) -> Option:
    return Option(names, keywords)


CHOOSING_OPTIONS = (
    _option(
        "--choose",
        choices=WAYS,
        default="",
        help="How the best attempt is chosen: by --check, by a judge, or by what most say.",
    ),
    _option(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help="What must be true in an attempt's kernel; may be given several times.",
    ),
    _option("--judge", default="", metavar="MODEL", help="The model that judges."),
)
OPTIONS = (
    _option("-m", "--model", metavar="MODEL", help="Model that answers."),
    _option("-a", "--assistant", metavar="NAME", help="Assistant that answers this time."),
    _option(
        "-f",
        "--files",
        nargs="+",
        metavar="FILE",
        default=(),
        help="Files to look at, with blanks or commas between them.",
    ),
    _option(
        "--mode",
        choices=MODES,
        help="plan: it only reads and says what it would do. ask: you are asked before code runs "
        "(the default). edits: cells may be changed without asking. auto: code runs without "
        "asking.",
    ),
    _option("--max-steps", type=_above_zero(int), metavar="N", help="Replies of the model."),
    _option("--max-seconds", type=_above_zero(float), metavar="S", help="Seconds for the run."),
    _option("--max-tokens", type=_above_zero(int), metavar="N", help="Tokens for the run."),
    _option("--budget", type=_above_zero(float), metavar="USD", help="Dollars for the run."),
    _option("--timeout", type=_above_zero(float), metavar="S", help="Seconds for each cell."),
    *(
        _option(
            row.flag,
            type=row.type,
            metavar=row.metavar,
            help=f"{row.help[0].upper()}{row.help[1:]}.",
            action="append" if row.name == "extra_body" else "store",
        )
        for row in PARAMETER_OPTIONS
    ),
    _option(
        "--var",
        type=_named_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Put in for {{NAME}} in the prompt, and told to tools; may be given several times.",
    ),
    _option("-o", "--out", type=_variable_name, metavar="NAME", help="Variable for the run."),
    _option("-q", "--quiet", action="store_true", help="Show no transcript, only return the run."),
    _option(
        "--best-of",
        type=_above_zero(int),
        metavar="N",
        help="Try N times in copies of this kernel, and keep the one that is chosen.",
    ),
    *CHOOSING_OPTIONS,
    _option("--inline", action="store_true", help="Show code here, paint no cells below."),
    _option("-h", "--help", action="store_true", help="Show this text."),
)
BY_NAME = {name: option for option in OPTIONS for name in option.names}


def agent_arguments(function: Function) -> Function:
    """Give a magic the options, for ``%agent?`` and its parser."""
    for option in reversed(OPTIONS):
        function = argument(*option.names, **option.keywords)(function)  # type: ignore[no-untyped-call]
    return magic_arguments("agent")(function)  # type: ignore[no-untyped-call, no-any-return]


def parse(line: str, body: str | None = None) -> AgentLine:
    """Take the magic's line, and the body of a cell, apart.

    Raises:
        UsageError: An option is unknown or its value cannot be used.
    """
    split = _split_options(line)
    values = vars(_parser().parse_args(split.words))
    files = [name.strip() for item in values.pop("files") for name in item.split(",")]
    given, checks = tuple(values.pop("var")), tuple(values.pop("check"))
    options = AgentOptions(
        files=tuple(name for name in files if name), var=given, check=checks, **values
    )
    prompt = "\n".join(part for part in (split.rest.strip(), body) if part).strip()
    silent = prompt.endswith(";")
    return AgentLine(
        options,
        prompt.rstrip(";").rstrip() if silent else prompt,
        silent,
        split.rest.strip(),
        body,
        has_options=bool(split.words),
        is_question=split.is_ended,
    )


def _parser() -> argparse.ArgumentParser:
    parser = MagicArgumentParser("agent")  # type: ignore[no-untyped-call]
    for option in OPTIONS:
        parser.add_argument(*option.names, **option.keywords)
    return parser


def options_help() -> str:
    """The options as text."""
    parser = argparse.ArgumentParser(
        "%agent",
        usage="%%agent [options] prompt …   or   %%%%agent [options] and the prompt below it",
        description="Ask a model that works in this kernel. Options come first; everything after "
        "them is the prompt, as it stands. @name in a prompt names a variable, at its very start "
        "an assistant.",
        add_help=False,
    )
    for option in OPTIONS:
        parser.add_argument(*option.names, **option.keywords)
    return parser.format_help()


@dataclass
class _Split:
    """The options in front of a prompt, as words for argparse."""

    words: list[str] = field(default_factory=list)
    rest: str = ""
    is_ended: bool = False
    """By ``--``."""

    def take(self) -> str | None:
        """The next word; None at the end."""
        match = WORD.match(self.rest)
        if match is None:
            return None
        self.rest = self.rest[match.end() :]
        return unquote(match[1])


def _split_options(line: str) -> _Split:
    split = _Split(rest=line)
    while match := WORD.match(split.rest):
        if match[1] == "--":
            split.take()
            split.is_ended = True
            break
        if not OPTION.fullmatch(match[1]):
            break
        name, has_value, _ = match[1].partition("=")
        option = _known(name)
        split.words.append(split.take() or "")
        if option.takes_files:
            _take_files(split, started=bool(has_value))
        elif option.takes_value and not has_value:
            value = split.take()
            split.words += [] if value is None else [value]
    return split


def _known(name: str) -> Option:
    option = BY_NAME.get(name)
    if option is None:
        near = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.5)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"There is no option {name!r}.{meant} See %agent --help.")
    return option


def _take_files(split: _Split, *, started: bool) -> None:
    """The word after ``--files`` is one; so are those after it that look like one."""
    goes_on = not started
    while match := WORD.match(split.rest):
        word = unquote(match[1])
        if OPTION.fullmatch(match[1]) or not (goes_on or is_file_name(word)):
            return
        split.take()
        split.words.append(word)
        goes_on = word.endswith(",")


def is_file_name(word: str) -> bool:
    """Whether a word names a file, or looks like it; in quotes it may have blanks."""
    name = word.rstrip(",")
    return bool(FILE_NAME.fullmatch(name.replace(" ", "_"))) or Path(name).expanduser().is_file()


def unquote(word: str) -> str:
    """A word without the quotes around it."""
    if word.endswith(("',", '",')):
        return f"{unquote(word[:-1])},"
    quoted = len(word) >= 2 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word


# What the cell's metadata and ``%config`` say.
#
# A notebook can come from anybody, so its metadata may choose the model and tighten limits, and
# never the endpoint or the mode (attack A24).


@dataclass(frozen=True)
class Configured:
    """What ``%config AgentMagics`` or a configuration file says; empty and None: nothing."""

    model: str = ""
    mode: str = ""
    max_steps: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    budget: float | None = None
    timeout_seconds: float | None = None
    show_code: bool = True
    short_errors: bool = True
    paint: bool = True
    """Whether code becomes cells under the calling cell, where the front end can do that."""
    demos: str = ""
    """The folder of results whose good runs are examples for typed questions."""
    message_times: bool | None = None
    """Whether the model is told when each question was sent."""


@dataclass(frozen=True)
class CellSettings:
    """What the metadata of the calling cell says."""

    model: str = ""
    max_steps: int | None = None
    timeout_seconds: float | None = None
    ignored: tuple[str, ...] = ()
    """Names it may not set, or whose values cannot be used."""


READERS: dict[str, Callable[[Any], bool]] = {
    "model": lambda value: isinstance(value, str) and 0 < len(value) <= 200,
    "max_steps": lambda value: type(value) is int and value > 0,
    "timeout_seconds": lambda value: type(value) in (int, float) and value > 0,
}


def cell_settings(metadata: Mapping[str, Any]) -> CellSettings:
    """Read the ``cellwright`` part of a cell's metadata.

    A cell that the agent wrote carries its own history there, which sets nothing.
    """
    part = metadata.get("cellwright")
    if not isinstance(part, Mapping) or "run" in part:
        return CellSettings()
    good = {
        name: part[name] for name, usable in READERS.items() if name in part and usable(part[name])
    }
    return CellSettings(
        **good, ignored=tuple(sorted(str(name) for name in part if name not in good))
    )
