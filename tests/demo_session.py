"""A smallest possible agent for the demo model: a real client, a real kernel, nothing of ours."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openai import OpenAI

__all__ = ["Session", "Turn", "run_in_kernel", "tool"]


def tool(name: str, *required: str, **optional: str) -> dict[str, Any]:
    """A tool with text arguments."""
    properties = {key: {"type": "string"} for key in (*required, *optional)}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


@dataclass
class Turn:
    """What one prompt led to."""

    said: list[str] = field(default_factory=list)
    """The sentence before each call."""
    codes: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    answer: str = ""

    @property
    def errors(self) -> list[str]:
        """Results that end with an error."""
        return [text for text in self.results if "Error: " in text]


Run = Callable[[str, dict[str, Any]], str]


class Session:
    """Prompts to the demo model, its calls run, until it answers.

    Args:
        base_url: The server.
        run: Runs a tool call and returns its result.
        tools: What is offered.
    """

    def __init__(self, base_url: str, run: Run, *tools: dict[str, Any]) -> None:
        self._client = OpenAI(base_url=base_url, api_key="demo", max_retries=0)
        self._run = run
        self._tools: Any = list(tools) or [tool("run_cell", "code", title="")]
        self.messages: list[Any] = [{"role": "system", "content": "You are an analyst."}]

    def ask(self, prompt: str, *, call_limit: int = 12) -> Turn:
        """One prompt to its answer."""
        self.messages.append({"role": "user", "content": prompt})
        turn = Turn()
        for _ in range(call_limit):
            reply = self._client.chat.completions.create(
                model="cellwright-demo", messages=self.messages, tools=self._tools
            )
            message = reply.choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                turn.answer = message.content or ""
                return turn
            turn.said.append(message.content or "")
            for call in message.tool_calls:
                self._call(turn, call)
        raise AssertionError(f"no answer after {call_limit} calls: {turn.said}")

    def _call(self, turn: Turn, call: Any) -> None:
        arguments = json.loads(call.function.arguments)
        result = self._run(call.function.name, arguments)
        turn.tools.append(call.function.name)
        turn.codes.append(str(arguments.get("code", "")))
        turn.results.append(result)
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def run_in_kernel(client: Any, code: str) -> str:
    """Run code in a kernel; what it printed, showed and failed with, as text."""
    parent = client.execute(code)
    pieces: list[str] = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=60)
        except queue.Empty:
            raise AssertionError(f"the kernel is silent: {pieces}") from None
        if message["parent_header"].get("msg_id") != parent:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            client.get_shell_msg(timeout=60)
            return "\n".join(pieces)
        if kind == "stream":
            pieces.append(content["text"])
        elif kind in ("execute_result", "display_data"):
            pieces.append(content["data"].get("text/plain", ""))
        elif kind == "error":
            pieces.append(f"{content['ename']}: {content['evalue']}")
