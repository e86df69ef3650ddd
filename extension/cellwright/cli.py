"""The command ``cellwright``: its parser and its exit codes; what it does is in ``commands``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from cellwright._version import __version__
from cellwright.commands import (
    INTERRUPTED,
    NOT_COMPLETED,
    SERVICE_FAILED,
    WRONG_USE,
    Invocation,
    Verb,
)
from cellwright.commands.options import (
    add_actions,
    add_allowed_packages,
    add_assistant,
    add_mcp,
)
from cellwright.commands.terminal import Console, one_line
from cellwright.commands.verbs import VERBS, find_forms, list_plugin_verbs, load_plugin_verb
from cellwright.errors import CellwrightError, LMError, RunCancelled
from cellwright.settings import MODES, PARAMETER_OPTIONS

EXIT_CODES = """\
exit codes:
  0    completed
  1    the run ended otherwise, a replay differs, or a check failed
  2    wrong use or set-up: the message says what to change
  3    the model service failed
  4    the run completed, but its record is not on disk
  130  interrupted with Ctrl-C

One line on stderr says what went wrong; CELLWRIGHT_DEBUG=1 shows where.
"""
ADDRESS = "127.0.0.1"
ALIASES = {"tools": "tool"}
"""What a verb was called here before notebook and shell shared it."""


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the exit code for wrong use."""
        self.exit(WRONG_USE, f"{self.prog}: {message}. Try: {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    console = Console(sys.stdin, sys.stdout, sys.stderr)
    given = _join_name(sys.argv[1:] if arguments is None else arguments)
    console.as_json = "--json" in given
    try:
        options = make_parser(given[0] if given else "").parse_args(given)
        console.as_json = options.json
        console.is_quiet = getattr(options, "quiet", False)
        return _run(options, console)
    except (KeyboardInterrupt, RunCancelled):
        return _fail(console, "Interrupted", "It was interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone; Python must not complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_COMPLETED
    except Exception as error:  # the outermost line: the person gets one sentence, not a traceback
        return _complain(error, console)


def _join_name(given: Sequence[str]) -> list[str]:
    """The words of a verb as one, such as ``memory add``: a parser goes by the first."""
    given = [*(ALIASES.get(word, word) for word in given[:1]), *given[1:]]
    end = given.index("--") if "--" in given else len(given)
    plain = [word for word in given[:end] if word != "--json"]
    as_json = ["--json"] * (len(plain) < end)
    for verb in VERBS:
        count = len(verb.words)
        if count > 1 and tuple(plain[:count]) == verb.words:
            # options among the rest are the verb's own business
            takes_rest = bool(verb.arguments) and verb.arguments[-1].kind.is_rest
            mark = ["--"] * (takes_rest and not {"-h", "--help"} & set(plain))
            return [verb.name, *as_json, *mark, *plain[count:], *given[end:]]
    return given


def _run(options: argparse.Namespace, console: Console) -> int:
    # Imported here, and by name, so that --help need not wait for what runs need.
    from cellwright.llm.keys import load_settings

    settings = load_settings()
    module = importlib.import_module(f"cellwright.commands.{options.module}")
    command = getattr(module, options.function or options.command.replace("-", "_"))
    code: int = command(Invocation(options, settings, console))
    return code


def _complain(error: Exception, console: Console) -> int:
    if os.environ.get("CELLWRIGHT_DEBUG", "") not in ("", "0"):
        console.complain("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, CellwrightError):
        text, code = str(error), SERVICE_FAILED if isinstance(error, LMError) else WRONG_USE
    else:
        text = (
            f"It failed with {type(error).__name__}: {error}. This is a fault of cellwright; "
            "CELLWRIGHT_DEBUG=1 shows where."
        )
        code = NOT_COMPLETED
    return _fail(console, type(error).__name__, text, code)


def _fail(console: Console, kind: str, text: str, code: int) -> int:
    console.complain(f"cellwright: {one_line(text)}")
    if console.as_json:
        console.result({"error": {"type": kind, "message": text, "exit_code": code}}, "")
    return code


def make_parser(first: str = "") -> argparse.ArgumentParser:
    """The parser of the command line.

    Args:
        first: Its first word; installed packages are asked for commands if it is none of ours.
    """
    parser = Parser(
        prog="cellwright",
        description="A function-calling model at work in a Jupyter kernel; every run is recorded "
        "and can be replayed, run again, exported and compared.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cellwright {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(commands)
    for name in dict.fromkeys(verb.name for verb in VERBS):
        _add_verb(commands, find_forms(name))
    _add_check(commands)
    _add_demo(commands)
    _add_demo_server(commands)
    _add_autoload(commands)
    _add_schema(commands)
    _add_bench(commands)
    add_mcp(commands, _command)
    if first and first not in commands.choices:
        _add_plugins(commands, first)
    return parser


def _command(
    commands: Any, name: str, module: str, text: str, *, is_listed: bool = True
) -> argparse.ArgumentParser:
    """A command with what all of them share; ``module`` is the one in ``commands``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        **({"help": text} if is_listed else {}),
        description=text,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document on stdout, nothing else"
    )
    parser.set_defaults(module=module, function="")
    return parser


def _add_run(commands: Any) -> None:
    parser = _command(
        commands, "run", "asking", "Ask the agent; the code it writes runs in a fresh kernel."
    )
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help="the question; - reads stdin")
    parser.add_argument(
        "--notebook", metavar="FILE", help="notebook to go on from; it is read, never changed"
    )
    parser.add_argument(
        "--run-notebook", action="store_true", help="run the notebook's code cells first"
    )
    parser.add_argument(
        "--files", metavar="FILE", nargs="+", action="extend", default=[], help="files to work on"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the notebook with new cells")
    add_assistant(parser)
    add_allowed_packages(parser)
    parser.add_argument("-m", "--model", metavar="MODEL", default="", help="which model answers")
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="only look and plan, ask before everything, allow edits, or allow running code",
    )
    _add_parameters(parser)
    _add_limits(parser)
    parser.add_argument("--kernel", metavar="NAME", default="", help="kernel to start (python3)")
    parser.add_argument(
        "--record",
        metavar="FILE",
        default="",
        help="write the run to a record of its own, too, whatever becomes of the usual one",
    )
    _add_quiet(parser)


def _add_check(commands: Any) -> None:
    parser = _command(
        commands, "check", "tool_checking", "Check a tool of yours: manifest, docstring, outputs."
    )
    parser.add_argument("target", metavar="MODULE:NAME", help="a component or a function")
    parser.add_argument(
        "--call", metavar="JSON", help="call it once with these arguments and check what it says"
    )


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "demonstration",
        "Do the main job on the data that is shipped, with no key: ask, record, replay, export.",
    )
    parser.add_argument("--out", metavar="DIR", help="folder for what it makes (demo-output/TIME)")
    parser.add_argument("-m", "--model", metavar="MODEL", help="another model than the demo model")
    parser.add_argument("--lab", action="store_true", help="open the notebook in JupyterLab")
    _add_quiet(parser)


def _add_demo_server(commands: Any) -> None:
    parser = _command(
        commands, "demo-server", "serving", "Serve the demo model to any OpenAI client."
    )
    parser.add_argument("--port", metavar="N", type=int, default=0, help="0: any free port (0)")
    parser.add_argument("--host", choices=(ADDRESS,), default=ADDRESS, help="this machine only")
    parser.add_argument(
        "--delay", metavar="S", type=float, default=0.0, help="seconds between two pieces (0)"
    )


def _add_autoload(commands: Any) -> None:
    _command(commands, "enable", "autoloading", "Load the magics whenever IPython starts.")
    _command(commands, "disable", "autoloading", "Load the magics only where they are asked for.")


def _add_schema(commands: Any) -> None:
    _command(commands, "schema", "listing", "Print the JSON Schema of the recorded events.")


def _add_bench(commands: Any) -> None:
    text = "Run suites of tasks, go on with them, score them again, compare them."
    parser = commands.add_parser("bench", help=text, description=text, allow_abbrev=False)
    add_actions(parser.add_subparsers(dest="action", metavar="ACTION", required=True), _command)


def _add_verb(commands: Any, forms: tuple[Verb, ...]) -> None:
    """Make the parser of a verb; the words that follow it are looked at when it is called."""
    verb, actions = forms[0], _list_actions(forms)
    summary = f"{verb.summary[:1].upper()}{verb.summary[1:]}."
    parser = _command(commands, verb.name, "calling", summary, is_listed=len(verb.words) == 1)
    parser.set_defaults(function="call", forms=forms)
    parser.usage = "\n       ".join(f"cellwright {form.usage} [--json]" for form in forms)
    if actions:
        lines = [f"  {action.usage}\n      {action.summary}" for action in actions]
        parser.epilog = "\n".join(["also:", *lines, "", EXIT_CODES])
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    for option in verb.options:
        parser.add_argument(*option.names, **option.keywords)
    if verb.shows_progress:
        _add_quiet(parser)


def _list_actions(forms: tuple[Verb, ...]) -> tuple[Verb, ...]:
    """What else begins with the word of a verb."""
    name = forms[0].name
    longer = dict.fromkeys(verb.name for verb in VERBS if verb.name.startswith(f"{name} "))
    return tuple(form for each in longer for form in find_forms(each))


def _add_plugins(commands: Any, first: str) -> None:
    """Add the verbs of installed packages; the one that is called is imported."""
    for verb in list_plugin_verbs():
        if verb.name not in commands.choices:
            _add_verb(commands, (load_plugin_verb(first) if verb.name == first else verb,))


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what the model is asked with; what it refuses is left out")
    for row in PARAMETER_OPTIONS:
        action = "append" if row.name == "extra_body" else "store"
        group.add_argument(
            row.flag, type=row.type, metavar=row.metavar, help=row.help, action=action
        )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    whole, number = _positive(int), _positive(float)
    group.add_argument("--max-steps", metavar="N", type=whole, help="replies of the model (12)")
    group.add_argument("--timeout", metavar="S", type=number, help="seconds for one cell (120)")
    group.add_argument("--max-seconds", metavar="S", type=number, help="for the run (1800)")
    group.add_argument("--max-tokens", metavar="N", type=whole, help="in and out, together")
    group.add_argument(
        "--budget", metavar="USD", type=number, help="dollars, where the price is known"
    )


def _positive(kind: type[int] | type[float]) -> Any:
    def parse(text: str) -> int | float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise ValueError(text)
        return value

    parse.__name__ = "positive number"
    return parse
