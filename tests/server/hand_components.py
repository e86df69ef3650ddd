"""Components that tests call by hand, named in the settings of a test's server."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from typing import Any, ClassVar

from cellwright.errors import ActionRefusedError, KernelDiedError, ToolError
from cellwright.record.content import ComponentOutput
from cellwright.record.messages import ModelUsage, Usage
from cellwright.tools import Component, Risk, ToolContext
from cellwright.tools.functions import tool

__all__ = [
    "RAN",
    "SETTING",
    "Calls",
    "Endless",
    "Fails",
    "Knows",
    "Mixed",
    "Newer",
    "Older",
    "Pair",
    "Parts",
    "Writes",
    "shout",
]

SETTING = "server.hand_components:TOOLS"
PIECEWISE = (("text", "info"), ("code", "code"), ("thought", "info"), ("oral_text", "info"))
"""Types of content whose pieces are one text, and the field that holds it."""
RAN: list[str] = []
"""What ``Writes`` has written."""


class Mixed(Component):
    """Says something to everybody."""

    name = "mixed"

    def tool_eval(self, context: ToolContext, number: float = 1.0) -> Iterator[ComponentOutput]:
        """Say it in pieces.

        Args:
            number: Said at the end.
        """
        context.notify("half of it", 0.5)
        yield self.create_output(text="one ")
        yield self.create_output(text="for you.", visible_scope="user")
        both = self.create_output(text="two.")
        hidden = self.create_output(text="for the model.", visible_scope="llm", raw_data={"k": 1})
        yield ComponentOutput((*both.content, *hidden.content))
        yield self.create_output("json", {"data": {"number": number, "no": float("nan")}})
        yield self.create_output(text="an answer.", role="assistant")


class Parts(Component):
    """Says texts in two pieces, cut at every character."""

    name = "parts"
    texts: ClassVar[list[str]] = []

    def tool_eval(self, context: ToolContext, fails: bool = False) -> Iterator[ComponentOutput]:
        """Say them, each under a name of its own, with something else between the halves.

        Args:
            fails: Whether to fail before the second halves.
        """
        cuts = [(text, cut) for text in self.texts for cut in range(1, len(text))]
        for is_first in (True, False):
            for number, (text, cut) in enumerate(cuts):
                kind, field = PIECEWISE[cut % len(PIECEWISE)]
                half = text[:cut] if is_first else text[cut:]
                yield self.create_output(kind, {field: half}, name=f"{number}")
            if fails:
                raise ToolError("It cannot.")
            context.notify("half of it", 0.5)
            yield self.create_output("json", {"data": {"number": 1}})


class Fails(Component):
    """Fails in every way."""

    name = "fails"

    def tool_eval(self, how: str) -> Iterator[ComponentOutput]:
        """Say something, then fail.

        Args:
            how: In which way.
        """
        yield self.create_output(text="begun.")
        if how == "itself":
            wrong = self.create_output(text="it is wrong").content[0]
            yield ComponentOutput((type(wrong)("text", wrong.text, is_error=True),))
            return
        if how == "silently":
            wrong = self.create_output(text="hidden", visible_scope="llm").content[0]
            yield ComponentOutput((type(wrong)("text", wrong.text, "", "llm", is_error=True),))
            return
        raise {
            "tool": ToolError("It cannot.", hint="Do not."),
            "refused": ActionRefusedError("It may not."),
            "kernel": KernelDiedError("The kernel is gone."),
            "bug": ZeroDivisionError("division by zero"),
        }[how]


class Endless(Component):
    """Goes on until it is stopped."""

    name = "endless"
    began, ended = threading.Event(), threading.Event()

    def tool_eval(self, context: ToolContext) -> Iterator[str]:
        """Say one number after another."""
        number = 0
        self.began.set()
        try:
            while True:
                yield f"{number} "
                number += 1
                context.stop.wait(0.01)
        finally:
            self.ended.set()


class Writes(Component):
    """Changes something."""

    name = "writes"
    risk: ClassVar[Risk] = "execute"

    def risk_for(self, **arguments: object) -> Risk:
        """As the test wants it."""
        return arguments.get("risk", "execute")  # type: ignore[return-value]

    def tool_eval(self, text: str, risk: str = "execute") -> str:
        """Write it.

        Args:
            text: What.
            risk: How risky that is said to be.
        """
        RAN.append(text)
        return "written"


class Knows(Component):
    """Tells what it was handed."""

    name = "knows"

    def tool_eval(self, **kwargs: Any) -> Iterator[ComponentOutput]:
        """Tell it."""
        told = {name: value for name, value in kwargs.items() if name != "_sys_chat_history"}
        told["_sys_code_execution_endpoint"] = type(told["_sys_code_execution_endpoint"]).__name__
        spent = [ModelUsage("small", Usage(3, 4))]
        yield self.create_output("json", {"data": told}, usage=spent)


class Calls(Component):
    """Asks another service."""

    name = "calls"

    def tool_eval(self, context: ToolContext, url: str) -> str:
        """Ask it.

        Args:
            url: Where.
        """
        request = urllib.request.Request(url, headers=context.headers())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())


class Pair(Component):
    """Two tools in one."""

    name = "pair"
    manifests: ClassVar[list[Any]] = [
        {"name": name, "description": name, "parameters": {}} for name in ("first", "second")
    ]

    def tool_eval(self, name: str) -> str:
        """Say which."""
        return name


class Older(Component):
    """Has a newer version."""

    name = "aged"
    version = "v1"

    def tool_eval(self) -> str:
        """Say which."""
        return "older"


class Newer(Older):
    """Has an older version."""

    version = "v2.1"

    def tool_eval(self) -> str:
        """Say which."""
        return "newer"


@tool(risk="read")
def shout(word: str, times: int = 1) -> str:
    """Say it loud.

    Args:
        word: What.
        times: How often.
    """
    return word.upper() * times


TOOLS = [Mixed, Parts, Fails, Endless, Writes, Knows, Calls, Pair, Older, Newer, shout]
