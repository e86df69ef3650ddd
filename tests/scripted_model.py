"""A model for tests of the loop: replies, errors or questions to the prompt, in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from typing import Any

from cellwright.llm import Capabilities, LMEvent
from cellwright.record.events import TextDelta
from cellwright.record.messages import AssistantMessage, Prompt, Reply, ToolCall, Usage
from cellwright.stopping import Stop

__all__ = ["Answer", "ScriptedLM", "calls", "says"]

Answer = Reply | BaseException | Callable[[Prompt], "Reply"]
USAGE = Usage(100, 10, 50)


def says(text: str, *, finish: str = "stop", **fields: Any) -> Reply:
    """A reply of text alone."""
    return Reply(AssistantMessage(text, **fields), finish, USAGE, "scripted")


def calls(*named: tuple[str, dict[str, Any] | str], text: str = "", start: int = 0) -> Reply:
    """A reply that asks for tools; a string stands for arguments as the model wrote them."""
    made = tuple(
        ToolCall(
            f"call_{start + number}",
            name,
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for number, (name, arguments) in enumerate(named)
    )
    return Reply(AssistantMessage(text, made), "tool_calls", USAGE, "scripted")


class ScriptedLM:
    """Answers with the script's next entry and keeps every prompt it was sent."""

    def __init__(self, script: Sequence[Answer]) -> None:
        self._script = list(script)
        self.prompts: list[Prompt] = []

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        stop.check()
        self.prompts.append(prompt)
        answer = self._script.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        reply = answer if isinstance(answer, Reply) else answer(prompt)
        if reply.message.text:
            yield TextDelta(reply.message.text)
        return reply

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities()
