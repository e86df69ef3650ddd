"""A smallest possible agent for the demo model, and conversations written by hand.

The client and the kernel are real; nothing of our own agent takes part.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openai import DefaultHttpxClient, OpenAI

from cellwright.demo.analyst import DemoReply, next_answer
from cellwright.demo.server import DemoServer
from cellwright.demo.wire import MODEL

__all__ = [
    "HELLO",
    "RUN_CELL",
    "Session",
    "Turn",
    "after",
    "ask",
    "code_of",
    "exchange",
    "run_in_kernel",
    "send",
    "tool",
    "user",
    "value",
    "was_repaired",
]

HELLO: list[Any] = [{"role": "user", "content": "hello"}]
RUN_CELL = frozenset({"run_cell"})


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
        plain = DefaultHttpxClient(verify=False)  # a certificate is read for longer than it asks
        self._client = OpenAI(base_url=base_url, api_key="demo", max_retries=0, http_client=plain)
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
    printed, shown = "", ""  # a printed line may come in several messages
    while True:
        try:
            message = client.get_iopub_msg(timeout=60)
        except queue.Empty:
            raise AssertionError(f"the kernel is silent after {printed!r}") from None
        if message["parent_header"].get("msg_id") != parent:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            client.get_shell_msg(timeout=60)
            return printed + shown
        if kind == "stream":
            printed += content["text"]
        elif kind in ("execute_result", "display_data"):
            shown += f"\n{content['data'].get('text/plain', '')}"
        elif kind == "error":
            shown += f"\n{content['ename']}: {content['evalue']}"


def user(text: str) -> dict[str, Any]:
    """A message of the person."""
    return {"role": "user", "content": text}


def exchange(place: int, code: str, result: str) -> list[dict[str, Any]]:
    """A cell the model ran and its result."""
    function = {"name": "run_cell", "arguments": json.dumps({"code": code})}
    call = {"id": f"call_{place}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{place}", "content": result},
    ]


def after(prompt: str, *results: str, tools: frozenset[str] = RUN_CELL) -> DemoReply:
    """The reply once the calls it asked for have had these results."""
    messages = [user(prompt)]
    for place, result in enumerate(results):
        messages += exchange(place, "", result)
    return next_answer(messages, tools)


def code_of(answer: DemoReply) -> str:
    """The code a reply wants to run."""
    assert answer.call is not None, answer.text
    return answer.call.arguments["code"]


def value(run: Callable[[str], str], expression: str) -> object:
    """A value in the kernel, by way of JSON."""
    said = run(f"import json; print(json.dumps({expression}))")
    assert "Error" not in said, said
    return json.loads(said.strip().splitlines()[-1])


def was_repaired(turn: Turn) -> bool:
    """Whether there was an error, and the last cell had none."""
    return bool(turn.errors) and "Error: " not in turn.results[-1]


def send(server: DemoServer, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """One raw request; status and JSON."""
    port = int(server.base_url.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
        connection.request(method, path, data)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def ask(server: DemoServer, **changes: Any) -> tuple[int, Any]:
    """A raw request for a reply; status and JSON."""
    body = {"model": MODEL, "messages": HELLO, **changes}
    return send(server, "POST", "/v1/chat/completions", body)
