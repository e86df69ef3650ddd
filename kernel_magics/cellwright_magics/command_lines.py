"""Tells commands from questions: the one parser of what follows ``%agent``.

A line that begins with a slash is a command, always. Any other line is one only where all of it
fits a command that takes no free text. What is neither, and looks like a command that was
mistyped, is refused: a question costs money, and asking what was meant costs nothing. After ``--``
everything is a question.

What looks mistyped: every word of the line is one that commands are made of, or nearly one, or an
option or an id. ``show lats`` is such a line and ``show rows`` is not. A line that begins with a
word that no English order begins with (``runs``, ``memory``) is held to more: two words that do
not fit are enough, unless one of them holds a sentence together (``usage of electricity``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from cellwright.commands import Argument, Option, Verb, fit_arguments
from cellwright.commands.verbs import FUNCTION_WORDS, list_plugin_verbs, load_plugin_verb
from cellwright_magics.arguments import OPTION, WORD, AgentLine, unquote
from cellwright_magics.commands import COMMANDS

SLASH = re.compile(r"/(?:[^\W\d][\w-]*)?\??(?=\s|$)")
"""``/data/sales.csv`` is a path, and its line a question."""
ID_LIKE = re.compile(
    r"last|@\S+|(?=\D*\d)-?[0-9a-f][0-9a-f_-]*|(?:\d{8}-)?\d{6}-\w{4,8}|\{\S+\}|\$\S+"
)
"""The third form is a run's id with a letter of it mistyped; in other magics IPython fills in the
last two."""
FILLED_IN = re.compile(r"\{\S+\}|\$\w")
ENDS = ".,:;!?"
ORDERS = """
chat show replay rerun undo redo export save-sample resume reset compact pin unpin attach prompt
later system help
"""
VERBS = frozenset(ORDERS.split())
"""First words that orders to a model begin with as well."""
HEAD_WORDS_AT_MOST = 6
OTHER_WORDS_AT_MOST = 3


@dataclass(frozen=True)
class CommandLine:
    """A command with what was given to it."""

    command: Verb
    words: tuple[str, ...]
    """Those it begins with, then its arguments; free text is one of them."""
    arguments: argparse.Namespace = field(default_factory=argparse.Namespace)
    """The values of its options."""
    text: str = ""
    body: str | None = None
    """What stood below its line."""

    @property
    def name(self) -> str:
        """The words it begins with."""
        return self.command.name

    @property
    def target(self) -> str:
        """Its first argument, or what stands for it."""
        return self.given[0] if self.given else ""

    @property
    def given(self) -> tuple[str, ...]:
        """Its arguments, or what stands for them; free text, also from below the line, is last."""
        given = self.words[len(self.command.words) :]
        if self.body is not None:
            named = given[: len(given) - bool(self.text)]
            given = (*named, "\n".join(filter(None, (self.text, self.body))))
        return given or ((self.command.default,) if self.command.default else ())


@dataclass(frozen=True)
class _Word:
    """A word of a line and where it stands."""

    text: str
    start: int
    end: int

    @property
    def is_option(self) -> bool:
        return OPTION.fullmatch(self.text) is not None or self.text == "--"


@dataclass(frozen=True)
class _LineParts:
    """A line in words."""

    text: str
    words: tuple[_Word, ...]
    body: str | None
    is_marked: bool
    """It begins with a slash."""

    @classmethod
    def of(cls, text: str, body: str | None, *, is_marked: bool) -> _LineParts:
        found = (_Word(unquote(m[1]), m.start(1), m.end(1)) for m in WORD.finditer(text))
        return cls(text, tuple(found), body, is_marked)

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]


def read_command(asked: AgentLine) -> CommandLine | None:
    """The command that was written; None for a question.

    Raises:
        UsageError: It is a command and cannot be done as it is written, or it is a question by
            the rules and looks like a command that was mistyped.
    """
    if asked.is_question or asked.options.help:
        return None
    text, body = _parts(asked)
    found: CommandLine | None
    if SLASH.match(text):
        found = _read_marked(text, body)
    elif body is None or text:
        found = _read_bare(text, body)
    else:
        return None
    if found is not None and asked.has_options:
        raise UsageError(
            f"Options of a question stand before the command {found.name!r}. Leave them out, or "
            f"send it as a question: %agent … -- {text}"
        )
    return found


def _parts(asked: AgentLine) -> tuple[str, str | None]:
    """The line that may be a command, and the text below it."""
    body = asked.body if asked.body is not None and asked.body.strip() else None
    if body is None:
        return asked.line.rstrip(";").strip(), None
    if asked.line:
        return asked.line, body.strip("\n")
    first, _, rest = body.strip().partition("\n")
    if not rest.strip():
        return first.rstrip(";").strip(), None
    return (first.strip(), rest.strip("\n")) if SLASH.match(first) else ("", body)


def _read_marked(text: str, body: str | None) -> CommandLine:
    line = _LineParts.of(text.removeprefix("/"), body, is_marked=True)
    begun = [command for command in _longest_first() if _begins(line, command)]
    if not begun:
        begun = [load_plugin_verb(verb.name) for verb in list_plugin_verbs() if _begins(line, verb)]
    for command in begun:
        found = _fit(line, command)
        if found is not None:
            return found
    if body is not None and (found := next(_without_body(text, begun), None)):
        raise UsageError(f"/{found.name} takes no text below it.")
    if not begun:
        near = _nearest(line.texts[0].lower(), _first_words()) if line.words else ""
        meant = f" Did you mean /{near}?" if near else ""
        raise UsageError(
            f"There is no command {text.split()[0]!r}.{meant} See %agent --help; a question that "
            f"begins with a slash is sent so: %agent -- {text}"
        )
    raise UsageError(f"{text!r} cannot be done as it is written.{_how_written(line, begun)}")


def _without_body(text: str, begun: Sequence[Verb]) -> Iterator[CommandLine]:
    line = _LineParts.of(text.removeprefix("/"), None, is_marked=True)
    yield from filter(None, (_fit(line, command) for command in begun))


def _read_bare(text: str, body: str | None) -> CommandLine | None:
    line = _LineParts.of(text, body, is_marked=False)
    meant = ""
    for command in _longest_first():
        try:
            if _begins(line, command) and (found := _fit(line, command)):
                return found
        except UsageError as error:
            meant = f" {error}."
    meant = meant or (_mistyped(line) if body is None else "")
    if meant:
        if FILLED_IN.search(text):
            meant += " {…} and $… are not filled in: put the value there."
        raise UsageError(
            f"{text!r} looks like a command and is none.{meant} To ask the model just that: "
            f"%agent -- {text}"
        )
    return None


@cache
def _longest_first() -> tuple[Verb, ...]:
    return tuple(sorted(COMMANDS, key=lambda command: -len(command.words)))


@cache
def _first_words() -> tuple[str, ...]:
    return tuple(dict.fromkeys(command.words[0] for command in COMMANDS))


def _begins(line: _LineParts, command: Verb) -> bool:
    return tuple(line.texts[: len(command.words)]) == command.words


def _fit(line: _LineParts, command: Verb) -> CommandLine | None:
    """The line as this command, where its words and their number fit.

    Raises:
        UsageError: They do, and an option does not.
    """
    if line.body is not None and not command.takes_body:
        return None
    if command.takes_text:
        return _fit_text(line, command)
    rest = list(line.words[len(command.words) :])
    if command.arguments and command.arguments[-1].kind.is_rest:
        return _fit_rest(line, command, rest)
    plain = _plain_words(command, rest)
    if not _fit_words(plain, command.arguments, line):
        return None
    parsed = _parser(command).parse_args([word.text for word in rest if word not in plain])
    return CommandLine(command, (*command.words, *(w.text for w in plain)), parsed, body=line.body)


def _fit_text(line: _LineParts, command: Verb) -> CommandLine | None:
    """With free text: on the line, where it is marked, or below it."""
    rest = list(line.words[len(command.words) :])
    named = len(command.arguments) - 1
    flags = []
    while rest and rest[0].text in command.option_names():
        flags.append(rest.pop(0).text)
    given, rest = rest[:named], rest[named:]
    if len(given) < named or not _fit_words(given, command.arguments[:-1], line):
        return None
    if rest and not line.is_marked:
        return None
    text = line.text[rest[0].start :].strip() if rest else ""
    if not (text or line.body):
        return None
    words = (*command.words, *(word.text for word in given), *([text] if text else []))
    return CommandLine(command, words, _parser(command).parse_args(flags), text, line.body)


def _fit_rest(line: _LineParts, command: Verb, rest: list[_Word]) -> CommandLine | None:
    """With all that follows as it is: what it means is said where services are connected."""
    named = len(command.arguments) - 1
    given, more = rest[:named], rest[named:]
    if len(given) < named or not _fit_words(given, command.arguments[:-1], line):
        return None
    kind = command.arguments[-1].kind
    if more and not (line.is_marked or more[0].is_option or kind.fits(more[0].text)):
        return None
    return CommandLine(command, (*command.words, *(word.text for word in rest)))


def _plain_words(command: Verb, words: Sequence[_Word]) -> list[_Word]:
    """The words that are neither options nor their values."""
    valued = {name for option in command.options if option.takes_value for name in option.names}
    plain, is_value = [], False
    for word in words:
        if not is_value and not word.is_option:
            plain.append(word)
        # Some options stand without their value too, and another one follows.
        is_value = word.is_option and word.text in valued
    return plain


def _fit_words(words: Sequence[_Word], arguments: Sequence[Argument], line: _LineParts) -> bool:
    return fit_arguments([word.text for word in words], arguments, is_marked=line.is_marked)


def _parser(command: Verb) -> argparse.ArgumentParser:
    parser = MagicArgumentParser(f"/{command.name}")  # type: ignore[no-untyped-call]
    for option in command.options:
        parser.add_argument(*option.names, **option.keywords)
    return parser


def _mistyped(line: _LineParts) -> str:
    """What was meant by a line that looks like a command; empty: it looks like a question."""
    words = [word.text.rstrip(ENDS) for word in line.words]
    if not any(words):
        return ""
    first = words[0].lower()
    if len(words) <= OTHER_WORDS_AT_MOST and all(_is_of_any(word) for word in words):
        # show usage, list runs: what it is about names the command; show last run: it does not
        ids = [word for word in words if ID_LIKE.fullmatch(word)]
        known = [found for word in words if (found := _first_word(word))]
        top = known[0 if ids else -1] if known else ""
        return _nearly(top, [top, *ids], line) if top else ""
    if first in _first_words():
        is_asked = line.text.endswith("?")
        is_slip = _looks_like(first, words[1:], is_asked=is_asked)
        return _nearly(first, words, line) if is_slip else ""
    for top in _first_words():
        if _is_near(first, top) and (
            _looks_like(top, words[1:], is_sure=False) or _would_fit(top, line)
        ):
            return _nearly(top, words, line)
    return ""


def _would_fit(top: str, line: _LineParts) -> bool:
    """Whether a line is a command as soon as it begins with another word."""
    mended = _LineParts.of(top + line.text[line.words[0].end :], None, is_marked=False)
    try:
        return any(_fit(mended, c) for c in _commands_of(top) if _begins(mended, c))
    except UsageError:
        return True


def _looks_like(
    top: str, rest: Sequence[str], *, is_sure: bool = True, is_asked: bool = False
) -> bool:
    """Whether a line is rather a mistyped command than a question.

    Args:
        top: The first word of the commands.
        rest: The words of the line after its first.
        is_sure: The first word was written so, without a mistake.
        is_asked: The line ends with a question mark.
    """
    if is_sure and any(_is_option_of(top, word) for word in rest):
        return True
    if all(_is_of(top, word) or _follows_option(rest, place) for place, word in enumerate(rest)):
        return True
    second = rest[0].lower()
    is_exact = second in _second_words(top)
    head = "" if second in FUNCTION_WORDS and not is_exact else _nearest(second, _second_words(top))
    if head and _takes_text(top, head, *rest[1:]):
        return True
    after = rest[1:] if is_exact else rest
    if "->" in rest or any(w.lower() in FUNCTION_WORDS or not w.isascii() for w in after):
        return False
    if head and top not in VERBS:
        return len(rest) < HEAD_WORDS_AT_MOST
    if is_asked:
        return False
    if top in VERBS:
        return is_exact and len(after) == 1
    return is_sure and len(rest) < OTHER_WORDS_AT_MOST


def _is_option_of(top: str, word: str) -> bool:
    """Whether a word is, or is nearly, an option of the commands of a first word."""
    name = word.partition("=")[0]
    names = tuple(name for option in _options_of(top) for name in option.names)
    return name in names or (name.startswith("--") and bool(_nearest(name, names)))


def _follows_option(words: Sequence[str], place: int) -> bool:
    return place > 0 and OPTION.fullmatch(words[place - 1]) is not None


def _takes_text(*words: str) -> bool:
    """Whether words begin a command of two words or more that free text follows."""
    said = tuple(word.lower() for word in words)
    return any(
        command.takes_text
        and len(command.words) > 1
        and said[: len(command.words)] == command.words
        for command in COMMANDS
    )


def _options_of(top: str) -> tuple[Option, ...]:
    return tuple(option for command in _commands_of(top) for option in command.options)


@cache
def _commands_of(top: str) -> tuple[Verb, ...]:
    return tuple(command for command in COMMANDS if command.words[0] == top)


@cache
def _second_words(top: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(c.words[1] for c in _commands_of(top) if len(c.words) > 1))


@cache
def _words_of(top: str) -> tuple[str, ...]:
    """What commands of this first word are made of."""
    words = [word for command in _commands_of(top) for word in command.words[1:]]
    for command in _commands_of(top):
        words += [choice for argument in command.arguments for choice in argument.kind.choices]
        words += [name.lstrip("-") for name in command.option_names()]
        words += [choice for o in command.options for choice in o.keywords.get("choices", ())]
    return tuple(dict.fromkeys(word for word in words if len(word) > 1))


def _is_of(top: str, word: str) -> bool:
    """Whether commands of this first word could have such a word in them."""
    if word.startswith("-") and OPTION.fullmatch(word):
        return True
    takes_ids = any(argument.kind.is_id for c in _commands_of(top) for argument in c.arguments)
    if takes_ids and ID_LIKE.fullmatch(word):
        return True
    return bool(_first_word(word) or _nearest(word.lower(), _words_of(top)))


def _is_of_any(word: str) -> bool:
    """Whether a word is, as it stands, one that commands are made of, or an id."""
    said = {each for top in _first_words() for each in _second_words(top)}
    return bool(_first_word(word)) or word.lower() in said or bool(ID_LIKE.fullmatch(word))


def _first_word(word: str) -> str:
    """The first word of commands that a word is, be it one or many of a thing; empty: none."""
    lower = word.lower()
    forms = (lower, f"{lower}s", lower.removesuffix("s"))
    return next((form for form in forms if form in _first_words()), "")


def _nearly(top: str, words: Sequence[str], line: _LineParts) -> str:
    """What to write instead."""
    better = [top, *words[1:]]
    for place, word in enumerate(better[1:], start=1):
        near = _nearest(word.lower(), _words_of(top))
        if near and not ID_LIKE.fullmatch(word):
            better[place] = near
    corrected = " ".join(better)
    mended = _LineParts.of(corrected, None, is_marked=False)
    fitting = [c for c in _longest_first() if _begins(mended, c)]
    try:
        if corrected != line.text and any(_fit(mended, command) for command in fitting):
            return f" Did you mean %agent {corrected}?"
    except UsageError as error:
        return f" {error}"
    return _how_written(mended, fitting or _commands_of(top))


def _how_written(line: _LineParts, begun: Sequence[Verb]) -> str:
    """How a command is written that this line begins like."""
    top = begun[0].words[0]
    said = line.texts[1] if len(line.words) > 1 else ""
    if len(begun[0].words) == 1 and said and (near := _nearest(said, _second_words(top))):
        begun = [command for command in _commands_of(top) if command.words[1:2] == (near,)]
    longest = len(begun[0].words)
    written = [f"/{c.usage}" for c in begun if len(c.words) == longest]
    if longest == 1 and _second_words(top):
        written.append(f"/{top} {'|'.join(_second_words(top))}")
    unknown = ""
    for argument, word in zip(begun[0].arguments, line.texts[longest:], strict=False):
        kind = argument.kind
        if kind.choices and kind.label.isalpha() and not (kind.is_id or kind.fits(word)):
            unknown = f" {word!r} is none of {', '.join(kind.choices)}."
    return f"{unknown} It is written: %agent {' or '.join(written)}."


def _nearest(word: str, known: Sequence[str]) -> str:
    """The word that is meant; empty: none is."""
    if word in known:
        return word
    return next((each for each in known if _is_near(word, each)), "")


def _is_near(word: str, known: str) -> bool:
    """Whether one is the other with a slip of the finger in it, or two in a long one."""
    if len(known) <= 4 and sorted(word) != sorted(known) and word[:1] != known[:1]:
        return False  # pip list, bin 10: short words differ by their first letter
    slips = 0 if len(known) < 3 else 1 if len(known) < 6 else 2
    return abs(len(word) - len(known)) <= slips and _distance(word, known) <= slips


def _distance(one: str, other: str) -> int:
    """Letters to put in, take out, change or swap with the next one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        above, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and wanted == one[i - 2]:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]
