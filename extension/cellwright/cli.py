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
from cellwright.commands import INTERRUPTED, NOT_COMPLETED, SERVICE_FAILED, WRONG_USE, Invocation
from cellwright.commands.options import (
    add_actions,
    add_assistant,
    add_mcp,
    add_memory,
    add_tools,
    add_usage,
)
from cellwright.commands.terminal import Console, one_line
from cellwright.errors import CellwrightError, LMError, RunCancelled
from cellwright.exports import FORMATS, RECORD, FormatNames
from cellwright.installation import COMMANDS, list_entry_points, package_of
from cellwright.llm.keys import load_settings
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


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the exit code for wrong use."""
        self.exit(WRONG_USE, f"{self.prog}: {message}. Try: {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    console = Console(sys.stdin, sys.stdout, sys.stderr)
    given = sys.argv[1:] if arguments is None else arguments
    options = make_parser(given[0] if given else "").parse_args(given)
    console.as_json = options.json
    console.is_quiet = getattr(options, "quiet", False)
    try:
        return _run(options, console)
    except (KeyboardInterrupt, RunCancelled):
        return _fail(console, "Interrupted", "It was interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone; Python must not complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_COMPLETED
    except Exception as error:  # the outermost line: the person gets one sentence, not a traceback
        return _complain(error, console)


def _run(options: argparse.Namespace, console: Console) -> int:
    settings = load_settings()
    # Imported here, and by name, so that --help need not wait for what runs need.
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
    _add_runs(commands)
    _add_show(commands)
    _add_replay(commands)
    _add_rerun(commands)
    _add_export(commands)
    _add_save_sample(commands)
    _add_doctor(commands)
    _add_check(commands)
    _add_demo(commands)
    _add_demo_server(commands)
    _add_autoload(commands)
    _add_schema(commands)
    _add_bench(commands)
    add_memory(commands, _command)
    _add_library(commands)
    add_mcp(commands, _command)
    add_tools(commands, _command)
    add_usage(commands, _command)
    if first and first not in commands.choices:
        _add_plugins(commands)
    return parser


def _command(commands: Any, name: str, module: str, text: str) -> argparse.ArgumentParser:
    """A command with what all of them share; ``module`` is the one in ``commands``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
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
    _add_model(parser)
    _add_mode(parser)
    _add_parameters(parser)
    _add_limits(parser)
    _add_kernel(parser)
    _add_record(parser)
    _add_quiet(parser)


def _add_runs(commands: Any) -> None:
    parser = _command(commands, "runs", "listing", "List the recorded runs, the newest first.")
    parser.add_argument(
        "--limit", metavar="N", type=_positive(int), default=20, help="at most N runs (20)"
    )
    parser.add_argument("--search", metavar="WORDS", default="", help="only runs with these words")


def _add_show(commands: Any) -> None:
    parser = _command(commands, "show", "listing", "Show a recorded run: prompt, cells, answer.")
    _add_id(parser)


def _add_replay(commands: Any) -> None:
    parser = _command(
        commands,
        "replay",
        "repeating",
        "Run a recorded run's code again with its recorded answers; no model is asked.",
    )
    _add_id(parser)
    _add_repeated(parser)


def _add_rerun(commands: Any) -> None:
    parser = _command(
        commands, "rerun", "repeating", "Ask again from the same start, of the same or other model."
    )
    _add_id(parser)
    _add_model(parser)
    _add_mode(parser)
    _add_repeated(parser)


def _add_export(commands: Any) -> None:
    parser = _command(commands, "export", "exporting", "Write a recorded run in another format.")
    _add_id(parser)
    own = (*FORMATS, RECORD)
    parser.add_argument(
        "--to",
        choices=FormatNames(*own),
        required=True,
        metavar="FORMAT",
        help=f"{', '.join(own)}, or a format of an installed package",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to (ID with the format's ending); - is stdout"
    )


def _add_save_sample(commands: Any) -> None:
    text = "Make a sample of a suite of a recorded run, with its code as the reference."
    parser = _command(commands, "save-sample", "saving", text)
    _add_id(parser)
    parser.add_argument(
        "--check",
        metavar="CODE",
        action="append",
        default=[],
        help="what is true when it is solved, such as 'best.shape == (12, 3)'; repeatable",
    )
    parser.add_argument("--to", metavar="FOLDER", required=True, help="the suite's folder")
    parser.add_argument("--name", metavar="ID", default="", help="the sample's id (the run's)")


def _add_doctor(commands: Any) -> None:
    parser = _command(
        commands, "doctor", "checking", "Check key, endpoint, model, tool calling, kernel, record."
    )
    parser.add_argument(
        "--send", action="store_true", help="send one small request, which may cost a little"
    )
    parser.add_argument(
        "--repair",
        metavar="FILE",
        nargs="?",
        const="",
        help="read back what can be read of a damaged record, or of FILE",
    )


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
    _command(commands, "disable", "autoloading", "Load the magics only with %%load_ext.")


def _add_schema(commands: Any) -> None:
    _command(commands, "schema", "listing", "Print the JSON Schema of the recorded events.")


def _add_bench(commands: Any) -> None:
    text = "Run suites of tasks, go on with them, score them again, compare them."
    parser = commands.add_parser("bench", help=text, description=text, allow_abbrev=False)
    add_actions(parser.add_subparsers(dest="action", metavar="ACTION", required=True), _command)


def _add_library(commands: Any) -> None:
    parser = _command(commands, "library", "library", "The project's documents, which models ask.")
    actions = ("add", "list", "search", "remove", "update", "default", "forget")
    parser.add_argument("action", choices=actions, nargs="?", default="list", metavar="ACTION")
    parser.add_argument("words", metavar="WORD", nargs="*", help="places, words, an id or a name")
    parser.add_argument("--name", metavar="NAME", default="", help="add to the library NAME")
    parser.add_argument("--all", action="store_true", help="forget a library's documents with it")
    _add_quiet(parser)


def _add_plugins(commands: Any) -> None:
    for point in list_entry_points(COMMANDS):
        if point.name not in commands.choices:
            text = f"A command of the package {package_of(point)}."
            parser = _command(commands, point.name, "plugins", text)
            parser.add_argument("words", metavar="WORD", nargs="*", help="what it is told")
            parser.set_defaults(function="run_plugin")


def _add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="'last', or the start or end of a run's id")


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="MODEL", default="", help="which model answers")


def _add_mode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="only look and plan, ask before everything, allow edits, or allow running code",
    )


def _add_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", metavar="NAME", default="", help="kernel to start (python3)")


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--record",
        metavar="FILE",
        default="",
        help="write the run to a record of its own, too, whatever becomes of the usual one",
    )


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def _add_repeated(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cwd", metavar="DIR", help="folder to run in (the recorded one)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the notebook with its cells")
    _add_kernel(parser)
    _add_record(parser)
    _add_quiet(parser)


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
    group.add_argument("--budget", metavar="USD", type=number, help="dollars, where prices are set")


def _positive(kind: type[int] | type[float]) -> Any:
    def parse(text: str) -> int | float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise ValueError(text)
        return value

    parse.__name__ = "positive number"
    return parse
