"""Run by ``test_dspy_adapters.py`` within dspy's environment: its programs, with adapters of ours.

What they come to is printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dspy
from dspy.streaming import StreamListener, StreamResponse
from dspy.utils import DummyLM

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.xml import XMLAdapter

FORMS = (ChatAdapter, JSONAdapter, XMLAdapter)
PIECES = (
    "[[ ## ",
    "answer",
    " ## ]]\n",
    "It is ",
    "Paris",
    ".\n\n",
    "[[ ## ",
    "completed",
    " ## ]]",
)


class Streamed(ChatAdapter, dspy.ChatAdapter):
    """Ours, which dspy's listeners of streams know as one of theirs."""


Streamed.__name__ = "ChatAdapter"


def look_up(city: str) -> str:
    """Look up a city."""
    return f"{city} has a tower"


def run_react(adapter: Any) -> str:
    """The answer of an agent that calls a tool and stops."""
    steps = [
        {
            "next_thought": "I look.",
            "next_tool_name": "look_up",
            "next_tool_args": {"city": "Paris"},
        },
        {"next_thought": "Done.", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "It has one.", "answer": "a tower"},
    ]
    with dspy.context(lm=DummyLM(steps, adapter=adapter), adapter=adapter):
        found = dspy.ReAct("question -> answer", tools=[look_up])(question="What is in Paris?")
    assert found.trajectory["observation_0"] == "Paris has a tower"
    return str(found.answer)


class Service(BaseHTTPRequestHandler):
    """Says the pieces one after the other, as OpenAI's service does."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in (*PIECES, ""):
            delta = {"role": "assistant", "content": piece}
            choice = {"index": 0, "delta": delta, "finish_reason": None if piece else "stop"}
            head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


async def listen() -> str:
    """What a listener hears of an answer while it comes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    lm = dspy.LM("openai/m", api_base=address, api_key="none", cache=False)
    program = dspy.streamify(
        dspy.Predict("question -> answer"), stream_listeners=[StreamListener("answer")]
    )
    said = ""
    with dspy.context(lm=lm, adapter=Streamed()):
        async for piece in program(question="Where?"):
            if isinstance(piece, StreamResponse):
                said += piece.chunk
            else:
                assert piece.answer == "It is Paris."
    server.shutdown()
    return said


def main() -> None:
    """Run them all."""
    found = {form.__name__: run_react(form()) for form in FORMS}
    dspy.configure(lm=DummyLM([{"answer": "4"}]), adapter=ChatAdapter())
    found["configured"] = dspy.Predict("question -> answer: int")(question="2 + 2?").answer
    found["streamed"] = asyncio.run(listen())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
