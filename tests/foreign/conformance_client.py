"""Our MCP client for the protocol's own conformance suite.

The suite starts ``python -m foreign.conformance_client URL``, plays the server and names the
scenario in the environment. A browser that follows every redirect stands for the person.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fakes import make_context
from outside.test_mcp_sign_in import Browser, person, say

from cellwright.errors import CellwrightError, SetupError, SignInNeededError, ToolError
from cellwright.external.commands import sign_in
from cellwright.external.source import OutsideTools

NAME = "suite"
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: Mapping[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}
"""Of the tools that need some."""
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""Which the suite knows as a client's."""


class Person:
    """Accepts what a server suggests."""

    def __call__(self, prompt: str, password: bool) -> Person:
        return self

    def value(self) -> str:
        return "yes" if not self.was_asked() else ""

    def was_asked(self) -> bool:
        before, self.asked = getattr(self, "asked", False), True
        return before

    def close(self) -> None:
        pass


def call_all(tools: OutsideTools) -> None:
    """Call every tool of the server once."""
    service = tools.services.service(tools.book.find(NAME).definition)
    listing = service.listing or tools.services.ask(service)
    wanted = [(call["name"], call["arguments"]) for call in CONTEXT.get("toolCalls", ())]
    for function in listing.functions:
        usual = [(function.name, ARGUMENTS.get(function.name, {}))]
        for _, arguments in [call for call in wanted if call[0] == function.name] or usual:
            context = replace(make_context(), keyboard=Person())
            try:
                print(function.name, service.connection.call(function, arguments, context))
            except SignInNeededError:
                raise
            except ToolError as error:
                print(function.name, error)  # the suite judges what was sent


def is_about_sign_in(error: BaseException | None) -> bool:
    """Whether somebody has to sign in again."""
    return isinstance(error, SignInNeededError) or (
        error is not None and is_about_sign_in(error.__cause__)
    )


def main(url: str, browser: Callable[[str], None]) -> None:
    """What somebody does: connect it, sign in where it asks for that, call its tools."""
    more = ["--client-id", DOCUMENT] if SCENARIO == "auth/basic-cimd" else []
    if "client_id" in CONTEXT:
        os.environ["SUITE_SECRET"] = CONTEXT["client_secret"]
        more = ["--client-id", CONTEXT["client_id"], "--client-secret", "SUITE_SECRET"]
    with tempfile.TemporaryDirectory() as home, person(Path(home)) as tools:
        print(*say(tools, "connect", NAME, url, "--local", *more), sep="\n")
        if SCENARIO.startswith("auth/"):
            try:
                print(*sign_in(NAME, tools, browser), sep="\n")
                call_all(tools)
            except (SetupError, SignInNeededError) as error:
                print(error)
                if not is_about_sign_in(error):
                    raise
                print(*sign_in(NAME, tools, browser), sep="\n")  # it may have to allow more
        call_all(tools)


if __name__ == "__main__":
    seen = Browser()
    try:
        main(sys.argv[1], seen)
    except CellwrightError as failure:
        sys.exit(f"{type(failure).__name__}: {failure}")
    finally:
        seen.close()
