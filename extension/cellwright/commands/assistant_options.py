"""Options of the command line that are about who answers and what it costs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cellwright.record.usage import USAGE_GROUPS, budget_amount


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


def add_usage(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """``cellwright usage``.

    Args:
        commands: The commands so far.
        command: Makes one with what all of them share.
    """
    text = "Tell what models have cost, and set what a month may cost."
    parser = command(commands, "usage", "usage", text)
    parser.add_argument(
        "--by", choices=USAGE_GROUPS, default="month", help="what the rows are (month)"
    )
    parser.add_argument(
        "--budget", metavar="USD", type=budget_amount, help="dollars for a month; 'off': no limit"
    )
    parser.add_argument(
        "--budget-tokens", metavar="N", type=budget_amount, help="tokens for a month, or 'off'"
    )


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not written NAME=VALUE")
    return name, value
