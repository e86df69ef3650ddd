"""Run by ``test_dspy_adapters.py`` within dspy's environment: its programs, with adapters of ours.

What they come to is printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

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
    """Answers as OpenAI's service does: in pieces where it is asked to, with a call, or whole."""

    requests: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        """Answer."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(asked)
        self.send_response(200)
        if not asked.get("stream"):
            self.send_whole(asked)
            return
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in (*PIECES, ""):
            delta = {"role": "assistant", "content": piece}
            choice = {"index": 0, "delta": delta, "finish_reason": None if piece else "stop"}
            head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def send_whole(self, asked: Any) -> None:
        """A call where tools are offered and none has a result yet, else words and thoughts."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(PIECES)}
        message["reasoning_content"] = "I thought."
        if asked.get("tools") and asked["messages"][-1]["role"] != "tool":
            function = {"name": "look_up", "arguments": '{"city": "Paris"}'}
            call = {"id": "call_7", "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [call]}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = json.dumps({**head, "choices": [choice], "usage": usage}).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class UseTools(dspy.Signature):
    """Answer with the help of tools."""

    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    answer: str | None = dspy.OutputField()
    calls: dspy.ToolCalls = dspy.OutputField()


class Think(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    thoughts: dspy.Reasoning = dspy.OutputField()
    answer: str = dspy.OutputField()


async def call_natively(address: str) -> list[Any]:
    """What comes of a call of the service's own, awaited, and what it is sent of it afterwards."""
    adapter = ChatAdapter(use_native_function_calling=True)
    lm = dspy.LM("openai/gpt-4o", api_base=address, api_key="none", cache=False)
    program = dspy.Predict(UseTools)
    tools, question = [dspy.Tool(look_up)], "Where?"
    with dspy.context(lm=lm, adapter=adapter):
        made = await program.acall(
            question=question, tools=tools, history=dspy.History(messages=[])
        )
        (call,) = made.calls.tool_calls
        results = dspy.ToolCallResults.from_tool_calls_and_values([call], ["It has a tower."])
        calls = dspy.ToolCalls(tool_calls=[call], tool_call_results=results)
        history = dspy.History(messages=[{"question": question, "calls": calls}])
        said = await program.acall(question="And?", tools=tools, history=history)
    roles = [each["role"] for each in Service.requests[-1]["messages"]]
    return [call.name, call.args, roles, said.calls.tool_calls[0].id]


def think(address: str) -> list[str]:
    """What a model thought, which its service says beside the reply, and what it said."""
    lm = dspy.LM("deepseek/deepseek-reasoner", api_base=address, api_key="none", cache=False)
    with dspy.context(lm=lm, adapter=ChatAdapter()):
        found = dspy.Predict(Think)(question="Where?")
    return [str(found.thoughts), found.answer]


def repeats_questions(adapter: Any) -> bool:
    """Whether a question stands in the history as it was sent, so that a cache knows it."""
    signature = dspy.Signature("question, history: dspy.History -> answer")
    empty = dspy.History(messages=[])
    sent = adapter.format(signature, [], {"question": "Where?", "history": empty})[-1]
    past = dspy.History(messages=[{"question": "Where?", "answer": "Paris"}])
    later = adapter.format(signature, [], {"question": "Why?", "history": past})
    return bool(later[1] == sent)


async def listen(address: str) -> str:
    """What a listener hears of an answer while it comes."""
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
    return said


def main() -> None:
    """Run them all, and tell what dspy says will go."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = run_all()
    found["deprecated"] = [text for each in warned if "messages=" in (text := str(each.message))]
    print(json.dumps(found))


def run_all() -> dict[str, Any]:
    """What each program comes to."""
    found: dict[str, Any] = {form.__name__: run_react(form()) for form in FORMS}
    dspy.configure(lm=DummyLM([{"answer": "4"}]), adapter=ChatAdapter())
    found["configured"] = dspy.Predict("question -> answer: int")(question="2 + 2?").answer
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    found["streamed"] = asyncio.run(listen(address))
    found["called"] = asyncio.run(call_natively(address))
    found["thought"] = think(address)
    server.shutdown()
    server.server_close()
    theirs = (dspy.ChatAdapter(), dspy.JSONAdapter(), dspy.XMLAdapter())
    found["repeated"] = [repeats_questions(each) for each in (*theirs, *(f() for f in FORMS))]
    return found


if __name__ == "__main__":
    main()
