"""The options of ``cellwright bench``, ``mcp`` and ``tools``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cellwright.commands.verbs import positive_number
from cellwright.exports import FORMATS, FormatNames
from cellwright.record.choices import WAYS
from cellwright.settings import ADAPTERS, MODES

Add = Callable[[Any, str, str, str], argparse.ArgumentParser]
"""Adds a command: sub-parsers, name, module, text."""
MODULE = "benchmarking"


def add_actions(actions: Any, add: Add) -> None:
    """Add what `cellwright bench` does."""
    _add_run(add(actions, "run", MODULE, "Run a suite: fresh kernels, every sample recorded."))
    resume = add(actions, "resume", MODULE, "Run what an interrupted benchmark has not run.")
    resume.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote")
    _add_workers(resume)
    rescore = add(actions, "rescore", MODULE, "Make the checks again; no model is asked.")
    rescore.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote")
    rescore.add_argument("--check", metavar="FILE", help="Python with check(sample), used instead")
    _add_quiet(rescore)
    compare = add(actions, "compare", MODULE, "Hold results together, sample by sample.")
    compare.add_argument("first", metavar="A", help="the baseline: FOLDER, or FOLDER/AGENT/TASK")
    compare.add_argument(
        "others", metavar="B", nargs="+", help="what may be better; several at once"
    )
    copies = add(actions, "near-copies", MODULE, "Find samples that are in each other or in texts.")
    _add_suite(copies)
    copies.add_argument(
        "--in",
        dest="places",
        metavar="PATH",
        action="append",
        default=[],
        help="texts that an agent may know, such as its library's; repeatable",
    )
    board = add(actions, "leaderboard", MODULE, "Put results on one page: score, cost, failures.")
    board.add_argument("folders", metavar="FOLDER", nargs="+", help="what `bench run` wrote")
    board.add_argument("-o", "--output", metavar="FILE", help="where to (leaderboard.html)")
    load = add(actions, "import", MODULE, "Read a log of Inspect as results; no model is asked.")
    load.add_argument("log", metavar="LOG", help="an .eval or .json log")
    load.add_argument("-o", "--output", metavar="FOLDER", help="where to (runs/LOG)")
    _add_quiet(load)
    new = add(actions, "new", MODULE, "Make a suite of a folder of notebooks.")
    new.add_argument("notebooks", metavar="NOTEBOOKS", help="questions with their solutions below")
    new.add_argument("-o", "--output", metavar="FOLDER", help="where to (NOTEBOOKS-suite)")
    new.add_argument("--python", metavar="PATH", help="interpreter of the kernels they run in")
    _add_thumb(add(actions, "thumb", MODULE, "Say what you think of a sample."))
    _add_export(add(actions, "export", MODULE, "Write all samples in another format."))


def _add_thumb(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote, or FOLDER/AGENT")
    parser.add_argument("sample", metavar="ID", help="the sample's id")
    parser.add_argument("thumb", choices=("up", "down"), help="whether it is good")
    parser.add_argument("--note", metavar="TEXT", help="why")
    parser.add_argument("--epoch", metavar="N", type=_count, default=1, help="which time it ran")


def _add_export(parser: argparse.ArgumentParser) -> None:
    formats = ["notebooks" if name == "ipynb" else name for name in FORMATS]
    parser.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote")
    parser.add_argument(
        "--to",
        choices=FormatNames(*formats, "ipynb"),  # as `cellwright export` calls notebooks
        required=True,
        metavar="FORMAT",
        help=f"{', '.join(formats)}, or a format of an installed package",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="where to (FOLDER-FORMAT)")
    parser.add_argument("--passed", action="store_true", help="only samples that passed")
    parser.add_argument(
        "--gradebook",
        action="store_true",
        help="with notebooks or html: points of all samples in gradebook.csv, too",
    )


def _add_suite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suite",
        metavar="SUITE",
        help="a folder, ds1000, dseval, dseval-errors, humaneval, agentbench:TASK, inspect:FILE, "
        "lm-eval:FILE, harbor:FOLDER or a plug-in's",
    )
    parser.add_argument("--data", metavar="PATH", help="the data of a public suite")


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_suite(parser)
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        action="append",
        default=[],
        help="who answers; repeatable",
    )
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        action="append",
        default=[],
        help="oracle, noop, answers:FILE or replay:FILE, instead of a model",
    )
    group = parser.add_argument_group("how a model works")
    group.add_argument("--mode", choices=MODES, default="auto", help="what it may do (auto)")
    group.add_argument("--adapter", choices=ADAPTERS, help="how it is talked with at first")
    group.add_argument("-a", "--assistant", metavar="NAME", default="", help="as whom it answers")
    group.add_argument("--effort", metavar="LEVEL", help="how much it thinks: low, high")
    add_allowed_packages(group)
    parser.add_argument(
        "--judge",
        metavar="MODEL",
        help="the model that checks with a rubric ask, and that --choose judge asks",
    )
    parser.add_argument("--epochs", metavar="N", type=_count, default=1, help="each sample N times")
    parser.add_argument(
        "--best-of",
        metavar="N",
        type=_count,
        help="attempt each sample N times; the attempt that is chosen is its result",
    )
    parser.add_argument(
        "--choose",
        choices=WAYS,
        help="with --best-of: by the sample's own checks, by a model, or by what most say (vote)",
    )
    parser.add_argument("--limit", metavar="N", type=_count, help="only the first N samples")
    parser.add_argument(
        "--only", metavar="ID", action="append", default=[], help="only this sample; repeatable"
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to (runs/TIME)")
    _add_kernels(parser)
    _add_limits(parser)
    _add_workers(parser)
    _add_foreign(parser)


def _add_foreign(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tasks of AgentBench 0.2, agentbench:TASK")
    group.add_argument(
        "--tasks", metavar="CHECKOUT", help="AgentBench's branch v0.2, or its controller's address"
    )
    group.add_argument(
        "--container",
        metavar="IMAGE=HOST:PORT",
        action="append",
        default=[],
        help="a service in the place of a container, such as mysql=127.0.0.1:3306; repeatable",
    )
    group.add_argument(
        "--serve",
        metavar="PORT",
        help="run nothing, but serve the task and the model to AgentBench's assigner",
    )
    group.add_argument(
        "--controller", metavar="URL", help="with --serve: AgentBench's controller, told of it"
    )


def _add_kernels(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernels")
    group.add_argument("--python", metavar="PATH", help="interpreter of the task kernels")
    group.add_argument(
        "--kernels",
        choices=("fork", "fresh"),
        default="fork",
        help="fork them from a process that has imported pandas (the default), or start each",
    )
    group.add_argument(
        "--warm",
        metavar="MODULE",
        action="append",
        default=[],
        help="what forked kernels have imported, instead of numpy, pandas and matplotlib",
    )
    group.add_argument(
        "--env",
        metavar="NAME",
        action="append",
        default=[],
        help="pass this environment variable on to the kernels; repeatable",
    )
    group.add_argument(
        "--isolation",
        choices=("bwrap", "docker", "podman"),
        help="keep each kernel apart: it sees its sample and no network",
    )
    group.add_argument("--image", metavar="IMAGE", help="of containers; it needs ipykernel")
    group.add_argument("--network", action="store_true", help="with --isolation: a network, too")
    group.add_argument("--gateway-url", metavar="URL", help="kernels behind this Jupyter gateway")
    group.add_argument("--gateway-kernel", metavar="NAME", help="which of the gateway's kernels")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits of each sample, instead of its own")
    group.add_argument("--max-steps", metavar="N", type=_count, help="replies of the model")
    group.add_argument("--max-cells", metavar="N", type=_count, help="cells that run")
    group.add_argument("--max-tokens", metavar="N", type=_count, help="in and out, together")
    group.add_argument(
        "--budget", metavar="USD", type=positive_number, help="what its replies cost"
    )
    group.add_argument("--max-seconds", metavar="S", type=positive_number, help="wall time")
    group.add_argument("--max-output", metavar="BYTES", type=_count, help="output of all cells")
    group.add_argument("--max-memory", metavar="BYTES", type=_count, help="of the kernel")


def _add_workers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "-j", "--jobs", metavar="N", type=_count, help="at a time (2, or what the cluster can)"
    )
    group.add_argument(
        "--retries",
        metavar="N",
        type=int,
        default=2,
        help="new starts of a sample whose service or kernel failed (2)",
    )
    group.add_argument(
        "--total-budget",
        metavar="USD",
        type=positive_number,
        help="of all samples together, earlier ones too",
    )
    group.add_argument(
        "--requests-per-minute",
        metavar="N",
        type=positive_number,
        help="to each model, from all samples and judges",
    )
    group.add_argument(
        "--tokens-per-minute", metavar="N", type=positive_number, help="the same for tokens"
    )
    group.add_argument(
        "--executor", choices=("threads", "dask"), default="threads", help="where samples run"
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="of the Dask cluster, tcp://…")
    _add_quiet(group)


def _add_quiet(group: Any) -> None:
    group.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_count.__name__ = "positive number"


# Options of the command line that are about who answers and what it costs.


def add_assistant(parser: argparse.ArgumentParser) -> None:
    """Who answers, and what is put into prompts."""
    parser.add_argument(
        "-a", "--assistant", metavar="NAME", default="", help="assistant that answers"
    )
    parser.add_argument(
        "--var",
        metavar="NAME=VALUE",
        type=_named_value,
        action="append",
        default=[],
        help="put in for {{NAME}} in the prompt, and told to tools; repeatable",
    )


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not written NAME=VALUE")
    return name, value


def add_allowed_packages(parser: Any) -> None:
    """What may be installed where nobody is asked."""
    parser.add_argument(
        "--allow-install",
        metavar="PACKAGE",
        action="append",
        default=[],
        help="mode auto may install this package, such as seaborn or 'pandas>=2'; repeatable",
    )


# What ``cellwright mcp`` takes.


def add_mcp(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to the parser of all commands."""
    text = "Offer a notebook's tools to another agent over MCP (stdin and stdout)."
    parser = command(commands, "mcp", "mcp", text)
    parser.add_argument("--notebook", metavar="FILE", default="", help="notebook to work in")
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="only look, ask before everything, allow edits, or allow running code",
    )
    parser.add_argument("--kernel", metavar="NAME", default="", help="kernel to start (python3)")
    parser.add_argument(
        "--kernel-of", metavar="URL", default="", help="a Jupyter server where the notebook is open"
    )
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        default="JUPYTER_TOKEN",
        help="variable with its token (JUPYTER_TOKEN)",
    )
